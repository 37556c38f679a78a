"""One correction over the questions of a comparison's page."""

from typing import Any

import pytest

from evenhand.evaluation.comparison.baselines import BY_LENGTH, ONE_DRAW
from evenhand.evaluation.comparison.contents import PairedTest, WorstSides
from evenhand.evaluation.comparison.correction import conclude
from evenhand.evaluation.systems.contents import JudgeNote
from evenhand.evaluation.systems.worst_group import WorstGroups

HOW = {"level": 0.95, "resamples": 1000, "seed": 0}


def note(name: str, role: str = "report") -> JudgeNote:
    return JudgeNote(name=name, signature="", role=role, better="higher")


def paired(p: float, subject: str, k: int, reference: str, reference_k: int, **more: Any) -> PairedTest:
    """A difference as large as can be wherever p is small enough."""
    given = {"measure": "recall", "side": None, "n_sets": 12} | more
    return PairedTest(
        signature="", subject=subject, mean=1.0, low=0.9, high=1.1, n=24, left_out=0, **HOW, p_value=p, adjusted=None,
        verdict="no clear difference", k=k, reference=reference, reference_k=reference_k, **given,
    )  # fmt: skip


def used(p: float, **more: Any) -> PairedTest:
    return paired(p, "dpo", 3, "base", 3, **more)


def reranked(p: float, label: str = "dpo", **more: Any) -> PairedTest:
    return paired(p, label, 3, label, 1, **more)


def of_worst_sides(p: float) -> WorstSides:
    found = WorstGroups(systems=(), choice="dpo", p_value=p, left_out=0, least_sets=5, **HOW)
    return WorstSides(measure="recall", k=3, found=found)


def adjusted_of(tests: Any, baselines: Any = (), judges: Any = None) -> Any:
    found = conclude(judges or [note("recall")], tests, baselines, [], [])
    return [pytest.approx(each.adjusted) for each in (*found.tests, *found.baselines)]


def test_the_headline_has_half_of_the_level_and_all_other_questions_the_other_half():
    assert adjusted_of([used(0.02)]) == [0.02]
    # twice, and then the rest has all that is left
    assert adjusted_of([used(0.02), reranked(0.5)]) == [0.04, 0.5]
    # of two other questions each has a quarter: .01 * 4, and then of the three quarters that are left .04 * 3 / 2 and .02 * 3
    assert adjusted_of([used(0.04), used(0.02, side="left"), reranked(0.01)]) == [0.06, 0.06, 0.04]


def test_what_reranking_adds_makes_no_difference_between_entries_clear():
    many = [reranked(1e-6, side=side) for side in ("left", "right", "centre")] * 9
    found = conclude([note("recall")], [used(0.2), used(0.03, side="left"), *many], [], [], [])
    assert {each.verdict for each in found.tests[2:]} == {"higher"}
    # what is left of two questions: of the one half, and of the other as much
    assert [each.adjusted for each in found.tests[:2]] == [pytest.approx(0.2), pytest.approx(0.09)]
    assert {each.verdict for each in found.tests[:2]} == {"no clear difference"}


def test_what_the_rewards_own_judge_says_makes_nothing_clear_by_others():
    judges = [note("recall"), note("fit", "both")]
    own = [used(1e-6, measure="fit", side=side) for side in (None, "left", "right")] * 9
    assert adjusted_of([used(0.03), *own], judges=judges)[0] == 0.03
    # where there are no others it is what the headline goes by
    assert adjusted_of([used(0.03, measure="fit"), reranked(0.9, measure="fit")], judges=judges[1:]) == [0.06, 0.9]


def test_differences_of_entries_at_different_budgets_are_of_reranking_by_design():
    across = [paired(1e-6, "dpo", 3, "base", 1, side=side) for side in ("left", "right", "centre")] * 9
    found = conclude([note("recall")], [used(0.2), used(0.03, side="left"), *across], [], [], [])
    assert [each.adjusted for each in found.tests[:2]] == [pytest.approx(0.2), pytest.approx(0.09)]
    # where the entries are used so, it is what the headline says
    greedy = [paired(0.01, "greedy", 1, "base", 3), paired(0.02, "greedy", 1, "base", 1)]
    assert adjusted_of(greedy) == [0.02, 0.02]


def test_one_draw_is_no_choice_and_entries_may_have_any_name():
    tests = [used(0.5), paired(0.01, BY_LENGTH, 3, "base", 3), paired(0.02, ONE_DRAW, 1, "base", 1)]
    against = [paired(0.02, "dpo", 3, name, k) for name, k in ((ONE_DRAW, 1), (BY_LENGTH, 3))]
    # both entries are used at their best of three: .01 * 2, * 2; of three other questions each has a third of what is left
    assert adjusted_of(tests, against) == [0.5, 0.04, 0.06, 0.06, 0.06]


def test_the_best_against_one_draw_has_one_verdict_wherever_it_stands():
    # of one entry it is the headline, too
    for tests in ([reranked(0.02)], [used(0.5), reranked(0.02)]):
        found = conclude([note("recall")], tests, [paired(0.02, "dpo", 3, ONE_DRAW, 1)], [], [])
        assert found.baselines[0].adjusted == found.tests[-1].adjusted == pytest.approx(0.02 * len(tests))
        assert found.baselines[0].verdict == found.tests[-1].verdict == "higher"
        assert found.baselines[0].reference == ONE_DRAW


@pytest.mark.parametrize(("p", "choice"), [(0.02, "dpo"), (0.03, None)])
def test_a_choice_by_worst_sides_is_corrected_with_the_rest(p, choice):
    own = WorstSides(measure="fit", k=3, found=of_worst_sides(1e-6).found)
    judges = [note("recall"), note("fit", "both")]
    found = conclude(judges, [used(0.9)], [], [of_worst_sides(p), own], [])
    # a quarter of the level, and then a third of what the reward's own judge has left
    assert [each.found.choice for each in found.worst_sides] == [None if p > 0.05 / 3 else choice, "dpo"]
    assert conclude([note("recall")], [used(0.9)], [], [of_worst_sides(p)], []).worst_sides[0].found.choice == choice


def test_nothing_to_test_concludes_nothing():
    found = conclude([note("recall")], [], [], [], [])
    assert (found.tests, found.baselines, found.worst_sides, found.planes, found.few_together) == ([], [], [], [], "")
