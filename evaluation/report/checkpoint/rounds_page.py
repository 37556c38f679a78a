"""The section of the report on the rounds: learning curves, where reward and report judges part, and which round to take."""

from collections.abc import Iterable, Iterator

from ....runfolder.phases import ADAPTER, round_name
from ...pages.blocks import Block, Charts, Code, Heading, Prose
from ...pages.cells import Column, NumberCell, Table
from ...pages.charts import Line, Point, panel
from ...pages.numbers import number
from ...pages.tables import Heads, bounds, estimate, row, table
from ...pages.words import ALL, capital, joined
from ..systems.contents import JudgeNote, Report, Rounds, Score
from ..systems.systems import UNTRAINED
from ..systems.tables import judge_panels, of_judge, places_of, points_of
from ..systems.worst_group import WorstGroups, without_part
from .rounds import best_round, choice_sentence, parting_sentence, round_label

ROUND = "round"
# where the untrained model stands in plots: rounds count from 0
FIRST = -1


def rounds_section(report: Report) -> Iterator[Block]:
    """Nothing unless several rounds were evaluated."""
    rounds = report.rounds
    if rounds is None:
        return
    yield Heading(
        "Rounds",
        lead="One draw from the untrained model, and from the adapter of each evaluated round, for the same test requests. "
        f"Rounds count from 0; the untrained model is at {number(FIRST, 0)}.",
    )
    yield Prose(parting_sentence(rounds))
    if lines := _gains(rounds):
        yield Charts((panel(joined([line.label for line in lines]), "gain in standard deviations", ROUND, lines),))
    panels = judge_panels(report.judges, ROUND, lambda judge: _lines(rounds, judge), first_style=2)
    if panels:
        yield Charts(tuple(panels))
    yield _table(report, rounds)
    if rounds.choice is not None:
        yield from _choice(report, rounds, rounds.choice)


def _gains(rounds: Rounds) -> list[Line]:
    """The reward beside the report's judges, so far as they have scores."""
    by_name = {gain.measure: [e for e in rounds.gains if e.measure == gain.measure] for gain in rounds.gains}
    lines = [Line(name, place, tuple(_points(rounds, gains))) for place, (name, gains) in enumerate(by_name.items())]
    return [line for line in lines if line.points]


def _lines(rounds: Rounds, judge: JudgeNote) -> Iterator[tuple[str, list[Point]]]:
    scores = of_judge(rounds.scores, judge)
    for side in dict.fromkeys(score.side for score in scores):
        yield side or ALL, _points(rounds, [score for score in scores if score.side == side])


def _points(rounds: Rounds, estimates: Iterable[Score]) -> list[Point]:
    places = (FIRST if round_number is None else round_number for round_number in rounds.rounds)
    return points_of(zip(places, estimates, strict=True))


def _table(report: Report, rounds: Rounds) -> Table:
    gains = list(dict.fromkeys(gain.measure for gain in rounds.gains))
    # that of the untrained model over itself has no interval
    shown = {
        (e.measure, e.system): NumberCell(e.value, bounds(e) if e.system != UNTRAINED else None, sign=True)
        for e in rounds.gains
    }
    for judge in report.judges:
        places = places_of(rounds.scores, judge)
        means = (e for e in of_judge(rounds.scores, judge) if e.side is None)
        shown |= {(judge.name, e.system): estimate(e, places) for e in means}
    heads: Heads = (
        ROUND,
        *(Column(name, note="gain") for name in gains),
        *(Column(judge.name, note="lower is better" if judge.better == "lower" else "") for judge in report.judges),
    )
    names = [*gains, *(judge.name for judge in report.judges)]
    labels = map(round_label, rounds.rounds)
    return table("rounds", heads, (row(label, *(shown[name, label] for name in names)) for label in labels))


def _choice(report: Report, rounds: Rounds, choice: WorstGroups) -> Iterator[Block]:
    note = without_part(choice)
    yield Heading(
        "Which round",
        3,
        lead="The mean of the report's judges by side, in standard deviations; 0 is the untrained model's mean over all "
        "requests. A round is as good as its worst side. The share is of the bootstrap draws of document sets in which its worst "
        "side is the best of all, found again in each. A choice is made where its worst side is clearly better than every other "
        f"round's, by exchanges of whole sets.{note and f' {capital(note)}.'}",
    )
    yield Prose(choice_sentence(choice))
    heads: Heads = (
        ROUND,
        "worst side",
        Column("its mean", kind="number"),
        Column("best of all", note="share of draws"),
        *report.sides,
    )
    rows = (
        row(
            system.system,
            system.side or "",
            estimate(system, sign=True),
            NumberCell(system.chance_of_best, unit="%", places=0),
            *(NumberCell(group.value, sign=True) for group in system.groups),
        )
        for system in choice.systems
    )
    yield table("rounds by their worst sides", heads, rows)
    yield Prose(
        "A round that is chosen by these sets looks a little better on them than it is: only sets that took no part in the "
        "choice tell how good it is."
    )
    best = best_round(choice)
    chosen = next(
        (round_number for round_number in rounds.rounds if best and round_label(round_number) == best.system), None
    )
    if chosen is not None and chosen != rounds.rounds[-1]:
        folder = f"{report.provenance.recipe['output']}/{round_name(chosen)}/{ADAPTER}"
        likely, anyhow = ("", "") if choice.choice else (", the likeliest but not clearly the best,", " all the same")
        yield Prose(
            f"The adapter of round {chosen}{likely} is {folder}. To end the run with it{anyhow}, so that report and cards are of "
            "it, from what is there:"
        )
        yield Code(f"evenhand loop RECIPE --set rounds={chosen + 1} --set evaluation.rounds=last", "bash")
