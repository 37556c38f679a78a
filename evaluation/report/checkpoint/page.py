"""The report of a run as a page: what training and reranking changed, for whom, and how sure that is."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from ....number import Number
from ....records import LeftOut
from ....text.amounts import duration
from ...gate.page import with_gate
from ...pages.blocks import Block, Charts, Details, Fact, Heading, Page, Prose, how_made, recipe_details
from ...pages.cells import Column, NumberCell, Table, Text
from ...pages.charts import Line, Panel, Point, panel
from ...pages.numbers import minus, number, signed
from ...pages.tables import Heads, bounds, code, count, estimate, group, grouped, row, table, without_zeros
from ...pages.words import (
    ALL,
    NOTHING_LEFT_OUT,
    UNSURE,
    counted,
    joined,
    legend,
)
from ...verdicts import CLEAR, HOW_TESTED
from ...worth import worth_blocks
from ..people.page import people_blocks
from ..systems.compare import COMPARISONS, how_intervals
from ..systems.contents import Examples, JudgeNote, Report, SideGap, StageRow, TrainingCurve, comparison_name
from ..systems.systems import SYSTEMS, TRAINED, WORDS
from ..systems.tables import (
    AT_EQUAL_LENGTH,
    at_equal_length,
    by_system,
    chart_section,
    difference_table,
    judge_panels,
    of_judge,
    of_low_grades,
    places_of,
    plane_blocks,
    points_of,
    score_table,
    sides_legend,
    trait_table,
    with_lengths,
)
from ..systems.words import change, judge_blocks, judges_explained, slope_words
from .findings import CLAIMS
from .overview import MOST_CURVES, overview
from .probe import probe_sentence
from .rounds_page import rounds_section

BOTH_TOGETHER = comparison_name("DPO+RR", "zero-shot")
BOTH_HEADING = "Training and reranking"
# what the curves of a training say, and what they do not
CURVES = (
    "The loss falls as the model learns to prefer the chosen summaries to the rejected ones; rewards/margins is by how much more "
    "it does than before training, and rewards/accuracies is the share of pairs in which it does. They say that it learnt what "
    "it was shown, and not that its summaries became better."
)
# of what servers answered
KEPT = "by the answers that are kept alone, since servers promise nothing of their seeds"


def page(report: Report) -> Page:
    """The report as blocks."""
    report_page = Page(
        kind="report",
        about=report.name,
        title=f"{report.title}.",
        # what a phase left out is told after what bears on the verdicts
        warnings=tuple(
            sorted(report.warnings, key=lambda warning: warning.startswith(tuple(t.phase for t in report.totals)))
        ),
        findings=tuple(_findings(report)),
        body=(
            *_sides(report),
            *_scores(report),
            *worth_blocks(report.worth),
            *people_blocks(report.people),
            *_differences(report),
            Heading("Form and length"),
            Details("By system and side", (trait_table(report.traits, report.counted, report.systems),)),
            *_best_of_n(report),
            *plane_blocks(report.planes, report.judges),
            *rounds_section(report),
            *_training(report),
            *(_examples(report, report.examples) if report.examples else ()),
            *_left_out(report),
            *_made(report),
            recipe_details(report.provenance.recipe),
        ),
        footer="Every number on this page is in report.json beside it, with its judge, counts, level, draws and seed.",
        overview=overview(report, training_panels(report)[:MOST_CURVES]),
    )
    return with_gate(report_page, report.gate)


def _comparisons(report: Report) -> list[str]:
    names = dict.fromkeys(d.pair for d in report.differences)
    return [name for pair in COMPARISONS if (name := comparison_name(*pair)) in names]


def _findings(report: Report) -> Iterator[Block]:
    yield from (Prose(finding.text, head=f"{finding.heading}.") for finding in report.findings)
    if report.deciding:
        yield _headline(report) if report.differences else _means(report)
    yield legend()
    yield from judges_explained(report.judges, report.provenance.recipe)


def _headline(report: Report) -> Table:
    """The deciding judges' differences by side, with the means of both systems over all requests."""
    means = {(e.measure, e.system): e.value for e in report.scores if e.side is None}
    groups = []
    for comparison in _comparisons(report):
        rows = []
        for judge in (judge for judge in report.judges if judge.name in report.deciding):
            places = places_of(report.scores, judge)
            differences = [d for d in of_judge(report.differences, judge) if d.pair == comparison]
            first, second = (number(means[judge.name, name], places) for name in comparison.split(" - "))
            rows.append(
                row(
                    judge.name,
                    f"{second} \u2192 {first}",
                    *(change(d, judge, places) for d in differences),
                    at_equal_length(differences[-1], places),
                )
            )
        heading, *_ = CLAIMS.get(comparison, (BOTH_HEADING,))
        groups.append(group(rows, f"{heading.format(k=report.candidates)}: {minus(comparison)}"))
    sides = dict.fromkeys(d.side for d in report.differences if d.side)
    heads: Heads = ("judge", Column("scores", kind="number"), *sides, Column(ALL, note=_level(report)), AT_EQUAL_LENGTH)
    return with_lengths(table("headline", heads, groups), report.differences)


