import numpy as np
import pytest

from evenhand.errors import DataError
from evenhand.fairness.demographic import CountRow, tabulate

GROUPS = ("male", "female")


def test_rows_of_one_assignment_are_added_up():
    rows = [
        CountRow("d1", 0, [[1, 2], [1, 0]]),
        CountRow("d2", 0, [[5, 5], [0, 0]]),
        CountRow("d1", 0, [[3, 0], [1, 0]]),
        CountRow("d1", 1, [[1, 1], [1, 1]]),
    ]
    table = tabulate(iter(rows), ("present", "included"), GROUPS)
    assert table.document_ids == ("d1", "d2")
    assert table.document.tolist() == [0, 0, 1]
    assert table.counts[0].tolist() == [[4, 2], [2, 0]]
    assert np.bincount(table.document).tolist() == [2, 1]
    assert table.pooled() == {"present": {"male": 10, "female": 8}, "included": {"male": 3, "female": 1}}


def test_given_rows_are_not_written_to():
    counts = np.array([[1, 2]])
    tabulate([CountRow("d", 0, counts), CountRow("d", 0, counts)], ("hallucinated",), GROUPS)
    assert counts.tolist() == [[1, 2]]


def test_table_of_no_rows_pools_to_0():
    assert tabulate([], ("hallucinated",), GROUPS).pooled() == {"hallucinated": {"male": 0, "female": 0}}


@pytest.mark.parametrize("counts", [[[1, 2, 3]], [1, 2], [[-1, 2]]])
def test_row_of_another_shape_or_below_0_is_refused(counts):
    with pytest.raises(DataError, match="document 'd', assignment 7"):
        tabulate([CountRow("d", 7, counts)], ("hallucinated",), GROUPS)
