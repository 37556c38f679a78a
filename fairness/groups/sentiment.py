"""The sentiment labels of the Yelp sets: VADER's larger proportion.

Source: Zhang et al. 2024, section 4; docs/papers.md#zhang-data.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ...extras import need
from .nltk_data import open_nltk


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
        found = self._analyse(text)
        neg, pos = float(found["neg"]), float(found["pos"])
        return Sentiment(sentiment_label(neg, pos), neg, pos)
