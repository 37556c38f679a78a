"""The Pareto front: who is on it, who is off it, and when there is no clear difference."""

from types import SimpleNamespace
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.config.fairness import FairnessJudgeSection
from evenhand.config.judges import read_judge
from evenhand.evaluation.pages import html, markdown
from evenhand.evaluation.report.checkpoint.build import build_report
from evenhand.evaluation.report.checkpoint.page import page
from evenhand.evaluation.report.systems.compare import Comparer
from evenhand.evaluation.report.systems.contents import JudgeNote
from evenhand.evaluation.report.systems.pareto import axes, fairness_judges, fronts, rivals_of
from evenhand.evaluation.report.systems.questions import answers
from evenhand.evaluation.report.systems.systems import System, read_policies
from evenhand.evaluation.report.systems.worst_group import mean_draws
from evenhand.resampling import Bootstrap

BOOTSTRAP = Bootstrap(level=0.95, resamples=500, seed=0)
SETS = [str(i) for i in range(20)]


def note(name: str, role: str = "report", better: str | None = "higher") -> JudgeNote:
    return JudgeNote(name=name, signature=name, role=role, better=better)


def beaten(first: Any, second: Any, sets: Any = SETS) -> Any:
    rivals = rivals_of(np.array(first, dtype=float), np.array(second, dtype=float), sets, BOOTSTRAP)
    surely, _ = rivals.concluded(answers([rivals.question], BOOTSTRAP)[0], BOOTSTRAP.level)
    return rivals.looks, surely


def test_better_by_one_and_worse_by_the_other_is_no_defeat():
    rows = [[0.2] * 20, [0.8] * 20]
    assert beaten(rows, rows[::-1]) == ([], [])


def test_better_by_both_in_every_set_is_a_sure_defeat():
    # the second gains 0.1 in each set, so every draw of sets says so
    rows = [[0.2] * 20, [0.3] * 20]
    assert beaten(rows, rows) == ([(1, 0)], [(1, 0)])


def test_better_means_by_a_few_sets_are_no_sure_defeat():
    # without the one set ahead, but with the one behind: (19/20)**20 * (1 - (18/19)**20) = 24 % of the draws
    ahead = [0.2] * 18 + [0.9, 0.1]
    assert beaten([[0.2] * 20, ahead], [[0.2] * 20, [0.3] * 20]) == ([(1, 0)], [])


def test_better_by_one_and_equal_by_the_other_is_a_defeat():
    assert beaten([[0.2] * 20, [0.3] * 20], [[0.2] * 20, [0.2] * 20]) == ([(1, 0)], [(1, 0)])
    # equal but for rounding
    assert beaten([[0.2] * 20, [0.3] * 20], [[0.2] * 20, [0.2 - 1e-16] * 20]) == ([(1, 0)], [(1, 0)])


def test_equal_systems_do_not_beat_each_other():
    assert beaten([[0.2] * 20, [0.2] * 20], [[0.3] * 20, [0.3] * 20]) == ([], [])


@pytest.mark.parametrize(("n_sets", "is_sure"), [(4, False), (5, False), (6, True)])
def test_sets_of_which_no_test_can_be_clear_are_never_sure(n_sets, is_sure):
    # t would be: of as many equal signs p is 2 / 2**5 at least, and nothing on the page is clear
    rows = [[0.2] * n_sets, [0.3, 0.31, 0.3, 0.31, 0.3, 0.31][:n_sets]]
    assert beaten(rows, rows, SETS[:n_sets]) == ([(1, 0)], [(1, 0)] if is_sure else [])
    # one of them without a value of the first
    gap = [[np.nan, *[0.2] * (n_sets - 1)], rows[1]]
    assert beaten(gap, gap, SETS[:n_sets])[1] == []


def test_what_cannot_be_sure_does_not_speak_for_a_plane():
    # the third is far ahead of the first by one judge and, by chance, behind by none: worse in some sets by the other
    noise = np.random.default_rng(0).normal(0, 0.4, 20)
    first = np.array([[0.2] * 20, [0.8] * 20])
    second = np.array([0.5 + noise - noise.mean(), 0.52 + noise[::-1] - noise.mean()])
    assert beaten(first, second) == ([(1, 0)], [])


def test_a_draw_without_a_value_says_nothing_against_the_others():
    # ten of 100 sets have values: a draw has none of them with the chance (90/100)**100, 1 in 38,000
    rows = [[0.2] * 10 + [np.nan] * 90, [0.3] * 100]
    sets = [str(i) for i in range(100)]
    many = Bootstrap(level=0.95, resamples=20_000, seed=2)
    drawn = mean_draws(np.array(rows[:1]).T, many)
    assert np.isnan(drawn).any(), "no draw of this seed is empty; take another"
    assert beaten(rows, rows, sets)[1] == [(1, 0)]


def test_one_document_set_cannot_tell():
    assert beaten([[0.2] * 20, [0.3] * 20], [[0.2] * 20, [0.3] * 20], ["a"] * 20) == ([(1, 0)], [])


def test_requests_without_a_value_are_left_out_in_pairs():
    # by the sets that both have, the second is better; by means of all it would be worse
    first = [[0.9] * 10 + [0.1] * 10, [np.nan] * 10 + [0.2] * 10]
    assert beaten(first, [[0.1] * 20, [0.2] * 20])[1] == [(1, 0)]
    assert beaten([[np.nan] * 20, [0.2] * 20], [[0.1] * 20, [0.2] * 20]) == ([], [])


