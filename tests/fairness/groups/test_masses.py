import pytest

from evenhand.errors import DataError
from evenhand.fairness.groups import Masses, pack
from evenhand.fairness.groups.masses import batches


def test_shorter_samples_are_padded_and_marked():
    table = pack([Masses((1, 2), (3, 4)), Masses((5,), (6,))])
    assert table.source.tolist() == [[1, 2], [5, 0]]
    assert table.target.tolist() == [[3, 4], [6, 0]]
    assert table.declared.tolist() == [[True, True], [True, False]]


def test_no_sample_gives_an_empty_table():
    assert pack([]).source.shape == (0, 0)


@pytest.mark.parametrize("wrong", [Masses((1, 2), (1,)), Masses((1,), (1,), ("a", "b"))])
def test_masses_that_do_not_match_are_refused_by_place(wrong):
    with pytest.raises(DataError, match="sample 1: "):
        pack([Masses((1,), (1,)), wrong])


def test_batches_hold_everything_once_in_order():
    samples = [Masses((i,), (i,)) for i in range(7)]
    found = list(batches(iter(samples), 3))
    assert [len(batch) for batch in found] == [3, 3, 1]
    assert [each for batch in found for each in batch] == samples
