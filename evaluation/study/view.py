"""The comparison's numbers arranged as the tables and plots of the page."""

from collections.abc import Iterable
from dataclasses import dataclass

from ..contents import JudgeNote
from ..findings import direction
from ..pages.charts import Line, Panel, Point, Scale, panel
from ..systems import WORDS
from ..text_numbers import places_for, signed
from ..view import ScoreRow, ScoreTable, estimates_scale
from .contents import BudgetEstimate, Comparison, PairedTest, Strength
from .values import SHARES, budget_name


@dataclass(frozen=True)
class TestTable:
    """All tests of one judge, by the pair of systems."""

    judge: JudgeNote
    places: int
    scale: Scale
    pairs: tuple[tuple[str, tuple[PairedTest, ...]], ...]


@dataclass(frozen=True)
class TraitTable:
    """One trait of every entry: a row a side, a column an entry."""

    name: str
    how: str
    is_share: bool
    rows: tuple[tuple[str, tuple[BudgetEstimate, ...]], ...]


def score_tables(comparison: Comparison) -> list[ScoreTable]:
    """A table of means for each judge, a group for each budget."""
    n_words = {(e.k, e.subject): e.mean for e in comparison.traits if e.measure == WORDS and e.side is None}
    tables = []
    for judge in comparison.judges:
        mine = [e for e in comparison.scores if e.measure == judge.name]
        groups = []
        for k in comparison.budgets:
            here = [e for e in mine if e.k == k]
            rows = tuple(
                ScoreRow(label, tuple(e for e in here if e.subject == label), n_words.get((k, label)))
                for label in dict.fromkeys(e.subject for e in here)
            )
            groups.append((budget_name(k), rows))
        tables.append(ScoreTable(judge, _places(mine), estimates_scale(mine), tuple(groups)))
    return tables


def test_tables(comparison: Comparison) -> list[TestTable]:
    """A table of paired tests for each judge."""
    tables = []
    for judge in comparison.judges:
        mine = [test for test in comparison.tests if test.measure == judge.name]
        by_pair: dict[str, list[PairedTest]] = {}
        for test in mine:
            by_pair.setdefault(pair_name(test), []).append(test)
        scores = [e for e in comparison.scores if e.measure == judge.name]
        pairs = tuple((name, tuple(found)) for name, found in by_pair.items())
        tables.append(TestTable(judge, _places(scores), estimates_scale(mine, zero=True), pairs))
    return tables


def trait_tables(comparison: Comparison) -> list[TraitTable]:
    """A table for each trait of single candidates; entries side by side."""
    tables = []
    for name in dict.fromkeys(e.measure for e in comparison.traits):
        mine = [e for e in comparison.traits if e.measure == name and e.k == comparison.budgets[0]]
        rows = tuple((side or "all", tuple(e for e in mine if e.side == side)) for side in _sides(mine))
        tables.append(TraitTable(name, mine[0].signature, name in SHARES, rows))
    return tables


def round_panels(comparison: Comparison) -> list[Panel]:
    """A plot of one draw's score by round for each judge, runs as lines; none when no entry is a round."""
    place = {entry.label: (entry.run, entry.round) for entry in comparison.entries if entry.round is not None}
    runs = list(dict.fromkeys(run for run, _ in place.values()))
    panels = []
    for judge in comparison.judges if runs else ():
        lines = []
        for style, run in enumerate(runs, start=1):
            points = tuple(
                Point(number, e.mean, e.low, e.high)
                for e in comparison.scores
                if (e.measure, e.k, e.side) == (judge.name, comparison.budgets[0], None)
                and e.mean is not None
                and place.get(e.subject, ("", None))[0] == run
                and (number := place[e.subject][1]) is not None
            )
            if points:
                lines.append(Line(run, style, points))
        if lines:
            panels.append(panel(judge.name, judge.role, "round", lines))
    return panels


def budget_panels(comparison: Comparison) -> list[Panel]:
    """A plot of score by budget for each judge, entries as lines; none when no entry has two budgets."""
    panels = []
    for judge in comparison.judges:
        lines = []
        for style, entry in enumerate(entry for entry in comparison.entries if entry.round is None):
            found = [
                e for e in comparison.scores
                if (e.measure, e.subject, e.side) == (judge.name, entry.label, None) and e.mean is not None
            ]  # fmt: skip
            points = tuple(Point(e.k, e.mean, e.low, e.high) for e in found if e.mean is not None)
            if points:
                lines.append(Line(entry.label, style, points))
        if any(len(line.points) > 1 for line in lines):
            panels.append(panel(judge.name, judge.role, "candidates", lines))
    return panels


def tone(test: PairedTest, judge: JudgeNote) -> str:
    """ "better", "worse", "unsure", or "neutral" when the judge has no direction: names of the page's styles."""
    if judge.better is None and test.verdict != "cannot tell":
        return "neutral"
    return direction(test, judge).replace("cannot tell", "unsure")


def pair_name(test: PairedTest) -> str:
    """ "debate, best of 3 - zero-shot, one draw"."""
    return f"{system_name(test.subject, test.k)} - {system_name(test.reference, test.reference_k)}"


def strength_interval(row: Strength) -> str:
    """The interval's bounds; says so when there is none."""
    if row.low is None or row.high is None:
        return "no interval"
    return f"{signed(row.low, 2)} to {signed(row.high, 2)}"


def system_name(label: str, k: int) -> str:
    """An entry at a budget."""
    return f"{label}, {budget_name(k)}"


def where_values_are(comparison: Comparison) -> str:
    """Where to see which value's documents a summary of all sides serves worst; "" where sides are summarised one by one."""
    scopes = {recipe["task"]["scope"] for recipe in comparison.recipes.values()}
    if scopes != {"all"}:
        return ""
    corpus = next(iter(comparison.recipes.values()))["corpus"]
    return (
        "Each summary is of all sides, so no side is told apart here. Whose documents get less room, and which entry or "
        "checkpoint to choose by the value that it serves worst, is what an audit of their best summaries says: evenhand audit "
        f"--documents {corpus['path']} --attribute {corpus['attribute']} --allow-missing, and for each "
        "--summaries NAME=RUN/evaluation/base/best.jsonl (evaluation/round-NN of a trained checkpoint), RUN being the recipe's "
        "output."
    )


def _sides(estimates: Iterable[BudgetEstimate]) -> list[str | None]:
    return list(dict.fromkeys(e.side for e in estimates))


def _places(estimates: Iterable[BudgetEstimate]) -> int:
    return places_for(e.mean for e in estimates)
