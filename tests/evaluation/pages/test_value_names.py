"""Bare numbers are called by their attribute, or as the user calls them; names in letters stay."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import DataError
from evenhand.evaluation.pages.value_names import noun, read_labels, value_name

STARS = ("1", "2", "3", "4", "5")


@pytest.mark.parametrize(
    "value",
    ["1", "10", "-2", "\u22122", "+3", "1.5", "1,5", "1e3", "50 %", "18-24", "18\u201324", "65+", "<5", "\u0663", "\u0968",
     "\u00bd", "5th", "3x", "10k", "2020/21", "\u2605\u2605", "?", "\U0001f44d"],
)  # fmt: skip
def test_what_has_no_letters_is_called_by_its_attribute(value):
    assert value_name(value, "stars") == f"stars {value}"


@pytest.mark.parametrize(
    "value",
    ["left", "US", "one", "5 stars", "2nd party", "h1", "1st place", "нет", "はい", "Q1", "x", "k", "e5", "G7", "N/A"],
)
def test_names_in_letters_stay(value):
    assert value_name(value, "stars") == value


@given(st.integers() | st.floats(allow_nan=False, allow_infinity=False))
def test_every_number_is_called_by_its_attribute(number):
    assert value_name(f"{number}", "score") == f"score {number}"


@given(st.text(st.characters(categories=["L"]), min_size=2))
def test_every_word_stays(word):
    assert value_name(word, "score") == word


@pytest.mark.parametrize(
    "attribute", ["stance", "class", "status", "basis", "political lean", "Geschlecht", "позиция", "age-group"]
)
def test_an_attribute_in_the_singular_is_a_noun(attribute):
    assert noun(attribute) == attribute


@given(
    st.text("abcdefghjklmnopqrtvwxyz", min_size=1).map(lambda word: f"{word}s")
    | st.sampled_from(["stars", "Stars", "s", "has_children", "q5", "5", "is:male", "views"])
)
def test_any_other_attribute_is_named_between_quotation_marks(attribute):
    assert noun(attribute) == f'value of "{attribute}"'


def test_labels_come_before_all():
    labels = read_labels(["1=one star", "2=two = few"], "stars", STARS)
    assert labels == {"1": "one star", "2": "two = few"}
    assert [value_name(value, "stars", labels) for value in STARS] == [
        "one star",
        "two = few",
        "stars 3",
        "stars 4",
        "stars 5",
    ]
    # a value with the sign in it
    assert read_labels(["a=b=c"], "kind", ("a", "a=b")) == {"a=b": "c"}


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        (["7=seven"], "'7' is no value of stars"),
        (["1"], "has no label"),
        (["1="], "has no label"),
        (["1=one", "1=first"], "'1' is 'one' already"),
        (["1=few", "2=Few"], "1, 2 would be called 'few' alike"),
        (["1=stars 2"], "1, 2 would be called 'stars 2' alike"),
    ],
)
def test_labels_that_say_nothing_or_two_things_are_refused(entries, said):
    with pytest.raises(DataError, match=said):
        read_labels(entries, "stars", STARS)


def test_values_are_not_refused_for_their_own_names():
    assert read_labels([], "stars", ("1", "stars 1")) == {}


def test_all_mistakes_are_told_together():
    with pytest.raises(DataError, match=r"(?s)'7' is no value.*has no label"):
        read_labels(["7=x", "1= "], "stars", STARS)
