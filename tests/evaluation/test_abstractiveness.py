import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.evaluation.abstractiveness import Fragments, fragments, novel_ngrams

letters = st.lists(st.sampled_from("abc"), max_size=8).map(" ".join)


def test_a_summary_worked_by_hand():
    # tokens the left keeps the ferry: fragments "the" (1) and "the ferry" (2), so coverage 3/5, density (1 + 4)/5, 6/5;
    # new 1-grams left, keeps; of the 2-grams only "the ferry" is known; no 3- or 4-gram is
    source, summary = ["Nurses need the ferry at night."], "The Left keeps the ferry."
    assert novel_ngrams(source, summary) == pytest.approx({1: 0.4, 2: 0.75, 3: 1.0, 4: 1.0})
    found = fragments(source, summary)
    assert (found.coverage, found.density, found.compression) == pytest.approx((0.6, 1.0, 1.2))


def test_every_occurrence_counts_and_not_every_kind():
    # new, new, ferry: two of three 1-grams are new; both 2-grams
    assert novel_ngrams(["The ferry."], "new new ferry", (1, 2)) == {1: 2 / 3, 2: 1.0}


def test_an_ngram_lies_within_one_passage():
    assert novel_ngrams(["cheap ferry", "at night"], "ferry at", (2,)) == {2: 1.0}
    assert novel_ngrams(["cheap ferry at night"], "ferry at", (2,)) == {2: 0.0}


def test_a_summary_that_is_too_short_tells_nothing():
    assert novel_ngrams(["a"], "one two three", (3, 4)) == {3: 1.0, 4: None}
    assert novel_ngrams(["a"], "", (1,)) == {1: None}


def test_a_source_without_words_makes_everything_new():
    assert novel_ngrams([], "the ferry", (1, 2)) == {1: 1.0, 2: 1.0}


def test_fragments_worked_by_hand():
    # a b | x | c d e: lengths 2 and 3 of 6 tokens, so 5/6 and (4 + 9)/6; the source has 5 tokens
    found = fragments(["a b c d e"], "a b x c d e")
    assert found.fragments == (("a", "b"), ("c", "d", "e"))
    assert (found.coverage, found.density, found.compression) == pytest.approx((5 / 6, 13 / 6, 5 / 6))


def test_the_scan_goes_on_behind_a_match():
    # the reference code takes "a a" at the start and continues behind it, so it never sees "a a b", which starts one later
    assert fragments(["a a a b"], "a a b").fragments == (("a", "a"), ("b",))


@given(st.lists(letters, max_size=3), letters)
def test_fragments_are_those_of_the_published_scan(source, summary):
    tokens, passages = summary.split(), [passage.split() for passage in source]
    expected, i = [], 0
    while i < len(tokens):
        longest = 0
        for passage in passages:
            j = 0
            while j < len(passage):
                run = 0
                while [*passage, None][j + run : j + run + 1] == tokens[i + run : i + run + 1]:
                    run += 1
                longest = max(longest, run)
                j += max(run, 1)
        expected += [tuple(tokens[i : i + longest])] if longest else []
        i += max(longest, 1)
    assert list(fragments(source, summary).fragments) == expected


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


def test_long_texts_are_scanned_in_moments():
    # 20,000 words of which none is in the other text but every hundredth
    source = [" ".join(f"s{i}" if i % 100 else "x" for i in range(5000))] * 2
    summary = " ".join(f"t{i}" if i % 100 else "x" for i in range(10_000))
    start = time.process_time()
    found = fragments(source, summary)
    assert found.fragments == (("x",),) * 100
    # scanning the source word by word took half a minute
    assert time.process_time() - start < 3


def test_copied_words_are_those_of_long_fragments():
    source = "one two three four five six seven eight nine ten."
    # a fragment of eight of eleven words; one of two
    found = fragments([source], "one two three four five six seven eight, nine ten!")
    assert found.copied == 1.0
    found = fragments([source], "one two three four five six seven eight; then eleven, nine ten")
    assert found.copied == pytest.approx(8 / 12)
    assert fragments([source], "nine ten").copied == 0.0
    assert fragments([source], "...").copied is None
