"""The comparison as a page: entries, scores at each budget, worst sides, tests and rankings."""

from collections.abc import Iterator
from shlex import quote

from ...gate.page import with_gate
from ...pages.blocks import (
    Block,
    Details,
    Group,
    Heading,
    NumberCell,
    Page,
    Prose,
    Table,
    bounds,
    code,
    count,
    estimate,
    first_and_more,
    group,
    grouped,
    how_made,
    listing,
    recipe_details,
    row,
    table,
)
from ...pages.charts import Panel, Point
from ...pages.numbers import NONE, number
from ...pages.words import (
    ALL,
    MOST_NAMED,
    counted,
    legend,
)
from ...verdicts import CLEAR, HOW_TESTED
from ...worth import worth_blocks
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


def page(found: Comparison) -> Page:
    """The comparison as blocks."""
    traits = [e for e in found.traits if e.k == found.budgets[0]]
    made = Page(
        kind="comparison",
        about=f"{counted(len(found.entries), 'entry', 'entries')}, {counted(found.n_requests, 'request')} of "
        f"{counted(found.n_sets, 'document set')}",
        title=f"{found.title}.",
        warnings=found.warnings,
        findings=(
            *first_and_more(found.findings),
            *judges_explained((*found.judges, *found.axis_judges), next(iter(found.recipes.values()))),
        ),
        body=(
            *_scores(found),
            *_by_length(found),
            *worth_blocks(found.worth),
            *_worst_sides(found),
            *_baselines(found),
            *chart_section(
                "Budgets",
                "Mean score by the number of candidates among which the reward chooses. The band is the interval.",
                budget_panels(found),
            ),
            *plane_blocks(found.planes, (*found.judges, *found.axis_judges)),
            *chart_section(
                "Rounds",
                f"Mean score of {_of(found)} after each round of a method, all from one run. The band is the interval.",
                round_panels(found),
            ),
            *_rankings(found),
            *_tests(found),
            *_entries(found),
            Heading("Form, side and length", lead=_of_traits(found)),
            Details(
                "By entry and side" if len(found.sides) > 1 else "By entry",
                (trait_table(traits, found.counted, list(grouped(traits, lambda e: e.system))),),
            ),
            *_made(found),
        ),
        footer="Every number on this page is in comparison.json beside it, with its judge, counts, level, draws and seed.",
        overview=overview(found),
    )
    return with_gate(made, found.gate)


def _of(found: Comparison) -> str:
    return "one draw" if found.budgets[0] == 1 else f"the best of {found.budgets[0]}"


def is_given(found: Comparison) -> bool:
    """Whether its summaries were made elsewhere, one for each request."""
    return all(entry.method == ELSEWHERE for entry in found.entries)


def _of_traits(found: Comparison) -> str:
    return "" if is_given(found) else f"Of {_of(found)}; at the other budgets in comparison.json."


def _taken(found: Comparison, k: int) -> str:
    """What is taken of k candidates, "" where there is one of each request."""
    return "" if is_given(found) else budget_name(k)


def _entries(found: Comparison) -> Iterator[Block]:
    if is_given(found):
        return
    yield Heading(
        "Entries",
        lead="What one candidate took to make. At equal budgets a method that asks more often costs more.",
    )
    yield listing(
        "entries",
        zip(found.entries, found.costs, strict=True),
        {
            "entry": lambda each: each[0].label,
            "method": lambda each: each[0].method,
            "candidates": lambda each: count(each[0].candidates),
            "chosen by": lambda each: ", ".join(each[0].reward) or NONE,
            "calls each": lambda each: NumberCell(each[1].calls, places=1),
            "generated tokens each": lambda each: NumberCell(each[1].tokens, places=0),
            "prompt tokens run each": lambda each: NumberCell(each[1].prefilled, places=0),
        },
    )


