"""Sampling plans, and the options of the core's methods, which make candidates; those of others are with them.

Each method's section says what the method can do: nothing else in a recipe asks which method it is.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

from pydantic import Field, model_validator

from ..records import Sampling
from .section import Section


class Plan(Sampling):
    """A named way of drawing candidates, and how many of them."""

    # candidates of one request under this plan
    candidates: int = Field(default=3, ge=1)

    @model_validator(mode="after")
    def _makes_sense(self) -> "Plan":
        if self.temperature == 0 and self.candidates > 1:
            raise ValueError(
                f"temperature 0 is greedy and gives {self.candidates} equal candidates; "
                "write candidates: 1 or a temperature above 0"
            )
        if self.include_prompt and not self.looks_back:
            raise ValueError(
                "include_prompt says what repetition_penalty and no_repeat_ngram_size look at, and neither is set; "
                "set one, or leave include_prompt out"
            )
        return self

    @property
    def sampling(self) -> Sampling:
        """The sampling parameters without the number of candidates."""
        return Sampling(**self.model_dump(exclude={"candidates"}))


# the plan of a summary that is not drawn
EXTRACTED = Plan(temperature=0.0, candidates=1)


class StepFields(NamedTuple):
    """The fields of a prompt that users may write for a step, besides those of a request."""

    known: frozenset[str]
    # of each of these it must ask for one
    needed: tuple[tuple[str, ...], ...]


class MethodSection(Section):
    """The options of a method, and what a recipe has to know of it; a method without options has this one."""

    # whether rounds can train on its candidates, which answer the request's own prompt then
    can_train: ClassVar[bool] = False
    # whether sets that were not trained on are summarised by it; else they are by zero-shot
    for_unseen: ClassVar[bool] = True
    # what it makes besides a candidate for each draw, in words; "" for nothing
    copies: ClassVar[str] = ""
    # the `pairs.mode` that compares the summaries of those; "" where there is none
    pairs_mode: ClassVar[str] = ""
    # whether it shows a model the documents in another order, form or choice than the request's own prompt
    lays_out_anew: ClassVar[bool] = False
    # whether a language model writes its candidates; else it draws nothing, and has a plan for each of its `names`
    asks_model: ClassVar[bool] = True
    # steps for which users may name files, which stand under `prompts`
    steps: ClassVar[Mapping[str, StepFields]] = MappingProxyType({})

    @property
    def names(self) -> tuple[str, ...]:
        """What each candidate of a request is called, of a method that asks no model."""
        return ("summary",)

    @property
    def n_linked(self) -> int:
        """Candidates that come of one run of the method, and are not independent of each other."""
        return 1

    @property
    def asks_again(self) -> bool:
        """Whether the options, and not its prompts, have it ask more than once for a candidate."""
        return False

    def chosen(self) -> dict[str, Any]:
        """The options that summaries depend on, as JSON; of files of prompts their text counts, and not where they are."""
        return self.model_dump(mode="json", exclude={"prompts": set(self.steps)} if self.steps else None)

    def step_file(self, step: str) -> str | None:
        """The file that the user names for the prompt of a step; None for the shipped words."""
        return getattr(getattr(self, "prompts", None), step, None)

    def refuse_backend(self, backend: str) -> None:
        """Refuse a backend by which the method cannot work.

        Raises:
            ValueError: it cannot.
        """

    def refuse_plans(self, plans: Mapping[str, Plan]) -> None:
        """Refuse plans that the method cannot draw by.

        Raises:
            ValueError: there is one.
        """

    def scope_mistake(self, scope: str) -> str | None:
        """Why the method cannot do what is asked of it by this `task.scope`; None when it can."""
        return None


class ZeroShotSection(MethodSection):
    """One answer to the request's own prompt."""

    can_train: ClassVar[bool] = True
