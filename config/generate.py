"""How candidates are made."""

from typing import Any, Literal

from pydantic import Field, ValidationError, model_validator

from ..records import Sampling
from .fair_extractive import FairExtractiveSection
from .methods import (
    METHOD_OPTIONS,
    AttentionReweightingSection,
    ChainOfThoughtSection,
    DebateSection,
    SelfRefineSection,
    ShuffledSection,
    ThinnedSection,
)
from .model import BackendSection


class Plan(Sampling):
    """A named way of drawing candidates, and how many of them."""

    # candidates of one request under this plan
    candidates: int = Field(default=3, ge=1)

    @model_validator(mode="after")
    def _repeats_must_differ(self) -> "Plan":
        if self.temperature == 0 and self.candidates > 1:
            raise ValueError(
                f"temperature 0 is greedy and gives {self.candidates} equal candidates; "
                "write candidates: 1 or a temperature above 0"
            )
        return self

    @model_validator(mode="after")
    def _something_looks_at_the_prompt(self) -> "Plan":
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


class GenerateSection(BackendSection):
    """How candidates are made."""

    # how a candidate is made, see docs/methods.md
    method: Literal[
        "zero-shot",
        "self-refine",
        "debate",
        "attention-reweighting",
        "shuffled",
        "chain-of-thought",
        "thinned",
        "fair-extractive",
    ] = "zero-shot"
    # options of the method that is chosen; the others must be absent
    self_refine: SelfRefineSection | None = None
    debate: DebateSection | None = None
    attention_reweighting: AttentionReweightingSection | None = None
    shuffled: ShuffledSection | None = None
    chain_of_thought: ChainOfThoughtSection | None = None
    thinned: ThinnedSection | None = None
    fair_extractive: FairExtractiveSection | None = None
    # fair-extractive draws nothing: it has a plan for each of its summaries, which the recipe leaves out
    plans: dict[str, Plan] = Field(min_length=1)
    # interpreter of the generation process, when vLLM lives in another environment
    python: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _method_has_options(cls, values: Any) -> Any:
        """The chosen method's options spelled out, so that a resolved recipe shows them; so are the plans of extraction."""
        key = METHOD_OPTIONS.get(str(values.get("method"))) if isinstance(values, dict) else None
        if key and values.get(key) is None:
            values = {**values, key: {}}
        return {**values, "plans": _extraction_plans(values)} if key == "fair_extractive" else values

    @model_validator(mode="after")
    def _options_are_the_methods(self) -> "GenerateSection":
        for method, key in METHOD_OPTIONS.items():
            if method != self.method and getattr(self, key) is not None:
                raise ValueError(
                    f"{key} has no effect with method: {self.method}; write method: {method}, or leave it out"
                )
        return self

    @model_validator(mode="after")
    def _method_can(self) -> "GenerateSection":
        if self.attention_reweighting is not None and self.backend != "transformers":
            raise ValueError(
                f"method attention-reweighting changes the model's attention, which backend: {self.backend} does not allow; "
                "write backend: transformers"
            )
        if self.debate is not None:
            self._refuse_plans(self.debate)
        greedy = [name for name, plan in self.plans.items() if plan.temperature == 0]
        if self.thinned is not None and self.thinned.regenerate is not None and greedy:
            raise ValueError(
                f"plans.{greedy[0]}: temperature 0 is greedy, so thinned.regenerate would draw the same again; write a "
                "temperature above 0, or leave thinned.regenerate out"
            )
        return self

    def _refuse_plans(self, debate: DebateSection) -> None:
        for name, plan in self.plans.items():
            if plan.temperature == 0:
                raise ValueError(
                    f"plans.{name}: temperature 0 is greedy, so all agents of a debate would say the same; "
                    "write a temperature above 0"
                )
            if debate.final == "judge" and plan.candidates % debate.agents:
                raise ValueError(
                    f"plans.{name}: with debate.final: judge each of the {debate.agents} agents gives a candidate, got "
                    f"candidates: {plan.candidates}; write a multiple of {debate.agents}"
                )

    @property
    def has_model(self) -> bool:
        """Whether a language model writes the candidates."""
        return self.backend != "scripted" and self.fair_extractive is None

    @property
    def n_candidates(self) -> int:
        """Candidates of one request over all plans."""
        return sum(plan.candidates for plan in self.plans.values())


def _extraction_plans(values: dict[str, Any]) -> dict[str, Any]:
    """A plan for each summary that fair extraction makes, in place of those that stand in a resolved recipe."""
    if values.get("plans") is not None and not _are_extractions(values["plans"]):
        raise ValueError("plans have no effect with method: fair-extractive, which draws nothing; leave them out")
    try:
        names = FairExtractiveSection.model_validate(values["fair_extractive"]).names
    except ValidationError:
        # is reported where it stands
        names = ("any",)
    return {name: EXTRACTED.model_dump() for name in names}


def _are_extractions(plans: Any) -> bool:
    """Whether these are plans such as extraction has, under whatever names: the mixes of another recipe."""
    try:
        return isinstance(plans, dict) and all(Plan.model_validate(plan) == EXTRACTED for plan in plans.values())
    except ValidationError:
        return False
