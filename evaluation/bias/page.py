"""The report of a bias study as one self-contained page: no script, nothing fetched, everything from data escaped."""

import math
from dataclasses import dataclass

import yaml

from ..charts import Scale, scale
from ..page import page_environment, page_style
from .contents import BiasReport, Measure, readable
from .markdown import group_rows, how_told
from .numbers import all_bounds, bounds, lean, score, signed_score


@dataclass(frozen=True)
class Plot:
    """A figure that is 0 when fair, with its interval over documents, on an axis of its own."""

    mean: float
    # an infinite bound is drawn to the end of the axis
    low: float | None
    high: float | None
    scale: Scale


def render_page(report: BiasReport) -> str:
    """The report as HTML."""
    environment = page_environment()
    environment.filters |= {"score": score, "signed_score": signed_score, "bounds": bounds, "all_bounds": all_bounds}
    return environment.get_template("bias.html.j2").render(
        report=report,
        style=page_style(),
        level=round(100 * report.level),
        group_rows=group_rows(report),
        how=how_told(report),
        lean=lean,
        tone=tone,
        plot=plot,
        recipe=yaml.safe_dump(report.recipe, sort_keys=False, allow_unicode=True),
    )


def tone(measure: Measure) -> str:
    """Name of the mark's colour: "worse" for a bias that is seen, else "unsure"."""
    return "worse" if measure.verdict == "leans" else "unsure"


def plot(measure: Measure) -> Plot | None:
    """The signed figure of a measure, or its score when that has a sign; None when it is undefined or infinite."""
    value, intervals = (
        (measure.signed.value, measure.signed.intervals) if measure.signed else (measure.score, measure.intervals)
    )
    mean = readable(value)
    if mean is None or math.isinf(mean):
        return None
    drawn = next((each for each in intervals if each.unit == "document"), None)
    low, high = (readable(drawn.low), readable(drawn.high)) if drawn else (None, None)
    reach = max(abs(each) for each in (mean, low, high) if each is not None and math.isfinite(each))
    if low is None or high is None:
        low = high = None
    return Plot(mean, low, high, scale([-reach, reach], zero=True, most_ticks=5))
