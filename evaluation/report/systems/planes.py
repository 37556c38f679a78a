"""The plane of two judges as the page draws it: what is better lies to the right and above, whichever way a judge counts."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...pages.charts import Scale, scale
from ...pages.numbers import places_for
from .contents import Estimate, JudgeNote, Plane, PlanePoint


@dataclass(frozen=True)
class Axis:
    """One judge's axis, with what is best at its end."""

    judge: JudgeNote
    scale: Scale
    # digits after the point of its numbers
    places: int


@dataclass(frozen=True)
class PlanePlot:
    """All systems in the plane of two judges."""

    quality: Axis
    fairness: Axis
    points: tuple[PlanePoint, ...]
    # label -> place in the page's palette of marks
    styles: dict[str, int]

    @property
    def front(self) -> list[tuple[float, float]]:
        """Places of the systems on the front, from left to right, counted from the lower left."""
        places = (
            (self.quality.scale.at(point.quality.mean), self.fairness.scale.at(point.fairness.mean))
            for point in self.points
            if point.standing == "on the front" and point.quality.mean is not None and point.fairness.mean is not None
        )
        return sorted(places)

    @property
    def caution(self) -> str:
        """What is to be kept in mind of an axis that the reward alone measures, in a sentence; "" where there is none."""
        names = [axis.judge.name for axis in (self.quality, self.fairness) if axis.judge.role == "reward"]
        said = f"Of the reward alone: {' and '.join(names)}. What was chosen by a score cannot be proven by it."
        return said if names else ""


def plane_plots(planes: Sequence[Plane], judges: Sequence[JudgeNote]) -> list[PlanePlot]:
    """A plot for each plane that has a point."""
    by_name = {judge.name: judge for judge in judges}
    plots = []
    for plane in planes:
        labels = dict.fromkeys(point.label for point in plane.points)
        if labels:
            plots.append(
                PlanePlot(
                    quality=_axis(by_name[plane.quality], [point.quality for point in plane.points]),
                    fairness=_axis(by_name[plane.fairness], [point.fairness for point in plane.points]),
                    points=plane.points,
                    styles={label: style for style, label in enumerate(labels)},
                )
            )
    return plots


def standing(point: PlanePoint) -> str:
    """The standing in words, with who beats the system."""
    if not point.behind:
        return point.standing
    first, *others = point.behind
    beat = f"{first} and {len(others)} more beat it" if others else f"{first} beats it"
    return f"{point.standing}: {beat}{'' if point.standing == 'off the front' else ', by the means alone'}"


def _axis(judge: JudgeNote, estimates: Sequence[Estimate]) -> Axis:
    values = [value for each in estimates for value in (each.mean, each.low, each.high)]
    found = replace(scale(values, most_ticks=4), is_reversed=judge.better == "lower")
    return Axis(judge, found, places_for(each.mean for each in estimates))