def _means(report: Report) -> Table:
    """The deciding judges' mean scores by side: all there is where nothing is compared."""
    rows = []
    for judge in (judge for judge in report.judges if judge.name in report.deciding):
        scores, places = of_judge(report.scores, judge), places_of(report.scores, judge)
        rows.append(row(judge.name, *(estimate(e, places) for e in scores)))
    sides = dict.fromkeys(e.side for e in report.scores if e.side)
    return table("headline", ("judge", *sides, Column(ALL, note=_level(report))), rows)


def _level(report: Report) -> str:
    return f"{100 * report.bootstrap.level:g} % interval"


def _sides(report: Report) -> Iterator[Block]:
    """How each system serves each side, and who gains more; first of all, for that is what the run is about."""
    if len(report.sides) < 2:
        return
    judges = [judge for judge in report.judges if judge.better]
    yield Heading(
        "Sides",
        lead="Each system by side: the mean scores, the side whose mean is worst, and how far it is behind the best within a "
        "document set. Sets without a value for both are left out.",
    )
    yield from sides_legend(report.sides)
    yield from _rewards_folded(report, judges, lambda judge: _sides_by(report, judge))
    groups = []
    for comparison in _comparisons(report):
        gains = {gap.measure: gap for gap in report.gain_gaps if gap.pair == comparison}
        lines = (row(j.name, *_gap(gains.get(j.name), places_of(report.scores, j), worst=False)) for j in judges)
        groups.append(group(lines, minus(comparison)))
    if groups:
        yield Heading(
            "Who gains more",
            3,
            lead="The side whose mean gain from each step is larger, and how much larger within a document set.",
        )
        yield table("who gains more", ("judge", "larger gain", "by", "sets", "left out"), groups)


def _sides_by(report: Report, judge: JudgeNote) -> Iterator[Block]:
    scores = of_judge(report.scores, judge)
    gaps = {gap.system: gap for gap in of_judge(report.score_gaps, judge)}
    rows = (
        row(
            Text(system, style="strong"),
            *_gap(gaps.get(system), places_of(report.scores, judge), worst=True),
        )
        for system, means, _ in by_system(scores, {})
    )
    heads = ("system", "worst mean", "behind the best by", "sets", "left out")
    yield Heading(judge.name, 3, f"{judge.better} is better")
    yield table(f"sides by {judge.name}", heads, rows)


def _rewards_folded(
    report: Report, judges: Sequence[JudgeNote], blocks: Callable[[JudgeNote], Iterable[Block]]
) -> Iterator[Block]:
    """The blocks of each judge, those of judges that are the reward alone folded."""
    yield from chain.from_iterable(blocks(judge) for judge in judges if judge.role != "reward")
    yield from _folded(report, tuple(chain.from_iterable(blocks(judge) for judge in judges if judge.role == "reward")))


def _folded(report: Report, of_rewards: tuple[Block, ...]) -> Iterator[Block]:
    if of_rewards:
        did = "were trained on" if SYSTEMS[TRAINED][0] in report.systems else "chose the candidates"
        yield Details(f"By the judges of the reward, which {did} and prove nothing", of_rewards)


def _gap(gap: SideGap | None, places: int, *, worst: bool) -> tuple[Text | NumberCell, ...]:
    if gap is None:
        return Text(""), NumberCell(None), Text(""), Text("")
    is_clear = gap.is_clear
    return (
        # a name alone would be taken for a verdict
        Text(
            gap.worst if worst else gap.best,
            style="strong" if is_clear else "",
            note="" if is_clear else UNSURE,
        ),
        NumberCell(gap.value, bounds(gap), places, sign=not worst, tone=None if is_clear else "unsure"),
        count(gap.n_sets),
        count(gap.left_out),
    )


