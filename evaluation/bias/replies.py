"""What a model's reply is: a summary, cleaned of the line that announces it, or no summary at all.

Nothing is repaired or put in its place. Source: Steen and Markert 2024, section 6, appendix G; docs/papers.md#steen-prompts.
"""

from dataclasses import dataclass

from ...generate.refusals import is_refusal
from ...text import has_words

# most words of a first line that announces the summary ("Here is a short summary of the text:")
MOST_ANNOUNCING = 15

EMPTY, REFUSED = "empty", "refused"
ANNOUNCED, CUT_OFF = "announced", "cut off"


@dataclass(frozen=True)
class Read:
    """A reply after cleaning."""

    # None when there is no summary
    text: str | None
    # why there is none
    reason: str | None
    # "announced": a first line was taken off; "cut off": the reply ran into the limit of tokens
    notes: tuple[str, ...] = ()


def read_reply(raw: str, finish_reason: str = "stop") -> Read:
    """The summary in a model's reply; None for an empty one and for one that opens with a refusal."""
    text = raw.strip()
    if not has_words(text):
        return Read(None, EMPTY)
    if is_refusal(text):
        return Read(None, REFUSED)
    notes = (CUT_OFF,) if finish_reason == "length" else ()
    first, _, rest = text.partition("\n")
    if first.rstrip().endswith(":") and rest.strip() and len(first.split()) <= MOST_ANNOUNCING:
        return Read(rest.strip(), None, (ANNOUNCED, *notes))
    return Read(text, None, notes)
