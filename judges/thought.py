"""Grades after a thought: the model may think before it grades, within a budget, and several replies are averaged.

A reply is drawn with some temperature, as models that think are meant to be asked: greedily they run in circles. Of each the
thought is taken off (`text.thoughts`), and the grade is that of the last line, or of the whole answer where that line is none.
A reply that ran into its length was cut before its grade or behind it, nobody knows: it is never read. The score is the mean of
the grades that could be read, and there is none where none could.
"""

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

from ..generate.backend import Reply
from ..prompts import PromptTemplate
from ..storage import canonical_json
from ..text.thoughts import without_thoughts
from .asking import CUT_OFF, UNREADABLE, refused
from .judge import Verdict
from .verdict_text import parse_judge

# what DeepSeek-R1 and Qwen3 are asked with by their authors
TEMPERATURE = 0.6
# in place of the last paragraph of a shipped prompt, which asks for the grade alone
ENDING = "You may think before you grade. Then end with one line that has the grade only, {grades}:\n{purpose} grade: [number]"


def that_may_think(template: PromptTemplate, purpose: str) -> PromptTemplate:
    """A shipped prompt of a rubric that lets the model think and asks for a line with the grade at the end.

    Args:
        template: its last paragraph asks for the grade alone, and says after a comma which grades there are.
        purpose: what is graded.
    """
    before, _, last = template.text.rstrip().rpartition("\n\n")
    grades = last.partition(", ")[2].removesuffix(".")
    ending = ENDING.format(grades=grades, purpose=purpose.capitalize())
    return replace(template, name=f"{template.name}-thought", text=f"{before}\n\n{ending}")


def grade_behind_thought(reply: str, low: float, high: float) -> float | None:
    """The whole grade that closes the reply, or that its answer gives; None when it gives none."""
    answer = without_thoughts(reply).text.strip()
    for text in (answer.splitlines()[-1:], [answer]):
        grade = parse_judge("".join(text), low, high, integer_only=True)
        if grade is not None:
            return grade
    return None


def mean_verdict(replies: Sequence[Reply], low: float, high: float) -> Verdict:
    """The mean of the grades of several replies to one prompt; `raw` has each grade, null where there is none, and each reply."""
    answered = [reply for reply in replies if reply.finish_reason != "failed"]
    if not answered:
        return refused(replies[-1], len(replies))
    is_cut = [reply.finish_reason == "length" for reply in answered]
    grades = [
        None if cut else grade_behind_thought(reply.text, low, high)
        for cut, reply in zip(is_cut, answered, strict=True)
    ]
    raw = canonical_json({"grades": grades, "replies": [reply.text for reply in answered]})
    if readable := [grade for grade in grades if grade is not None]:
        return Verdict(round(fmean(readable), 6), raw=raw, attempts=len(replies))
    return Verdict(None, CUT_OFF if any(is_cut) else UNREADABLE, raw, len(replies))