def _scores(report: Report) -> Iterator[Block]:
    trained = "DPO" in report.systems
    best = joined([name for name in ("rerank", "DPO+RR") if name in report.systems])
    budget = f"Every system had the same {report.candidates} candidates a request: "
    budget += f"{'zero-shot and DPO are' if trained else 'zero-shot is'} the expected score of one draw from them, "
    budget += f"{best} the score of the candidate of highest reward."
    single = "There is one candidate a request."
    yield Heading("Scores", lead=f"Mean score with its {_level(report)}. {budget if best else single}")
    yield from sides_legend(report.sides)
    n_words = {e.system: e.value for e in report.traits if e.measure == WORDS and e.side is None}

    def scored(judge: JudgeNote) -> Iterator[Block]:
        lows, name = of_low_grades(report.traits, report.counted, judge)
        rows = by_system(of_judge(report.scores, judge), n_words)
        yield from judge_blocks(judge, slope_words(report.slopes, judge.name))
        by_place = {("", low.system): low.value for low in lows}
        yield score_table(judge, [("", rows)], places_of(report.scores, judge), by_place, name)

    yield from _rewards_folded(report, report.judges, scored)
    if report.plan_scores:
        yield Heading(
            "Scores by plan",
            lead="Each summary that extraction makes of a set on purpose, under every judge: mean over all requests, with "
            "its interval.",
        )
        lower = {judge.name: "lower is better" if judge.better == "lower" else "" for judge in report.judges}
        heads: Heads = ("plan", *(Column(name, note=note) for name, note in lower.items()))
        plans = grouped(report.plan_scores, lambda e: e.system)
        yield table("scores by plan", heads, (row(plan, *map(estimate, scores)) for plan, scores in plans.items()))


def _differences(report: Report) -> Iterator[Block]:
    if not report.differences:
        return
    yield Heading(
        "Paired differences",
        lead=f"The same requests under two systems. {HOW_TESTED} Better or worse means that {CLEAR}.",
    )
    k = report.candidates
    questions = {name: question.format(k=k) for name, (_, question) in CLAIMS.items()}
    questions[BOTH_TOGETHER] = f"both together: the best of {k} of the trained model, against one untrained draw"

    def tested(judge: JudgeNote) -> Iterator[Block]:
        differences = of_judge(report.differences, judge)
        by_name = {name: [d for d in differences if d.pair == name] for name in _comparisons(report)}
        yield from judge_blocks(judge)
        yield difference_table(judge, by_name, places_of(report.scores, judge), questions=questions)

    yield from _rewards_folded(report, report.judges, tested)


def _best_of_n(report: Report) -> Iterator[Block]:
    yield from chart_section(
        "Best of n",
        f"Expected score when the reward chooses among n of the same {report.candidates} candidates, of whatever "
        "plan: exact over all subsets, no new draws. A run of n by one plan of several may choose otherwise. The band is "
        "the interval.",
        curve_panels(report, [judge for judge in report.judges if judge.role != "reward"]),
    )
    panels = curve_panels(report, [judge for judge in report.judges if judge.role == "reward"])
    yield from _folded(report, (Charts(tuple(panels)),) if panels else ())


def curve_panels(report: Report, judges: Sequence[JudgeNote]) -> list[Panel]:
    """A best-of-n plot for each of the judges, policies as lines; none when there is a single candidate."""
    policies = grouped(report.curve, lambda p: p.system)
    return judge_panels(
        judges,
        "candidates drawn",
        lambda judge: [(name, points_of((p.k, p) for p in of_judge(curve, judge))) for name, curve in policies.items()],
    )


def training_panels(report: Report) -> list[Panel]:
    """A plot for each logged quantity, rounds as lines, the last one the strongest."""
    rounds = sorted({curve.round for curve in report.training})

    def line(curve: TrainingCurve) -> Line:
        later = (len(rounds) - 1 - rounds.index(curve.round)) / max(1, len(rounds) - 1)
        points = tuple(Point(step, Number(value=value)) for step, value in curve.points)
        return Line(f"round {curve.round}", 1, points, round(1.0 - 0.65 * later, 2))

    by_name = grouped(report.training, lambda curve: curve.name)
    return [panel(name, "", "step", [*map(line, curves)]) for name, curves in by_name.items()]


def _training(report: Report) -> Iterator[Block]:
    panels = training_panels(report)
    if not (panels or report.probe or report.training_notes):
        return
    yield Heading("Training")
    if report.probe:
        yield Prose(probe_sentence(report.probe))
    yield from map(Prose, report.training_notes)
    if any(totals.pairs for totals in report.totals):
        yield Prose(
            "evenhand run pairs RUN shows the pairs that it learnt from, with what the judges said of each.", "small"
        )
    if panels:
        yield Prose(CURVES, "small")
    if panels[MOST_CURVES:]:
        # the first ones are on the first page
        yield Charts(tuple(panels[MOST_CURVES:]))


