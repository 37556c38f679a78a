"""Dialogues cut into segments of a number of word tokens.

The released rule does not charge the turn that overflows to the segment it opens, so segments can exceed the limit, and a first
turn over the limit leaves an empty segment. `exact` does neither. Drop empty segments before scoring.
Source: Zhang et al. 2024, section 4; docs/papers.md#zhang-dialogue.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...errors import DataError
from .nltk_data import open_nltk


@dataclass(frozen=True)
class SpokenTurn:
    """What one speaker says at once."""

    speaker: str
    paragraphs: tuple[str, ...]

    @property
    def text(self) -> str:
        """`speaker : text`, paragraphs joined by one space; the speaker's name counts as words."""
        return f"{self.speaker} : {' '.join(self.paragraphs)}"


def word_counter(feature: str = "dialogue segmentation", folder: Path | None = None) -> Callable[[str], int]:
    """A function that counts NLTK's word tokens of a text, as the released code does.

    Args:
        feature: what words are counted for, as the errors should name it.
        folder: where NLTK's data lies; None reads `EVENHAND_NLTK`.

    Raises:
        MissingExtra: NLTK is not installed.
        DataError: its sentence model is absent.
    """
    tokenize = open_nltk(feature, ("punkt_tab",), folder).word_tokenize
    return lambda text: len(tokenize(text))


def segment_dialogue(
    turns: Sequence[SpokenTurn], most_tokens: int, count: Callable[[str], int], *, exact: bool = False
) -> list[list[str]]:
    """The turns' texts, segment by segment, in order.

    Args:
        turns: of the whole dialogue.
        most_tokens: limit of a segment; published sets have 2000 (court) and 1500 (debates).
        count: word tokens of a text, see `word_counter`.
        exact: charge a turn to the segment it opens, and emit no empty segment.

    Raises:
        DataError: the limit is below 1.
    """
    if most_tokens < 1:
        raise DataError(f"a segment holds at least 1 token, got a limit of {most_tokens}")
    segments: list[list[str]] = []
    current: list[str] = []
    counted = 0
    for turn in turns:
        length = count(turn.text)
        counted += length
        if counted > most_tokens:
            if current or not exact:
                segments.append(current)
            current = []
            counted = length if exact else 0
        current.append(turn.text)
    if current:
        segments.append(current)
    return segments
