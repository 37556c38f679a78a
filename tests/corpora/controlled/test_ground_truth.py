import pytest

from evenhand.corpora.controlled import GroundTruth, ground_truth
from evenhand.errors import DataError


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
