"""What a recipe may say of judges of opinions, and of fair extraction."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ...config.fairness import EntailerSection, FairnessJudgeSection
from ...config.methods import MethodSection
from ...config.section import Section


class OpinionGraphJudge(FairnessJudgeSection):
    """Opinion Interaction Graph: whether every opinion of the source keeps its share of units."""

    kind: Literal["opinion-graph"]
    meaning: ClassVar[str] = (
        "How unequally a summary shows the opinions of its documents, a Gini coefficient from 0 to 1; 0 is fair."
    )
    # what a summary could take over whole: "documents" for posts, "sentences" for longer texts; its sentences count where it has
    # no whole unit
    units: Literal["sentences", "documents"] = "sentences"
    # how units are attached to opinions, and what their similarity must exceed
    method: Literal["tfidf", "keyword_fraction"] = "tfidf"
    threshold: float = Field(default=0.0, ge=0, lt=1)
    # "auto": extractive if the summary is made of whole units of the source
    exposure: Literal["auto", "extractive", "abstractive"] = "auto"

    @property
    def libraries(self) -> tuple[str, ...]:
        """What finds opinions."""
        return ("networkx",)


class ContrastJudge(FairnessJudgeSection):
    """How much better the documents of the side that is asked for support the summary than the other sides' do."""

    kind: Literal["contrast"]
    meaning: ClassVar[str] = (
        "How much more the summary says what its side says than what the others do, as words or meaning tell."
    )
    scope: ClassVar[Literal["any", "side", "all"]] = "side"
    entailer: EntailerSection = EntailerSection()

    @property
    def scale(self) -> tuple[float, float]:
        """Nearer to the others' documents is below 0."""
        return -1.0, 1.0

    @property
    def better(self) -> Literal["higher", "lower"] | None:
        """Higher: the summary is nearer to its own side."""
        return "higher"

    def refuse(self) -> None:
        """Windows of one side must not depend on another's."""
        if self.entailer.dedupe == "sample":
            raise ValueError(
                "entailer.dedupe: sample removes what two sides say alike from the later one, so that the score would "
                "depend on the order of the documents; write dedupe: document"
            )


class MixSection(Section):
    """Two groups mixed in every proportion, the others fixed."""

    # the group that grows from 0 units in steps, and the one that shrinks
    first: str
    second: str
    step: int = Field(default=1, ge=1)
    # units of the other groups, the same in all summaries
    fixed: dict[str, Annotated[int, Field(ge=0)]] = Field(default_factory=dict)

    def refuse(self) -> None:
        """Each group must be named once."""
        if len({self.first, self.second, *self.fixed}) < 2 + len(self.fixed):
            raise ValueError(f"each group is named once, got {', '.join([self.first, self.second, *self.fixed])}")


class FairExtractiveSection(MethodSection):
    """Whole documents or sentences, chosen without a language model by a submodular objective under a quota for each group.

    Source: Dash et al. 2019; docs/papers.md#dash. Shandilya et al. 2020, section IV.A.
    """

    asks_model: ClassVar[bool] = False

    # units of a summary
    length: int = Field(default=5, ge=1)
    # a document, or a sentence of one; its group is the document's attribute value
    unit: Literal["document", "sentence"] = "document"
    # units of each group: "proportional" to its units, "equal", as `quotas` says ("custom"), whatever is best ("free"), or every
    # mix of two groups ("biased"): a candidate for each, whose bias is known by construction
    notion: Literal["proportional", "equal", "custom", "free", "biased"] = "proportional"
    # custom: units of each group, summing to `length`
    quotas: dict[str, Annotated[int, Field(ge=0)]] | None = None
    # biased: which groups are mixed
    mix: MixSection | None = None
    # "per_unit": every unit of the source finds something like it in the summary; "global": as the authors' program computes it
    coverage: Literal["per_unit", "global"] = "per_unit"

    def refuse(self) -> None:
        """A notion must have its numbers, and they must fit the length."""
        for key, notion in (("quotas", "custom"), ("mix", "biased")):
            if self.notion == notion and getattr(self, key) is None:
                raise ValueError(f"notion {notion} needs {key}; write it, or another notion")
            if self.notion != notion and getattr(self, key) is not None:
                raise ValueError(
                    f"{key} has no effect with notion: {self.notion}; write notion: {notion}, or leave it out"
                )
        if self.quotas is not None and sum(self.quotas.values()) != self.length:
            raise ValueError(f"quotas sum to {sum(self.quotas.values())}, but length is {self.length}; make them equal")
        free = self.length - sum(self.mix.fixed.values()) if self.mix else 0
        if free < 0:
            raise ValueError(f"mix.fixed sums to more than length {self.length}; write fewer, or a larger length")
        if self.mix is not None and self.mix.step > free:
            raise ValueError(
                f"mix.step is {self.mix.step}, but only {free} units are left to mix, so that there is a single mix; write a "
                "smaller step, or a larger length"
            )

    def scope_mistake(self, scope: str) -> str | None:
        """One summary of all sides."""
        if scope == "all":
            return None
        return "method fair-extractive chooses among the documents of all sides; write task.scope: all"

    @property
    def names(self) -> tuple[str, ...]:
        """What each candidate is called: the notion, or how many units the first of two mixed groups has."""
        if self.mix is None:
            return (self.notion,)
        free = self.length - sum(self.mix.fixed.values())
        return tuple(f"{self.mix.first} {n}" for n in range(0, free + 1, self.mix.step))
