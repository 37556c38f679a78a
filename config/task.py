"""The documents, and what is asked of the model about them."""

from typing import Any, Literal

from pydantic import Field, model_validator

from .section import Section


class SplitSection(Section):
    """Which document sets of the corpus, and how many of them."""

    # the sets whose own `split` has this name; None takes what the seeded split by topic gives
    split: str | None = None
    # first so many sets in corpus order; None takes all
    limit: int | None = Field(default=None, ge=1)
    # so many requests, drawn with the recipe's seed (for training: anew in each round); None takes all
    sample: int | None = Field(default=None, ge=1)


class CorpusSection(Section):
    """The documents, and which sides there are."""

    # a bundled corpus ("sample" of disputes, "reviews" of products), or a JSON-lines file of document sets
    path: str = "sample"
    # social attribute by which documents are grouped
    attribute: str = "stance"
    # the attribute values that summaries are asked for; None takes every value of a set
    sides: tuple[str, ...] | None = None
    train: SplitSection = SplitSection(split="train")
    test: SplitSection = SplitSection(split="test")
    # share of the topics that a seeded split holds back for the test, when the corpus names no split
    test_share: float = Field(default=0.25, gt=0, lt=1)

    @model_validator(mode="after")
    def _sides_differ(self) -> "CorpusSection":
        twice = sorted({side for side in self.sides or () if (self.sides or ()).count(side) > 1})
        if twice:
            raise ValueError(f"sides names {', '.join(twice)} more than once; name each side once")
        return self


class TaskSection(Section):
    """What is asked of the model."""

    # "side": a summary of each side's documents alone; "all": one summary of all documents, fair to every side
    scope: Literal["side", "all"] = "side"
    # a shipped template or a file with the fields {documents} {topic} {length}, and {side} {opening} {begin} for scope: side;
    # scope: all takes "all-sides" unless another is named
    template: str = "perspective"
    # words a summary opens with; {side} is the capitalised side; None asks for none, as scope: all does
    opening: str | None = "The {side}"
    # number of sentences asked for; None asks for none, as scope: all does
    sentences: int | None = Field(default=1, ge=1)

    @model_validator(mode="before")
    @classmethod
    def _scope_has_defaults(cls, given: Any) -> Any:
        if isinstance(given, dict) and given.get("scope") == "all":
            return {"template": "all-sides", "opening": None, "sentences": None} | given
        return given

    @model_validator(mode="after")
    def _opening_has_a_side(self) -> "TaskSection":
        if self.scope == "all" and self.opening and "{side}" in self.opening:
            raise ValueError("opening names {side}, but scope: all asks for one summary of all sides; leave it out")
        return self
