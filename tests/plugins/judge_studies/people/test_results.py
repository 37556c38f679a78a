import re
from io import StringIO

import pytest
from rich.console import Console

from evenhand.errors import DataError
from evenhand.evaluation.pages import terminal
from evenhand.plugins.judge_studies.people.annotations.annotation import (
    Annotation,
    HumanUnit,
    Span,
    SummaryMarks,
    read_human,
)
from evenhand.plugins.judge_studies.people.annotations.scores import HumanScores, human_scores
from evenhand.plugins.judge_studies.people.result_pages import results_page
from evenhand.plugins.judge_studies.people.results import human_results
from evenhand.resampling import Bootstrap, exact_bounds


def annotation(omitted, hallucinated):
    """As many key points of document and summary as there are flags."""
    points = tuple((Span(start=i, end=i + 1, label="x"),) for i in range(len(omitted)))
    marks = SummaryMarks(tuple("x" for _ in hallucinated), tuple(omitted), tuple(hallucinated))
    return Annotation(points, (), {"pine": marks})


def test_scores_worked_by_hand():
    # 1 of 3 key points is there; 1 of 2 points is supported
    found = human_scores(annotation([True, True, False], [False, True]), "pine")
    assert found == HumanScores(pytest.approx(1 / 3), 0.5, included=1, omitted=2, hallucinated=1)


def test_shares_of_nothing_are_none():
    assert human_scores(annotation([], []), "pine") == HumanScores(None, None, 0, 0, 0)


def test_a_method_that_was_not_marked_is_refused():
    with pytest.raises(DataError, match="'debate' was marked; methods of this record are pine"):
        human_scores(annotation([], []), "debate")


DRAWS = Bootstrap(resamples=200, seed=1)


def unit(set_id, side, omitted, hallucinated, system="base"):
    """A unit with one summary of four words."""
    points = tuple((Span(start=i, end=i + 1, label="x"),) for i in range(len(omitted)))
    marks = SummaryMarks(tuple("x" for _ in hallucinated), tuple(omitted), tuple(hallucinated))
    return HumanUnit(
        "anna",
        1,
        "topic",
        side,
        "xxxx",
        {system: "The Left wants it."},
        Annotation(points, (), {system: marks}),
        set_id,
    )


def rows(found):
    """Of each system and side its numbers by what they measure."""
    made = {}
    for each in found.numbers:
        made.setdefault((each.system, each.side), {})[each.measure] = each
    return made


def coverage_of(units):
    return rows(human_results(units, {}, DRAWS))["base", None]["coverage"]


def test_no_count_of_key_points_has_an_interval_below_none():
    # one unit of ten lacks one of its two points, so that the interval about 0.1 goes below 0 unless it is told what a count is
    units = [unit(f"set {n}", "left", [n == 0, False], [False]) for n in range(10)]
    omitted = rows(human_results(units, {}, DRAWS))["base", None]["omitted"]
    assert (omitted.value, omitted.low) == (0.1, 0.0)


def test_scores_are_split_by_side_worked_by_hand():
    # left: coverage 1/2 and 1, faithfulness 1/2 and unknown; right: coverage 0, faithfulness 1
    units = [
        unit("a", "left", [True, False], [True, False]),
        unit("b", "left", [False], []),
        unit("a", "right", [True], [False]),
    ]
    found = rows(human_results(units, {}, DRAWS))
    assert list(found) == [("base", "left"), ("base", "right"), ("base", None)]
    left, whole = found["base", "left"], found["base", None]
    faithfulness = left["faithfulness"]
    assert (left["coverage"].n, left["coverage"].n_sets, left["coverage"].value) == (2, 2, 0.75)
    assert (faithfulness.n, faithfulness.n_sets, faithfulness.left_out, faithfulness.value) == (1, 1, 1, 0.5)
    assert (whole["length"].n, whole["length"].n_sets) == (3, 2)
    assert (whole["coverage"].value, whole["faithfulness"].value) == (0.5, 0.75)
    assert [whole[name].value for name in ("included", "omitted", "hallucinated")] == pytest.approx(
        [2 / 3, 2 / 3, 1 / 3]
    )
    assert whole["length"].value == 4


