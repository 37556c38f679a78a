"""The benchmark of judges as a picture: correlation and winrate of each judge with each attribute, with their intervals."""

from dataclasses import dataclass

from ..pages.charts import Scale, scale
from ..pages.html import page_environment
from .benchmark import ATTRIBUTES, Attribute, Benchmark, BenchmarkRow, Statistic
from .scoring import LENGTH

# statistic -> its name in the picture, and what a judge that knows nothing would get
PLOTTED = {"spearman_pooled": ("Spearman\u2019s \u03c1, pooled", 0.0), "winrate_macro": ("winrate by article", 0.5)}


@dataclass(frozen=True)
class Mark:
    """A judge's dot; places in per cent of the panel's width."""

    judge: str
    # None when there is nothing to plot
    at: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class BenchmarkPanel:
    """One statistic of one attribute, a row for each judge."""

    attribute: Attribute
    statistic: str
    scale: Scale
    marks: tuple[Mark, ...]
    # where knowing nothing and where the length baseline stand, in per cent
    nothing: float
    length: float | None


def benchmark_panels(found: Benchmark) -> list[BenchmarkPanel]:
    """The panels of all articles together; those of one statistic have one axis."""
    panels = []
    for name, (title, nothing) in PLOTTED.items():
        rows = [row for row in found.rows if row.side is None]
        values = (v for row in rows for v in _values(getattr(row, name)))
        axis = scale([*values, nothing])
        for attribute in ATTRIBUTES:
            panels.append(_panel([row for row in rows if row.attribute == attribute], name, title, axis, nothing))
    return panels


def render_plot(found: Benchmark) -> str:
    """The picture as SVG; everything from data is escaped."""
    environment = page_environment()
    return environment.get_template("benchmark.svg.j2").render(found=found, panels=benchmark_panels(found))


def _panel(rows: list[BenchmarkRow], name: str, title: str, axis: Scale, nothing: float) -> BenchmarkPanel:
    marks = tuple(Mark(row.judge, *(_at(axis, value) for value in _values(getattr(row, name)))) for row in rows)
    length = next((mark.at for mark in marks if mark.judge == LENGTH), None)
    return BenchmarkPanel(rows[0].attribute, title, axis, marks, axis.at(nothing), length)


def _values(statistic: Statistic) -> tuple[float | None, ...]:
    return statistic.value, statistic.low, statistic.high


def _at(axis: Scale, value: float | None) -> float | None:
    return None if value is None else axis.at(value)
