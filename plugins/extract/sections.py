"""What a recipe may say of the judge that grades against an extract."""

from typing import ClassVar, Literal

from pydantic import Field

from ...config.needs import AskingSection, Purpose
from ...config.section import refuse_without_effect


class ExtractJudge(AskingSection):
    """Extract-then-evaluate: an LLM grades the summary against the sentences of a long text that matter for it."""

    kind: Literal["extract"]
    meaning: ClassVar[str] = (
        "A language model grades the summary against those sentences of a long text that matter for it."
    )
    # what chooses sentences: by position, by embeddings, by entailment, by common words
    extractors: tuple[Literal["lead", "similarity", "entailment", "rouge"], ...] = Field(
        default=("lead", "similarity", "entailment", "rouge"), min_length=1
    )
    # model of "similarity": a sentence encoder; Hugging Face id, local folder, or "embedded:all-minilm-l6-v2"
    encoder: str = "embedded:all-minilm-l6-v2"
    # branch, tag or commit of a Hugging Face id
    encoder_revision: str | None = None
    # model of "entailment": an NLI classifier
    nli: str = "cross-encoder/nli-deberta-v3-base"
    # branch, tag or commit of a Hugging Face id
    nli_revision: str | None = None
    # words of the extract between white space; a text of no more words is judged whole
    most_words: int = Field(default=2000, ge=1)
    # "expected": mean grade under the model's distribution over the grades; "greedy": one whole grade, read from the reply
    scoring: Literal["expected", "greedy"] = "expected"
    # greedy only: attempts with a new seed and temperature 0.7 before the candidate is left unscored
    max_attempts: int = Field(default=3, ge=1)
    # a prompt longer than backend.max_model_len: leave the candidate unscored, cut the source and say so, or stop
    overflow: Literal["skip", "truncate", "error"] = "skip"
    # texts or pairs that an extractor runs at a time
    batch_size: int = Field(default=32, ge=1)

    @property
    def libraries(self) -> tuple[str, ...]:
        """Libraries of its extractors."""
        needed = {
            "lead": (),
            "similarity": ("sentence_transformers",),
            "entailment": ("torch", "transformers"),
            "rouge": ("rouge_score",),
        }
        return tuple(dict.fromkeys(library for extractor in self.extractors for library in needed[extractor]))

    @property
    def models(self) -> dict[str, str]:
        """Models of its extractors, by key."""
        model_by_key = {"encoder": self.encoder} if "similarity" in self.extractors else {}
        return model_by_key | ({"nli": self.nli} if "entailment" in self.extractors else {})

    @property
    def says(self) -> Purpose:
        """Two of its three grades are of consistency and faithfulness."""
        return "faithfulness"

    @property
    def bases(self) -> list[str]:
        """The language model that grades; extractors only choose what it is shown."""
        return [f"the model {self.model.name}"]

    def refuse(self) -> None:
        """Extractors must be named once, and options be those of the named ones."""
        super().refuse()
        if len(set(self.extractors)) < len(self.extractors):
            raise ValueError(f"extractors {list(self.extractors)} name one twice; write each once")
        for keys, extractor in (
            (("encoder", "encoder_revision"), "similarity"),
            (("nli", "nli_revision"), "entailment"),
        ):
            refuse_without_effect(self, keys, extractor in self.extractors, f"with extractor {extractor}")
        refuse_without_effect(self, ("max_attempts",), self.scoring == "greedy", "with scoring: greedy")
