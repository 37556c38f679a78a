"""The comparison as a page: entries, scores at each budget, worst sides, tests and rankings."""

from collections.abc import Iterator
from shlex import quote

from ...gate.page import with_gate
from ...pages.blocks import Block, Details, Heading, Page, Prose, first_and_more, how_made, recipe_details
from ...pages.cells import Group, NumberCell, Table
from ...pages.charts import Panel, Point
from ...pages.numbers import NONE, number
from ...pages.tables import bounds, code, count, estimate, group, grouped, listing, row, table
from ...pages.words import (
    ALL,
    MOST_NAMED,
    counted,
    legend,
)
from ...verdicts import CLEAR, HOW_TESTED
from ...worth import worth_blocks
from ..people.page import people_blocks
from ..systems.compare import how_intervals
from ..systems.contents import Difference, JudgeNote, Score, comparison_name
from ..systems.systems import WORDS, budget_name
from ..systems.tables import (
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
)
from ..systems.words import DIRECTIONS, change, judge_blocks, judges_explained, slope_words, tone
from ..systems.worst_group import WorstGroups, without_part
from .baselines import BASELINES
from .contents import Comparison, Ranking
from .entries import ELSEWHERE
from .findings import GONE_WITH_LENGTH
from .overview import overview


def page(comparison: Comparison) -> Page:
    """The comparison as blocks."""
    traits = [e for e in comparison.traits if e.k == comparison.budgets[0]]
    comparison_page = Page(
        kind="comparison",
        about=f"{counted(len(comparison.entries), 'entry', 'entries')}, {counted(comparison.n_requests, 'request')} of "
        f"{counted(comparison.n_sets, 'document set')}",
        title=f"{comparison.title}.",
        warnings=comparison.warnings,
        findings=(
            *first_and_more(comparison.findings),
            *judges_explained((*comparison.judges, *comparison.axis_judges), next(iter(comparison.recipes.values()))),
        ),
        body=(
            *_scores(comparison),
            *_by_length(comparison),
            *worth_blocks(comparison.worth),
            *people_blocks(comparison.people),
            *_worst_sides(comparison),
            *_baselines(comparison),
            *chart_section(
                "Budgets",
                "Mean score by the number of candidates among which the reward chooses. The band is the interval.",
                budget_panels(comparison),
            ),
            *plane_blocks(comparison.planes, (*comparison.judges, *comparison.axis_judges)),
            *chart_section(
                "Rounds",
                f"Mean score of {_of(comparison)} after each round of a method, all from one run. The band is the interval.",
                round_panels(comparison),
            ),
            *_rankings(comparison),
            *_tests(comparison),
            *_entries(comparison),
            Heading("Form, side and length", lead=_of_traits(comparison)),
            Details(
                "By entry and side" if len(comparison.sides) > 1 else "By entry",
                (trait_table(traits, comparison.counted, list(grouped(traits, lambda e: e.system))),),
            ),
            *_made(comparison),
        ),
        footer="Every number on this page is in comparison.json beside it, with its judge, counts, level, draws and seed.",
        overview=overview(comparison),
    )
    return with_gate(comparison_page, comparison.gate)


def _of(comparison: Comparison) -> str:
    return "one draw" if comparison.budgets[0] == 1 else f"the best of {comparison.budgets[0]}"


def is_given(comparison: Comparison) -> bool:
    """Whether its summaries were made elsewhere, one for each request."""
    return all(entry.method == ELSEWHERE for entry in comparison.entries)


def _of_traits(comparison: Comparison) -> str:
    return "" if is_given(comparison) else f"Of {_of(comparison)}; at the other budgets in comparison.json."


def _taken(comparison: Comparison, k: int) -> str:
    """The name of the choice from k candidates, "" where there is one of each request."""
    return "" if is_given(comparison) else budget_name(k)


def _entries(comparison: Comparison) -> Iterator[Block]:
    if is_given(comparison):
        return
    yield Heading(
        "Entries",
        lead="What one candidate took to make. At equal budgets a method that asks more often costs more.",
    )
    yield listing(
        "entries",
        zip(comparison.entries, comparison.costs, strict=True),
        {
            "entry": lambda pair: pair[0].label,
            "method": lambda pair: pair[0].method,
            "candidates": lambda pair: count(pair[0].candidates),
            "chosen by": lambda pair: ", ".join(pair[0].reward) or NONE,
            "calls each": lambda pair: NumberCell(pair[1].calls, places=1),
            "generated tokens each": lambda pair: NumberCell(pair[1].tokens, places=0),
            "prompt tokens run each": lambda pair: NumberCell(pair[1].prefilled, places=0),
        },
    )


