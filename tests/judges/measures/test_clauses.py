"""Units by rules."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.judges.measures.clauses import split_clauses


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("The hotel is clean, quiet and cheap.", ["The hotel is clean", "The hotel is quiet", "The hotel is cheap."]),
        ("It was very small and extremely loud.", ["It was very small", "It was extremely loud."]),
        ("Guests praise the pool and the bar.", ["Guests praise the pool", "Guests praise the bar."]),
        ("The pool, the staff, and the bar were fun.", ["The pool were fun.", "the staff were fun.", "the bar were fun."]),
        ("Customers love the screen, but they hate the battery.", ["Customers love the screen", "they hate the battery."]),
        ("While some praise the sound, others find it dull.", ["some praise the sound", "others find it dull."]),
        ("The ferry is cheap and it runs at night.", ["The ferry is cheap", "it runs at night."]),
        ("The ferry is cheap; nurses need it.", ["The ferry is cheap", "nurses need it."]),
        ("It is old. It leaks.", ["It is old.", "It leaks."]),
    ],
)  # fmt: skip
def test_clauses_and_lists_become_units(text, units):
    assert list(split_clauses(text)) == units


@pytest.mark.parametrize(
    "text",
    [
        # one item is no item of the list, or a verb of its own
        "The battery lasts long and the screen is bright.",
        "The screen is bright and lasts.",
        "The parcel was small and arrived late.",
        "The room is full of dust and noise.",
        "The hotel is clean and staff smile.",
        # one or the other, not both
        "The ferry is cheap or slow.",
        "The hotel is near the park, the beach and quiet.",
        # no verb that the rules know
        "I came, I saw, I conquered.",
        "He was born on May 3, 1990.",
        # other languages, and nothing to split
        "Der Kaffee ist gut, und die Milch ist frisch.",
        "價格便宜、但是電池不好。",
        "A well-known ferry.",
    ],
)
def test_sentence_that_no_rule_fits_stays_whole(text):
    assert split_clauses(text) == (text,)


def test_blank_text_has_no_unit():
    assert split_clauses(" \n ") == ()


WORDS = (
    "the ferry hotel and but while , ; is are was were has they it we others some praise says that clean cheap quiet of with "
    "- \u2014 . so yet or"
).split()


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=25))
def test_nothing_is_invented_and_only_joining_words_are_lost(words):
    text = " ".join(words)
    units = split_clauses(text)
    bare = [word.strip(",;.-\u2014") for word in text.split()]
    said = {word for unit in units for word in unit.replace(",", " ").replace(";", " ").replace(".", " ").split()}
    joining = {"and", "but", "while", "so", "yet", "or", ""}
    assert {word for word in bare if word} - joining <= said
    for unit in units:
        left = iter(bare)
        # the unit's words stand in the text in this order
        assert all(word.strip(",;.-\u2014") in left for word in unit.split() if word.strip(",;.-\u2014"))
    assert split_clauses(text) == units
