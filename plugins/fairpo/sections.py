"""The method of FairPO in a recipe: summaries of thinned sets."""

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field

from ...config.methods import MethodSection, Plan
from ...config.section import Section

# the method that `pairs.mode: fairpo` needs
THINNED = "thinned"


class RegenerationSection(Section):
    """Summaries that are drawn once more, because they are far too short or too long; the defaults are the published values."""

    # those of at most this many white-space words, and of at least that many
    few_words: int = Field(default=35, ge=0)
    many_words: int = Field(default=75, ge=1)
    # the draw nearer to this many words is kept, the first of equals
    words: int = Field(default=50, ge=1)
    # most tokens of the second draw; the first has the plan's
    max_tokens: int = Field(default=256, ge=1)

    def refuse(self) -> None:
        """The wanted length must lie between the bounds."""
        if not self.few_words < self.words < self.many_words:
            raise ValueError(
                f"words lie between few_words and many_words, got {self.few_words}, {self.words}, {self.many_words}; "
                "published are few_words: 35, words: 50, many_words: 75"
            )


class ThinnedSection(MethodSection):
    """For training: a summary of all documents, and of copies of the set that lack some documents of one value."""

    can_train: ClassVar[bool] = True
    for_unseen: ClassVar[bool] = False
    copies: ClassVar[str] = "each thinned copy of a set"
    pairs_mode: ClassVar[str] = "fairpo"
    lays_out_anew: ClassVar[bool] = True

    # share of all documents that is taken from a copy, at least one document
    rate: float = Field(default=0.1, gt=0, lt=1)
    # a longer summary is cut after its last sentence that ends within this many characters, if that leaves half of them; the
    # published runs cut at 400. None cuts nothing
    most_characters: int | None = Field(default=None, ge=2)
    # the published runs do all of these three. A refusal and a text that speaks of "document 1" leave an empty summary and an
    # issue: "refusal" or "names_document". The judges `length` and `contract` give it 0; every other one leaves it unscored,
    # which counts towards limits.unscored
    reject: bool = False
    # lines of at most one character are dropped; of more than two lines the first, and of two where the second is longer
    # (issue "first_line"); the others are joined with spaces
    join_lines: bool = False
    # None draws nothing again
    regenerate: RegenerationSection | None = None

    def chosen(self) -> dict[str, Any]:
        """The options that summaries depend on, as JSON; those that are off are left out and change no finished work."""
        off = {name for name in ("reject", "join_lines", "regenerate") if not getattr(self, name)}
        return self.model_dump(mode="json", exclude=off)

    @property
    def asks_again(self) -> bool:
        """Where summaries are drawn once more."""
        return self.regenerate is not None

    def refuse_plans(self, plans: Mapping[str, Plan]) -> None:
        """A second draw must be able to differ."""
        greedy = [name for name, plan in plans.items() if plan.temperature == 0]
        if self.regenerate is not None and greedy:
            raise ValueError(
                f"plans.{greedy[0]}: temperature 0 is greedy, so thinned.regenerate would draw the same again; write a "
                "temperature above 0, or leave thinned.regenerate out"
            )

    def scope_mistake(self, scope: str) -> str | None:
        """Whole sets alone can be thinned."""
        return None if scope == "all" else "method thinned summarises whole sets; write task.scope: all"
