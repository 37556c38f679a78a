"""What a recipe may say of fairness measures on texts: what tells who is in a summary, and the judges that it makes.

Default models are the published ones (docs/papers.md#zhang-neural and #li-entailment), except where no model hub can be
reached: `encoder` has the embedded sentence encoder.
"""

from collections.abc import Collection
from typing import Annotated, ClassVar, Literal

import regex
from pydantic import Field

from .model import LanguageModel, ModelSection, ReplicatedSection, refuse_for_training, refuse_no_room
from .needs import JudgeSection, NeedySection
from .section import refuse_without_effect

# kind -> what is loaded when no model is named
MATCHER_MODELS = {"bertscore": "FacebookAI/roberta-large", "bartscore": "facebook/bart-large-cnn"}
ENTAILER_MODELS = {"nli": "FacebookAI/roberta-large-mnli", "encoder": "embedded:all-minilm-l6-v2"}
# the basis of scores that no model makes
IN_COMMON = "words in common"

# names of the weights that bertscore's default layer and baseline belong to
ROBERTA_LARGE = ("FacebookAI/roberta-large", "roberta-large")


LISTED = regex.compile(r"\p{L}[\p{L}\p{M}]*")


class MatcherSection(NeedySection):
    """What tells how much of each value's text a summary takes up."""

    # "ngram": words, reduced as published; needs NLTK's data. "words": content words unchanged, needs nothing. "bertscore",
    # "bartscore": a model
    kind: Literal["ngram", "words", "bertscore", "bartscore"] = "ngram"
    # Hugging Face id or local folder; None: RoBERTa-large for bertscore, BART-large on CNN/DailyMail for bartscore
    model: str | None = None
    # branch, tag or commit of a Hugging Face id
    revision: str | None = None
    # of the softmax over the values' matching scores; the released script has 2
    temperature: float = Field(default=0.1, ge=0)
    # hidden layer of bertscore's model whose vectors are compared, and the precision of unrelated texts there, which becomes 0;
    # another model than the default needs its own
    layer: int = Field(default=17, ge=1)
    baseline: float = Field(default=0.83150584, lt=1)
    # what counts the sources of bertscore and bartscore; "ngram" as published, "words" without NLTK's data
    tokens: Literal["ngram", "words"] = "ngram"
    # stop words of ngram: those of "all" languages, as published, or the "english" ones
    stop_words: Literal["all", "english"] = "all"
    # a text longer than the model reads: cut its end and say so once, or stop
    on_overflow: Literal["truncate", "raise"] = "truncate"
    # texts or pairs that the model runs at a time
    batch_size: int = Field(default=8, ge=1)

    @property
    def counts_ngrams(self) -> bool:
        """Whether sources are counted in N-grams, which NLTK makes."""
        return self.kind == "ngram" or (self.has_model and self.tokens == "ngram")

    @property
    def libraries(self) -> tuple[str, ...]:
        """Libraries that run the model and make N-grams."""
        return (("torch", "transformers") if self.has_model else ()) + (("nltk",) if self.counts_ngrams else ())

    @property
    def models(self) -> dict[str, str]:
        """The model that the section names, or the published one."""
        return {"model": self.model_name} if self.has_model else {}

    @property
    def has_model(self) -> bool:
        """Whether matching runs a model."""
        return self.kind in MATCHER_MODELS

    @property
    def bases(self) -> list[str]:
        """The model, or words."""
        return super().bases or [IN_COMMON]

    @property
    def model_name(self) -> str:
        """The model that is named, or the published one; "" for a kind without."""
        return self.model or MATCHER_MODELS.get(self.kind, "")

    def refuse(self) -> None:
        """Options must be those of the kind, and a model other than the default needs its layer."""
        neural = ("model", "revision", "temperature", "tokens", "on_overflow", "batch_size")
        refuse_without_effect(self, neural, self.has_model, "with kind: bertscore or bartscore")
        refuse_without_effect(self, ("layer", "baseline"), self.kind == "bertscore", "with kind: bertscore")
        refuse_without_effect(self, ("stop_words",), self.counts_ngrams, "with tokens of kind ngram")
        unset = {"layer", "baseline"} - self.model_fields_set
        if self.kind == "bertscore" and self.model_name not in ROBERTA_LARGE and unset:
            raise ValueError(
                f"bertscore's layer 17 and baseline 0.8315 are those of RoBERTa-large; write {' and '.join(sorted(unset))} for "
                f"model {self.model_name!r} (baseline: 0 rescales nothing)"
            )


class SplitterSection(NeedySection):
    """A language model that splits a summary into units and rephrases them."""

    model: ModelSection
    backend: ReplicatedSection = ReplicatedSection()
    # longest reply in tokens; a reply that is cut off is not read
    most_reply_tokens: int = Field(default=384, ge=16)
    # attempts with a new seed and temperature 0.7 before the summary is left unscored
    max_attempts: int = Field(default=3, ge=1)

    @property
    def language_models(self) -> dict[str, LanguageModel]:
        """The one that it asks."""
        return {"": LanguageModel(self.model, self.backend)}

    def refuse(self) -> None:
        """The model must be one that is only asked, with room for a prompt."""
        refuse_for_training(self.model)
        refuse_no_room(self.most_reply_tokens, self.backend)


