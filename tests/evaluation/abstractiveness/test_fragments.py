import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.evaluation.abstractiveness import Fragments, fragments

letters = st.lists(st.sampled_from("abc"), max_size=8).map(" ".join)


def test_fragments_worked_by_hand():
    # a b | x | c d e: lengths 2 and 3 of 6 tokens, so 5/6 and (4 + 9)/6; the source has 5 tokens
    found = fragments(["a b c d e"], "a b x c d e")
    assert found.fragments == (("a", "b"), ("c", "d", "e"))
    assert (found.coverage, found.density, found.compression) == pytest.approx((5 / 6, 13 / 6, 5 / 6))


def test_the_scan_goes_on_behind_a_match():
    # the reference code takes "a a" at the start and continues behind it, so it never sees "a a b", which starts one later
    assert fragments(["a a a b"], "a a b").fragments == (("a", "a"), ("b",))


def test_an_empty_summary_has_no_ratios():
    assert fragments(["a b"], "...") == Fragments(None, None, None, ())


@given(st.lists(letters, max_size=3), letters)
def test_fragments_are_copies_in_order_and_a_passage_of_its_own_covers_the_summary(source, summary):
    found = fragments(source, summary)
    place = 0
    for fragment in found.fragments:
        text = " ".join(fragment)
        assert any(f" {text} " in f" {passage} " for passage in source)
        place = summary.index(text, place) + len(text)
    if summary:
        assert 0 <= found.coverage <= 1
        whole = fragments([summary], summary)
        assert whole.coverage == 1


@given(st.lists(letters, max_size=3), letters)
def test_order_of_passages_does_not_matter(source, summary):
    assert fragments(source, summary) == fragments(source[::-1], summary)
