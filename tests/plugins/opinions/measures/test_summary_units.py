"""A summary cut into units."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.plugins.opinions.measures.summary_units import summary_units
from evenhand.text import sentences

POSTS = ("Cheap ferry. It runs at night. Keep it!", "no bridge please", "Taxes, again.", "Taxes, again. And again.")


@pytest.mark.parametrize(
    ("summary", "pieces"),
    [
        # posts need no full stop
        (
            "no bridge please Cheap ferry. It runs at night. Keep it!",
            ["no bridge please", "Cheap ferry. It runs at night. Keep it!"],
        ),
        # compared folded, shown as written
        ("NO bridge\nplease", ["NO bridge please"]),
        # most words in units: the longer of two
        ("Taxes, again. And again.", ["Taxes, again. And again."]),
        ("Taxes, again. And why?", ["Taxes, again.", "And why?"]),
        # own words around a post
        (
            "People differ. Cheap ferry. It runs at night. Keep it! Others do not care.",
            ["People differ.", "Cheap ferry. It runs at night. Keep it!", "Others do not care."],
        ),
        # a part of a post is none, nor is a post inside a sentence
        ("Cheap ferry. It runs at night.", ["Cheap ferry.", "It runs at night."]),
        ("They say no bridge please and mean it.", ["They say no bridge please and mean it."]),
        # said twice
        ("Taxes, again. Taxes, again.", ["Taxes, again.", "Taxes, again."]),
        (" ", []),
    ],
)
def test_whole_units_are_found_and_the_rest_is_sentences(summary, pieces):
    assert summary_units(summary, POSTS) == pieces


def test_blank_units_are_found_nowhere():
    assert summary_units("One. Two.", ["", "  "]) == ["One.", "Two."]


def test_of_equal_cuts_the_one_of_fewer_units_is_taken():
    assert summary_units("one two", ["one", "two", "one two"]) == ["one two"]
    # then the earlier is the longer, in whatever order the source has them
    for source in (["one", "two three", "one two", "three"], ["three", "one two", "two three", "one"]):
        assert summary_units("one two three", source) == ["one two", "three"]


# texts whose sentences the splitter may join or part at will
units = st.lists(
    st.lists(st.sampled_from(["a", "b.", "Mr.", "C", "d!e", "f?", "'g'"]), min_size=1, max_size=4).map(" ".join),
    min_size=1,
    max_size=5,
)


@given(units, st.sampled_from([" ", "\n"]))
def test_units_joined_are_covered_whole(given_units, joint):
    found = summary_units(joint.join(given_units), given_units)
    assert set(found) <= set(given_units)
    assert " ".join(found) == " ".join(given_units)
    assert len(found) <= len(given_units)


@given(units, units)
def test_no_word_is_lost_or_moved(written, source):
    text = " ".join(written)
    assert "".join("".join(summary_units(text, source)).split()) == "".join(text.split())


@given(st.text())
def test_without_units_these_are_the_sentences(text):
    assert summary_units(text, []) == sentences(text)
