"""What a recipe may say of metrics: judges with a trained model of their own, which is no language model that is asked.

The default of `model` is what Ri et al. 2025 used (docs/papers.md#ri-metrics).
"""

from typing import ClassVar, Literal

from pydantic import Field

from .needs import PURPOSES, SPLITTER_LIBRARIES, Purpose, SplitterName, TextJudgeSection


class MetricSection(TextJudgeSection):
    """Base of the sections of metrics: a model, and how many texts it reads at a time."""

    # Hugging Face id or local folder
    model: str
    # branch, tag or commit of a Hugging Face id
    revision: str | None = None
    # texts or pairs run at a time
    batch_size: int = Field(default=32, ge=1)

    @property
    def libraries(self) -> tuple[str, ...]:
        """Libraries that run its model."""
        return ("torch", "transformers")

    @property
    def models(self) -> dict[str, str]:
        """Model of the metric."""
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
        """Bounds of a cosine."""
        return -1.0, 1.0

    @property
    def says(self) -> Purpose | None:
        """Purpose of its measure; None for the harmonic mean of both."""
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
        """Libraries that run its model and split its texts."""
        return (*super().libraries, *SPLITTER_LIBRARIES[self.splitter])
