import pytest

from evenhand.errors import DataError
from evenhand.fairness.groups import parse_units


def numbered(*units: str) -> str:
    return "\n".join(f"{i}. {unit}" for i, unit in enumerate(units, start=1))


@pytest.mark.parametrize(
    ("domain", "unit", "expected"),
    [
        ("reviews", "Customers say customers wait.", "They say they wait."),
        ("reviews", "Some customers wait.", "Some wait."),
        ("reviews", "SOME USERS and some users left.", "SOME USERS and some left."),
        ("tweets", "tweets ask for rain.", "It ask for rain."),
        ("tweets", "The articles ask for rain.", "The articles ask for rain."),
        ("articles", "THE NEWS ARTICLES warn.", "It warn."),
        ("articles", "Documents warn.", "Documents warn."),
        ("claims", "The news documents warn.", "It warn."),
        ("claims", "Documentsare warned.", "Documentsare warned."),
    ],
)
def test_forbidden_subjects_are_rewritten_by_domain(domain, unit, expected):
    assert parse_units(numbered(unit, "b", "c"), domain) == (expected, "b", "c")


def test_lines_count_by_a_digit_in_their_first_word():
    reply = "Here are 3 units:\n  1) a\n- b\n(2) c\nx3: d\n4.\n\n"
    assert parse_units(reply, "tweets") == ("a", "c", "d")


@pytest.mark.parametrize("reply", ["", "1. a\n2. b", "no list"])
def test_fewer_than_three_units_are_not_scored(reply):
    assert parse_units(reply, "articles") is None


def test_unknown_domain_is_refused():
    with pytest.raises(DataError, match="domains are reviews, tweets, articles, claims"):
        parse_units("", "news")
