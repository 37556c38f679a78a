"""Claims of a sentence by commas and joining words."""

import pytest

from evenhand.judges.claims import claims


@pytest.mark.parametrize(
    ("sentence", "parts"),
    [
        ("The ferry is cheap.", ["The ferry is cheap."]),
        ("The ferry is cheap, and nurses need it.", ["The ferry is cheap,", "and nurses need it."]),
        ("The ferry is cheap and nurses need it.", ["The ferry is cheap", "and nurses need it."]),
        (
            "It is old; nobody wants it - or says so \u2013 today.",
            ["It is old; nobody wants it", "- or says so \u2013 today."],
        ),
        # too short to be a claim: joined to what follows, at the end to what stood before
        ("However, the ferry is cheap, too.", ["However, the ferry is cheap, too."]),
        ("Yes, no.", ["Yes, no."]),
        # no joining word within another word, and no cut in a number
        ("Thousands of sandy butterflies cost 1,000 crowns.", ["Thousands of sandy butterflies cost 1,000 crowns."]),
        ("", []),
        ("  ", []),
    ],
)
def test_sentences_are_cut_at_marks_and_joining_words(sentence, parts):
    assert claims(sentence) == parts


def test_nothing_is_lost_and_nothing_added():
    sentence = "While the ferry is cheap, loud, and old, it is loved by nurses, clerks and cooks alike, despite the smell of it."
    assert " ".join(claims(sentence)) == sentence
    assert all(len(part.split()) >= 4 for part in claims(sentence))
