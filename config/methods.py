"""Sampling plans, and the options of the methods that make candidates.

Each method's section says what the method can do: nothing else in a recipe asks which method it is.
"""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from ..records import Sampling, is_none
from .section import Section, refuse_fields, refuse_without_effect


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
        if self.include_prompt and self.repetition_penalty == 1 and not self.no_repeat_ngram_size:
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


class MethodSection(Section):
    """The options of a method."""

    # whether rounds can train on its candidates, which answer the request's own prompt then
    can_train: ClassVar[bool] = False
    # whether sets that were not trained on are summarised by it; else they are by zero-shot
    for_unseen: ClassVar[bool] = True
    # what it makes besides a candidate for each draw, in words; "" for nothing
    copies: ClassVar[str] = ""
    # whether it shows a model the documents in another order, form or choice than the request's own prompt
    lays_out_anew: ClassVar[bool] = False

    @property
    def asks_again(self) -> bool:
        """Whether the options, and not its prompts, have it ask more than once for a candidate."""
        return False

    def chosen(self) -> dict[str, Any]:
        """The options that summaries depend on, as JSON; of files of prompts their text counts, and not where they are."""
        return self.model_dump(mode="json", exclude={"prompts": {"feedback", "refine", "revise", "final"}})

    def refuse_plans(self, plans: Mapping[str, Plan]) -> None:
        """Refuse plans that the method cannot draw by.

        Raises:
            ValueError: there is one.
        """

    def scope_mistake(self, scope: str) -> str | None:
        """Why the method cannot do what is asked of it by this `task.scope`; None when it can."""
        return None


class SelfRefinePrompts(Section):
    """Files with the whole prompt of a step, in place of the shipped words."""

    # with {summary}, and {task} or {documents}
    feedback: str | None = None
    # with {summary}, {feedback}, and {task} or {documents}
    refine: str | None = None


class DebatePrompts(Section):
    """Files with the whole prompt of a step, in place of the shipped words, and how they list answers."""

    # with {others} or {answers}, and {task} or {documents}; knows {answer}, the agent's own, and {number}
    revise: str | None = None
    # with {answers}, and {task} or {documents}
    final: str | None = None
    # how an answer stands in {others} and {answers}; knows {number}
    item: str = "{answer}"
    # what stands between two of them
    join: str = "\n"

    def refuse(self) -> None:
        """Answers are listed for a file, and a list must show them."""
        refuse_fields("prompts.item", self.item, ("answer", "number"), "answer")
        refuse_without_effect(
            self, ("item", "join"), bool(self.revise or self.final), "prompts.revise or prompts.final"
        )


class SelfRefineSection(MethodSection):
    """A summary, then rounds of feedback and revision."""

    # rounds after the first summary
    rounds: int = Field(default=3, ge=1)
    # most tokens of a feedback; summaries have the plan's max_tokens
    feedback_tokens: int = Field(default=512, ge=1)
    # prompts of the user's own
    prompts: SelfRefinePrompts | None = Field(default=None, exclude_if=is_none)


class DebateSection(MethodSection):
    """Agents that answer, then revise their answers in sight of the others'."""

    # agents that answer in each round
    agents: int = Field(default=3, ge=2)
    # revisions after the first answers
    rounds: int = Field(default=3, ge=1)
    # "first": the first agent's last answer; "final_agent": one more call that sees all last answers; "judge": each agent's last
    # answer is a candidate of its own, and reranking takes the best, so a plan has as many candidates as agents, or a multiple
    final: Literal["first", "final_agent", "judge"] = "first"
    # prompts of the user's own
    prompts: DebatePrompts | None = Field(default=None, exclude_if=is_none)

    def refuse(self) -> None:
        """A prompt of a step that is not taken would have no effect."""
        if self.prompts is not None and self.prompts.final is not None and self.final != "final_agent":
            raise ValueError(
                f"prompts.final has no effect with final: {self.final}; write final: final_agent, or leave it out"
            )

    def refuse_plans(self, plans: Mapping[str, Plan]) -> None:
        """Agents must differ, and each be a candidate where a judge decides."""
        for name, plan in plans.items():
            if plan.temperature == 0:
                raise ValueError(
                    f"plans.{name}: temperature 0 is greedy, so all agents of a debate would say the same; "
                    "write a temperature above 0"
                )
            if self.final == "judge" and plan.candidates % self.agents:
                raise ValueError(
                    f"plans.{name}: with debate.final: judge each of the {self.agents} agents gives a candidate, got "
                    f"candidates: {plan.candidates}; write a multiple of {self.agents}"
                )


class AttentionReweightingSection(MethodSection):
    """Position-invariant attention over the passages."""

    lays_out_anew: ClassVar[bool] = True

    # "target": the passages of the side that is asked for, the others come before them; "all": the passages of all sides, as
    # task.scope: all needs it
    mode: Literal["target", "all"] = "target"
    # false runs the same prompts on the same backend with ordinary attention: the control
    reweight: bool = True

    def scope_mistake(self, scope: str) -> str | None:
        """A mode that needs a side."""
        if scope == "all" and self.mode == "target":
            return (
                "attention_reweighting.mode target needs a side that is asked for, which task.scope: all does not have; write "
                "mode: all"
            )
        return None


class ShuffledSection(MethodSection):
    """One summary of each cyclic rotation of the side's documents, then all of them merged."""

    lays_out_anew: ClassVar[bool] = True

    # most rotations of a request, evenly spaced; None takes as many as the side has documents
    rotations: int | None = Field(default=None, ge=1)


class ChainOfThoughtSection(MethodSection):
    """Key points, a summary of them, a critique, a revision."""

    # most tokens of the key points and of the critique; summaries have the plan's max_tokens
    thought_tokens: int = Field(default=256, ge=1)


class HierarchicalSection(MethodSection):
    """Summaries of parts of the documents, and the summary of those."""

    lays_out_anew: ClassVar[bool] = True

    # documents of one side that are summarised together: 1 gives each document the same room; None, which needs task.scope: all,
    # gives it to each side
    per_part: int | None = Field(default=1, ge=1)
    # most tokens of a part's summary; the last one has the plan's max_tokens
    part_tokens: int = Field(default=64, ge=1)

    def scope_mistake(self, scope: str) -> str | None:
        """A single part, whose summary would be summarised."""
        if scope == "side" and self.per_part is None:
            return (
                "hierarchical.per_part null makes a part of each side, and with task.scope: side there is one; write a number of "
                "documents, or task.scope: all"
            )
        return None


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
