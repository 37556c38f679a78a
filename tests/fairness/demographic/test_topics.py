import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import DataError
from evenhand.plugins.bias.demographic.topics import (
    lead_selection,
    log_odds_z,
    random_selection,
    sexist_selection,
    topic_label,
)


def test_label_is_the_topic_of_more_words_in_any_case():
    assert topic_label("GAME, Season; wife") == "sport"
    assert topic_label("") == "unknown"


def test_shorter_document_gives_all_its_sentences():
    assert sexist_selection(["He.", "She."], "sport") == (0, 1)
    assert lead_selection(2) == (0, 1)
    assert lead_selection(9) == (0, 1, 2)
    assert random_selection(2, np.random.default_rng(0)) == (0, 1)
    assert random_selection(0, np.random.default_rng(0)) == ()


def test_ties_go_to_the_earlier_sentence_in_long_documents_too():
    assert sexist_selection(["Rain fell.", "He left."] * 50, "sport") == (1, 3, 5)
    assert sexist_selection(["Rain fell."] * 100, "family") == (0, 1, 2)


def test_random_sentences_are_in_document_order_and_differ_by_seed():
    drawn = {random_selection(20, np.random.default_rng(seed), n=6) for seed in range(5)}
    assert len(drawn) > 1
    assert all(list(each) == sorted(set(each)) and len(each) == 6 for each in drawn)


def test_label_without_favoured_group_is_refused():
    with pytest.raises(DataError, match="'unknown' favours no group"):
        sexist_selection(["He."], "unknown")


COUNTS = st.dictionaries(st.sampled_from("abcd"), st.integers(0, 50), max_size=4)


def test_z_worked_by_hand():
    # alpha 1, two words: seen in a 3 and 1, in b 1 and 1; delta of x: ln(3/1) - ln(1/1); variance 1/3 + 1/1
    found = log_odds_z({"x": 2}, {"y": 0}, alpha=1.0)
    assert found["x"] == pytest.approx(math.log(3) / math.sqrt(4 / 3))
    assert found["y"] == pytest.approx(-math.log(3) / math.sqrt(2))


@given(COUNTS, COUNTS)
def test_swapped_sets_change_the_sign(a, b):
    if len(a.keys() | b.keys()) < 2:
        return
    forth, back = log_odds_z(a, b), log_odds_z(b, a)
    assert forth == {word: pytest.approx(-z, abs=1e-9) for word, z in back.items()}


@pytest.mark.parametrize(
    ("a", "b", "alpha"),
    [({}, {}, 0.01), ({"x": 1}, {"x": 2}, 0.01), ({"x": 1}, {"y": 1}, 0.0), ({"x": -1}, {"y": 1}, 1.0)],
)
def test_tables_that_cannot_be_compared_are_refused(a, b, alpha):
    with pytest.raises(DataError, match="log-odds"):
        log_odds_z(a, b, alpha)
