import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from evenhand.errors import DataError
from evenhand.fairness.groups.rules import Rule, kept_values, rule_of

counts = hnp.arrays(np.int64, st.integers(1, 6), elements=st.integers(0, 9))


def visited(masses: list[int], cutoff: float) -> set[int]:
    """The released loop, step by step."""
    total, accumulated, kept = sum(masses), 0.0, set()
    for place in sorted(range(len(masses)), key=lambda k: -masses[k]):
        accumulated += masses[place] / total
        kept.add(place)
        if accumulated >= cutoff:
            break
    return kept


def kept(masses: list[int], rule: Rule) -> set[int]:
    source = np.array(masses, dtype=float)
    return set(np.flatnonzero(kept_values(source, np.ones(source.shape, dtype=bool), rule)).tolist())


@settings(max_examples=200, deadline=None)
@given(counts, st.sampled_from([0.0, 0.3, 0.8, 1.0]))
def test_released_cutoff_keeps_what_the_loop_visits(masses, cutoff):
    expected = visited(masses.tolist(), cutoff) if masses.sum() else set()
    assert kept(masses.tolist(), Rule("released", "inclusive", cutoff)) == expected


def test_rounding_lets_the_released_cutoff_keep_an_empty_value():
    # 3/7 + 2/7 + 2/7 = 0.9999999999999999 in double precision
    assert kept([2, 2, 3, 0], rule_of("released")) == {0, 1, 2, 3}
    assert kept([2, 2, 3, 0], rule_of("drop_zero")) == {0, 1, 2}


def test_cutoff_zero_keeps_the_heaviest_value_only():
    assert kept([1, 5, 5], Rule("released", "inclusive", 0.0)) == {1}


def test_paper_keeps_every_declared_value_and_nothing_else():
    source = np.array([[3.0, 0.0, 0.0]])
    declared = np.array([[True, True, False]])
    assert kept_values(source, declared, rule_of("paper")).tolist() == [[True, True, False]]


@pytest.mark.parametrize("mode", ["drop_zero", "released", "paper"])
def test_source_without_mass_keeps_nothing(mode):
    assert kept([0, 0], rule_of(mode)) == set()


def test_unknown_mode_names_the_nearest():
    with pytest.raises(DataError, match="mode 'relased' is not known; did you mean 'released'"):
        rule_of("relased")


def test_cutoff_beyond_one_is_refused():
    with pytest.raises(DataError, match=r"share of the source mass in \[0, 1\], got 1.5"):
        rule_of(Rule("released", "inclusive", 1.5))