def _scores(comparison: Comparison) -> Iterator[Block]:
    lead = (
        "Mean score of each entry at each budget. One draw is the mean over an entry's candidates; the best of k is the "
        "expected score of the candidate of highest reward among k of them, of whatever plan. The first entry is what the "
        "others are tested against, at each budget that it has; else the first that has it."
    )
    lead_elsewhere = "Mean score of each entry's summaries. The first entry is what the others are tested against."
    yield Heading("Scores", lead=lead_elsewhere if is_given(comparison) else lead)
    yield legend(", against the first of its column")
    for judge in comparison.judges:
        heading, prose, signature = judge_blocks(judge, slope_words(comparison.slopes, judge.name))
        by_side = _by_side(comparison, judge)
        yield from (heading, prose, _short(comparison, judge))
        yield Details(
            f"{'By side, with' if len(comparison.sides) > 1 else 'With'} intervals, words and requests",
            (*sides_legend(comparison.sides), by_side, signature),
            f"{100 * comparison.bootstrap.level:g} % intervals over document sets",
        )


def _by_side(comparison: Comparison, judge: JudgeNote) -> Table:
    """The means of every entry at every budget, with intervals, words and requests."""
    n_words = grouped((e for e in comparison.traits if e.measure == WORDS and e.side is None), lambda e: e.k)
    scores = grouped(of_judge(comparison.scores, judge), lambda e: e.k)
    groups = [
        (_taken(comparison, k), by_system(scores.get(k, ()), {e.system: e.value for e in n_words.get(k, ())}))
        for k in comparison.budgets
    ]
    lows, name = of_low_grades(comparison.traits, comparison.counted, judge)
    by_place = {(_taken(comparison, e.k), e.system): e.value for e in lows}
    return score_table(judge, groups, places_of(comparison.scores, judge), by_place, name)


def _by_length(comparison: Comparison) -> Iterator[Block]:
    """Where so many go with it that the warning names none."""
    if len(comparison.by_length) <= MOST_NAMED:
        return
    yield Heading(
        GONE_WITH_LENGTH,
        lead="Clear differences of which half or more goes with how long the summaries are, on average, and what is left of "
        "each between summaries of equal length.",
    )
    for judge in comparison.judges:
        if differences := [difference for difference in comparison.by_length if difference.measure == judge.name]:
            yield Heading(judge.name, 3)
            places = places_of(comparison.scores, judge)
            rows = (
                row(
                    difference.pair,
                    NumberCell(difference.value, places=places, sign=True),
                    NumberCell(difference.share, unit="%", places=0),
                    " \u2192 ".join(number(words, 1) for words in difference.words),
                    estimate(difference.at_equal_length, places, sign=True),
                )
                for difference in differences
            )
            heads = ("difference", "mean", "of it with length", "words", "at equal length")
            yield table(f"gone with length by {judge.name}", heads, rows)


def budget_panels(comparison: Comparison) -> list[Panel]:
    """A plot of score by budget for each judge, entries as lines; none when no entry has two budgets."""
    labels = [entry.label for entry in comparison.entries if entry.round is None]
    return judge_panels(
        comparison.judges,
        "candidates",
        lambda judge: [
            (name, points_of((e.k, e) for e in _of_all(comparison, judge) if e.system == name)) for name in labels
        ],
    )


def round_panels(comparison: Comparison) -> list[Panel]:
    """A plot of one draw's score by round for each judge, runs as lines; none when no run has two rounds."""
    rounds: dict[str, dict[str, int]] = {}
    for entry in comparison.entries:
        if entry.round is not None:
            rounds.setdefault(entry.run, {})[entry.label] = entry.round

    def lines(judge: JudgeNote) -> list[tuple[str, list[Point]]]:
        scores = [e for e in _of_all(comparison, judge) if e.k == comparison.budgets[0]]
        return [
            (run, points_of((labels[e.system], e) for e in scores if e.system in labels))
            for run, labels in rounds.items()
        ]

    return judge_panels(comparison.judges, "round", lines, first_style=1)


def _of_all(comparison: Comparison, judge: JudgeNote) -> list[Score]:
    return [e for e in of_judge(comparison.scores, judge) if e.side is None]


