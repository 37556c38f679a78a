"""The plane of two judges as the page draws it: what is better lies to the right and above, whichever way a judge counts."""

from collections.abc import Sequence
from dataclasses import replace

from ....number import Number
from ...pages.charts import Axis, PlaneMark, PlanePlot, scale
from ...pages.numbers import places_for
from .contents import JudgeNote, Plane, PlanePoint


def drawn(plane: Plane, quality: JudgeNote, fairness: JudgeNote) -> PlanePlot:
    """A plane with its axes."""
    styles = {label: style for style, label in enumerate(dict.fromkeys(point.label for point in plane.points))}
    return PlanePlot(
        _axis(quality, [point.quality for point in plane.points]),
        _axis(fairness, [point.fairness for point in plane.points]),
        tuple(
            PlaneMark(p.name, styles[p.label], p.quality, p.fairness, p.standing == "on the front")
            for p in plane.points
        ),
    )


def caution(judges: Sequence[JudgeNote]) -> str:
    """A caution about an axis that the reward alone measures, in a sentence; "" where there is none."""
    names = [judge.name for judge in judges if judge.role == "reward"]
    sentence = f"Of the reward alone: {' and '.join(names)}. What was chosen by a score cannot be proven by it."
    return sentence if names else ""


def standing(point: PlanePoint) -> str:
    """The standing in words, with who beats the system."""
    if not point.behind:
        return point.standing
    first, *rivals = point.behind
    beat = f"{first} and {len(rivals)} more beat it" if rivals else f"{first} beats it"
    return f"{point.standing}: {beat}{'' if point.standing == 'off the front' else ', by the means alone'}"


def _axis(judge: JudgeNote, numbers: Sequence[Number]) -> Axis:
    is_lower = judge.better == "lower"
    values = [value for mean in numbers for value in (mean.value, mean.low, mean.high)]
    turned = replace(scale(values, most_ticks=4), is_reversed=is_lower)
    return Axis(judge.name, is_lower, turned, places_for(mean.value for mean in numbers))
