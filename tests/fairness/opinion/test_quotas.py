"""Quotas and batches."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import DataError
from evenhand.fairness.opinion import biased_batch, check_quotas, group_quotas

SIZES = st.dictionaries(st.sampled_from("abcde"), st.integers(0, 30), min_size=1)
NOTIONS = st.sampled_from(["equal", "proportional"])


@given(SIZES, NOTIONS, st.data())
def test_quotas_fill_the_summary_and_ask_no_group_for_more_than_it_has(sizes, notion, data):
    length = data.draw(st.integers(0, sum(sizes.values())))
    found = group_quotas(sizes, length, notion)
    assert list(found) == list(sizes)
    assert sum(found.values()) == length
    assert all(0 <= found[group] <= size for group, size in sizes.items())
    assert check_quotas(found, sizes, length) == found


@given(SIZES, st.data())
def test_proportional_quotas_are_the_share_rounded_up_or_down(sizes, data):
    total = sum(sizes.values())
    length = data.draw(st.integers(0, total))
    for group, quota in group_quotas(sizes, length, "proportional").items():
        # whole numbers: |quota - length * size / total| < 1
        assert abs(quota * total - length * sizes[group]) < max(total, 1)


@given(SIZES, st.data())
def test_equal_quotas_differ_by_at_most_one_among_groups_with_units_left(sizes, data):
    length = data.draw(st.integers(0, sum(sizes.values())))
    found = group_quotas(sizes, length, "equal")
    open_groups = [quota for group, quota in found.items() if quota < sizes[group]]
    assert not open_groups or max(found.values()) - min(open_groups) <= 1


def test_the_surplus_of_a_small_group_goes_where_most_is_owed():
    # shares 10/3 each: 1 from a; floors 3 and 3; three left: owed 1/3 each to b and c, b first, then c, then b again
    assert group_quotas({"a": 1, "b": 9, "c": 9}, 10, "equal") == {"a": 1, "b": 5, "c": 4}


def test_impossible_requests_are_refused():
    with pytest.raises(DataError, match=r"3 units cannot be taken from groups of sizes \{'a': 2\}"):
        group_quotas({"a": 2}, 3, "equal")
    with pytest.raises(DataError, match="cannot be taken"):
        group_quotas({"a": 2, "b": -1}, 1, "equal")
    with pytest.raises(DataError, match="cannot be taken"):
        group_quotas({"a": 2}, -1, "equal")
    with pytest.raises(DataError, match="notion 'fair' is not known"):
        group_quotas({"a": 2}, 1, "fair")


def test_all_that_is_wrong_with_custom_quotas_is_told_together():
    with pytest.raises(DataError) as caught:
        check_quotas({"a": 3, "z": 1, "b": -1}, {"a": 2, "b": 5}, 4)
    assert str(caught.value) == (
        "quotas cannot be met: group 'z' is not among ['a', 'b']; group 'a' has 2 units, quota 3; "
        "group 'b' has 5 units, quota -1; quotas sum to 3, the summary has 4 units"
    )


def test_quotas_are_whole_numbers():
    with pytest.raises(DataError, match=r"group 'a' has 2 units, quota 1\.5"):
        check_quotas({"a": 1.5, "b": 0.5}, {"a": 2, "b": 5}, 2)


def test_groups_without_a_quota_give_nothing():
    assert check_quotas({"b": 2}, {"a": 2, "b": 5}, 2) == {"a": 0, "b": 2}


@given(st.integers(0, 20), st.integers(1, 5), st.integers(0, 10))
def test_every_summary_of_a_batch_has_the_length_and_the_fixed_quota(length, step, fixed):
    if fixed > length:
        with pytest.raises(DataError, match="fixed quotas from 0 to the length"):
            biased_batch(length, "rep", "dem", step, {"neutral": fixed})
        return
    batch = biased_batch(length, "rep", "dem", step, {"neutral": fixed})
    assert [quotas["rep"] for quotas in batch] == list(range(0, length - fixed + 1, step))
    assert all(sum(quotas.values()) == length and quotas["neutral"] == fixed for quotas in batch)


@pytest.mark.parametrize("arguments", [(5, "a", "b", 0), (5, "a", "b", 1, {"c": -1})])
def test_batches_out_of_range_are_refused(arguments):
    with pytest.raises(DataError, match="a batch needs step >= 1"):
        biased_batch(*arguments)


@pytest.mark.parametrize("arguments", [(5, "a", "a", 1), (5, "a", "b", 1, {"b": 1})])
def test_a_group_is_named_once(arguments):
    with pytest.raises(DataError, match="each group is named once"):
        biased_batch(*arguments)
