"""Blocks that reports and comparisons of systems share: scores, differences, traits, and the plane of two judges."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from ....number import Number
from ...pages.blocks import Block, Charts, Details, Heading, Legend, PlaneChart
from ...pages.cells import Cell, Column, NumberCell, Row, Strip, Table, Text
from ...pages.charts import Line, Panel, Point, panel
from ...pages.numbers import Unit, minus, places_for
from ...pages.picture import PicturePart, PictureRow
from ...pages.tables import (
    Columns,
    bounds,
    count,
    estimate,
    estimates_scale,
    group,
    grouped,
    row,
    rows_of,
    strip,
    table,
)
from ...pages.words import ALL
from .contents import Difference, JudgeNote, Plane, Score, is_share
from .planes import caution, drawn, standing
from .systems import LOW
from .words import tone, verdict

N = TypeVar("N", bound=Number)
# of requests without a value under one of two systems; only where there are such
LEFT_OUT = "left out"
# the scale of a share
SHARE = (0.0, 1.0)
# of differences; only where some are known
AT_EQUAL_LENGTH = "at equal length"
# a system under one judge: its name, means of its sides with that of all requests last, and words of its summaries
Scored = tuple[str, Sequence[Number], float | None]


def sides_legend(sides: Sequence[str]) -> tuple[Block, ...]:
    """The marks of the sides in strips; none where there is one side."""
    return (Legend((*enumerate(sides), (None, "all requests"))),) if len(sides) > 1 else ()


def of_judge(records: Iterable[N], judge: JudgeNote) -> list[N]:
    """The records by a judge."""
    return [record for record in records if record.measure == judge.name]


def places_of(estimates: Iterable[Number], judge: JudgeNote) -> int:
    """Digits after the point of a judge's numbers, which suit its means."""
    return places_for(mean.value for mean in of_judge(estimates, judge))


def sides_strip(estimates: Sequence[Number]) -> Strip:
    """A mark for each side, and a line at the mean of all requests."""
    several = len(estimates) > 1
    return strip((mean, None if several and mean.side is None else place) for place, mean in enumerate(estimates))


def by_system(estimates: Iterable[Number], n_words: Mapping[str, float | None]) -> list[Scored]:
    """The rows of systems under one judge.

    Args:
        estimates: those by this judge.
        n_words: system -> words of its summaries.
    """
    return [(name, means, n_words.get(name)) for name, means in grouped(estimates, lambda e: e.system).items()]


def score_table(
    judge: JudgeNote,
    groups: Sequence[tuple[str, Sequence[Scored]]],
    places: int,
    lows: Mapping[tuple[str, str], float | None] | None = None,
    low_name: str = "",
) -> Table:
    """Mean scores by one judge: systems down, sides across; in groups with a heading each, or one without.

    Args:
        judge: whose scores they are.
        groups: heading and rows of each.
        places: digits after the point.
        lows: shares of bad grades by heading and system, where the judge gives grades.
        low_name: what they are called.
    """
    scored = [estimates for _, rows in groups for _, estimates, _ in rows]
    sides = [mean.side or ALL for mean in scored[0]] if scored else []
    heads = ("system", *sides, *([low_name] if lows else []), "plot", "words", "requests")
    score_groups = [
        group(
            (
                _score_row(*system_row, places, [lows.get((heading, system_row[0]))] if lows else [])
                for system_row in rows
            ),
            heading,
        )
        for heading, rows in groups
    ]
    return table(f"scores by {judge.name}", heads, score_groups, estimates_scale(e for means in scored for e in means))


def _score_row(
    system: str, estimates: Sequence[Number], words: float | None, places: int, lows: Sequence[float | None]
) -> Row:
    overall = estimates[-1]
    return row(
        Text(system, style="strong"),
        *(estimate(mean, places) for mean in estimates),
        *(NumberCell(low, unit="%", places=1) for low in lows),
        sides_strip(estimates),
        NumberCell(words, places=1),
        count(overall.n, f"{overall.left_out:,} left out" if overall.left_out else ""),
    )


def of_low_grades(traits: Iterable[Score], counted: Mapping[str, str], judge: JudgeNote) -> tuple[list[Score], str]:
    """The shares of a judge's bad grades over all sides, and what a column of them is called."""
    shares = [t for t in traits if counted[t.measure] == LOW and t.measure.startswith(f"{judge.name}: ")]
    return [share for share in shares if share.side is None], shares[0].measure.removeprefix(
        f"{judge.name}: "
    ) if shares else ""


def difference_table(
    judge: JudgeNote,
    by_name: Mapping[str, Sequence[Difference]],
    places: int,
    name: str = "differences",
    questions: Mapping[str, str] | None = None,
) -> Table:
    """Paired differences by one judge, a group for each comparison.

    Args:
        judge: says what is better.
        by_name: the differences of each comparison.
        places: digits after the point.
        name: of the table.
        questions: what each comparison asks; None where nothing is said of it.
    """
    columns: Columns[Difference] = {
        "side": lambda difference: difference.side or ALL,
        "difference": lambda difference: estimate(difference, places, sign=True),
        "plot": lambda difference: strip([(difference, tone(difference, judge))]),
        AT_EQUAL_LENGTH: lambda difference: at_equal_length(difference, places),
        "p": lambda difference: NumberCell(difference.p_value, unit="p"),
        "adjusted p": lambda difference: NumberCell(difference.adjusted, unit="p"),
        "verdict": lambda difference: verdict(difference, judge),
        "requests": lambda difference: count(difference.n),
        "sets": lambda difference: count(difference.n_sets),
        LEFT_OUT: lambda difference: count(difference.left_out),
    }
    groups = [
        group(
            rows_of(tests, columns, lambda difference: difference.side is None),
            minus(pair),
            (questions or {}).get(pair, ""),
        )
        for pair, tests in by_name.items()
    ]
    differences = [difference for tests in by_name.values() for difference in tests]
    axis = estimates_scale(differences, zero=True)
    full_table = with_lengths(table(f"{name} by {judge.name}", columns, groups, axis), differences)
    return full_table if any(difference.left_out for difference in differences) else full_table.without(LEFT_OUT)


