from typing import Any

import pytest

from evenhand.evaluation.report.checkpoint.rounds import REWARD
from evenhand.evaluation.report.systems.compare import Comparer, Trait
from evenhand.evaluation.report.systems.contents import JudgeNote, SystemPair
from evenhand.evaluation.report.systems.contrasts import conclude
from evenhand.evaluation.report.systems.systems import asked
from evenhand.resampling import Bootstrap, differences_scale, sign_flip_p_value, too_few

BOOTSTRAP = Bootstrap(level=0.95, resamples=400, seed=3)
RERANK, BOTH = SystemPair("rerank"), SystemPair("rerank", "zero-shot")
OVERLAP = JudgeNote(name="overlap", signature="overlap|v:1", role="report", better="higher")


def comparer(make_run: Any, ids: list[str]) -> Comparer:
    run = make_run()
    return Comparer([asked(run.request(i)) for i in ids], BOOTSTRAP)


FOUR_SETS = [f"{s}/{side}" for s in "abcd" for side in ("left", "right")]
SIX_SETS = [f"{name}/{side}" for name in "abcdef" for side in ("left", "right")]


def judged(contrasts):
    """Verdicts where there is one question."""
    return conclude(contrasts, BOOTSTRAP)[0]


def test_sides_come_before_all_requests_and_counts_stand_beside(make_run: Any):
    values = [0.4, 0.2, None, 0.4, 0.8, 0.2, 0.6, None]
    left, right, overall = comparer(make_run, FOUR_SETS).estimates(OVERLAP, "rerank", values)
    # left: (0.4 + 0.8 + 0.6) / 3; right: (0.2 + 0.4 + 0.2) / 3; all: 2.6 / 6
    assert (left.side, left.value, left.n, left.n_sets, left.left_out) == ("left", pytest.approx(0.6), 3, 3, 1)
    assert (right.side, right.value, right.n) == ("right", pytest.approx(0.8 / 3), 3)
    assert (overall.side, overall.value) == (None, pytest.approx(2.6 / 6))
    assert (overall.n, overall.n_sets, overall.left_out) == (6, 4, 2)


def test_every_number_names_its_judge_and_whose_it_is(make_run: Any):
    (*_, overall) = comparer(make_run, FOUR_SETS).estimates(OVERLAP, "rerank", [0.5] * 8, k=3)
    assert (overall.measure, overall.system, overall.k, overall.pair) == ("overlap", "rerank", 3, "rerank")
    (*_, tested) = comparer(make_run, FOUR_SETS).tested(OVERLAP, BOTH, [0.5] * 8)
    whole = tested.difference
    assert (whole.system, whole.reference, whole.pair) == ("rerank", "zero-shot", "rerank - zero-shot")


def test_bounds_of_scores_and_of_their_differences_stay_on_the_scale(make_run: Any):
    graded = OVERLAP.model_copy(update={"scale": (1.0, 5.0)})
    values = [5.0, 5.0] * 5 + [5.0, 4.0]
    compared = comparer(make_run, SIX_SETS)
    (*_, free), (*_, kept) = (compared.estimates(judge, "rerank", values) for judge in (OVERLAP, graded))
    assert free.high > 5 == kept.high
    # from the lowest grade to the highest, but once: more than four grades cannot be gained
    (*_, free), (*_, kept) = (judged(compared.tested(judge, BOTH, [4.0] * 11 + [3.0])) for judge in (OVERLAP, graded))
    assert free.high > 4 == kept.high
    # of traits shares have a scale, and gains have none, for they may be losses
    assert Trait("cut off", "share of summaries").scale == (0.0, 1.0)
    (*_, gain) = compared.estimates(REWARD, "round 0", [-0.3, -0.3, 0.5, 0.5] * 3)
    assert REWARD.scale is None and gain.low < 0 < gain.high


def test_a_single_side_is_shown_once(make_run: Any):
    estimates = comparer(make_run, ["a/left", "b/left"]).estimates(OVERLAP, "rerank", [0.1, 0.3])
    assert [e.side for e in estimates] == [None]