def _scores(found: Comparison) -> Iterator[Block]:
    lead = (
        "Mean score of each entry at each budget. One draw is the mean over an entry's candidates; the best of k is the "
        "expected score of the candidate of highest reward among k of them, of whatever plan. The first entry is what the "
        "others are tested against, at each budget that it has; else the first that has it."
    )
    given = "Mean score of each entry's summaries. The first entry is what the others are tested against."
    yield Heading("Scores", lead=given if is_given(found) else lead)
    yield legend(", against the first of its column")
    for judge in found.judges:
        heading, said, signature = judge_blocks(judge, slope_words(found.slopes, judge.name))
        whole = _by_side(found, judge)
        yield from (heading, said, _short(found, judge))
        yield Details(
            f"{'By side, with' if len(found.sides) > 1 else 'With'} intervals, words and requests",
            (*sides_legend(found.sides), whole, signature),
            f"{100 * found.bootstrap.level:g} % intervals over document sets",
        )


def _by_side(found: Comparison, judge: JudgeNote) -> Table:
    """The means of every entry at every budget, with intervals, words and requests."""
    n_words = grouped((e for e in found.traits if e.measure == WORDS and e.side is None), lambda e: e.k)
    mine = grouped(of_judge(found.scores, judge), lambda e: e.k)
    groups = [
        (_taken(found, k), by_system(mine.get(k, ()), {e.system: e.value for e in n_words.get(k, ())}))
        for k in found.budgets
    ]
    lows, name = of_low_grades(found.traits, found.counted, judge)
    by_place = {(_taken(found, e.k), e.system): e.value for e in lows}
    return score_table(judge, groups, places_of(found.scores, judge), by_place, name)


def _by_length(found: Comparison) -> Iterator[Block]:
    """Where so many go with it that the warning names none."""
    if len(found.by_length) <= MOST_NAMED:
        return
    yield Heading(
        GONE_WITH_LENGTH,
        lead="Clear differences of which half or more goes with how long the summaries are, on average, and what is left of "
        "each between summaries of equal length.",
    )
    for judge in found.judges:
        if mine := [each for each in found.by_length if each.measure == judge.name]:
            yield Heading(judge.name, 3)
            places = places_of(found.scores, judge)
            rows = (
                row(
                    each.pair,
                    NumberCell(each.value, places=places, sign=True),
                    NumberCell(each.share, unit="%", places=0),
                    " \u2192 ".join(number(words, 1) for words in each.words),
                    estimate(each.at_equal_length, places, sign=True),
                )
                for each in mine
            )
            heads = ("difference", "mean", "of it with length", "words", "at equal length")
            yield table(f"gone with length by {judge.name}", heads, rows)


def budget_panels(found: Comparison) -> list[Panel]:
    """A plot of score by budget for each judge, entries as lines; none when no entry has two budgets."""
    labels = [entry.label for entry in found.entries if entry.round is None]
    return judge_panels(
        found.judges,
        "candidates",
        lambda judge: [
            (name, points_of((e.k, e) for e in _of_all(found, judge) if e.system == name)) for name in labels
        ],
    )


def round_panels(found: Comparison) -> list[Panel]:
    """A plot of one draw's score by round for each judge, runs as lines; none when no run has two rounds."""
    rounds: dict[str, dict[str, int]] = {}
    for entry in found.entries:
        if entry.round is not None:
            rounds.setdefault(entry.run, {})[entry.label] = entry.round

    def lines(judge: JudgeNote) -> list[tuple[str, list[Point]]]:
        here = [e for e in _of_all(found, judge) if e.k == found.budgets[0]]
        return [
            (run, points_of((labels[e.system], e) for e in here if e.system in labels))
            for run, labels in rounds.items()
        ]

    return judge_panels(found.judges, "round", lines, first_style=1)


def _of_all(found: Comparison, judge: JudgeNote) -> list[Score]:
    return [e for e in of_judge(found.scores, judge) if e.side is None]