def _examples(report: Report, examples: Examples) -> Iterator[Block]:
    first = "Zero-shot and DPO show their" if "DPO" in report.systems else "Zero-shot shows its"
    yield Heading(
        "Examples",
        lead=f"{len(examples.examples)} of {examples.among} requests, at even steps from "
        f"the lowest {'difference' if report.differences else 'score'} to the highest of "
        f"{minus(examples.comparison)} by {examples.measure}. {first} first draw.",
    )
    heads: Heads = ("system", Column("summary", "long"), *(judge.name for judge in report.judges))
    for example in examples.examples:
        value = (signed if report.differences else number)(example.difference)
        note = f"{example.side}; {minus(examples.comparison)}: {value}"
        rows = []
        for summary in example.summaries:
            issues = ", ".join(summary.issues).replace("_", " ")
            scores = (summary.scores.get(judge.name) for judge in report.judges)
            shown = ("unscored" if score is None else NumberCell(score) for score in scores)
            text = Text(summary.text or "(empty)", issues, style="long")
            rows.append(row(Text(summary.system, style="strong"), text, *shown))
        summary_table = table(f"{example.topic}, {example.side}: summaries and their scores", heads, rows)
        documents = tuple(Prose(text, head=f"{side}:" if side else "") for side, text in example.documents)
        folded = Details(counted(len(documents), "source document"), documents)
        yield Details(example.topic, (summary_table, folded), note, is_example=True)


def _left_out(report: Report) -> Iterator[Block]:
    names = ("requests", "without candidates", "candidates", "duplicates", "judgements", "unscored", "pairs", "tied")
    rows = (
        row(
            totals.phase, count(totals.requests), count(totals.failed), count(totals.candidates),
            NumberCell(totals.duplicate_rate, unit="%", places=1), count(totals.judgements), count(totals.unscored),
            count(totals.pairs), NumberCell(totals.tie_rate, unit="%", places=1),
        )
        for totals in report.totals
    )  # fmt: skip
    phases, zeros = without_zeros(table("phases", ("phase", *names), rows))
    yield Heading("Left out")
    yield phases
    if zeros:
        yield Prose(zeros)
    yield ledger_table(report.ledger) if report.ledger else Prose(NOTHING_LEFT_OUT)


def ledger_table(ledger: Iterable[LeftOut]) -> Table:
    """The ledger as a table: a row for each phase, stage, unit and reason, sides beside each other."""
    by_reason = grouped(ledger, lambda entry: (entry.phase, entry.stage, entry.what, entry.reason))
    names = sorted({entry.side for entries in by_reason.values() for entry in entries})
    heads: Heads = ("phase", "stage", "counted", Column("reason", "long"), *names, ALL)
    rows = []
    for place, entries in by_reason.items():
        sides = [sum(entry.count for entry in entries if entry.side == name) for name in names]
        rows.append(row(*place, *map(count, sides), count(sum(sides))))
    return table("left out", heads, rows)


def _made(report: Report) -> Iterator[Block]:
    provenance = report.provenance
    templates = ", ".join(dict.fromkeys(provenance.templates.values()))
    draws = f"{report.bootstrap.resamples:,} draws"
    facts: list[Fact] = [
        ("seed", f"{provenance.recipe['seed']}, also of the bootstrap ({draws})"),
        ("intervals", how_intervals(report.bootstrap.level)),
        *((phase, code(model)) for phase, model in provenance.models.items()),
        ("prompt templates", code(templates)),
        *((judge.name, code(judge.signature)) for judge in report.judges),
    ]
    if drawn := _by_servers(provenance.stages):
        facts.append(("repeatable", f"{KEPT}: {joined(drawn)}"))
    yield from how_made(facts, provenance.versions)
    rows = [
        row(
            stage.phase, stage.stage, duration(stage.seconds), " \u00b7 ".join(map(" ".join, flat_counts(stage.counts)))
        )
        for stage in provenance.stages
    ]
    total = duration(sum(stage.seconds for stage in provenance.stages))
    rows.append(row("all stages", "", total, "", is_total=True))
    heads: Heads = ("phase", "stage", Column("wall time", kind="number"), Column("counts", "long"))
    yield Details("Every stage, with its wall time and counts", (table("stages", heads, rows),), total)


def _by_servers(stages: Sequence[StageRow]) -> list[str]:
    """The names of everything that servers answered, by the receipts: candidates, and judges."""
    names = dict[str, None]()
    for stage in stages:
        repeatable = stage.counts.get("repeatable", {})
        names |= dict.fromkeys(["candidates"] if repeatable is False else repeatable)
    return list(names)


def flat_counts(counts: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Counts of a receipt as (name, value), without what stands elsewhere on the page; those of 0 together at the end."""
    zeros = []
    for key, value in counts.items():
        if key in ("left_out", "signatures"):
            continue
        name = f"{prefix}{key}".replace("_", " ")
        if isinstance(value, dict):
            yield from flat_counts(value, f"{name}, ")
        elif isinstance(value, float):
            yield name, f"{value:.4g}"
        elif value == 0 and not isinstance(value, bool):
            zeros.append(name)
        elif value is not None and not isinstance(value, list):
            yield name, str(value)
    if zeros:
        yield "0", ", ".join(zeros)