def with_lengths(full_table: Table, differences: Iterable[Difference]) -> Table:
    """The table without its column of differences at equal length where none are known."""
    return (
        full_table
        if any(difference.at_equal_length for difference in differences)
        else full_table.without(AT_EQUAL_LENGTH)
    )


def at_equal_length(difference: Difference, places: int) -> NumberCell:
    """A difference at equal length, as a cell."""
    equal = difference.at_equal_length
    return estimate(equal, places, sign=True) if equal else NumberCell(None)


def trait_table(traits: Sequence[Number], counted: Mapping[str, str], systems: Sequence[str]) -> Table:
    """Traits of the summaries: a group for each trait, sides down, systems across.

    Args:
        traits: how often or how much, by trait, system and side.
        counted: how, by trait.
        systems: across.
    """
    groups = []
    for name, means in grouped(traits, lambda mean: mean.measure).items():
        by_place = {(mean.side, mean.system): mean for mean in means}
        unit: Unit = "%" if is_share(counted[name]) else ""
        rows = [
            row(
                side or ALL,
                *(_trait(by_place.get((side, system)), unit) for system in systems),
                is_total=side is None,
            )
            for side in dict.fromkeys(mean.side for mean in means)
        ]
        groups.append(group(rows, name.replace("_", " "), counted[name]))
    return table("form and length", ("side", *systems), groups)


def _trait(mean: Number | None, unit: Unit) -> Cell:
    return NumberCell(mean.value, bounds(mean), 1, unit) if mean else NumberCell(None)


def judge_panels(
    judges: Iterable[JudgeNote],
    x_label: str,
    lines_of: Callable[[JudgeNote], Iterable[tuple[str, Sequence[Point]]]],
    *,
    first_style: int = 0,
) -> list[Panel]:
    """A line chart for each judge; lines without a point are left out, and so are charts without a line of two points.

    Args:
        judges: of the charts.
        x_label: what the lines go by.
        lines_of: name and points of each line of a judge.
        first_style: place of the first line in the palette.
    """
    panels = []
    for judge in judges:
        named = enumerate(lines_of(judge), start=first_style)
        lines = [Line(name, style, tuple(points)) for style, (name, points) in named if points]
        if any(len(line.points) > 1 for line in lines):
            panels.append(panel(judge.name, judge.role, x_label, lines))
    return panels


def points_of(estimates: Iterable[tuple[float, Number]]) -> list[Point]:
    """Points of a line, of those that have a mean."""
    return [Point(x, mean) for x, mean in estimates if mean.value is not None]


def chart_section(heading: str, lead: str, panels: Sequence[Panel]) -> Iterator[Block]:
    """A section of line charts; nothing where there are none."""
    if panels:
        yield Heading(heading, lead=lead)
        yield Charts(tuple(panels))


def picture_parts(judges: Iterable[JudgeNote], row_of: Callable[[JudgeNote], PictureRow]) -> tuple[PicturePart, ...]:
    """A row for each judge, those of one scale on one axis; scores from 0 to 1 are written in per cent."""
    rows: dict[tuple[float, float] | str, list[PictureRow]] = {}
    for judge in judges:
        rows.setdefault(judge.scale or judge.name, []).append(row_of(judge))
    return tuple(
        PicturePart(tuple(judge_rows), "%", 1, "mean score, per cent")
        if scale == SHARE
        else PicturePart(tuple(judge_rows), "", 2, "mean score")
        for scale, judge_rows in rows.items()
    )


def better_is(judge: JudgeNote) -> str:
    """ "more is better"; "" of a judge of which neither is."""
    return {"higher": "more is better", "lower": "less is better"}.get(judge.better or "", "")


def plane_blocks(planes: Sequence[Plane], judges: Sequence[JudgeNote]) -> Iterator[Block]:
    """The section of the Pareto front; nothing where there is no plane."""
    shown = [plane for plane in planes if plane.points]
    by_name = {judge.name: judge for judge in judges}
    if shown:
        yield Heading(
            "Pareto front",
            lead="Systems under two judges at once, better to the right and above. Whoever gives up one for the other stays "
            "on the front; off it is only what another system beats: better by one and no worse by the other, one "
            "paired interval above 0, corrected with the tests of this page, and the other not below it. Faint: behind another, "
            "surely or not.",
        )
    for plane in shown:
        quality, fairness = by_name[plane.quality], by_name[plane.fairness]
        plot = drawn(plane, quality, fairness)
        yield Heading(f"{quality.name} and {fairness.name}", 3, lead=caution((quality, fairness)))
        yield PlaneChart(plot)
        heads = ("system", quality.name, fairness.name, Column("standing", "long"))
        rows = (
            (
                f"{place} {point.name}",
                estimate(point.quality, plot.x.places),
                estimate(point.fairness, plot.y.places),
                Text(standing(point), style="strong" if point.standing == "on the front" else ""),
            )
            for place, point in enumerate(plane.points, start=1)
        )
        standings = table(f"front of {quality.name} and {fairness.name}", heads, rows)
        yield Details("Their scores, and who beats whom", (standings,), f"on the front: {plot.on_front}")
