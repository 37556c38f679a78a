"""How candidates are made."""

from typing import Any, Literal

from pydantic import Field, ValidationError, model_validator

from ..records import is_none
from .fairpo import ThinnedSection
from .methods import (
    EXTRACTED,
    AttentionReweightingSection,
    ChainOfThoughtSection,
    DebateSection,
    FairExtractiveSection,
    HierarchicalSection,
    MethodSection,
    Plan,
    SelfRefineSection,
    ShuffledSection,
)
from .model import ReplicatedSection
from .python_code import PythonMethodSection

# method -> key of its options
METHOD_OPTIONS = {
    "self-refine": "self_refine",
    "debate": "debate",
    "attention-reweighting": "attention_reweighting",
    "shuffled": "shuffled",
    "chain-of-thought": "chain_of_thought",
    "hierarchical": "hierarchical",
    "thinned": "thinned",
    "fair-extractive": "fair_extractive",
    "python": "code",
}


class GenerateSection(ReplicatedSection):
    """How candidates are made."""

    # how a candidate is made, see docs/methods.md
    method: Literal[
        "zero-shot",
        "self-refine",
        "debate",
        "attention-reweighting",
        "shuffled",
        "chain-of-thought",
        "hierarchical",
        "thinned",
        "fair-extractive",
        "python",
    ] = "zero-shot"
    # options of the method that is chosen; the others must be absent
    self_refine: SelfRefineSection | None = None
    debate: DebateSection | None = None
    attention_reweighting: AttentionReweightingSection | None = None
    shuffled: ShuffledSection | None = None
    chain_of_thought: ChainOfThoughtSection | None = None
    hierarchical: HierarchicalSection | None = None
    thinned: ThinnedSection | None = None
    fair_extractive: FairExtractiveSection | None = None
    code: PythonMethodSection | None = Field(default=None, exclude_if=is_none)
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

    def refuse(self) -> None:
        """Options must be those of the method, and the method must be able to do what is asked."""
        super().refuse()
        for method, key in METHOD_OPTIONS.items():
            if method != self.method and getattr(self, key) is not None:
                raise ValueError(
                    f"{key} has no effect with method: {self.method}; write method: {method}, or leave it out"
                )
        if self.attention_reweighting is not None and self.backend != "transformers":
            raise ValueError(
                f"method attention-reweighting changes the model's attention, which backend: {self.backend} does not allow; "
                "write backend: transformers"
            )
        if self.options:
            self.options.refuse_plans(self.plans)
        if self.server is not None:
            for plan in self.plans.values():
                self.server.refuse_drawing(plan)

    @property
    def options(self) -> MethodSection | None:
        """Those of the method; None for zero-shot, which has none."""
        key = METHOD_OPTIONS.get(self.method)
        return getattr(self, key) if key else None

    @property
    def can_train(self) -> bool:
        """Whether rounds can train on the candidates."""
        return self.options is None or self.options.can_train

    @property
    def unseen_method(self) -> str:
        """The method by which sets that were not trained on are summarised."""
        return self.method if self.options is None or self.options.for_unseen else "zero-shot"

    @property
    def has_model(self) -> bool:
        """Whether a language model writes the candidates."""
        return self.backend != "scripted" and self.fair_extractive is None

    @property
    def gpus_each(self) -> int:
        """GPUs that one engine takes where there are any; 0 without a model."""
        return super().gpus_each if self.has_model else 0

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