def test_differences_are_taken_request_by_request(make_run: Any):
    by_system = {"zero-shot": [0.1, 0.2, 0.3, None], "rerank": [0.4, None, 0.2, 0.9]}
    compare = comparer(make_run, ["a/left", "a/right", "b/left", "b/right"])
    assert compare.paired(by_system) == {("rerank", "zero-shot"): [pytest.approx(0.3), None, pytest.approx(-0.1), None]}
    overall = compare.differences(OVERLAP, by_system)[-1].difference
    # (0.3 - 0.1) / 2 over a/left and b/left
    assert (overall.value, overall.n, overall.left_out) == (pytest.approx(0.1), 2, 2)


def test_constant_gain_is_higher_and_constant_loss_is_lower(make_run: Any):
    compare = comparer(make_run, SIX_SETS)
    zero = [0.3, 0.8, 0.1, 0.5, 0.9, 0.2, 0.4, 0.6, 0.2, 0.5, 0.7, 0.8]
    gained, lost = [v + 0.1 for v in zero], [v - 0.1 for v in zero]
    for values, said in ((gained, "higher"), (lost, "lower")):
        assert {d.verdict for d in judged(compare.differences(OVERLAP, {"zero-shot": zero, "rerank": values}))} == {
            said
        }


def test_four_document_sets_have_a_difference_and_no_verdict(make_run: Any):
    compare = comparer(make_run, FOUR_SETS)
    overall = compare.differences(OVERLAP, {"zero-shot": [0.1] * 8, "rerank": [0.9] * 8})[-1]
    (overall,) = judged([overall])
    assert (overall.value, overall.low, overall.high, overall.n_sets) == (pytest.approx(0.8), None, None, 4)
    assert overall.verdict == "no clear difference"


def test_one_document_set_has_no_interval_and_no_verdict(make_run: Any):
    compare = comparer(make_run, ["a/left", "a/right"])
    overall = compare.differences(OVERLAP, {"zero-shot": [0.1, 0.1], "rerank": [0.9, 0.9]})[-1]
    (overall,) = judged([overall])
    assert (overall.value, overall.low, overall.high, overall.n_sets) == (pytest.approx(0.8), None, None, 1)
    assert overall.verdict == "no clear difference"


def test_rounding_noise_is_no_difference(make_run: Any):
    compare = comparer(make_run, SIX_SETS)
    noisy = [0.1 + 0.2] * 12  # 0.30000000000000004
    overall = compare.differences(OVERLAP, {"zero-shot": [0.3] * 12, "rerank": noisy})[-1]
    (overall,) = judged([overall])
    assert overall.low > 0
    assert overall.verdict == "no clear difference"


def test_shares_and_judges_of_0_and_1_have_exact_intervals_and_differences_have_not(make_run: Any):
    compare = comparer(make_run, SIX_SETS)
    kept = compare.estimate(Trait("contract kept", "share of summaries that are as asked"), "rerank", [1.0] * 12)
    # Clopper and Pearson, six of six: 0.025 ** (1 / 6)
    assert (kept.low, kept.high) == (pytest.approx(0.025 ** (1 / 6)), 1.0)
    contract = OVERLAP.model_copy(update={"name": "contract", "is_rate": True})
    assert compare.estimate(contract, "rerank", [1.0] * 12).low == kept.low
    # means of several candidates are no 0 and 1
    drawn = [8 / 9, 5 / 9, *[1.0] * 10]
    assert compare.estimate(contract, "one draw", drawn).high <= 1.0
    # grades that are all 1 are no rate
    assert compare.estimate(OVERLAP, "rerank", [1.0] * 12).low == 1.0
    assert compare.estimate(Trait("words", "words of a summary"), "rerank", [0.5] * 12).low == 0.5
    rare = judged(compare.tested(OVERLAP, BOTH, [1.0] + [0.0] * 11))[-1]
    assert rare.low <= 0 < rare.high


