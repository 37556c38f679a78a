"""What a recipe may say of judges that their authors released.

Most are metrics: judges with a trained model of their own, which is no language model that is asked. The default of `model` is
what Ri et al. 2025 used (docs/papers.md#ri-metrics).
"""

from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from ...config.model import refuse_no_room
from ...config.needs import PURPOSES, SPLITTER_LIBRARIES, AskingSection, Purpose, SplitterName, TextJudgeSection


class FineSurEJudge(AskingSection):
    """FineSurE: an LLM that checks each sentence of the summary for errors, or each key fact for its place in the summary."""

    kind: Literal["finesure"]
    meaning: ClassVar[str] = (
        "A language model checks sentences for errors, or key facts for their place in the summary: a share from 0 to 1."
    )
    # "faithfulness": share of the summary's sentences without error; "completeness": share of the key facts found in the summary;
    # "conciseness": share of the summary's sentences that hold a key fact. The last two need against: key_points
    measure: Literal["faithfulness", "completeness", "conciseness"] = "faithfulness"
    # longest reply in tokens; a reply that is cut off cannot be read
    most_reply_tokens: int = Field(default=512, ge=16)
    # attempts with a new seed and temperature 0.7 before the candidate is left unscored
    max_attempts: int = Field(default=3, ge=1)
    # a prompt longer than backend.max_model_len: leave the candidate unscored, cut the source and say so, or stop
    overflow: Literal["skip", "truncate", "error"] = "skip"

    @property
    def says(self) -> Purpose | None:
        """What its measure tells, coverage or faithfulness; how concise a summary is tells neither."""
        purposes: dict[str, Purpose] = {"faithfulness": "faithfulness", "completeness": "coverage"}
        return purposes.get(self.measure)

    def refuse(self) -> None:
        """A measure must have its text, and a prompt its room."""
        super().refuse()
        if self.measure != "faithfulness" and self.against != "key_points":
            raise ValueError(f"measure {self.measure} counts key facts; write against: key_points")
        if self.measure != "faithfulness" and self.overflow == "truncate":
            raise ValueError(
                f"measure {self.measure} must not lose a key fact; write overflow: skip or overflow: error"
            )
        refuse_no_room(self.most_reply_tokens, self.backend)


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
                "evenhand judges convert summac writes, or write variant: zs"
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
    # a folder that `evenhand judges convert bleurt` wrote, or any BERT or RemBERT with one output; no released one is, so there
    # is no default
    model: str

    @property
    def scale(self) -> None:
        """A regression may say anything."""
        return None
