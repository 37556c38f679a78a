import numpy as np
import pytest

from evenhand.errors import DataError
from evenhand.fairness.demographic import lead_selection, random_selection, sexist_selection, topic_label


def test_label_is_the_topic_of_more_words_in_any_case():
    assert topic_label("GAME, Season; wife").label == "sport"
    assert topic_label("").label == "unknown"


def test_shorter_document_gives_all_its_sentences():
    assert sexist_selection(["He.", "She."], "sport").indices == (0, 1)
    assert lead_selection(2) == (0, 1)
    assert lead_selection(9) == (0, 1, 2)
    assert random_selection(2, np.random.default_rng(0)) == (0, 1)
    assert random_selection(0, np.random.default_rng(0)) == ()


def test_ties_go_to_the_earlier_sentence_in_long_documents_too():
    assert sexist_selection(["Rain fell.", "He left."] * 50, "sport").indices == (1, 3, 5)
    assert sexist_selection(["Rain fell."] * 100, "family").indices == (0, 1, 2)


def test_random_sentences_are_in_document_order_and_differ_by_seed():
    drawn = {random_selection(20, np.random.default_rng(seed), n=6) for seed in range(5)}
    assert len(drawn) > 1
    assert all(list(each) == sorted(set(each)) and len(each) == 6 for each in drawn)


def test_label_without_favoured_group_is_refused():
    with pytest.raises(DataError, match="'unknown' favours no group"):
        sexist_selection(["He."], "unknown")
