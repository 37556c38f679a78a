"""Approval fractions."""

import pytest

from evenhand.errors import DataError
from evenhand.fairness.opinion import approval


def test_missing_labels_are_left_out_and_counted():
    # of four labels two are very fair, one is very unfair
    found = approval(["very_fair", None, "very_fair", "very_unfair", "somewhat_unfair"])
    assert (found.very_fair, found.very_unfair, found.missing) == (0.5, 0.25, 1)
    assert found.counts == {"very_fair": 2, "somewhat_fair": 0, "somewhat_unfair": 1, "very_unfair": 1}


@pytest.mark.parametrize("labels", [[], [None, None]])
def test_without_labels_it_is_undefined(labels):
    found = approval(labels)
    assert (found.very_fair, found.very_unfair, found.missing) == (None, None, len(labels))


def test_unknown_labels_are_told_together():
    with pytest.raises(DataError, match="not known as a fairness label: 'fair', 'unfair'; labels are very_fair"):
        approval(["unfair", "fair", "very_fair"])
