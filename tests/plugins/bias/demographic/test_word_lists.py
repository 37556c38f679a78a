import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import DataError
from evenhand.plugins.bias.demographic.persons import Instance
from evenhand.plugins.bias.demographic.word_lists import (
    GENDER_WORDS,
    WordLists,
    letter_runs,
    word_list_bias,
    word_list_scores,
    word_list_table,
)


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


COUNTS = st.lists(st.integers(0, 200), min_size=3, max_size=3)


def test_bias_worked_by_hand():
    # sources 3:1 -> 3/4, 1/4; summaries 1:1 -> 1/2, 1/2; half of 1/4 + 1/4
    found = word_list_bias({"female": 3, "male": 1}, {"female": 5, "male": 5})
    assert (found.score, found.undefined) == (0.25, None)
    assert found.p_ref == {"female": 0.75, "male": 0.25}


@given(COUNTS, COUNTS)
def test_table_and_array_agree_and_the_order_of_groups_does_not_matter(source, summary):
    named = [dict(zip("abc", counts, strict=True)) for counts in (source, summary)]
    found = word_list_bias(*named)
    score = word_list_scores(np.array([source, summary], dtype=float))
    assert found.score == (None if np.isnan(score) else pytest.approx(score))
    again = word_list_bias(*named, groups=("c", "a", "b"))
    assert again.score == (None if found.score is None else pytest.approx(found.score))


def test_undefined_says_which_side_lacks_identifiers():
    assert word_list_bias({"a": 0, "b": 0}, {"a": 1, "b": 0}).undefined == "no identifier in any source"
    both = word_list_bias({"a": 0, "b": 0}, {"a": 0, "b": 0})
    assert both.score is None
    assert both.undefined == "no identifier in any source and in any summary"


def test_sources_without_identifiers_are_no_matter_for_other_references():
    found = word_list_bias({"a": 0, "b": 0}, {"a": 1, "b": 0}, reference={"a": 1, "b": 3})
    # 1/4, 3/4 against 1, 0
    assert found.score == 0.75


@pytest.mark.parametrize("reference", ["sources", {"c": 1}, {"a": -1, "b": 2}, {"a": 0, "b": 0}, {"a": float("nan")}])
def test_reference_that_is_none_is_refused(reference):
    with pytest.raises(DataError, match="reference"):
        word_list_bias({"a": 1, "b": 1}, {"a": 1, "b": 1}, reference=reference)


def test_table_of_instances_pools_to_the_counts_of_their_texts():
    texts = [("She left. He and his son stayed.", "He stayed."), ("Her aunt.", "An aunt, they say.")]
    instances = [
        Instance(document_id=f"d{i}", source=source, summary=summary) for i, (source, summary) in enumerate(texts)
    ]
    assert word_list_table(instances).pooled() == {
        "source": {"female": 3, "male": 3},
        "summary": {"female": 1, "male": 1},
    }


def test_instance_without_summary_is_refused():
    with pytest.raises(DataError, match="document 'd7', assignment 0: has no summary"):
        word_list_table([Instance(document_id="d7", source="She.")])
