import pytest

from evenhand.fairness.demographic.inputs import AnnotatedDocument
from evenhand.fairness.demographic.inputs.linking import Segment
from evenhand.fairness.demographic.inputs.naming import find_name


def name_of(words: str, *spans: tuple[int, int]):
    document = AnnotatedDocument.model_validate({"tokens": [{"text": word} for word in words.split()]})
    name = find_name(document, [Segment(start, end, True) for start, end in spans])
    return name.first, name.last


@pytest.mark.parametrize(
    ("words", "spans", "expected"),
    [
        # the last token is the last name, all earlier ones compete for the first name, the earliest of equals wins
        ("Ida Ray Quill", [(0, 3)], ("Ida", "Quill")),
        ("Ida Ray Quill met Ray Quill", [(0, 3), (4, 6)], ("Ray", "Quill")),
        ("Ida", [(0, 1)], (None, "Ida")),
        ("Corwin Ashdale Jr.", [(0, 3)], ("Corwin", "Ashdale")),
        # a title before a single name token settles the last name for now
        ("Alden met Mr Quill", [(0, 1), (3, 4)], (None, "Quill")),
        ("Alden met Mr. Quill", [(0, 1), (2, 4)], (None, "Quill")),
        # ... until later mentions outvote it
        ("Mr. Quill , Vey , Vey", [(1, 2), (3, 4), (5, 6)], (None, "Vey")),
        # an honorific is no name, and settles nothing
        ("Sir Alden Quill", [(0, 3)], ("Alden", "Quill")),
        # the most frequent spelling of the most frequent candidate
        ("QUILL Quill Quill Vey", [(0, 1), (1, 2), (2, 3), (3, 4)], (None, "Quill")),
        ("the widow", [(0, 2)], (None, None)),
    ],
)
def test_name_follows_the_rules(words, spans, expected):
    assert name_of(words, *spans) == expected


def test_only_name_segments_are_read():
    document = AnnotatedDocument.model_validate({"tokens": [{"text": "President"}, {"text": "Quill"}]})
    assert find_name(document, [Segment(0, 1, False), Segment(1, 2, True)]).last == "Quill"
    assert find_name(document, [Segment(0, 1, False), Segment(1, 2, True)]).first is None
