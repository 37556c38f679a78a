"""The report's numbers arranged as the tables and plots of the page."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .compare import COMPARISONS, comparison_name
from .contents import Difference, Estimate, JudgeNote, LedgerRow, Report, SideGap
from .findings import CLAIMS, direction
from .pages.charts import Line, Panel, Point, Scale, panel, scale
from .systems import WORDS
from .text_numbers import places_for

BOTH_TOGETHER = comparison_name("DPO+RR", "zero-shot")


@dataclass(frozen=True)
class ScoreRow:
    """One system under one judge."""

    system: str
    # sides first, all requests last
    estimates: tuple[Estimate, ...]
    # mean words of its summaries: a score that only goes with length is no merit
    words: float | None


@dataclass(frozen=True)
class ScoreTable:
    """All systems under one judge, in groups with a heading each; a single group has none."""

    judge: JudgeNote
    places: int
    scale: Scale
    groups: tuple[tuple[str | None, tuple[ScoreRow, ...]], ...]

    @property
    def rows(self) -> tuple[ScoreRow, ...]:
        """Those of all groups."""
        return tuple(row for _, rows in self.groups for row in rows)


@dataclass(frozen=True)
class Comparison:
    """One comparison under one judge."""

    name: str
    question: str
    rows: tuple[Difference, ...]


@dataclass(frozen=True)
class DifferenceTable:
    """All comparisons under one judge."""

    judge: JudgeNote
    places: int
    scale: Scale
    comparisons: tuple[Comparison, ...]


@dataclass(frozen=True)
class Verdicts:
    """What one deciding judge says of one comparison, side by side."""

    judge: JudgeNote
    places: int
    differences: tuple[Difference, ...]


@dataclass(frozen=True)
class GapRow:
    """The gaps between sides under one judge, subject by subject."""

    judge: JudgeNote
    places: int
    by_subject: dict[str, SideGap]


@dataclass(frozen=True)
class TraitRow:
    """One trait of one side under every system."""

    # None for all requests
    side: str | None
    estimates: tuple[Estimate, ...]


@dataclass(frozen=True)
class PlanRow:
    """One plan of extraction under every judge."""

    plan: str
    # in the order of the judges
    estimates: tuple[Estimate, ...]


@dataclass(frozen=True)
class TraitTable:
    """One trait under every system."""

    name: str
    how: str
    is_share: bool
    rows: tuple[TraitRow, ...]


@dataclass(frozen=True)
class LedgerLine:
    """What one stage of one phase left out for one reason."""

    phase: str
    stage: str
    reason: str
    by_side: dict[str, int]

    @property
    def total(self) -> int:
        """Of all sides."""
        return sum(self.by_side.values())


def verdicts(report: Report, comparison: str) -> list[Verdicts]:
    """What the deciding judges say of a comparison."""
    return [
        Verdicts(
            judge,
            _places(report, judge),
            tuple(d for d in report.differences if (d.measure, d.subject) == (judge.name, comparison)),
        )
        for judge in report.judges
        if judge.name in report.deciding
    ]


def tone(difference: Difference, judge: JudgeNote) -> str:
    """ "better", "worse", "unsure", or "neutral" when the judge has no direction: names of the page's styles."""
    if judge.better is None and difference.verdict != "cannot tell":
        return "neutral"
    return direction(difference, judge).replace("cannot tell", "unsure")


def score_tables(report: Report) -> list[ScoreTable]:
    """A table of means for each judge."""
    n_words = {e.subject: e.mean for e in report.traits if e.measure == WORDS and e.side is None}
    tables = []
    for judge in report.judges:
        mine = [e for e in report.scores if e.measure == judge.name]
        rows = tuple(
            ScoreRow(system, tuple(e for e in mine if e.subject == system), n_words.get(system))
            for system in report.systems
        )
        tables.append(ScoreTable(judge, _places(report, judge), estimates_scale(mine), ((None, rows),)))
    return tables


def plan_rows(report: Report) -> list[PlanRow]:
    """A row for each plan; none unless extraction made several summaries on purpose."""
    plans = dict.fromkeys(e.subject for e in report.plan_scores)
    return [PlanRow(plan, tuple(e for e in report.plan_scores if e.subject == plan)) for plan in plans]


