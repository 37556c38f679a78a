"""Perceived Opinion Bias and approval."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import DataError
from evenhand.plugins.opinions.measures.perceived import LABELS, Negative, approval, perceived_opinion_bias

TABLES = st.integers(1, 6).flatmap(
    lambda k: st.lists(
        st.lists(st.sampled_from([*LABELS, None]), min_size=k, max_size=k),
        min_size=1,
        max_size=5,
    )
)


def test_worked_by_hand():
    # means 1 and (0.5 - 0.5)/2 = 0; mapped 1 and 0.5: (0.5 * -1 + 1 * 1) / (2 * 1.5) = 1/6
    found = perceived_opinion_bias([["complete", "somewhat"], ["complete", "inadequate"]])
    assert found.scores == (1.0, 0.0)
    assert found.score == pytest.approx(1 / 6)
    assert found.unscored is None


def test_min_shift_sets_the_least_represented_opinion_to_0_where_affine_does_not():
    # docs/papers.md#shandilya-perceived: C = (-0.1, 0, 0, 0) scores 0.25 instead of 0.02
    # 20 annotators: 8 somewhat (4) and 12 inadequate (-6) give -2/20; 10 of each give 0
    first = ["somewhat"] * 8 + ["inadequate"] * 12
    rest = ["somewhat"] * 10 + ["inadequate"] * 10
    labels = [[a, b, b, b] for a, b in zip(first, rest, strict=True)]
    assert perceived_opinion_bias(labels, "min_shift").score == pytest.approx(0.25)
    # 0.45, 0.5, 0.5, 0.5: (-3 * 0.45 - 0.5 + 0.5 + 3 * 0.5) / (4 * 1.95) = 0.15/7.8
    assert perceived_opinion_bias(labels, "affine").score == pytest.approx(0.15 / 7.8)


@pytest.mark.parametrize(("row", "expected"), [([1, 1, -1, -1], None), ([-1, -1, -1, 1], -0.75)])
def test_raw_scores_may_have_no_value_or_a_negative_one(row, expected):
    assert perceived_opinion_bias([row], "raw").score == (None if expected is None else pytest.approx(expected))


def test_raw_scores_that_sum_to_0_but_for_rounding_are_undefined():
    # means 1, -1/3 and -2/3, which sum to 1e-16 in floating point
    found = perceived_opinion_bias([[1, 1, -0.5], [1, -1, -0.5], [1, -1, -1]], "raw")
    assert sum(found.scores) != 0
    assert (found.score, found.unscored) == (None, "the opinions' scores sum to 0")


def test_missing_labels_are_left_out_of_the_mean():
    found = perceived_opinion_bias([["complete", None, None], ["somewhat", "absent", None]])
    assert found.scores == (0.75, -1.0, None)


def test_with_abs_more_absent_opinions_can_lower_the_score():
    # (1, 1, -1): differences 2 + 2 = 4 of pairs, over 2 * 3; (1, -1, -1, -1): 6 over 3 * 4
    one, three = ([[1, 1, -1]], [[1, -1, -1, -1]])
    assert perceived_opinion_bias(one, "abs").score == pytest.approx(4 / 6)
    assert perceived_opinion_bias(three, "abs").score == pytest.approx(6 / 12)


@pytest.mark.parametrize(
    ("labels", "negative", "reason"),
    [
        ([["absent", "absent"]], "affine", "every opinion is absent for every annotator"),
        ([["absent"]], "affine", "every opinion is absent for every annotator"),
        ([["inadequate", "inadequate"]], "min_shift", "every opinion scores the same, at most 0"),
        ([["somewhat"], ["inadequate"]], "abs", "every opinion scores 0"),
        ([[None, None]], "affine", "no opinion was labelled"),
        ([], "affine", "no opinion was labelled"),
        ([[]], "raw", "no opinion was labelled"),
    ],
)
def test_undefined_scores_say_why(labels, negative, reason):
    found = perceived_opinion_bias(labels, negative)
    assert (found.score, found.unscored) == (None, reason)


@given(TABLES, st.randoms())
def test_order_of_annotators_and_opinions_does_not_matter(labels, random):
    rows = random.sample(labels, len(labels))
    columns = random.sample(range(len(labels[0])), len(labels[0]))
    for negative in get_args(Negative):
        found = perceived_opinion_bias([[row[c] for c in columns] for row in rows], negative)
        expected = perceived_opinion_bias(labels, negative)
        assert found.scores == tuple(pytest.approx(expected.scores[c]) for c in columns)
        assert found.score == pytest.approx(expected.score)


@given(TABLES)
def test_affine_stays_in_its_range_and_either_scores_or_says_why(labels):
    found = perceived_opinion_bias(labels)
    assert (found.score is None) == (found.unscored is not None)
    if found.score is not None:
        assert 0 <= found.score < 1
    unlabelled = sum(all(label is None for label in column) for column in zip(*labels, strict=True))
    assert found.scores.count(None) == unlabelled


def test_numbers_are_labels_only_if_they_are_in_the_table():
    assert perceived_opinion_bias([[1, 0.5, -1.0]]).scores == (1.0, 0.5, -1.0)
    with pytest.raises(DataError, match=r"annotator 0, opinion 1: 0.7; annotator 1, opinion 0: True.*complete \(1.0\)"):
        perceived_opinion_bias([[1, 0.7], [True, "absent"]])


def test_unknown_labels_are_told_together():
    with pytest.raises(DataError, match="annotator 0, opinion 0: 'full'; annotator 0, opinion 2: nan"):
        perceived_opinion_bias([["full", "absent", float("nan")]])


def test_annotators_must_label_the_same_opinions():
    with pytest.raises(DataError, match=r"labelled \[1, 2\] opinions"):
        perceived_opinion_bias([["absent"], ["absent", "complete"]])


def test_the_reading_of_negative_scores_is_known_and_named():
    assert perceived_opinion_bias([[1]], "min_shift").signature == "perceived-opinion-bias|negative:min_shift|v:1"
    with pytest.raises(DataError, match="negative='clip' is not known; take one of affine"):
        perceived_opinion_bias([[1]], "clip")


def test_missing_votes_are_left_out():
    # of four labels two are very fair, one is very unfair
    found = approval(["very_fair", None, "very_fair", "very_unfair", "somewhat_unfair"])
    assert (found.very_fair, found.very_unfair) == (0.5, 0.25)
    assert found.counts == {"very_fair": 2, "somewhat_fair": 0, "somewhat_unfair": 1, "very_unfair": 1}


@pytest.mark.parametrize("labels", [[], [None, None]])
def test_without_labels_it_is_undefined(labels):
    found = approval(labels)
    assert (found.very_fair, found.very_unfair) == (None, None)


def test_unknown_fairness_labels_are_told_together():
    with pytest.raises(DataError, match="not known as a fairness label: 'fair', 'unfair'; labels are very_fair"):
        approval(["unfair", "fair", "very_fair"])
