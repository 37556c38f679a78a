import logging

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import DataError
from evenhand.fairness.groups.corpus import group_fairness
from evenhand.fairness.groups.masses import Masses, Unscored, pack, text_masses
from evenhand.fairness.groups.shares import (
    area,
    compare,
    second_order_fairness,
    unfair,
    unfair_by_cutoff,
    unfair_error_rate,
)

masses = st.integers(1, 4).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(0, 9), min_size=n, max_size=n) for _ in range(2)])
)
samples = st.lists(masses.map(lambda pair: Masses(tuple(pair[0]), tuple(pair[1]))), max_size=8)


def test_worked_by_hand():
    found = group_fairness([Masses((5, 5), (1, 4)), Masses((4, 0), (2, 0)), Masses((3, 7), (2, 8))])
    # lacking: .3 0; 0 (alone); .1 0. Rates .15, 0, .05 -> .2/3. First value .4/3 over three samples, second 0 over two
    assert found.uer == pytest.approx(0.2 / 3)
    assert found.bur == pytest.approx(2 / 3)
    assert [row.n_samples for row in found.by_value] == [3, 2]
    assert [row.n_unfair for row in found.by_value] == [2, 0]
    assert [row.mean_shortfall for row in found.by_value] == pytest.approx([0.4 / 3, 0])
    # means .4/3 and 0 are both .2/3 from their mean; samples' own deviations .15 0 .05
    assert found.sof == pytest.approx(0.2 / 3)
    assert found.sof_sample_mean == pytest.approx(0.2 / 3)


def test_what_is_left_out_is_counted_by_reason():
    found = group_fairness(
        [Unscored("empty summary"), Masses((0, 0), (1, 1)), Unscored("empty summary"), Masses((1,), (1,))]
    )
    assert found.n_scored == 1
    assert found.left_out == {"empty summary": 2, "source has no mass": 1}


def test_nothing_scored_is_no_number():
    found = group_fairness([Unscored("empty summary")])
    assert (found.bur, found.uer, found.auc, found.sof, found.sof_sample_mean) == (None,) * 5
    assert found.by_value == ()
    assert found.curve == ()


def test_value_that_never_takes_part_has_no_mean():
    row = group_fairness([Masses((3, 0), (1, 1))]).by_value[1]
    assert (row.n_samples, row.mean_shortfall) == (0, None)


def test_rows_have_names_unless_these_differ(caplog):
    same = group_fairness([Masses((1, 1), (1, 1), ("pos", "neg"))] * 2)
    assert [row.value for row in same.by_value] == ["pos", "neg"]
    assert not same.names_differ
    with caplog.at_level(logging.WARNING):
        mixed = group_fairness([Masses((1, 1), (1, 1), ("Ann", "Bo")), Masses((1, 1), (1, 1), ("Ann", "Cy"))])
    assert mixed.names_differ
    assert [row.value for row in mixed.by_value] == ["Ann", "1"]
    assert "other names" in caplog.text


def test_mistake_in_a_stream_is_refused():
    with pytest.raises(DataError, match="did you mean 'paper'"):
        group_fairness([Masses((1,), (1,))], mode="papr")


@settings(max_examples=60)
@given(samples, st.sampled_from(["drop_zero", "released", "paper"]))
def test_aggregates_are_means_of_samples_taken_alone(given_samples, mode):
    found = group_fairness(given_samples, mode=mode)
    alone = [compare(s.source, s.target, mode=mode) for s in given_samples if any(s.source)]
    assert found.n_scored == len(alone)
    if alone:
        assert found.bur == pytest.approx(np.mean([unfair(s) for s in alone]))
        assert found.uer == pytest.approx(np.mean([unfair_error_rate(s) for s in alone]))
        assert found.sof_sample_mean == pytest.approx(np.mean([second_order_fairness(s) for s in alone]))


@settings(max_examples=30)
@given(samples)
def test_doubled_corpus_has_the_same_measures(given_samples):
    once, twice = group_fairness(given_samples), group_fairness(given_samples * 2)
    for name in ("bur", "uer", "auc", "sof", "sof_sample_mean"):
        assert getattr(twice, name) == pytest.approx(getattr(once, name))


