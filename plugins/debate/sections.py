"""What a recipe says of a debate."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar, Literal

from pydantic import Field

from ...config.methods import MethodSection, Plan, StepFields
from ...config.section import Section, refuse_fields, refuse_without_effect
from ...records import is_none


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


class DebateSection(MethodSection):
    """Agents that answer, then revise their answers in sight of the others'."""

    # what its prompts quote of the turns before
    steps: ClassVar[Mapping[str, StepFields]] = MappingProxyType(
        {
            "revise": StepFields(frozenset({"answer", "others", "answers", "number"}), (("others", "answers"),)),
            "final": StepFields(frozenset({"answers"}), (("answers",),)),
        }
    )

    # agents that answer in each round
    agents: int = Field(default=3, ge=2)
    # revisions after the first answers
    rounds: int = Field(default=3, ge=1)
    # "first": the first agent's last answer; "final_agent": one more call that sees all last answers; "judge": each agent's last
    # answer is a candidate of its own, and reranking takes the best, so a plan has as many candidates as agents, or a multiple
    final: Literal["first", "final_agent", "judge"] = "first"
    # prompts of the user's own
    prompts: DebatePrompts | None = Field(default=None, exclude_if=is_none)

    @property
    def n_linked(self) -> int:
        """The agents of a debate, where all are candidates."""
        return self.agents if self.final == "judge" else 1

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
