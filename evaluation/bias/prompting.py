"""The prompts of a study: ten ways of asking, one drawn for each summary, so that no wording decides alone.

All call the text old, because models decline dated material less often then. Source: Steen and Markert 2024, section 6,
appendix G; docs/papers.md#steen-prompts; the wordings are our own.
"""

import numpy as np

from ...prompts import fence
from ...records import Message

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
    asked = f"{way} {instruction}" if instruction else way
    if separator.startswith(":"):
        asked = asked.rstrip(".?!")
    return (Message(role="user", content=f"{asked}{separator}{fence(text)}"),)
