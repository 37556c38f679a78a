"""Small text functions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.text import did_you_mean, fold, sentences, words


@given(st.text())
def test_folded_text_has_single_spaces_and_stays_folded(text):
    folded = fold(text)
    assert folded == folded.strip()
    assert "  " not in folded
    assert fold(folded) == folded
    assert folded.split() == text.split()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The ferry's LATE, again!", ["the", "ferry's", "late", "again"]),
        ("It\u2019s the \u2018old\u2019 boat", ["it's", "the", "old", "boat"]),
        ("nine-to-five 3.50", ["nine", "to", "five", "3", "50"]),
        ("\u00c4rger \u0434\u043e\u043c", ["\u00e4rger", "\u0434\u043e\u043c"]),
        (" ... ", []),
    ],
)
def test_words_are_lower_case_and_keep_inner_apostrophes(text, found):
    assert words(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("One. Two!  Three?", ["One.", "Two!", "Three?"]),
        ("Mr. Brown left. He was late.", ["Mr. Brown left.", "He was late."]),
        ("one line\nand another", ["one line", "and another"]),
        ("", []),
        (" \n\n ", []),
    ],
)
def test_sentences_are_stripped_and_in_order(text, found):
    assert sentences(text) == found


@given(st.text(alphabet="aB. !?\n", max_size=60))
def test_sentences_lose_no_character_but_white_space(text):
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())


def test_a_near_name_is_offered_and_a_far_one_is_not():
    assert did_you_mean("rihgt", ["left", "right"]) == "; did you mean 'right'?"
    assert did_you_mean("centre", ["left", "right"]) == "."
    assert did_you_mean("x", []) == "."
