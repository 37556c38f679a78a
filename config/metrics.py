"""What a recipe may say of metrics: judges with a trained model of their own, which is no language model that is asked.

The default of `model` is what Ri et al. 2025 used (docs/papers.md#ri-metrics).
"""

from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from .needs import PURPOSES, SPLITTER_LIBRARIES, Purpose, SplitterName, TextJudgeSection


class MetricSection(TextJudgeSection):
    """What all metrics share."""

    # Hugging Face id or local folder
    model: str
    # branch, tag or commit of a Hugging Face id
    revision: str | None = None
    # texts or pairs run at a time
    batch_size: int = Field(default=32, ge=1)

    @property
    def libraries(self) -> tuple[str, ...]:
        """What runs its model."""
        return ("torch", "transformers")

    @property
    def models(self) -> dict[str, str]:
        """Its own."""
        return {"model": self.model}


class BertScoreJudge(MetricSection):
    """BERTScore: each token's best cosine with a token of the other text, mean over the tokens."""

    kind: Literal["bertscore"]
    meaning: ClassVar[str] = (
        "Similarity of the words' contexts in summary and text, at most 1; blind to negation, and to who says what."
    )
    model: str = "microsoft/deberta-large-mnli"
    # "recall": over the text's tokens; "precision": over the summary's; "fmeasure": their harmonic mean
    measure: Literal["recall", "precision", "fmeasure"] = "recall"
    # longest text in tokens that is read at once, if the model takes it; a longer one is read in windows, and the judgement says
    # so. Attention's memory grows with the square of it: with the default model's 16 heads one matrix of 4096 tokens takes 1 GiB,
    # and it holds several
    most_tokens: int = Field(default=4096, ge=16)
    # windows of up to 512 tokens run at a time; of longer ones fewer
    batch_size: int = Field(default=16, ge=1)

    @property
    def scale(self) -> tuple[float, float]:
        """That of cosines."""
        return -1.0, 1.0

    @property
    def says(self) -> Purpose | None:
        """That of its measure; their harmonic mean says neither."""
        return PURPOSES.get(self.measure)


class SplittingMetricSection(MetricSection):
    """A metric that reads texts sentence by sentence, each of which the text is to support."""

    # "nltk" for scores that are compared with published ones; needs the extra `fairness` and NLTK's data, which
    # `evenhand models fetch nltk` gets
    splitter: SplitterName = "sentencex"

    @property
    def says(self) -> Purpose:
        """Support by the text."""
        return "faithfulness"

    @property
    def libraries(self) -> tuple[str, ...]:
        """What runs its model, and what splits."""
        return (*super().libraries, *SPLITTER_LIBRARIES[self.splitter])


class SummacJudge(SplittingMetricSection):
    """SummaC: entailment of each summary sentence by each sentence of the text."""

    kind: Literal["summac"]
    meaning: ClassVar[str] = (
        "How well sentences of the text entail those of the summary; says nothing of what is left out."
    )
    # with "nltk" the texts are read as the authors' code reads them: no sentence of ten characters and less, the first hundred of
    # the text, and by conv the first ten of the summary
    splitter: SplitterName = "sentencex"
    model: str = "tals/albert-xlarge-vitaminc-mnli"
    # "zs": best sentence of the text, mean over the summary's; "conv": a trained read-out of their histogram
    variant: Literal["zs", "conv"] = "zs"
    # name of the model's class that means entailment, as its config.json has it; None: "entailment" or "supports"
    label: str | None = None
    # conv only: the trained read-out, a safetensors file
    weights: Path | None = None

    def refuse(self) -> None:
        """Weights are the trained read-out's alone."""
        if self.variant == "conv" and self.weights is None:
            raise ValueError(
                "variant conv needs weights, because an untrained read-out scores at random; name the safetensors file that "
                "evenhand convert summac writes, or write variant: zs"
            )
        if self.variant == "zs" and self.weights is not None:
            raise ValueError("weights have no effect with variant: zs; write variant: conv, or leave them out")


class UniEvalJudge(SplittingMetricSection):
    """UniEval's consistency: for each sentence of the summary, whether it agrees with the text."""

    kind: Literal["unieval"]
    meaning: ClassVar[str] = (
        "A model's answer from 0 to 1 to a question about the summary, such as whether it is consistent with the text."
    )
    model: str = "MingZhong/unieval-sum"
    # longest question in tokens; the end of a longer text is left out, and the judgement says so
    most_tokens: int = Field(default=1024, ge=32)
    batch_size: int = Field(default=8, ge=1)


class MiniCheckJudge(SplittingMetricSection):
    """MiniCheck: whether a chunk of the text supports the whole summary, best chunk."""

    kind: Literal["minicheck"]
    meaning: ClassVar[str] = (
        "Chance from 0 to 1 that the text supports each sentence, their mean; says nothing of what is left out."
    )
    model: str = "lytang/MiniCheck-Flan-T5-Large"
    # words of a chunk, at most, unless a single sentence has more
    chunk_words: int = Field(default=500, ge=1)
    # longest question in tokens; the end of a chunk in a longer one is left out, and the judgement says so
    most_tokens: int = Field(default=2048, ge=32)
    batch_size: int = Field(default=8, ge=1)


class BleurtJudge(MetricSection):
    """BLEURT: a trained regression on text and summary together."""

    kind: Literal["bleurt"]
    meaning: ClassVar[str] = "A trained similarity of the summary to a text, about 0 to 1; blind to who says what."
    # a folder that `evenhand convert bleurt` wrote, or any BERT or RemBERT with one output; no released one is, so there is no
    # default
    model: str

    @property
    def scale(self) -> None:
        """A regression may say anything."""
        return None


Metric = BertScoreJudge | SummacJudge | UniEvalJudge | MiniCheckJudge | BleurtJudge