def _rankings(comparison: Comparison) -> Iterator[Block]:
    if not comparison.rankings:
        return
    of_budget = "" if is_given(comparison) else " of one budget"
    yield Heading(
        "Ranking",
        lead=f"Bradley-Terry strengths: for each request and each two entries{of_budget}, the chance that a summary of the "
        "one scores better than one of the other, a tie half. A difference of 0.69 means winning two of three. "
        "Intervals of Student's t with the jackknife over document sets.",
    )
    for judge, rankings in grouped(comparison.rankings, lambda ranking: ranking.measure).items():
        yield Details(
            judge,
            (
                table(
                    f"ranking by {judge}",
                    ("entry", "strength", "won"),
                    [_ranking(comparison, ranking) for ranking in rankings],
                ),
            ),
        )


def _ranking(comparison: Comparison, ranking: Ranking) -> Group:
    rows = (
        (strength.system, estimate(strength, 2, sign=True), NumberCell(strength.won, unit="%", places=1))
        for strength in ranking.rows
    )
    label = ", ".join(filter(None, (_taken(comparison, ranking.k), ranking.side or ALL)))
    return group(rows, label, counted(ranking.n, "request"))


def _worst_sides(comparison: Comparison) -> Iterator[Block]:
    if comparison.worst_sides:
        yield Heading(
            "Worst side",
            lead="Each entry by the side that it serves worst, on the requests that all entries have a score for. The chance "
            "is the share of the bootstrap draws of document sets in which its worst side is the best of all, the worst "
            f"side found again in each. A choice is made where its worst side is clearly better than every other entry's, "
            f"corrected with all tests of this page. Sides of fewer than {comparison.worst_sides[0].least_sets} sets take no "
            "part, and where fewer than two are left, nothing is chosen.",
        )
        for judge, rated in grouped(comparison.worst_sides, lambda groups: groups.measure).items():
            heads = ("entry", "worst side", "mean", "chance of being best")
            best = [(_taken(comparison, groups.k), groups.choice or "no clear choice") for groups in rated]
            chosen = "; ".join(": ".join(filter(None, parts)) for parts in best)
            rows = [_worst_side(comparison, groups) for groups in rated]
            yield Details(judge, (table(f"worst sides by {judge}", heads, rows),), chosen)
    if text := where_values_are(comparison):
        yield Heading("Worst value")
        yield Prose(text)


def _worst_side(comparison: Comparison, groups: WorstGroups) -> Group:
    rows = (
        (
            system.system,
            system.side or NONE,
            estimate(system),
            NumberCell(system.chance_of_best, unit="%", places=1),
        )
        for system in groups.systems
    )
    left_out = f"{groups.left_out} left out" if groups.left_out else ""
    return group(rows, _taken(comparison, groups.k), ", ".join(filter(None, (left_out, without_part(groups)))))


def where_values_are(comparison: Comparison) -> str:
    """Where to see which value's documents a summary of all sides serves worst; "" where sides are summarised one by one."""
    if {recipe["task"]["scope"] for recipe in comparison.recipes.values()} != {"all"}:
        return ""
    corpus = next(iter(comparison.recipes.values()))["corpus"]
    audit = f"evenhand audit --documents {quote(corpus['path'])} --attribute {quote(corpus['attribute'])}"
    if is_given(comparison):
        files = " ".join(f"--summaries {quote(f'{entry.label}={entry.folder}')}" for entry in comparison.entries)
        return (
            "Each summary is of all sides, so sides are not compared here. Whose documents get less room, and which entry to "
            f"choose by the value that it serves worst, is what an audit says: {audit} {files}"
        )
    return (
        "Each summary is of all sides, so sides are not compared here. Whose documents get less room, and which entry or "
        "checkpoint to choose by the value that it serves worst, is what an audit of their best summaries says: "
        f"{audit} --allow-missing, and for each "
        "--summaries NAME=RUN/evaluation/base/best.jsonl (evaluation/round-NN of a trained checkpoint), RUN being the "
        "recipe's output."
    )


def _baselines(comparison: Comparison) -> Iterator[Block]:
    if not comparison.baselines:
        return
    yield Heading(
        "What a reward must beat",
        lead="The best of all of an entry's candidates by its reward, minus what is chosen of them without a judge: one draw, "
        "by length (nearest to the words asked for, else the longest), or by consensus (minimum Bayes risk: the candidate "
        "nearest to the others in words). Tested and adjusted as below.",
    )
    for judge in comparison.judges:
        tests = of_judge(comparison.baselines, judge)
        overall = {(test.system, test.reference): test for test in tests if test.side is None}
        places = places_of(comparison.scores, judge)
        rows = []
        for entry in comparison.entries:
            if (entry.label, BASELINES[0]) in overall:
                against = [overall.get((entry.label, name)) for name in BASELINES]
                rows.append(row(entry.label, *(change(e, judge, places) if e else NumberCell(None) for e in against)))
        yield Heading(judge.name, 3)
        yield table(f"baselines by {judge.name}", ("entry", *(f"minus {name}" for name in BASELINES)), rows)
        pairs = grouped(tests, lambda test: f"{test.system}, {budget_name(test.k)} - {test.reference}")
        tested = difference_table(judge, pairs, places, "tests of baselines")
        yield Details("By side, with tests and at equal length", (tested,))


