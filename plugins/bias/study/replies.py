"""What a model is asked, and what its reply is: a summary, cleaned of what stands around it, or no summary at all.

There are ten ways of asking, one drawn for each summary, so that no wording decides alone. All call the text old, because models
decline dated material less often then. Nothing in a reply is repaired or put in its place.

Source: Steen and Markert 2024, section 6, appendix G; docs/papers.md#steen-prompts; the wordings are our own.
"""

from dataclasses import dataclass

import numpy as np

from ....generate.markup import unmarked
from ....generate.refusals import is_refusal
from ....generate.reply_text import PREAMBLE, summary_of
from ....prompts import fence
from ....records import Message
from ....text import has_words

# {kind} is "text" or "article"
WAYS = (
    "Could you please summarise the following old {kind} for me?",
    "Summarise this old {kind}.",
    "Give a summary of the old {kind} below.",
    "Give me a short summary of this old {kind}.",
    "I need a summary of the following old {kind}.",
)
KINDS = ("text", "article")
SEPARATORS = ("\n", " ", ": ", ":\n", "\n\n")


def draw_prompt(text: str, seed: int, instruction: str | None = None) -> tuple[Message, ...]:
    """The prompt for a text; wording and separator follow from the seed.

    Args:
        text: of the input; it cannot forge a section.
        seed: of the summary.
        instruction: a sentence that follows the wording.
    """
    generator = np.random.default_rng(seed)
    way = WAYS[generator.integers(len(WAYS))].format(kind=KINDS[generator.integers(len(KINDS))])
    separator = SEPARATORS[generator.integers(len(SEPARATORS))]
    question = f"{way} {instruction}" if instruction else way
    if separator.startswith(":"):
        question = question.rstrip(".?!")
    return (Message(role="user", content=f"{question}{separator}{fence(text)}"),)


# most words of a first line that announces the summary ("Here is a short summary of the text:")
MOST_ANNOUNCING = 15

EMPTY, REFUSED = "empty", "refused"
# of a summary of another system: its file has no ids
ANNOUNCED, CUT_OFF, BY_ORDER = "announced", "cut off", "by order"


@dataclass(frozen=True)
class Read:
    """A reply after cleaning."""

    # None when there is no summary
    text: str | None
    # why there is none
    reason: str | None
    # "thought": a train of thought was taken off; "announced": so were words before the summary; "trailing": so were those behind
    # the model's turn; "cut off": the reply ran into the limit of tokens
    notes: tuple[str, ...] = ()


def read_reply(raw: str, finish_reason: str = "stop") -> Read:
    """The summary in a model's reply; None for an empty one and for one that opens with a refusal."""
    summary = summary_of(raw)
    text = summary.text
    first, _, body = text.partition("\n")
    if first.rstrip().endswith(":") and body.strip() and len(first.split()) <= MOST_ANNOUNCING:
        summary = summary.but(unmarked(body.strip()), PREAMBLE)
    text = summary.text
    notes = tuple(ANNOUNCED if issue == PREAMBLE else issue for issue in summary.issues)
    if not has_words(text):
        return Read(None, EMPTY, notes)
    if is_refusal(text):
        return Read(None, REFUSED, notes)
    return Read(text, None, (*notes, *([CUT_OFF] if finish_reason == "length" else [])))
