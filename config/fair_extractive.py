"""The options of fair extractive summaries: candidates without a language model.

Source: Dash et al. 2019; docs/papers.md#dash. Shandilya et al. 2020, section IV.A.
"""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from .section import Section


class MixSection(Section):
    """Two groups mixed in every proportion, the others fixed."""

    # the group that grows from 0 units in steps, and the one that shrinks
    first: str
    second: str
    step: int = Field(default=1, ge=1)
    # units of the other groups, the same in all summaries
    fixed: dict[str, Annotated[int, Field(ge=0)]] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _groups_differ(self) -> "MixSection":
        if len({self.first, self.second, *self.fixed}) < 2 + len(self.fixed):
            raise ValueError(f"each group is named once, got {', '.join([self.first, self.second, *self.fixed])}")
        return self


class FairExtractiveSection(Section):
    """Whole documents or sentences, chosen without a language model by a submodular objective under a quota for each group."""

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

    @model_validator(mode="after")
    def _notion_has_its_numbers(self) -> "FairExtractiveSection":
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
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """What each candidate is called: the notion, or how many units the first of two mixed groups has."""
        if self.mix is None:
            return (self.notion,)
        free = self.length - sum(self.mix.fixed.values())
        return tuple(f"{self.mix.first} {n}" for n in range(0, free + 1, self.mix.step))
