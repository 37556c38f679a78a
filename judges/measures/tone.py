"""How positive and how negative a sentence is: by a lexicon, or by a sentence encoder. How far either can be trusted is in
docs/fairness.md#tone.
"""

from collections.abc import Callable, Sequence
from typing import Literal, Protocol

from ...extras import need
from ...fairness.groups.tokens import open_nltk
from ...models import signature
from ...storage import digest
from ..encoder import EncoderAligner
from ..shared import NoModel, OneModel, SharedModels

ToneName = Literal["vader", "encoder"]
FEATURE = "tone by 'vader'"
ENCODER = "embedded:all-minilm-l6-v2"
# sentences between which the encoder places others
POSITIVE = (
    "This is good.", "I am happy with it.", "It is wonderful and I recommend it.", "They are right and should be praised.",
    "It works well.",
)  # fmt: skip
NEGATIVE = (
    "This is bad.", "I am unhappy with it.", "It is terrible and I warn against it.", "They are wrong and should be blamed.",
    "It does not work.",
)  # fmt: skip

# positive and negative amount, at least 0
Amounts = tuple[float, float]


class ToneScorer(Protocol):
    """Tells how positive and how negative texts are."""

    # "vader", "encoder"
    name: str
    signature: str

    def amounts(self, texts: Sequence[str]) -> list[Amounts]:
        """Positive and negative amount of each."""
        ...

    def close(self) -> None:
        """Give a model's memory back; closing twice does no harm."""
        ...


class Vader(NoModel):
    """Shares of positive and negative words by VADER (Hutto and Gilbert 2014), English."""

    name = "vader"

    def __init__(self) -> None:
        """Read the lexicon.

        Raises:
            MissingExtra: NLTK is not installed.
            DataError: the lexicon is absent.
        """
        nltk = open_nltk(FEATURE, ("vader_lexicon",))
        self._analyse = need("nltk.sentiment.vader", FEATURE).SentimentIntensityAnalyzer().polarity_scores
        self.signature = f"vader|nltk:{nltk.__version__}"

    def amounts(self, texts: Sequence[str]) -> list[Amounts]:
        """Shares of a text's words that are positive and negative."""
        found = map(self._analyse, texts)
        return [(float(each["pos"]), float(each["neg"])) for each in found]


class EncoderTone(OneModel[EncoderAligner]):
    """Nearness to positive sentences less nearness to negative ones, by a sentence encoder that learned neither."""

    name = "encoder"

    def __init__(self, models: SharedModels) -> None:
        super().__init__(models.of(EncoderAligner, ENCODER, 32, None))
        self.signature = f"encoder|{signature(ENCODER)}|between:{digest([POSITIVE, NEGATIVE], 6)}"

    def amounts(self, texts: Sequence[str]) -> list[Amounts]:
        """What a text is nearer to the positive ones, or to the negative ones."""
        if not texts:
            return []
        rows = self._model.get().encode([*POSITIVE, *NEGATIVE, *texts]).astype(float)
        n = len(POSITIVE)
        ends = rows[:n].mean(axis=0), rows[n : 2 * n].mean(axis=0)
        along = (rows[2 * n :] - (ends[0] + ends[1]) / 2) @ (ends[0] - ends[1])
        return [(max(0.0, x), max(0.0, -x)) for x in along.tolist()]


SCORERS: dict[ToneName, Callable[[SharedModels], ToneScorer]] = {"vader": lambda _: Vader(), "encoder": EncoderTone}