def test_both_sides_of_a_set_are_drawn_together():
    # one set: nothing can be resampled, though there are two units
    one = coverage_of([unit("a", "left", [True], []), unit("a", "right", [False], [])])
    assert (one.low, one.value) == (None, 0.5)
    # six sets of both sides, which cancel out: no more is known than by as many sets
    six = coverage_of([unit(name, side, [side == "left"], []) for name in "abcdef" for side in ("left", "right")])
    assert (six.low, six.high) == exact_bounds(0.5, 6, 0.95)


def test_fewer_than_five_document_sets_have_no_interval():
    four = [unit(name, "left", [True, name < "c"], []) for name in "abcd"]
    found = coverage_of(four)
    assert (found.value, found.low, found.high, found.n_sets) == (0.25, None, None, 4)
    # more have a coverage, but no summary with a key point: values of the one, and none of the other
    more = [unit(name, "left", [False, name < "g"], []) for name in "efgh"]
    found = rows(human_results([*four, *more], {}, DRAWS))["base", None]
    assert found["coverage"].low < found["coverage"].value < found["coverage"].high
    assert (found["faithfulness"].n, found["faithfulness"].low) == (0, None)


def test_units_without_key_points_join_what_was_left_out_before():
    units = [unit("a", "left", [], [True]), unit("b", "left", [False], [])]
    found = human_results(units, {("match not decided", "right"): 2}, DRAWS)
    assert [(each.reason, each.side, each.count) for each in found.left_out] == [
        ("document without key points", "left", 1),
        ("match not decided", "right", 2),
    ]
    assert rows(found)["base", None]["coverage"].n == 1


def test_no_unit_gives_no_row():
    assert human_results([], {("not annotated", "left"): 3}, DRAWS).numbers == ()


def test_the_released_annotations_give_the_published_means_by_side(polisum):
    units = [
        unit
        for n in (1, 2, 3)
        for unit in read_human(polisum / f"human_{n}.json", polisum / f"human_items_{n}.json", str(n))
    ]
    found = human_results(units, {}, DRAWS)
    for (method, side), its in rows(found).items():
        assert its["coverage"].low < its["coverage"].value < its["coverage"].high, method
        assert its["coverage"].n == (54 if side is None else 27)
    # docs/papers.md#ri-values, zero-shot
    assert rows(found)["baseline", None]["coverage"].value == pytest.approx(0.3616, abs=6e-5)
    assert [(each.reason, each.count) for each in found.left_out] == [("document without key points", 1)]


@pytest.mark.parametrize("width", [80, 100])
def test_the_table_fits_the_terminal(width):
    system = "a-system-with-a-rather-long-name"
    units = [unit(name, side, [True] * 12, [True] * 12, system) for name in "abcdef" for side in ("left", "right")]
    console = Console(file=StringIO(), width=width)
    console.print(terminal.render(results_page(human_results(units, {("match not decided", "left"): 1}, DRAWS))))
    text = console.file.getvalue()
    assert max(map(len, text.splitlines())) <= width
    assert "left out: match not decided, left: 1" in text
    # nothing is cut off: coverage and faithfulness of two sides and of both, 0 of 12 key points matched
    assert "\u2026" not in text
    # two annotations of each of six sets all agree: as sure as six
    assert "no variation" not in text
    assert text.count("12.00") == 6
    assert "nothing is concluded" not in text
    # annotated summaries and document sets of a side
    assert len(re.findall(r" 6 +6 ", text)) == 2
    assert len(re.findall(r" 12 +6 ", text)) == 1


def test_too_few_document_sets_are_told():
    console = Console(file=StringIO(), width=100)
    console.print(terminal.render(results_page(human_results([unit("a", "left", [True], [])], {}, DRAWS))))
    assert "base, all rests on 1 document set: with fewer than 5 nothing is concluded" in console.file.getvalue()


@pytest.mark.parametrize(
    ("systems", "said"),
    [
        # one of two points is in the first, none in the second
        ({"base": [True, False], "dpo": [True, True]}, "Best by people: coverage 50 % and faithfulness 100 % by base"),
        ({"base": [True, True]}, "Best by people: coverage 0 % and faithfulness 100 % by base"),
    ],
)
def test_the_first_page_says_who_is_best_by_people(systems, said):
    units = [unit(f"{n}", "left", omitted, [False], system) for system, omitted in systems.items() for n in range(6)]
    made = results_page(human_results(units, {}, DRAWS)).overview
    assert made.headline == said
    assert [row.name for row in made.picture.rows] == list(systems)


def test_without_scores_there_is_no_first_page():
    assert results_page(human_results([], {}, DRAWS)).overview is None
