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
        # each item has its own negation or hedge
        ("It is never clean and never quiet.", ["It is never clean", "It is never quiet."]),
        ("It is often loud and rarely clean.", ["It is often loud", "It is rarely clean."]),
        ("The ferry is cheap \u2014 it runs at night.", ["The ferry is cheap", "it runs at night."]),
        ("It has no pool and a bar.", ["It has no pool", "It has a bar."]),
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


@pytest.mark.parametrize(
    "text",
    [
        # a negation or a hedge that holds for all items
        "The vaccine is not safe and effective.",
        "The food was never hot and fresh.",
        "The rooms are hardly clean and quiet.",
        "The mayor is allegedly corrupt and violent.",
        "The hotel isn't clean and quiet.",
        "Nobody praises the pool and the bar.",
        "Guests never praise the pool and the bar.",
        "They would rather stay and pay.",
        # what stands at the end belongs to all objects, or to the last
        "He called the senator a liar and a thief.",
        "They call the mayor and the council corrupt.",
        "Guests found the pool and the bar closed.",
        "They like the pool and the bar open.",
        "The guest was annoyed and complained.",
        "The staff left and the guests were angry.",
        "The hotel is a gem and the staff smile.",
        "Guests like you and I are late.",
        # exceptions, denials, doubts and reports
        "There was nothing but the noise that was bad.",
        "They liked everything but the noise that was bad.",
        "It is false that the food is bad, and the staff is rude.",
        "The user doubts that it is safe and it is cheap.",
        "He says the food is bad and it is cold.",
        "The food is bad and it is cold, critics say.",
        "According to critics, the tax is unfair, and the poor are worse off.",
        "He acts as though the mayor is a thief.",
        "Is it clean and is it quiet, and is the staff kind?",
        # conditions, and openings that hold for both
        "Guests would return if the room was clean, and the staff was kind.",
        "If they win, the tax is cut, and the poor are worse off.",
        "The room is clean and it is quiet if you pay.",
        "While staying there, the guests were happy, and it was nice.",
        "Without the bridge, the town is poor, and the nurses are late.",
        # dashes that join words
        "The war of 1914 - 1918 was long.",
        "The room was $5 - $10 and it was small - they say.",
        "The Trump - Kim summit was long.",
        "A well - known ferry is cheap.",
        # what explains is no item
        "The president, a Democrat, and the senator were late.",
        "This year, the pool and the bar were closed.",
        "The mayor and the senator are different.",
        # half a quotation
        'The sign was "open and free".',
        'The sign was "it is open and it is free".',
        "The sign was \u201copen and free\u201d.",
        "The sign was 'open and free'.",
        "The rooms are dirty here and there in winter.",
        "Each May my father and I counted mayflies.",
    ],
)  # fmt: skip
def test_sentence_whose_meaning_a_split_would_change_stays_whole(text):
    assert split_clauses(text) == (text,)


def test_blank_text_has_no_unit():
    assert split_clauses(" \n ") == ()


WORDS = (
    "the ferry hotel and but while , ; is are was were has they it we others some praise says that clean cheap quiet of with "
    "- \u2014 . so yet or not never hardly allegedly isn't nobody if"
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


QUALITIES = st.sampled_from("clean quiet cheap friendly".split())
STRONGER = st.sampled_from(["", "very ", "really "])


@given(
    st.sampled_from("not never hardly allegedly often barely".split()),
    st.lists(st.tuples(STRONGER, QUALITIES), min_size=2, max_size=4),
)
def test_no_item_loses_the_word_that_denies_or_hedges_the_list(denial, items):
    *others, last = ["".join(item) for item in items]
    text = f"The hotel is {denial} {', '.join(others)} and {last}."
    assert split_clauses(text) == (text,)
    # without the denial it is a list
    assert len(split_clauses(text.replace(f"{denial} ", ""))) == len(items)
