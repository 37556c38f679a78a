import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.corpora.controlled import ground_truth, read_controlled
from evenhand.errors import DataError
from evenhand.plugins.controlled.plan import PlannedSummary, controlled_plan, plan_summaries

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


def test_released_sets_follow_the_plan(polisum):
    # Ri et al. 2025, section 3.1: equations 1 and 2 on every summary (the reader refuses others), the plan on every document
    sets = read_controlled(polisum / "controlled_dev.json", polisum / "evidence_dev.json")
    assert (len(sets), sum(len(each.summaries) for each in sets)) == (25, 199)
    opposite = [len(each["evidence"]["opposite"]) for each in json.loads((polisum / "evidence_dev.json").read_text())]
    for each, n_opposite in zip(sets, opposite, strict=True):
        full, reverse, other, *mixed = each.summaries
        assert (full.relevant, full.opposite, full.adversarial) == (each.n_key_points, 0, 0)
        assert (reverse.relevant, reverse.opposite) == (other.relevant, other.adversarial) == (0, 0)
        assert reverse.adversarial >= 1
        assert other.opposite >= 1
        assert not any(s.adversarial for s in mixed)
        assert sorted((s.relevant, s.opposite) for s in mixed) == controlled_plan(each.n_key_points, n_opposite)