def test_corpus_larger_than_a_batch_is_read_once_and_whole():
    rng = np.random.default_rng(0)
    source, target = rng.integers(1, 20, (2, 9000, 3))
    stream = (Masses(tuple(s), tuple(t)) for s, t in zip(source.tolist(), target.tolist(), strict=True))
    found = group_fairness(stream)
    shares = compare(source, target)
    assert found.n_scored == 9000
    assert found.uer == pytest.approx(unfair_error_rate(shares).mean())
    assert found.bur == pytest.approx(unfair(shares).mean())
    means = shares.shortfall.mean(axis=0)
    assert found.sof == pytest.approx(np.abs(means - means.mean()).mean())


def test_area_over_cutoffs_leaves_out_what_has_no_source_mass():
    # shares .75 .25 against 0 1: alone up to cut-off .7, the first value has nothing of the summary and both are uniform over it,
    # so fair; from .8 on both are kept and the first is unfair: points .8, .9, 1 are 2 1/2 trapezoids of 0.1
    found = group_fairness([Masses((0, 0), (1, 1)), Masses((3, 1), (0, 2))], auc="released_cutoff")
    assert found.curve == (0.0,) * 8 + (1.0,) * 3
    assert found.auc == pytest.approx(0.25)
    assert (found.n_scored, found.left_out, found.auc_variant) == (1, {"source has no mass": 1}, "released_cutoff")


def test_area_over_cutoffs_of_a_stream_is_that_of_one_table():
    rng = np.random.default_rng(1)
    numbers = rng.integers(0, 9, (5000, 2, 3)).tolist()
    many = [Masses(tuple(source), tuple(target)) for source, target in numbers if any(source)]
    found = group_fairness(iter(many), tau=0.6, auc="released_cutoff")
    assert found.auc == pytest.approx(area(unfair_by_cutoff(pack(many), tau=0.6).mean(axis=1)))
    # all else is as it was
    plain = group_fairness(many, tau=0.6)
    assert (found.bur, found.uer, found.sof, found.by_value) == (plain.bur, plain.uer, plain.sof, plain.by_value)
    assert plain.auc_variant == "tolerance"


def test_unknown_area_is_refused():
    with pytest.raises(DataError, match="auc='cutoff' is not known; take one of tolerance, released_cutoff"):
        group_fairness([], auc="cutoff")


@pytest.mark.parametrize("n_before", [0, 1, 4095, 4096])
def test_sample_of_fewer_values_than_the_aim_is_refused_wherever_it_stands(n_before):
    three, two = Masses((1, 1, 1), (1, 1, 1)), Masses((1, 1), (1, 1))
    with pytest.raises(DataError, match=rf"has 3 weights, but the scored sample at place {n_before} declares 2 values"):
        group_fairness([three] * n_before + [two] + [three], aim=(1, 1, 1))


def test_biased_summaries_are_far_more_unfair_than_balanced_ones():
    # two values whose tweets share a quarter of their words; five tweets of the first against the sources' own ratio
    rng = np.random.default_rng(7)
    common = [f"c{i}" for i in range(20)]
    own = [[f"{side}{i}" for i in range(120)] for side in "ab"]

    def tweet(side: int) -> str:
        return " ".join([*rng.choice(own[side], 9), *rng.choice(common, 3)])

    biased, balanced = [], []
    for numbers in [(2, 8), (5, 5), (8, 2)] * 40:
        tweets = [[tweet(side) for _ in range(3 * n)] for side, n in enumerate(numbers)]
        texts = [" || ".join(each) for each in tweets]
        share = {2: (1, 4), 5: (2, 2), 8: (4, 1)}[numbers[0]]
        fair = " ".join(t for each, n in zip(tweets, share, strict=True) for t in each[:n])
        biased.append(text_masses(texts, " ".join(tweets[0][:5]), str.split))
        balanced.append(text_masses(texts, fair, str.split))
    one, other = group_fairness(biased), group_fairness(balanced)
    assert one.bur - other.bur > 0.4
    assert one.uer > 2.5 * other.uer