def difference_tables(report: Report) -> list[DifferenceTable]:
    """A table of paired differences for each judge."""
    tables = []
    for judge in report.judges:
        mine = [d for d in report.differences if d.measure == judge.name]
        comparisons = []
        for first, second in COMPARISONS:
            name = comparison_name(first, second)
            rows = tuple(d for d in mine if d.subject == name)
            if rows:
                comparisons.append(Comparison(name, _question(name, report), rows))
        tables.append(
            DifferenceTable(judge, _places(report, judge), estimates_scale(mine, zero=True), tuple(comparisons))
        )
    return tables


def gap_rows(report: Report, gaps: Sequence[SideGap]) -> list[GapRow]:
    """The gaps of each judge that says what is better."""
    return [
        GapRow(judge, _places(report, judge), {g.subject: g for g in gaps if g.measure == judge.name})
        for judge in report.judges
        if judge.better
    ]


def trait_tables(report: Report) -> list[TraitTable]:
    """A table for each trait; systems side by side."""
    tables = []
    for name in dict.fromkeys(e.measure for e in report.traits):
        mine = [e for e in report.traits if e.measure == name]
        rows = tuple(
            TraitRow(side, tuple(e for e in mine if e.side == side)) for side in dict.fromkeys(e.side for e in mine)
        )
        tables.append(TraitTable(name, mine[0].signature, name != WORDS, rows))
    return tables


def curve_panels(report: Report) -> list[Panel]:
    """A best-of-n plot for each judge, policies as lines; none when there is a single candidate."""
    panels = []
    for judge in report.judges if report.candidates > 1 else ():
        lines = []
        for style, policy in enumerate(dict.fromkeys(p.subject for p in report.curve)):
            mine = (p for p in report.curve if (p.measure, p.subject) == (judge.name, policy))
            points = tuple(Point(p.draws, p.mean, p.low, p.high) for p in mine if p.mean is not None)
            if points:
                lines.append(Line(policy, style, points))
        if lines:
            panels.append(panel(judge.name, judge.role, "candidates drawn", lines))
    return panels


def training_panels(report: Report) -> list[Panel]:
    """A plot for each logged quantity, rounds as lines, the last one the strongest."""
    rounds = sorted({curve.round for curve in report.training})
    strength = {r: 1.0 - 0.65 * (len(rounds) - 1 - place) / max(1, len(rounds) - 1) for place, r in enumerate(rounds)}
    panels = []
    for name in dict.fromkeys(curve.name for curve in report.training):
        lines = [
            Line(
                f"round {curve.round}",
                1,
                tuple(Point(*point) for point in curve.points),
                round(strength[curve.round], 2),
            )
            for curve in report.training
            if curve.name == name
        ]
        panels.append(panel(name, "", "step", lines))
    return panels


def ledger_lines(rows: Iterable[LedgerRow]) -> tuple[list[str], list[LedgerLine]]:
    """The sides that occur, and one line for each phase, stage and reason."""
    by_reason: dict[tuple[str, str, str], dict[str, int]] = {}
    for row in rows:
        sides = by_reason.setdefault((row.phase, row.stage, row.reason), {})
        sides[row.side] = sides.get(row.side, 0) + row.count
    found = [LedgerLine(*place, sides) for place, sides in by_reason.items()]
    return sorted({side for line in found for side in line.by_side}), found


def flat_counts(counts: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Counts of a receipt as (name, value), without what stands elsewhere on the page."""
    for key, value in counts.items():
        if key in ("left_out", "signatures"):
            continue
        name = f"{prefix}{key}".replace("_", " ")
        if isinstance(value, dict):
            yield from flat_counts(value, f"{name}, ")
        elif isinstance(value, float):
            yield name, f"{value:.4g}"
        elif not isinstance(value, list):
            yield name, str(value)


def _question(comparison: str, report: Report) -> str:
    if comparison == BOTH_TOGETHER:
        return f"both together: the best of {report.candidates} of the trained model, against one untrained draw"
    return CLAIMS[comparison][1].format(k=report.candidates)


def _places(report: Report, judge: JudgeNote) -> int:
    return places_for(e.mean for e in report.scores if e.measure == judge.name)


def estimates_scale(estimates: Iterable[Estimate], *, zero: bool = False) -> Scale:
    """An axis that holds the means and their intervals."""
    return scale((v for e in estimates for v in (e.mean, e.low, e.high)), zero=zero)
