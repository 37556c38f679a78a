"""Claims of a sentence by commas and joining words."""

import pytest

from evenhand.judges.claims import claims

# the ferry is cheap, nurses need it
CHINESE = "\u6e21\u8f6e\u5f88\u4fbf\u5b9c\uff0c\u62a4\u58eb\u9700\u8981\u5b83\u3002"


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
        # white space of any kind and length
        ("The ferry is cheap" + "\n" * 50_000 + "and nurses need it.", ["The ferry is cheap", "and nurses need it."]),
        ("The ferry" + " " * 50_000 + "runs.", ["The ferry" + " " * 50_000 + "runs."]),
        # words are told by spaces
        (
            "\u6e21\u8f6e\u5f88\u4fbf\u5b9c\uff0c\u62a4\u58eb\u9700\u8981\u5b83\u3002",
            ["\u6e21\u8f6e\u5f88\u4fbf\u5b9c\uff0c\u62a4\u58eb\u9700\u8981\u5b83\u3002"],
        ),
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
