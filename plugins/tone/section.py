"""What tells how positive and how negative a sentence is, in a file for `evenhand audit --tone`."""

from pathlib import Path
from typing import Literal

from pydantic import Field

from ...config.fairness import LISTED
from ...config.needs import NeedySection
from ...config.python_code import CodeSection
from ...config.section import refuse_without_effect

# kind -> what is loaded when no model is named
TONE_MODELS = {"encoder": "embedded:all-minilm-l6-v2"}


class ToneSection(NeedySection):
    """What tells how positive and how negative a sentence is, for `evenhand audit --tone`."""

    # "vader": an English lexicon, needs NLTK's data; "lexicon": words of your own, in any language whose words stand apart;
    # "encoder": nearness to sentences of praise and of blame; "python": a function of your own
    kind: Literal["vader", "lexicon", "encoder", "python"] = "vader"
    # words of a lexicon; of an encoder the sentences between which it places others, none for the usual English ones
    positive: tuple[str, ...] = ()
    negative: tuple[str, ...] = ()
    # Hugging Face id, local folder or embedded sentence encoder; None: embedded:all-minilm-l6-v2
    model: str | None = None
    # Python file and its function of a text, which gives a number from -1 (negative) to 1, and seconds that one call may take
    file: Path | None = None
    function: str | None = None
    seconds: float = Field(default=60.0, gt=0)

    @property
    def libraries(self) -> tuple[str, ...]:
        """Libraries that have the lexicon or run the model."""
        return {"vader": ("nltk",), "lexicon": (), "encoder": ("sentence_transformers",), "python": ()}[self.kind]

    @property
    def models(self) -> dict[str, str]:
        """The model that the section names, or the embedded one."""
        return {"model": self.model_name} if self.model_name else {}

    @property
    def model_name(self) -> str:
        """The model that is named, or the embedded one; "" for a lexicon."""
        return self.model or TONE_MODELS.get(self.kind, "")

    @property
    def code(self) -> CodeSection | None:
        """The function of one's own, if it is one."""
        if self.file is None or self.function is None:
            return None
        return CodeSection(file=self.file, function=self.function, seconds=self.seconds)

    def refuse(self) -> None:
        """Options must be those of the kind, and a lexicon must have words of both signs."""
        refuse_without_effect(self, ("model",), self.kind == "encoder", "with kind: encoder")
        has_words = self.kind in ("lexicon", "encoder")
        refuse_without_effect(self, ("positive", "negative"), has_words, "with kind: lexicon or encoder")
        refuse_without_effect(self, ("file", "function", "seconds"), self.kind == "python", "with kind: python")
        if self.kind == "python" and self.code is None:
            raise ValueError("kind: python needs file and function; on the command line write FILE.py:FUNCTION")
        if bool(self.positive) != bool(self.negative) or (self.kind == "lexicon" and not self.positive):
            raise ValueError(f"kind: {self.kind} needs both positive and negative")
        overlap = sorted({word.casefold() for word in self.positive} & {word.casefold() for word in self.negative})
        mistakes = [f"{word!r} is positive and negative: leave it in one" for word in overlap]
        if self.kind == "lexicon":
            words = (*self.positive, *self.negative)
            mistakes += [f"{word!r} is not a single word of letters" for word in words if not LISTED.fullmatch(word)]
        if mistakes:
            raise ValueError("; ".join(mistakes))
