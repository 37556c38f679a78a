import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import DataError
from evenhand.fairness.groups.units import make_windows, parse_units


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


documents = st.lists(
    st.lists(st.integers(1, 9), max_size=7).map(lambda ns: [" ".join([f"s{i}"] * n) for i, n in enumerate(ns)]),
    max_size=4,
)


def test_shorter_neighbour_comes_first_and_the_sum_stays_below_the_limit():
    # around "c c": left has 3, right 1: right first (3), then left would make 6, not below 6
    texts = make_windows([["b b b", "c c", "d"]], 6).texts
    # the first takes its only neighbour (5), then the third would make 6; the last takes "c c", then 6 again
    assert texts == ("b b b c c", "c c d")


def test_identical_documents_have_each_their_window_unless_as_released():
    two = [["a b.", "c."], ["a b.", "c."]]
    assert make_windows(two).documents == (0, 1)
    assert make_windows(two, dedupe="sample").documents == (0,)


@settings(max_examples=60)
@given(documents, st.integers(1, 20))
def test_windows_cover_every_sentence_and_stay_below_the_limit(given_documents, most):
    windows = make_windows(given_documents, most)
    for text, place in zip(windows.texts, windows.documents, strict=True):
        assert len(text.split()) < most or text in given_documents[place]
        assert text in " ".join(given_documents[place])
    for place, sentences in enumerate(given_documents):
        own = [text for text, p in zip(windows.texts, windows.documents, strict=True) if p == place]
        assert all(any(sentence in text for text in own) for sentence in sentences)
        assert len(own) == len(set(own))


def test_limit_below_one_is_refused():
    with pytest.raises(DataError, match="at least 1 word"):
        make_windows([["a"]], 0)