def _tests(comparison: Comparison) -> Iterator[Block]:
    if not comparison.tests:
        return
    differs = any(test.own_report for test in (*comparison.tests, *comparison.baselines))
    own_note = (
        " Where a run's own report says another word, it stands beside: there the same is one of fewer questions."
        if differs
        else ""
    )
    yield Heading(
        "Tests",
        lead=f"Paired differences on the same requests. {HOW_TESTED} Better or worse means that {CLEAR}.{own_note}",
    )
    for judge in comparison.judges:
        if tests := of_judge(comparison.tests, judge):
            by_pair = grouped(tests, lambda test: _pair(comparison, test))
            test_table = difference_table(judge, by_pair, places_of(comparison.scores, judge))
            clear = sum(test.is_clear for test in tests)
            yield Details(judge.name, (test_table,), f"{clear} of {counted(len(tests), 'difference')} clear")


def _pair(comparison: Comparison, test: Difference) -> str:
    if is_given(comparison):
        return comparison_name(test.system, test.reference)
    return f"{test.system}, {budget_name(test.k)} - {test.reference}, {budget_name(test.reference_k)}"


def _made(comparison: Comparison) -> Iterator[Block]:
    yield from how_made(
        (
            *((entry.label, code(entry.model, entry.folder)) for entry in comparison.entries),
            *((judge.name, code(judge.signature)) for judge in (*comparison.judges, *comparison.axis_judges)),
            ("intervals", how_intervals(comparison.bootstrap.level)),
        ),
        comparison.versions,
    )
    recipes = {"these judges": next(iter(comparison.recipes.values()))} if is_given(comparison) else comparison.recipes
    yield from (recipe_details(recipe, label) for label, recipe in recipes.items())


def given_means(comparison: Comparison) -> Iterator[Block]:
    """By each judge the means of summaries made elsewhere, for a terminal, where a narrow table has no heads."""
    for judge in comparison.judges:
        yield Prose(DIRECTIONS[judge.better], head=judge.name)
        yield _given_means(comparison, judge)


def _given_means(comparison: Comparison, judge: JudgeNote) -> Table:
    """Summaries made elsewhere down, sides across, with intervals; a mark says how an entry stands to the first one."""
    places = places_of(comparison.scores, judge)
    tests = {(test.system, test.side): test for test in of_judge(comparison.tests, judge)}

    def cell(score: Score) -> NumberCell:
        test = tests.get((score.system, score.side))
        return NumberCell(score.value, bounds(score), places, tone=tone(test, judge) if test else None)

    by_entry = grouped(of_judge(comparison.scores, judge), lambda e: e.system)
    sides = (None,) if len(comparison.sides) == 1 else (*comparison.sides, None)
    heads = ("entry", *(side or ALL for side in sides))
    return table(f"means by {judge.name}", heads, (row(name, *map(cell, scores)) for name, scores in by_entry.items()))


def _short(comparison: Comparison, judge: JudgeNote) -> Table:
    """Entries down, budgets across; a mark says how an entry stands to the first one of its budget."""
    if is_given(comparison):
        return _given_means(comparison, judge)
    places = places_of(comparison.scores, judge)
    means = {(e.system, e.k): e.value for e in _of_all(comparison, judge)}
    tests = {
        (test.system, test.k): test
        for test in of_judge(comparison.tests, judge)
        if test.side is None and test.k == test.reference_k
    }

    def cell(label: str, k: int) -> NumberCell:
        test = tests.get((label, k))
        return NumberCell(means.get((label, k)), places=places, tone=tone(test, judge) if test else None)

    heads = (
        f"{judge.name}: {DIRECTIONS[judge.better].lower().rstrip('.')}",
        *map(budget_name, comparison.budgets),
    )
    rows = (row(entry.label, *(cell(entry.label, k) for k in comparison.budgets)) for entry in comparison.entries)
    return table(f"means by {judge.name}", heads, rows)
