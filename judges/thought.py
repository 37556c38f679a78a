"""Grades after a thought: the model may think before it grades, within a budget, and several replies are averaged.

A reply is drawn with some temperature, as models that think are meant to be asked: greedily they run in circles. Of each the
thought is taken off (`text.thoughts`), and what is left must close with a line that is a grade, or begin with one where marks say
that the thought was over. A grade that the thought speaks of is none; what a chat template opened and the model never closed is
all thought. A reply that ran into its length was cut before its grade or behind it, nobody knows: it is never read. The score is
the mean of the grades that could be read, and there is none where none could.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

from ..generate.answers import written_choice
from ..generate.backend import Reply
from ..prompts import PromptTemplate
from ..records import Sampling
from ..text.digests import canonical_json
from ..text.thoughts import without_thoughts
from .asking import CUT_OFF, UNREADABLE, refused
from .judge import Verdict

# what DeepSeek-R1 and Qwen3 are asked with by their authors
TEMPERATURE, TOP_P = 0.6, 0.95
# in place of the last paragraph of a shipped prompt, which asks for the grade alone
ENDING = "You may think before you grade. Then end with one line that has the grade only, {grades}:\n{purpose} grade: [number]"
# what models lay around a grade besides what may stand around any choice
WRAPPING = re.compile(r"\\boxed|\b(?:coverage|faithfulness)\s+(?=grade)", re.IGNORECASE)


def thinking(most_tokens: int) -> Sampling:
    """How a reply of so many tokens is drawn, thought and grade."""
    return Sampling(temperature=TEMPERATURE, top_p=TOP_P, max_tokens=most_tokens)


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


def grade_behind_thought(reply: Reply, grades: Sequence[str]) -> float | None:
    """The grade that the reply gives behind its thought; None when it gives none or was cut off.

    Args:
        reply: what the model wrote.
        grades: from the lowest to the highest, as a model writes them.
    """
    if reply.finish_reason != "stop":
        return None
    plain = without_thoughts(f"<think>{reply.text}" if reply.begins_in_thought else reply.text)
    # figures and colons of other scripts are those of this one
    answer = WRAPPING.sub("", unicodedata.normalize("NFKC", plain.text)).strip()
    *_, last_line = ["", *answer.splitlines()]
    grade = written_choice(last_line, grades) or (written_choice(answer, grades) if plain.has_thought else None)
    return None if grade is None else float(grade)


def mean_verdict(replies: Sequence[Reply], grades: Sequence[str]) -> Verdict:
    """The mean of the grades of several replies to one prompt.

    Its `raw` has the grade of each, null where there is none, and the text of each, null where there was no reply.
    """
    is_failed = [reply.finish_reason == "failed" for reply in replies]
    if all(is_failed):
        return refused(replies[-1], len(replies))
    drawn = [grade_behind_thought(reply, grades) for reply in replies]
    texts = [None if failed else reply.text for failed, reply in zip(is_failed, replies, strict=True)]
    raw = canonical_json({"grades": drawn, "replies": texts})
    if readable := [grade for grade in drawn if grade is not None]:
        return Verdict(round(fmean(readable), 6), raw=raw, attempts=len(replies))
    was_cut = any(reply.finish_reason == "length" for reply in replies)
    return Verdict(None, CUT_OFF if was_cut else UNREADABLE, raw, len(replies))