@pytest.mark.parametrize(("n_sets", "is_few"), [(1, True), (4, True), (5, True), (6, False)])
def test_sets_of_which_no_test_can_be_clear_are_too_few(n_sets, is_few):
    # 2 / 2**5 is above 5 %
    assert bool(too_few(n_sets, 0.95)) == is_few


def test_no_test_has_a_smaller_p_than_the_sentence_says(make_run: Any):
    compare = comparer(make_run, SIX_SETS)
    (*_, one) = compare.tested(OVERLAP, BOTH, [1.0] * 12)
    assert one.difference.p_value == 2 / 2**6
    drawn = Bootstrap(resamples=99)
    assert sign_flip_p_value([1.0] * 20, [f"set {k}" for k in range(20)], drawn) == pytest.approx(1 / 100)


def test_order_of_requests_does_not_change_the_means(make_run: Any):
    values = dict(zip(FOUR_SETS, [0.4, 0.2, None, 0.4, 0.8, 0.2, 0.6, 0.1], strict=True))
    shuffled = list(reversed(FOUR_SETS))
    forward = comparer(make_run, FOUR_SETS).estimates(OVERLAP, "x", list(values.values()))
    backward = comparer(make_run, shuffled).estimates(OVERLAP, "x", [values[i] for i in shuffled])
    assert {e.side: pytest.approx(e.value) for e in forward} == {e.side: e.value for e in backward}


def test_gap_by_hand_with_a_one_sided_set_left_out(make_run: Any):
    # set c has no right; gaps within sets: 0.4 - 0.2, 0.5 - 0.2
    compare = comparer(make_run, ["a/left", "a/right", "b/left", "b/right", "c/left"])
    gap = compare.gap(OVERLAP, RERANK, [0.4, 0.2, 0.5, 0.2, 0.9]).difference
    assert (gap.worst, gap.best, gap.value) == ("right", "left", pytest.approx(0.25))
    assert (gap.n_sets, gap.left_out) == (2, 1)


def test_where_lower_is_better_the_higher_side_is_the_worst(make_run: Any):
    compare = comparer(make_run, ["a/left", "a/right", "b/left", "b/right"])
    judge = JudgeNote(name="m", signature="s", role="report", better="lower")
    gap = compare.gap(judge, RERANK, [0.4, 0.2, 0.5, 0.2]).difference
    assert (gap.worst, gap.best, gap.value) == ("left", "right", pytest.approx(0.25))


def test_gap_follows_the_sets_that_have_both_sides(make_run: Any):
    # the means say that left is better (0.5 to 0.3), but only because of c; within a and b right leads by 0.1
    compare = comparer(make_run, ["a/left", "a/right", "b/left", "b/right", "c/left"])
    gap = compare.gap(OVERLAP, RERANK, [0.2, 0.3, 0.2, 0.3, 1.1]).difference
    assert (gap.worst, gap.best, gap.value) == ("left", "right", pytest.approx(0.1))


def test_swapped_sides_swap_worst_and_best(make_run: Any):
    compare = comparer(make_run, ["a/left", "a/right", "b/left", "b/right"])
    there, back = (
        compare.gap(OVERLAP, RERANK, values).difference for values in ([0.4, 0.2, 0.5, 0.2], [0.2, 0.4, 0.2, 0.5])
    )
    assert (there.worst, there.best) == (back.best, back.worst)
    assert there.value == pytest.approx(back.value)


def test_sides_that_never_meet_have_a_gap_without_a_number(make_run: Any):
    gap = comparer(make_run, ["a/left", "b/right"]).gap(OVERLAP, RERANK, [0.4, 0.2]).difference
    assert (gap.worst, gap.value, gap.left_out) == ("right", None, 2)


def test_one_side_has_no_gap(make_run: Any):
    assert comparer(make_run, ["a/left", "b/left"]).gap(OVERLAP, RERANK, [0.4, 0.2]) is None


def test_differences_of_grades_lie_on_both_sides_of_0():
    assert differences_scale((1, 5)) == (-4, 4) and differences_scale(None) is None
