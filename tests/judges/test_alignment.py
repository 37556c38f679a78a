"""Alignment of summary and source, on an aligner whose support a person can count."""

from importlib.metadata import version

import numpy as np
import pytest

from evenhand.config.judges import AlignmentJudge
from evenhand.judges.aligner import Alignment
from evenhand.judges.alignment import aggregate, chunk_sizes, chunks, open_alignment
from evenhand.judges.judge import JudgeInput
from evenhand.judges.shared import SharedModels
from evenhand.judges.splitters import open_splitter

PLAIN = open_splitter("sentencex")
SOURCE = "The ferry is cheap. Nurses need it."


class WordsInCommon:
    """Support is the share of the claim's words that the premise has; so it has a direction."""

    def __init__(self):
        self.pairings = []

    def align(self, pairings):
        self.pairings += pairings
        return [
            Alignment(np.array([[share(p, c) for c in each.claims] for p in each.premises]), 0) for each in pairings
        ]

    def close(self):
        pass


def share(premise, claim):
    words = claim.lower().strip(".,").split()
    return sum(word in premise.lower().replace(".", "").replace(",", "").split() for word in words) / len(words)


class GivenAlignments:
    """Answers with prepared alignments."""

    def __init__(self, *alignments):
        self._alignments = alignments

    def align(self, pairings):
        return list(self._alignments)

    def close(self):
        pass


class GivenModels(SharedModels):
    """Hands out an aligner that the test made, under every key."""

    def __init__(self, aligner):
        super().__init__()
        self._aligner = aligner

    def lazy(self, key, load):
        return super().lazy(key, lambda: self._aligner)


def judge(given, /, **options):
    section = AlignmentJudge.model_validate({"kind": "alignment", "model": "org/model", **options})
    return open_alignment("judge", section, GivenModels(given))


def inputs(*texts, reference=SOURCE):
    return [JudgeInput(f"c{i}", "r", text, True, reference) for i, text in enumerate(texts)]


def test_chunk_sizes_worked_by_hand():
    # 700 words: 700 // 350 + 1 = 3 chunks aimed at, 10 // 3 = 3 sentences each, the tenth is left over
    assert chunk_sizes(700, 10) == (3, [3, 3, 3, 1])
    # never fewer than one sentence a chunk
    assert chunk_sizes(5000, 2) == (1, [1, 1])
    assert chunk_sizes(0, 0) == (1, [])


def test_chunks_are_cut_at_sentence_ends_and_lose_nothing():
    # 4 sentences of 100 words: 400 // 350 + 1 = 2 chunks of 2 sentences
    sentences = [" ".join(["Word"] + ["word"] * 98) + f" {i}." for i in range(4)]
    found = chunks(PLAIN, "\n".join(sentences))
    assert found == [f"{sentences[0]} {sentences[1]}", f"{sentences[2]} {sentences[3]}"]


def test_short_text_is_one_chunk_and_blank_text_none():
    assert chunks(PLAIN, "One. Two.\nThree.") == ["One. Two. Three."]
    assert chunks(PLAIN, "  ") == []


def test_aggregate_is_the_mean_over_claims_of_the_best_premise():
    # columns: best of (0.2, 0.7) and of (0.9, 0.1); mean 0.8
    assert aggregate([[0.2, 0.9], [0.7, 0.1]]) == pytest.approx(0.8)


def test_order_of_premises_does_not_matter():
    matrix = np.random.default_rng(0).random((5, 3))
    assert aggregate(matrix) == pytest.approx(aggregate(matrix[::-1]))


def test_precision_asks_whether_the_source_supports_the_summary():
    # "The ferry is dear.": 3 of 4 words in the first sentence; "Nurses need it.": 3 of 3 in the second; mean 0.875
    verdict = judge(WordsInCommon(), chunks="sentence").score(inputs("The ferry is dear. Nurses need it."))[0]
    assert verdict.score == pytest.approx(0.875)
    assert verdict.raw == '{"best":[0.75,1.0]}'


def test_recall_asks_whether_the_summary_takes_up_the_source():
    # "The ferry is cheap.": 4 of 4 words in the summary; "Nurses need it.": 0 of 3; mean 0.5
    verdict = judge(WordsInCommon(), direction="recall").score(inputs("The ferry is cheap and old."))[0]
    assert verdict.score == pytest.approx(0.5)


