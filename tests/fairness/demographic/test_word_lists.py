import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import DataError
from evenhand.fairness.demographic import GENDER_WORDS, WordLists, letter_runs


def test_tokens_are_runs_of_letters_in_any_script():
    assert letter_runs("Mother-in-law's S/he 2nd O\u2019Neil \u00c9lise \u041c\u0430\u0442\u044c_x") == [
        "mother", "in", "law", "s", "s", "he", "nd", "o", "neil", "\u00e9lise", "\u043c\u0430\u0442\u044c", "x",
    ]  # fmt: skip


def test_gender_lists_have_20_entries_each_and_femen_in_place_of_females():
    assert {group: len(set(words)) for group, words in GENDER_WORDS.items()} == {"female": 20, "male": 20}
    assert "femen" in GENDER_WORDS["female"]
    assert "females" not in GENDER_WORDS["female"]


def test_ready_made_tokens_are_taken_as_they_are():
    lists = WordLists({"a": ["mother-in-law"], "b": ["X"]})
    assert lists.count(["Mother-in-Law", "x", "y"]).tolist() == [1, 1]
    assert lists.count("Mother-in-Law x").tolist() == [0, 1]


def test_word_in_two_lists_counts_for_the_later():
    assert WordLists({"a": ["z"], "b": ["Z"]}).count("z z").tolist() == [0, 2]


@given(
    st.lists(st.sampled_from(["he", "she", "x"]), max_size=20), st.lists(st.sampled_from(["he", "she"]), max_size=20)
)
def test_counts_of_joined_texts_add_up(a, b):
    lists = WordLists()
    together = lists.count(" ".join(a + b))
    assert together.tolist() == (lists.count(" ".join(a)) + lists.count(" ".join(b))).tolist()
    assert together.tolist() == [(a + b).count("she"), (a + b).count("he")]


@pytest.mark.parametrize("lists", [{"a": ["x"]}, {"a": ["x"], "b": []}, {"a": ["x"], "b": "yz"}])
def test_lists_that_cannot_be_compared_are_refused(lists):
    with pytest.raises(DataError):
        WordLists(lists)
