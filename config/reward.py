"""How judges become a reward, and the reward preference pairs."""

from typing import Literal

from pydantic import Field

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
    # "fairpo": the fairest against the unfairest of three summaries, of all documents and of two thinned sets
    mode: Literal["all", "best_k", "top_bottom", "fairpo"] = "top_bottom"
    # pairs kept of a request, for best_k
    k: int = Field(default=10, ge=1)
    # smallest reward gap
    least_margin: float = Field(default=0.0, ge=0)
    # pairs whose longer summary has more than this many times the words of the shorter are left out; None keeps all
    most_length_ratio: float | None = Field(default=None, ge=1)
    # leave out pairs whose chosen summary breaks the output contract
    chosen_keeps_contract: bool = True
    # fairpo: the equal-coverage judge that says what is fair; its name in `judges`. Margins are its scores then
    judge: str | None = None
    # fairpo: pairs count in the loss by the square root of their margin: the published margin-weighted baseline, except that
    # weights are relative to their mean in the step, there in the file
    margin_weights: bool = False

    def refuse(self) -> None:
        """Options must be those of the mode."""
        if (self.mode == "fairpo") != (self.judge is not None):
            raise ValueError(
                "mode: fairpo needs the name of an equal-coverage judge; write judge: NAME"
                if self.mode == "fairpo"
                else f"judge has no effect with mode: {self.mode}; write mode: fairpo, or leave it out"
            )
        refuse_without_effect(self, ("k",), self.mode == "best_k", "with mode: best_k")
        if self.margin_weights and self.mode != "fairpo":
            raise ValueError(
                f"margin_weights has no effect with mode: {self.mode}; write mode: fairpo, or leave it out"
            )
