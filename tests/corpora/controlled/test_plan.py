import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.corpora.controlled import GroundTruth, PlannedSummary, controlled_plan, ground_truth, plan_summaries
from evenhand.errors import DataError

counts = st.integers(0, 8)


@given(st.integers(1, 8), counts)
def test_mixtures_have_coverage_and_faithfulness_on_opposite_sides_of_one_half(relevant, opposite):
    mixtures = controlled_plan(relevant, opposite)
    for r in range(1, relevant + 1):
        for o in range(opposite + 1):
            truth = ground_truth(relevant, r, o, 0)
            assert ((r, o) in mixtures) == ((truth.coverage - 0.5) * (truth.faithfulness - 0.5) < 0)
    assert mixtures == sorted(mixtures)


@given(st.integers(1, 8), counts, counts, st.integers(0, 9))
def test_plan_has_anchors_then_mixtures_and_repeats_with_its_seed(relevant, opposite, adversarial, seed):
    planned = plan_summaries(relevant, opposite, adversarial, np.random.default_rng(seed))
    assert planned == plan_summaries(relevant, opposite, adversarial, np.random.default_rng(seed))
    assert planned[0] == PlannedSummary(relevant=tuple(range(relevant)))
    mixed = planned[1 + (opposite > 0) + (adversarial > 0) :]
    assert [(len(p.relevant), len(p.opposite)) for p in mixed] == controlled_plan(relevant, opposite)
    for one in planned:
        assert one.relevant or one.opposite or one.adversarial
        assert not (one.relevant and one.adversarial)
        for places, n in ((one.relevant, relevant), (one.opposite, opposite), (one.adversarial, adversarial)):
            assert list(places) == sorted(set(places) & set(range(n)))


def test_each_subset_is_as_likely_as_any_other():
    # three non-empty subsets of two points
    drawn = [plan_summaries(1, 0, 2, np.random.default_rng(seed))[1].adversarial for seed in range(600)]
    shares = {subset: drawn.count(subset) / 600 for subset in ((0,), (1,), (0, 1))}
    # six standard deviations: 6 * sqrt(1/3 * 2/3 / 600) = 0.115
    assert shares == pytest.approx(dict.fromkeys(shares, 1 / 3), abs=0.115)


def test_an_article_without_key_points_is_refused():
    with pytest.raises(DataError, match="without a key point"):
        plan_summaries(0, 3, 0, np.random.default_rng(0))


def test_ground_truth_worked_by_hand():
    # 3 of 4 key points; 3 of 3 + 2 + 1 points
    assert ground_truth(4, 3, 2, 1) == GroundTruth(coverage=0.75, faithfulness=0.5)


def test_what_cannot_be_told_is_none_and_not_a_number():
    assert ground_truth(0, 0, 1, 0) == GroundTruth(None, 0.0)
    assert ground_truth(4, 0, 0, 0) == GroundTruth(0.0, None)


@pytest.mark.parametrize("counts", [(2, 3, 0, 0), (2, 1, -1, 0), (-1, 0, 0, 0)])
def test_impossible_counts_are_refused(counts):
    with pytest.raises(DataError, match="counts are at least 0, and relevant is at most"):
        ground_truth(*counts)