def test_a_sentence_of_several_claims_is_compared_claim_by_claim():
    # whole: 6 of 10 words in "Nurses need it at night."; apart: 5 of 5 in it, and of "but the ferry is dear" 3 of 5 in the other
    text, source = "Nurses need it at night, but the ferry is dear.", "The ferry is cheap. Nurses need it at night."
    whole, apart = (
        judge(WordsInCommon(), chunks="sentence", parts=parts).score(inputs(text, reference=source))[0]
        for parts in ("sentence", "claim")
    )
    assert apart.raw == '{"best":[1.0,0.6]}'
    assert whole.score < apart.score == pytest.approx(0.8)
    taken_up = judge(WordsInCommon(), direction="recall", parts="claim").score(inputs(text, reference=source))[0]
    # "The ferry is cheap." 3 of 4, "Nurses need it at night." 5 of 5
    assert taken_up.raw == '{"best":[0.75,1.0]}'


def test_copied_source_scores_one_both_ways():
    for direction in ("precision", "recall"):
        assert judge(WordsInCommon(), direction=direction).score(inputs(SOURCE))[0].score == 1.0


def test_encoder_compares_sentences_and_classifiers_read_chunks_unless_told():
    for options, n_premises in [
        ({"aligner": "encoder"}, 2),
        ({"aligner": "nli"}, 1),
        ({"aligner": "nli", "chunks": "sentence"}, 2),
        ({"aligner": "encoder", "chunks": "350-words"}, 1),
    ]:
        aligner = WordsInCommon()
        judge(aligner, **options).score(inputs("The ferry is cheap."))
        assert len(aligner.pairings[0].premises) == n_premises


def test_cut_premises_are_named_in_the_verdict():
    verdict = judge(GivenAlignments(Alignment(np.array([[0.5]]), 1))).score(inputs("A."))[0]
    assert (verdict.score, verdict.raw) == (0.5, '{"best":[0.5],"cut":1}')


def test_claim_too_long_for_the_model_is_unscored_and_stops_nobody():
    gaps = np.array([[False, True]])
    long, short = Alignment(np.array([[0.5, np.nan]]), 0, gaps), Alignment(np.array([[0.25]]), 0, ~gaps[:, 1:])
    found = judge(GivenAlignments(long, short)).score(inputs("A. B.", "C."))
    assert [(v.score, v.unscored) for v in found] == [(None, "a sentence exceeds the aligner's length"), (0.25, None)]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_model_that_gives_no_finite_number_is_unscored_and_stops_nobody(value):
    found = judge(GivenAlignments(Alignment(np.array([[0.5, value]]), 0), Alignment(np.array([[0.25]]), 0))).score(
        inputs("A. B.", "C.")
    )
    assert [(v.score, v.unscored) for v in found] == [(None, "model gave no finite number"), (0.25, None)]


def test_nothing_to_compare_is_unscored():
    verdict = judge(GivenAlignments(Alignment(np.empty((0, 0)), 0))).score(inputs("A."))[0]
    assert (verdict.score, verdict.unscored) == (None, "no sentence to compare")


def test_signature_names_what_scores_depend_on_and_is_known_without_a_model():
    plain = judge(None)
    assert plain.signature == (
        "alignment-precision|judge:alignment|aligner:encoder|model:org/model|against:source|chunks:sentence|"
        f"sentences:sentencex-{version('sentencex')},quotations-2,normal-form-2|v:2"
    )
    assert judge(None, batch_size=7).signature == plain.signature
    assert judge(None, chunks="sentence").signature == plain.signature
    changed = [
        {"aligner": "nli"}, {"model": "org/other"}, {"revision": "v2"}, {"direction": "recall"}, {"against": "opposing"},
    ]  # fmt: skip
    assert len({plain.signature, *(judge(None, **change).signature for change in changed)}) == len(changed) + 1


def test_another_sentence_splitter_is_another_signature(monkeypatch):
    before = judge(None).signature
    monkeypatch.setattr("evenhand.judges.splitters.version", lambda distribution: f"{distribution} of tomorrow")
    assert judge(None).signature != before
    assert "sentencex of tomorrow" in judge(None).signature


def test_directions_on_one_model_share_it():
    models = SharedModels()
    section = AlignmentJudge.model_validate({"kind": "alignment", "model": "org/model"})
    precision = open_alignment("precision", section, models)
    recall = open_alignment("recall", section.model_copy(update={"direction": "recall"}), models)
    other = open_alignment("other", section.model_copy(update={"model": "org/other"}), models)
    assert precision.loads == recall.loads != other.loads
