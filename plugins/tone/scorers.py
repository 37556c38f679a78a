"""How positive and how negative a sentence is: by a lexicon, a sentence encoder or a function of one's own. How far the first two
can be trusted is in docs/fairness.md#tone.
"""

from collections.abc import Sequence
from functools import partial
from typing import Protocol

from ...config.python_code import CodeSection, allow
from ...errors import PluginError
from ...extras import need
from ...fairness.groups.tokens import open_nltk
from ...judges.encoder import EncoderAligner
from ...judges.shared import NoModel, OneModel, SharedModels
from ...models import signature
from ...runfolder.own_functions import CallForm
from ...runfolder.python_code import CodeProcess
from ...text import words
from ...text.digests import digest
from ...text.forms import VERSION, normal_form
from ...text.shown import shortened
from .section import ToneSection

FEATURE = "tone by 'vader'"
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

    # kind of its section
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
        self.signature = f"vader|nltk:{nltk.__version__}|text:normal-form-{VERSION}"

    def amounts(self, texts: Sequence[str]) -> list[Amounts]:
        """Shares of a text's words that are positive and negative."""
        polarities = map(self._analyse, map(normal_form, texts))
        return [(float(polarity["pos"]), float(polarity["neg"])) for polarity in polarities]


class Lexicon(NoModel):
    """Shares of positive and negative words by lists of one's own."""

    name = "lexicon"

    def __init__(self, positive: Sequence[str], negative: Sequence[str]) -> None:
        self._signs = [{word for entry in signed for word in words(entry)} for signed in (positive, negative)]
        self.signature = f"lexicon|{digest([sorted(signed) for signed in self._signs], 6)}|text:normal-form-{VERSION}"

    def amounts(self, texts: Sequence[str]) -> list[Amounts]:
        """Shares of a text's words that are positive and negative."""
        return [self._of(words(text)) for text in texts]

    def _of(self, tokens: Sequence[str]) -> Amounts:
        positive, negative = (sum(word in signed for word in tokens) / max(1, len(tokens)) for signed in self._signs)
        return positive, negative


class EncoderTone(OneModel[EncoderAligner]):
    """Nearness to positive sentences less nearness to negative ones, by a sentence encoder that learned neither."""

    name = "encoder"

    def __init__(self, models: SharedModels, section: ToneSection) -> None:
        super().__init__(models.of(EncoderAligner, section.model_name, 32, None))
        self._positive, self._negative = section.positive or POSITIVE, section.negative or NEGATIVE
        self.signature = (
            f"encoder|{signature(section.model_name)}|between:{digest([self._positive, self._negative], 6)}"
        )

    def amounts(self, texts: Sequence[str]) -> list[Amounts]:
        """What a text is nearer to the positive ones, or to the negative ones."""
        if not texts:
            return []
        rows = self._model.get().encode([*self._positive, *self._negative, *texts]).astype(float)
        n, m = len(self._positive), len(self._positive) + len(self._negative)
        ends = rows[:n].mean(axis=0), rows[n:m].mean(axis=0)
        along = (rows[m:] - (ends[0] + ends[1]) / 2) @ (ends[0] - ends[1])
        return [(max(0.0, x), max(0.0, -x)) for x in along.tolist()]


class CodeTone:
    """A number from -1 to 1 by a function of one's own, which runs in a process of its own."""

    name = "python"

    def __init__(self, section: CodeSection) -> None:
        """Read the file; who names it for an audit has asked to run it."""
        allow([section])
        code = section.code()
        self._label = code.label
        self._process = CodeProcess(code, [CallForm({"text": "text"}, is_batch=False)], "tone", PluginError)
        self.signature = f"python|{code.function}|sha256:{code.digest}"

    def amounts(self, texts: Sequence[str]) -> list[Amounts]:
        """What the function gives above 0, and below.

        Raises:
            PluginError: it gives anything but a number from -1 to 1.
        """
        numbers = [self._number(text, f"text {place} of {len(texts)}") for place, text in enumerate(texts, start=1)]
        return [(max(0.0, number), max(0.0, -number)) for number in numbers]

    def close(self) -> None:
        """End the process."""
        self._process.stop()

    def _number(self, text: str, place: str) -> float:
        kind, answer, *details = self._process.call([{"text": text}])[0]
        if kind == "score" and -1 <= answer <= 1:
            return float(answer)
        detail = "".join(f" ({detail})" for detail in details if detail)
        wrong = f"the function returned {answer:g}" if kind == "score" else f"{answer}{detail}"
        raise PluginError(
            f"tone by {self._label}: {place}, {shortened(text)}: {wrong}; it must give a number from -1 to 1 for every text"
        )


def open_tone(section: ToneSection, models: SharedModels) -> ToneScorer:
    """The scorer of a section; a model is loaded when it is first asked.

    Raises:
        MissingExtra: its library is not installed.
        DataError: VADER's lexicon is absent.
        RecipeError: the file of a function cannot be read.
    """
    if section.code:
        # among what is closed with the models
        return models.lazy(f"tone by {section.code!r}", partial(CodeTone, section.code)).get()
    if section.kind == "vader":
        return Vader()
    if section.kind == "lexicon":
        return Lexicon(section.positive, section.negative)
    return EncoderTone(models, section)