def _rankings(found: Comparison) -> Iterator[Block]:
    if not found.rankings:
        return
    of_budget = "" if is_given(found) else " of one budget"
    yield Heading(
        "Ranking",
        lead=f"Bradley-Terry strengths: for each request and each two entries{of_budget}, the chance that a summary of the "
        "one scores better than one of the other, a tie half. A difference of 0.69 means winning two of three. "
        "Intervals of Student's t with the jackknife over document sets.",
    )
    for judge, mine in grouped(found.rankings, lambda each: each.measure).items():
        yield Details(
            judge,
            (table(f"ranking by {judge}", ("entry", "strength", "won"), [_ranking(found, each) for each in mine]),),
        )


def _ranking(found: Comparison, ranking: Ranking) -> Group:
    rows = (
        (each.system, estimate(each, 2, sign=True), NumberCell(each.won, unit="%", places=1)) for each in ranking.rows
    )
    which = ", ".join(filter(None, (_taken(found, ranking.k), ranking.side or ALL)))
    return group(rows, which, counted(ranking.n, "request"))


def _worst_sides(found: Comparison) -> Iterator[Block]:
    if found.worst_sides:
        yield Heading(
            "Worst side",
            lead="Each entry by the side that it serves worst, on the requests that all entries have a score for. The chance "
            "is the share of the bootstrap draws of document sets in which its worst side is the best of all, the worst "
            f"side found again in each. A choice is made where its worst side is clearly better than every other entry's, "
            f"corrected with all tests of this page. Sides of fewer than {found.worst_sides[0].least_sets} sets take no "
            "part, and where fewer than two are left, nothing is chosen.",
        )
        for judge, mine in grouped(found.worst_sides, lambda each: each.measure).items():
            heads = ("entry", "worst side", "mean", "chance of being best")
            best = [(_taken(found, each.k), each.choice or "no clear choice") for each in mine]
            chosen = "; ".join(": ".join(filter(None, each)) for each in best)
            rows = [_worst_side(found, each) for each in mine]
            yield Details(judge, (table(f"worst sides by {judge}", heads, rows),), chosen)
    if said := where_values_are(found):
        yield Heading("Worst value")
        yield Prose(said)


def _worst_side(found: Comparison, each: WorstGroups) -> Group:
    rows = (
        (
            system.system,
            system.side or NONE,
            estimate(system),
            NumberCell(system.chance_of_best, unit="%", places=1),
        )
        for system in each.systems
    )
    left_out = f"{each.left_out} left out" if each.left_out else ""
    return group(rows, _taken(found, each.k), ", ".join(filter(None, (left_out, without_part(each)))))


def where_values_are(found: Comparison) -> str:
    """Where to see which value's documents a summary of all sides serves worst; "" where sides are summarised one by one."""
    if {recipe["task"]["scope"] for recipe in found.recipes.values()} != {"all"}:
        return ""
    corpus = next(iter(found.recipes.values()))["corpus"]
    audit = f"evenhand audit --documents {quote(corpus['path'])} --attribute {quote(corpus['attribute'])}"
    if is_given(found):
        files = " ".join(f"--summaries {quote(f'{entry.label}={entry.folder}')}" for entry in found.entries)
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


def _baselines(found: Comparison) -> Iterator[Block]:
    if not found.baselines:
        return
    yield Heading(
        "What a reward must beat",
        lead="The best of all of an entry's candidates by its reward, minus what is chosen of them without a judge: one draw, "
        "by length (nearest to the words asked for, else the longest), or by consensus (minimum Bayes risk: the candidate "
        "nearest to the others in words). Tested and adjusted as below.",
    )
    for judge in found.judges:
        mine = of_judge(found.baselines, judge)
        whole = {(test.system, test.reference): test for test in mine if test.side is None}
        places = places_of(found.scores, judge)
        rows = []
        for entry in found.entries:
            if (entry.label, BASELINES[0]) in whole:
                against = [whole.get((entry.label, name)) for name in BASELINES]
                rows.append(row(entry.label, *(change(e, judge, places) if e else NumberCell(None) for e in against)))
        yield Heading(judge.name, 3)
        yield table(f"baselines by {judge.name}", ("entry", *(f"minus {name}" for name in BASELINES)), rows)
        pairs = grouped(mine, lambda test: f"{test.system}, {budget_name(test.k)} - {test.reference}")
        tested = difference_table(judge, pairs, places, "tests of baselines")
        yield Details("By side, with tests and at equal length", (tested,))


