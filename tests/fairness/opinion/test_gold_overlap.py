"""ROUGE-1 against gold summaries."""

import pytest

from evenhand.fairness.opinion import rouge1_f1

pytest.importorskip("rouge_score")


def test_each_gold_summary_counts_alike():
    # "red cat" and "red dog": 1 of 2 words shared, F1 1/2; "red cat": 1
    found = rouge1_f1("Red cat!", ["red dog", "RED CAT"])
    assert found.f1 == pytest.approx((0.5, 1.0))
    assert found.mean == pytest.approx(0.75)


def test_words_are_not_stemmed():
    assert rouge1_f1("cats", ["cat"]).mean == 0.0


def test_gold_summaries_that_rouge_cannot_read_are_left_out_and_counted():
    found = rouge1_f1("red cat", ["red cat", "Красный кот", ""])
    assert (found.f1, found.mean, found.left_out) == ((1.0, None, None), 1.0, 2)


@pytest.mark.parametrize(("summary", "gold"), [("", ["red cat"]), ("красный", ["red cat"]), ("red cat", [])])
def test_without_readable_words_it_is_undefined(summary, gold):
    assert rouge1_f1(summary, gold).mean is None