class EntailerSection(NeedySection):
    """What tells which units of a summary its documents entail."""

    # "nli": a classifier, as published; "encoder": cosine of sentence embeddings; "words": share of the unit's content words
    kind: Literal["nli", "encoder", "words"] = "encoder"
    # Hugging Face id, local folder or embedded model; None: RoBERTa-large-MNLI for nli, embedded:all-minilm-l6-v2 for encoder
    model: str | None = None
    # branch, tag or commit of a Hugging Face id
    revision: str | None = None
    # what units are: "rules": clauses and list items; "sentences": whole sentences; "llm": a language model's, as published
    units: Literal["rules", "sentences", "llm"] = "rules"
    # the language model of units: llm
    splitter: SplitterSection | None = None
    # what the documents are; says how units: llm asks, and which subjects it rewrites
    domain: Literal["reviews", "tweets", "articles", "claims"] = "reviews"
    # words that a window of neighbouring sentences stays below
    most_words: int = Field(default=100, ge=1)
    # where a window of equal text stands once: in its document, or in the whole set, as released
    dedupe: Literal["document", "sample"] = "document"
    # texts or pairs that the model runs at a time
    batch_size: int = Field(default=32, ge=1)

    @property
    def libraries(self) -> tuple[str, ...]:
        """Libraries that run the entailer's model."""
        return {"nli": ("torch", "transformers"), "encoder": ("sentence_transformers",), "words": ()}[self.kind]

    @property
    def models(self) -> dict[str, str]:
        """The model that the section names, or the default of its kind."""
        return {"model": self.model_name} if self.model_name else {}

    @property
    def bases(self) -> list[str]:
        """The model or words, and the splitter's model."""
        basis = f"the model {self.model_name}" if self.model_name else IN_COMMON
        return [basis, *(self.splitter.bases if self.splitter else [])]

    @property
    def model_name(self) -> str:
        """The model that is named, or the default of the kind; "" for words."""
        return self.model or ENTAILER_MODELS.get(self.kind, "")

    def refuse(self) -> None:
        """Options must be those of the kind and of the units."""
        refuse_without_effect(
            self, ("model", "revision", "batch_size"), self.kind != "words", "with kind: nli or encoder"
        )
        refuse_without_effect(self, ("splitter", "domain"), self.units == "llm", "with units: llm")
        if self.units == "llm" and self.splitter is None:
            raise ValueError("units: llm needs splitter, the language model that splits; write splitter: {model: ...}")


class FairnessJudgeSection(JudgeSection):
    """What all judges of fairness share: they read the documents of all values, each with its value; 0 is fair."""

    # all documents of the set, each with its value
    against: Literal["documents"] = "documents"

    @property
    def better(self) -> Literal["higher", "lower"] | None:
        """Lower: scores say how unfair a summary is."""
        return "lower"


class ValueSharesJudge(FairnessJudgeSection):
    """Shares of the values in the summary against those in the sources."""

    kind: Literal["value-shares"]
    meaning: ClassVar[str] = (
        "Whether each side gets the room that it is due. BUR (binary unfair rate): share of summaries in which one gets too "
        "little; UER (unfair error rate): points by which sides fall short; AUC: the share over all tolerances; 0 is fair."
    )
    scope: ClassVar[Literal["any", "side", "all"]] = "all"
    # "uer": mean of what the values lack (unfair error rate); "bur": 1 when any value lacks too much (binary unfair rate)
    measure: Literal["uer", "bur"] = "uer"
    # share of its due that a value must exceed, for bur
    tau: float = Field(default=0.8, ge=0, le=1)
    # which values take part and how ties count, see fairness/groups/shares.py
    mode: Literal["drop_zero", "released", "paper"] = "drop_zero"
    # what is due: the values' own shares in the sources, equal ones, or a weight for each value by its name, {left: 2, right: 1},
    # of which a set uses those of its own values; a set with a value that has no weight here is unscored
    target: Literal["ratio", "equal"] | dict[str, Annotated[float, Field(ge=0)]] = "ratio"
    matcher: MatcherSection = MatcherSection()

    @property
    def is_rate(self) -> bool:
        """A summary is unfair by BUR or not."""
        return self.measure == "bur"

    def unknown_values(self, values: Collection[str]) -> list[str]:
        """The values without a weight in `target`, where it weighs."""
        return sorted(set(values) - self.target.keys()) if isinstance(self.target, dict) else []

    def refuse(self) -> None:
        """The threshold is BUR's alone, and a target must compare values."""
        refuse_without_effect(self, ("tau",), self.measure == "bur", "with measure: bur")
        if isinstance(self.target, dict) and (len(self.target) < 2 or not any(self.target.values())):
            raise ValueError(
                f"target {self.target} weighs values against each other: name at least 2, one of them with a weight above 0"
            )


class EqualCoverageJudge(FairnessJudgeSection):
    """Equal Coverage: whether the summary says as much of every value's documents."""

    kind: Literal["equal-coverage"]
    meaning: ClassVar[str] = (
        "How unequally a summary covers the documents of the sides, the mean gap from 0 to 1; 0 is fair."
    )
    scope: ClassVar[Literal["any", "side", "all"]] = "all"
    # "released": gated entailment, units that mean the same taken as one; "paper": neither
    mode: Literal["released", "paper"] = "released"
    # a summary of fewer units is unscored
    fewest_units: int = Field(default=3, ge=1)
    entailer: EntailerSection = EntailerSection()
