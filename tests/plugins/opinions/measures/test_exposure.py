"""Exposure of opinions in a summary, and the Gini coefficient."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import DataError
from evenhand.plugins.opinions.measures.exposure import (
    exposure_abstractive,
    exposure_extractive,
    gini,
    rank_sum,
)

SHARES = st.lists(st.floats(0, 1e6, allow_subnormal=False), min_size=1, max_size=30)


def test_gini_worked_by_hand():
    # 1, 2, 6: (-2 * 1 + 0 * 2 + 2 * 6) / (3 * 9) = 10/27
    assert gini([6, 1, 2]) == pytest.approx(10 / 27)


@given(SHARES)
def test_equals_the_mean_absolute_difference_over_twice_the_mean(values):
    found = gini(values)
    if found is None:
        assert not any(values)
        return
    x = np.array(values) / max(values)
    assert found == pytest.approx(np.abs(x[:, None] - x).sum() / (2 * len(x) * x.sum()), abs=1e-12)
    assert 0 <= found <= 1 - 1 / len(x) + 1e-12


@given(SHARES, st.floats(1e-3, 1e3), st.randoms())
def test_order_and_scale_do_not_matter(values, scale, random):
    changed = [value * scale for value in values]
    random.shuffle(changed)
    assert gini(changed) == pytest.approx(gini(values), abs=1e-9)


@given(SHARES)
def test_a_population_doubled_is_as_unequal(values):
    assert gini(values + values) == pytest.approx(gini(values), abs=1e-9)


@pytest.mark.parametrize("values", [[], [0.0], [0.0, 0.0, 0.0]])
def test_nothing_to_share_out_is_undefined(values):
    assert gini(values) is None


@pytest.mark.parametrize("values", [[0.1] * 7, [1e308, 1e308], [5e-324, 5e-324], [3.0]])
def test_equal_values_give_exactly_0(values):
    assert gini(values) == 0.0


@pytest.mark.parametrize("values", [[0.5, -0.1], [float("nan")], [float("inf"), 1.0]])
def test_negative_and_infinite_values_are_refused(values):
    with pytest.raises(DataError, match="finite values of at least 0, got"):
        gini(values)


def test_a_table_is_refused():
    with pytest.raises(DataError, match=r"got shape \(1, 2\)"):
        gini([[0.1, 0.2]])


def test_rank_sum_is_half_of_all_differences():
    # differences of 1, 2, 6: 1 + 4 + 5 = 10
    assert rank_sum([2, 6, 1]) == 10


UNITS = [f"unit {i}" for i in range(12)]
ATTACHED = st.lists(st.integers(-1, 3), min_size=12, max_size=12)
CHOSEN = st.sets(st.integers(0, 11))


def test_worked_by_hand():
    # opinion 0 shows 1 of 2, opinion 1 shows 1 of 1: (-0.5 + 1) / (2 * 1.5) = 1/6; the dummy's unit does not count
    found = exposure_extractive(["a", "b", "c", "d"], [0, 0, 1, -1], 2, ["A ", "c", "d", "made up"])
    assert (found.n_units, found.shown, found.exposures) == ((2, 1), (1, 1), (0.5, 1.0))
    assert found.score == pytest.approx(1 / 6)
    assert (found.n_opinions, found.strays, found.unscored) == (2, 1, None)


def test_repeated_source_units_count_each():
    found = exposure_extractive(["a", " A", "b"], [0, 0, 1], 2, ["a"])
    assert found.shown == (2, 0)


def test_an_abstractive_exposure_may_exceed_1_and_the_score_does_not_mind():
    # 3 sentences on 1 unit, 2 on 2: 3 and 1: (-1 + 3) / (2 * 4) = 1/4
    found = exposure_abstractive([0, 1, 1, -1], 2, [0, 0, 0, 1, 1, -1])
    assert (found.exposures, found.strays) == ((3.0, 1.0), 1)
    assert found.score == pytest.approx(0.25)


@given(ATTACHED, CHOSEN)
def test_both_definitions_agree_on_copies_of_distinct_units(attached, chosen):
    copied = exposure_extractive(UNITS, attached, 4, [UNITS[i] for i in sorted(chosen)])
    written = exposure_abstractive(attached, 4, [attached[i] for i in sorted(chosen)])
    assert copied.exposures == written.exposures
    assert copied.score == written.score


@given(ATTACHED, CHOSEN)
def test_opinions_renamed_give_the_same_score(attached, chosen):
    summary = [UNITS[i] for i in sorted(chosen)]
    renamed = [o if o < 0 else 3 - o for o in attached]
    found, expected = (exposure_extractive(UNITS, each, 4, summary) for each in (renamed, attached))
    assert found.exposures == expected.exposures[::-1]
    assert found.score == pytest.approx(expected.score)


@given(ATTACHED)
def test_a_summary_of_everything_is_fair(attached):
    found = exposure_extractive(UNITS, attached, 4, UNITS)
    assert found.score == (0.0 if max(attached) >= 0 else None)


@pytest.mark.parametrize(
    ("attached", "summary", "reason"),
    [
        ([0, 1], [], "the summary shows no opinion"),
        ([0, 1], ["made up"], "the summary shows no opinion"),
        ([-1, -1], ["a"], "the source has no opinion with units"),
    ],
)
def test_undefined_scores_say_why(attached, summary, reason):
    found = exposure_extractive(["a", "b"], attached, 2, summary)
    assert (found.score, found.unscored) == (None, reason)


def test_one_opinion_scores_0_and_the_number_of_opinions_tells():
    found = exposure_extractive(["a", "b"], [1, -1], 2, ["a"])
    assert (found.score, found.n_opinions, found.exposures) == (0.0, 1, (None, 1.0))


def test_attachments_that_do_not_fit_are_refused():
    with pytest.raises(DataError, match="2 units, but an attachment"):
        exposure_extractive(["a", "b"], [0], 1, [])
    for wrong in (-2, 1):
        with pytest.raises(DataError, match=f"opinion {wrong} does not exist"):
            exposure_abstractive([0], 1, [wrong])