@settings(max_examples=50)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=6))
def test_somebody_is_always_on_the_front_and_defeats_go_one_way(points: list[tuple[int, int]]):
    first, second = ([[float(p[axis])] * 20 for p in points] for axis in (0, 1))
    looks, sure = beaten(first, second)
    assert looks == sure
    assert set(range(len(points))) - {loser for _, loser in looks}
    assert all((loser, winner) not in looks for winner, loser in looks)
    # by the definition: no less in both, and more in one
    expected = [
        (i, j) for i, a in enumerate(points) for j, b in enumerate(points) if a != b and a[0] >= b[0] and a[1] >= b[1]
    ]
    assert looks == expected


def test_planes_pair_quality_with_fairness():
    judges = [note("uer", better="lower"), note("recall"), note("precision"), note("words", better=None)]
    pairs = axes(judges, {"uer"}, ["fit"])
    assert [(a.name, b.name) for a, b in pairs] == [("recall", "uer"), ("precision", "uer")]


def test_without_a_judge_of_fairness_a_reward_of_several_parts_pairs_two_qualities():
    judges = [note("recall"), note("precision"), note("f")]
    assert [(a.name, b.name) for a, b in axes(judges, set(), ["fit", "cover"])] == [("recall", "precision")]
    assert axes(judges, set(), ["fit"]) == []
    assert axes([note("recall")], set(), ["fit", "cover"]) == []


def test_judges_of_the_reward_are_no_axis_where_others_are_there():
    judges = [note("uer", better="lower"), note("recall"), note("fit", "reward")]
    assert [(a.name, b.name) for a, b in axes(judges, {"uer"}, ["fit"])] == [("recall", "uer")]


def test_fairness_that_only_the_reward_measures_is_an_axis():
    judges = [note("uer", "reward", better="lower"), note("recall"), note("precision")]
    found = [(a.name, b.name) for a, b in axes(judges, {"uer"}, ["uer"])]
    assert found == [("recall", "uer"), ("precision", "uer")]


def test_quality_that_only_the_reward_judges_is_an_axis():
    judges = [note("uer", better="lower"), note("ec", better="lower"), note("faith", "reward"),
              note("unf", "reward", better="lower")]  # fmt: skip
    found = [(a.name, b.name) for a, b in axes(judges, {"uer", "ec", "unf"}, ["faith", "unf"])]
    assert found == [("faith", "uer"), ("faith", "ec")]


TWO = {
    "judges": {"fit": {"kind": "alignment"}, "more": {"kind": "alignment", "direction": "recall"},
               "overlap": {"kind": "rouge"}, "exact": {"kind": "rouge", "measure": "precision"}},
    "reward": {"judges": ["fit", "more"]},
    "evaluation": {"judges": ["overlap", "exact"], "resamples": 500, "examples": 0},
    "rounds": 0,
}  # fmt: skip


@pytest.fixture
def report(make_run: Any) -> Any:
    run = make_run(**TWO)
    # fit, more, overlap, exact: the candidate of highest reward is better by both in every set
    rows = [(0.1, 0.1, 0.2, 0.3), (0.9, 0.9, 0.5, 0.6)]
    run.write("evaluation/base", {f"{i}/left": rows for i in range(12)})
    return build_report(run.recipe, None)


def test_report_has_the_plane_of_its_judges(report: Any):
    (plane,) = report.planes
    assert (plane.quality, plane.fairness) == ("overlap", "exact")
    standings = {point.name: (point.standing, point.behind) for point in plane.points}
    # one draw has the means (0.35, 0.45), the best of the two (0.5, 0.6); three candidates are asked for, two were made
    assert standings["zero-shot"] == ("off the front", ("rerank",))
    assert standings["rerank"] == ("on the front", ())
    assert plane.points[0].quality.value == pytest.approx(0.35)
    assert plane.points[0].fairness.value == pytest.approx(0.45)


def test_page_and_markdown_show_the_front(report: Any):
    shown = html.render(page(report))
    assert "Pareto front" in shown
    assert "off the front: rerank beats it" in shown
    assert "On the front: rerank." in shown
    text = markdown.render(page(report))
    assert "## Pareto front" in text
    (row,) = [line for line in text.splitlines() if line.startswith("| 2 rerank |")]
    assert "0.500" in row and "0.600" in row and "on the front" in row


def test_one_system_alone_is_on_no_front(make_run: Any):
    run = make_run(**TWO)
    run.write("evaluation/base", {f"{i}/left": [(0.1, 0.1, 0.2, 0.3)] for i in range(12)})
    (output,) = read_policies(run.recipe)
    alone = {"alone": System("alone", output, 1)}
    assert list(fronts([(note("overlap"), note("exact"))], alone, Comparer(output.requests, BOOTSTRAP))) == []


def test_reward_of_one_judge_shows_no_front(small_run: Any):
    found = build_report(small_run.recipe, None)
    assert found.planes == ()
    assert "Pareto front" not in html.render(page(found))


def test_a_package_s_judge_of_fairness_is_one_too():
    class Section(FairnessJudgeSection):
        kind: Literal["gap"]

    kept = {"uer": {"kind": "value-shares", "matcher": {"kind": "words"}}, "words": {"kind": "length"}}
    judges = {name: read_judge(values) for name, values in kept.items()} | {"gap": Section(kind="gap")}
    assert fairness_judges(SimpleNamespace(judges=judges)) == {"uer", "gap"}
