"""How judges become a reward, and the reward preference pairs."""

from typing import Literal

from pydantic import Field, field_validator
from pydantic_core import PydanticKnownError

from .pair_modes import CORE, PAIR_RULES, PairRules
from .section import Section, refuse_without_effect

# combinations that weights belong to
WEIGHTED = ("weighted", "z_mean")


class RewardSection(Section):
    """How judges become one reward."""

    # the judges of the reward: their names in `judges`
    judges: tuple[str, ...] = Field(min_length=1)
    # of raw scores: "mean", as Ri et al. 2025 (arXiv:2506.15925) rerank, and "weighted";
    # of scores mapped to [0, 1] by the bounds of each judge's scale: "normalized_average", "min" (the worst judge decides),
    # "product", and "harmonic", the harmonic mean, 0 where a score is at its lowest;
    # of z-scores within the request: "z_mean", weighted if weights are given
    combine: Literal["mean", "weighted", "z_mean", "normalized_average", "min", "product", "harmonic"] = "mean"
    # weight of each judge, for `weighted` and `z_mean`; below 0 for what is not wanted
    weights: dict[str, float] = Field(default_factory=dict)

    def refuse(self) -> None:
        """Weights must fit the combination."""
        if self.combine not in WEIGHTED and self.weights:
            raise ValueError(
                f"weights have no effect with combine: {self.combine}; write combine: weighted or z_mean, or leave them out"
            )
        absent = [name for name in self.judges if name not in self.weights]
        if absent and (self.weights or self.combine == "weighted"):
            raise ValueError(f"weights has no weight for judge {absent[0]!r}")
        if self.weights and not any(self.weights[name] for name in self.judges):
            raise ValueError("weights are all 0")


class PairsSection(Section):
    """Which candidates are compared in training."""

    # "all": every unordered pair; "best_k": the k widest; "top_bottom": the widest, best against worst by the reward;
    # or a way that a plug-in brings: "fairpo", the fairest against the unfairest of three summaries, of all documents and of two
    # thinned sets
    mode: str = "top_bottom"
    # pairs kept of a request, for best_k
    k: int = Field(default=10, ge=1)
    # smallest reward gap
    least_margin: float = Field(default=0.0, ge=0)
    # pairs whose longer summary has more than this many times the words of the shorter are left out; None keeps all
    most_length_ratio: float | None = Field(default=None, ge=1)
    # leave out pairs whose chosen summary breaks the output contract
    chosen_keeps_contract: bool = True
    # for a plug-in's way: the judge that compares summaries, for fairpo an equal-coverage judge; its name in `judges`. Margins
    # are its scores then
    judge: str | None = None
    # fairpo: pairs count in the loss by the square root of their margin: the published margin-weighted baseline, except that
    # weights are relative to their mean in the step, there in the file
    margin_weights: bool = False

    @field_validator("mode")
    @classmethod
    def _is_known(cls, mode: str) -> str:
        if mode not in PAIR_RULES:
            modes = [repr(name) for name in PAIR_RULES]
            raise PydanticKnownError("literal_error", {"expected": f"{', '.join(modes[:-1])} or {modes[-1]}"})
        return mode

    @property
    def rules(self) -> PairRules:
        """Rules of the mode."""
        return PAIR_RULES[self.mode]

    @property
    def is_own(self) -> bool:
        """Whether the mode is a package's."""
        return self.mode not in CORE

    def most_pairs(self, n_candidates: int, n_draws: int) -> int:
        """Most pairs of a request, of so many candidates and so many draws."""
        most = self.rules.most_pairs(n_candidates, n_draws)
        return min(most, self.k) if self.mode == "best_k" else most

    def refuse(self) -> None:
        """Options must be those of the mode."""
        compares = self.rules.judge
        if compares and self.judge is None:
            raise ValueError(f"mode: {self.mode} needs the name of {compares}; write judge: NAME")
        for key, is_set in (("judge", self.judge is not None), ("margin_weights", self.margin_weights)):
            if is_set and not compares:
                others = "".join(f"write mode: {name}, or " for name in PAIR_RULES if PAIR_RULES[name].judge)
                raise ValueError(f"{key} has no effect with mode: {self.mode}; {others}leave it out")
        refuse_without_effect(self, ("k",), self.mode == "best_k", "with mode: best_k")
