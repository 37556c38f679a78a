"""Choosing sentences of a long text."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.judges.aligner import Alignment
from evenhand.judges.judge import JudgeInput
from evenhand.judges.rouge import rouge
from evenhand.judges.shared import Lazy
from evenhand.plugins.extract.extracting import Extract, Lead, Supporting, WordOverlap, best_claims, extract
from evenhand.text import sentences

TEXT = "The ferry is cheap. Nurses need it. A bridge pays. It runs at night."


def make_input(text, reference=TEXT):
    return JudgeInput("c", "r", text, True, reference)


def test_extractors_take_turns_and_the_text_keeps_its_order():
    # sentences of 4, 3, 3 and 4 words. First ranks: 3 and 1, 7 words; second ranks: 1 again and 2, 10 words; 0 does not fit
    weights = [[0, 3, 1, 4], [0, 4, 3, 1]]
    assert extract(TEXT, weights, 10).text == "Nurses need it. A bridge pays. It runs at night."
    assert extract(TEXT, weights, 7).text == "Nurses need it. It runs at night."


def test_sentence_that_does_not_fit_is_passed_over_for_the_next():
    assert extract(TEXT, [[4, 3, 2, 1]], 3) == Extract("Nurses need it.")


def test_where_no_sentence_fits_the_best_is_cut_to_the_budget():
    # 3 words of which 2 are left
    assert extract(TEXT, [[1, 4, 2, 3], [9, 1, 1, 1]], 2) == Extract("Nurses need", 1)
    assert extract("word " * 3000, [[0.0]], 2000) == Extract(" ".join(["word"] * 2000), 1000)


def test_of_equal_weights_the_earlier_sentence_comes_first():
    assert extract(TEXT, [[1, 1, 1, 1]], 7).text == "The ferry is cheap. Nurses need it."


@given(st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=1, max_size=3), st.integers(3, 20))
def test_extract_repeats_nothing_keeps_the_order_and_the_budget(weights, most_words):
    found = sentences(extract(TEXT, weights, most_words).text)
    assert found
    rest = iter(sentences(TEXT))
    assert all(sentence in rest for sentence in found)
    assert sum(len(sentence.split()) for sentence in found) <= most_words


def test_lead_prefers_what_stands_first():
    assert extract(TEXT, Lead().weigh([make_input("A.")]), 7).text == "The ferry is cheap. Nurses need it."


def test_overlap_is_the_share_of_the_summarys_words():
    pytest.importorskip("rouge_score")
    # "the ferry pays at night": the, ferry of 5; none; pays; at, night
    assert WordOverlap().weigh([make_input("The ferry pays at night.")])[0] == pytest.approx([2 / 5, 0, 1 / 5, 2 / 5])


@given(st.lists(st.sampled_from("the ferry pays at night; The Ferry's 3 \u4f60".split()), max_size=8).map(" ".join))
def test_overlap_is_rouge_1_recall_of_the_rouge_score_package(summary):
    pytest.importorskip("rouge_score")
    expected = [rouge(summary, sentence, ("rouge1",))["rouge1"]["recall"] for sentence in sentences(TEXT)]
    assert WordOverlap().weigh([make_input(summary)])[0] == pytest.approx(expected)


def test_overlap_reads_each_text_once(monkeypatch):
    tokenize = pytest.importorskip("rouge_score.tokenize")
    read, original = [], tokenize.tokenize
    monkeypatch.setattr(tokenize, "tokenize", lambda text, stemmer: read.append(text) or original(text, stemmer))
    found = WordOverlap().weigh([make_input("The ferry."), make_input("A bridge."), make_input("Nurses.")])
    # four sentences and three summaries
    assert (len(read), [len(weights) for weights in found]) == (7, [4, 4, 4])


class Given:
    """Supports as it is told, and remembers what it was asked."""

    def __init__(self, matrix):
        self.matrix = np.array(matrix)
        self.pairings = []

    def align(self, pairings):
        self.pairings += pairings
        return [Alignment(self.matrix, 0) for _ in pairings]

    def close(self):
        pass


def test_entailment_counts_the_sentence_of_the_summary_that_is_supported_most():
    aligner = Given([[0.1, 0.7], [0.2, 0.3]])
    lazy = Lazy("given", lambda: aligner)
    assert Supporting(lazy, whole_summary=False).weigh([make_input("One. Two.", "A. B.")]) == [[0.7, 0.3]]
    assert aligner.pairings[0].claims == ("One.", "Two.")


def test_similarity_is_with_the_whole_summary():
    aligner = Given([[0.1], [0.2]])
    Supporting(Lazy("given", lambda: aligner), whole_summary=True).weigh([make_input("One. Two.", "A. B.")])
    assert aligner.pairings[0].claims == ("One. Two.",)


def test_claim_beyond_the_aligners_length_supports_nothing():
    matrix = np.array([[np.nan, 0.4], [np.nan, np.nan]])
    assert best_claims(Alignment(matrix, 0, np.isnan(matrix))) == [0.4, 0.0]


def test_number_that_the_model_did_not_give_is_not_taken_for_no_support():
    matrix = np.array([[np.nan, 0.4], [0.1, 0.2]])
    assert best_claims(Alignment(matrix, 0)) == pytest.approx([np.nan, 0.2], nan_ok=True)