def _tests(found: Comparison) -> Iterator[Block]:
    if not found.tests:
        return
    differs = any(each.own_report for each in (*found.tests, *found.baselines))
    own = (
        " Where a run's own report says another word, it stands beside: there the same is one of fewer questions."
        if differs
        else ""
    )
    yield Heading(
        "Tests",
        lead=f"Paired differences on the same requests. {HOW_TESTED} Better or worse means that {CLEAR}.{own}",
    )
    for judge in found.judges:
        if mine := of_judge(found.tests, judge):
            by_pair = grouped(mine, lambda test: _pair(found, test))
            whole = difference_table(judge, by_pair, places_of(found.scores, judge))
            clear = sum(test.is_clear for test in mine)
            yield Details(judge.name, (whole,), f"{clear} of {counted(len(mine), 'difference')} clear")


def _pair(found: Comparison, test: Difference) -> str:
    if is_given(found):
        return comparison_name(test.system, test.reference)
    return f"{test.system}, {budget_name(test.k)} - {test.reference}, {budget_name(test.reference_k)}"


def _made(found: Comparison) -> Iterator[Block]:
    yield from how_made(
        (
            *((entry.label, code(entry.model, entry.folder)) for entry in found.entries),
            *((judge.name, code(judge.signature)) for judge in (*found.judges, *found.axis_judges)),
            ("intervals", how_intervals(found.bootstrap.level)),
        ),
        found.versions,
    )
    recipes = {"these judges": next(iter(found.recipes.values()))} if is_given(found) else found.recipes
    yield from (recipe_details(recipe, label) for label, recipe in recipes.items())


def given_means(found: Comparison) -> Iterator[Block]:
    """By each judge the means of summaries made elsewhere, for a terminal, where a narrow table has no heads."""
    for judge in found.judges:
        yield Prose(DIRECTIONS[judge.better], head=judge.name)
        yield _given_means(found, judge)


def _given_means(found: Comparison, judge: JudgeNote) -> Table:
    """Summaries made elsewhere down, sides across, with intervals; a mark says how an entry stands to the first one."""
    places = places_of(found.scores, judge)
    tests = {(test.system, test.side): test for test in of_judge(found.tests, judge)}

    def cell(each: Score) -> NumberCell:
        test = tests.get((each.system, each.side))
        return NumberCell(each.value, bounds(each), places, tone=tone(test, judge) if test else None)

    by_entry = grouped(of_judge(found.scores, judge), lambda e: e.system)
    sides = (None,) if len(found.sides) == 1 else (*found.sides, None)
    heads = ("entry", *(side or ALL for side in sides))
    return table(f"means by {judge.name}", heads, (row(name, *map(cell, mine)) for name, mine in by_entry.items()))


def _short(found: Comparison, judge: JudgeNote) -> Table:
    """Entries down, budgets across; a mark says how an entry stands to the first one of its budget."""
    if is_given(found):
        return _given_means(found, judge)
    places = places_of(found.scores, judge)
    means = {(e.system, e.k): e.value for e in _of_all(found, judge)}
    tests = {
        (test.system, test.k): test
        for test in of_judge(found.tests, judge)
        if test.side is None and test.k == test.reference_k
    }

    def cell(label: str, k: int) -> NumberCell:
        test = tests.get((label, k))
        return NumberCell(means.get((label, k)), places=places, tone=tone(test, judge) if test else None)

    heads = (
        f"{judge.name}: {DIRECTIONS[judge.better].lower().rstrip('.')}",
        *map(budget_name, found.budgets),
    )
    rows = (row(entry.label, *(cell(entry.label, k) for k in found.budgets)) for entry in found.entries)
    return table(f"means by {judge.name}", heads, rows)
