"""One reward from the scores that several judges gave a candidate.

A candidate that lacks a score lacks a reward: a mean over the remaining parts would compare different things.
"""

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ..config import JudgeOptions, RewardSection
from ..config.reward import WEIGHTED
from ..errors import DataError, RecipeError
from . import open_judge

Scores = Mapping[str, float | None]
Ranges = Mapping[str, Sequence[float]]

# parts mapped to [0, 1] -> the combined value
ON_UNIT_SCALE: dict[str, Callable[[list[float]], float]] = {
    "normalized_average": lambda parts: math.fsum(parts) / len(parts),
    "min": min,
    "product": math.prod,
    "harmonic": lambda parts: len(parts) / math.fsum(1 / part for part in parts) if min(parts) > 0 else 0.0,
}


def reward_ranges(reward: RewardSection, judges: Mapping[str, JudgeOptions]) -> Ranges:
    """Bounds of the scale of each judge of the reward, where the combination maps scores to [0, 1]; {} where it does not.

    Raises:
        RecipeError: such a judge's scale has no bounds.
    """
    if reward.combine not in ON_UNIT_SCALE:
        return {}
    opened = {name: open_judge(name, judges[name]) for name in reward.judges}
    unbounded = [name for name, judge in opened.items() if not math.isfinite(judge.high - judge.low)]
    if unbounded:
        raise RecipeError(
            f"reward.combine {reward.combine!r} maps scores to [0, 1], and the scale of {', '.join(map(repr, unbounded))} has no "
            "bounds; write combine: z_mean, or leave such judges out of the reward"
        )
    return {name: (judge.low, judge.high) for name, judge in opened.items()}


def widest_gap(reward: RewardSection, judges: Mapping[str, JudgeOptions]) -> float:
    """The most by which the rewards of two candidates can differ; infinite where a scale has no bounds, and for z-scores."""
    if reward.combine == "z_mean":
        return math.inf
    if reward.combine in ON_UNIT_SCALE:
        return 1.0
    opened = {name: open_judge(name, judges[name]) for name in reward.judges}
    # all candidates differ as much as their scores, whichever end of a scale is wanted
    spans = {name: judge.high - judge.low for name, judge in opened.items()}
    weights = {name: abs(reward.weights.get(name, 1.0)) for name in spans}
    return math.fsum(weights[name] * span for name, span in spans.items() if weights[name]) / math.fsum(
        weights.values()
    )


def combine_group(group: Sequence[Scores], reward: RewardSection, ranges: Ranges) -> list[float | None]:
    """The reward of each candidate of one request; None where a score is missing.

    "z_mean" first turns the scores of each judge into z-scores among the request's candidates (so that judges on different scales
    count alike), then takes their weighted mean. All others look at one candidate, see `combine_scores`.

    Args:
        group: each candidate's scores by judge; all name the same judges.
        reward: how to combine; without weights, the judges of "weighted" and "z_mean" count alike.
        ranges: as `reward_ranges` gives them.

    Raises:
        RecipeError: weights are given, but one is missing, or all are 0.
        DataError: a score is off its judge's scale.
    """
    if reward.combine not in WEIGHTED:
        method = "average" if reward.combine == "mean" else reward.combine
        return [combine_scores(scores, method, ranges=ranges) for scores in group]
    rows = z_scores(group) if reward.combine == "z_mean" else group
    return [combine_scores(row, "weighted", reward.weights or dict.fromkeys(row, 1.0)) for row in rows]


def z_scores(group: Sequence[Scores]) -> list[dict[str, float | None]]:
    """Each score minus the judge's mean over the group, in its standard deviations (of the population, not a sample's).

    Mean and deviation are over the candidates that have the score; where all are equal, z is 0.
    """
    rows: list[dict[str, float | None]] = [dict(scores) for scores in group]
    for judge in rows[0] if rows else ():
        known = np.array([value for row in rows if (value := row[judge]) is not None])
        # equal scores may have a deviation of 1e-17 instead of 0: compare the scores themselves
        spread = float(known.std()) if len(known) and known.min() < known.max() else 0.0
        for row in rows:
            value = row[judge]
            if value is not None:
                row[judge] = (value - float(known.mean())) / spread if spread else 0.0
    return rows


def combine_scores(
    scores: Scores,
    method: str,
    weights: Mapping[str, float] | None = None,
    ranges: Ranges | None = None,
) -> float | None:
    """One candidate's scores as one number; None when a part is missing.

    Source: the mean is that of Ri et al. 2025 (arXiv:2506.15925).

    Args:
        scores: the candidate's scores by judge.
        method: "average" or "weighted" of the raw scores; "normalized_average", "min", "product" or "harmonic" (0 if any
            part is 0) of the scores mapped to [0, 1] by (score - low) / (high - low).
        weights: weight of each judge, for "weighted": the sum of weight times score over the sum of the weights' absolute
            values, so that a negative weight can stand for something unwanted.
        ranges: low and high of each judge's scale, for the methods on [0, 1].

    Raises:
        RecipeError: the method is not known, a weight is missing, or all weights are 0.
        DataError: there is no score at all, or a range is missing, empty, or does not hold the score.
    """
    if not scores:
        raise DataError("there is no score to combine; a reward needs at least one judge")
    known = {judge: value for judge, value in scores.items() if value is not None}
    if method not in ("average", "weighted", *ON_UNIT_SCALE):
        raise RecipeError(f"combination {method!r} is not known; write average, weighted, {', '.join(ON_UNIT_SCALE)}")
    if len(known) < len(scores):
        return None
    if method == "average":
        return math.fsum(known.values()) / len(known)
    if method == "weighted":
        weights = weights or {}
        missing = [judge for judge in known if judge not in weights]
        if missing:
            raise RecipeError(
                f"reward.weights has no weight for judge {missing[0]!r}; give every judge of the reward one"
            )
        total = math.fsum(abs(weights[judge]) for judge in known)
        if total == 0:
            raise RecipeError("reward.weights are all 0; give at least one judge a weight")
        return math.fsum(weights[judge] * value for judge, value in known.items()) / total
    return ON_UNIT_SCALE[method]([_on_unit_scale(judge, value, ranges or {}) for judge, value in known.items()])


def _on_unit_scale(judge: str, value: float, ranges: Ranges) -> float:
    if judge not in ranges:
        raise DataError(f"score of judge {judge!r} cannot be mapped to [0, 1]: its scale is not given")
    low, high = ranges[judge]
    if not low < high:
        raise DataError(f"judge {judge!r}: a scale needs low < high, got ({low}, {high})")
    if not low <= value <= high:
        raise DataError(f"judge {judge!r}: score {value} is off its scale from {low} to {high}")
    return (value - low) / (high - low)
