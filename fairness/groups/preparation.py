"""How the papers' sets were prepared: VADER's sentiment labels of reviews, and dialogues cut into segments.

The released rule for segments does not charge the turn that overflows to the segment it opens, so segments can exceed the limit,
and a first turn over the limit leaves an empty segment. `exact` does neither. Drop empty segments before scoring.

Source: Zhang et al. 2024, section 4; docs/papers.md#zhang-data and #zhang-dialogue.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ...errors import DataError
from ...extras import need
from .tokens import open_nltk


@dataclass(frozen=True)
class Sentiment:
    """A label and the proportions it rests on, each in [0, 1]."""

    label: Literal["pos", "neu", "neg"]
    neg: float
    pos: float


def sentiment_label(neg: float, pos: float) -> Literal["pos", "neu", "neg"]:
    """The larger proportion wins, a tie is negative, none at all is neutral; the compound score plays no part."""
    if neg == pos == 0:
        return "neu"
    return "pos" if pos > neg else "neg"


class SentimentLabeller:
    """VADER, read once."""

    def __init__(self, folder: Path | None = None) -> None:
        """Read the lexicon.

        Raises:
            MissingExtra: NLTK is not installed.
            DataError: the lexicon is absent.
        """
        open_nltk("the sentiment labels", ("vader_lexicon",), folder)
        self._analyse = (
            need("nltk.sentiment.vader", "the sentiment labels").SentimentIntensityAnalyzer().polarity_scores
        )

    def __call__(self, text: str) -> Sentiment:
        """The label of a review."""
        scores = self._analyse(text)
        neg, pos = float(scores["neg"]), float(scores["pos"])
        return Sentiment(sentiment_label(neg, pos), neg, pos)


@dataclass(frozen=True)
class SpokenTurn:
    """What one speaker says at once."""

    speaker: str
    paragraphs: tuple[str, ...]

    @property
    def text(self) -> str:
        """`speaker : text`, paragraphs joined by one space; the speaker's name counts as words."""
        return f"{self.speaker} : {' '.join(self.paragraphs)}"


def word_counter(feature: str = "dialogue segmentation") -> Callable[[str], int]:
    """A function that counts NLTK's word tokens of a text, as the released code does.

    Args:
        feature: what words are counted for, as the errors should name it.

    Raises:
        MissingExtra: NLTK is not installed.
        DataError: its sentence model is absent.
    """
    tokenize = open_nltk(feature, ("punkt_tab",)).word_tokenize
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
