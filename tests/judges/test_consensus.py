"""Minimum Bayes risk; expected values by hand."""

import pytest

from evenhand.config.judges import ConsensusJudge
from evenhand.judges.batch import judge_inputs
from evenhand.judges.consensus import consensus, open_consensus
from evenhand.judges.shared import SharedModels
from evenhand.records import Candidate, Document, DocumentSet, Message, Sampling, SummaryRequest

pytest.importorskip("rouge_score")

REQUEST = SummaryRequest.model_validate(
    {
        "id": "a/left",
        "document_set": DocumentSet(id="a", documents=(Document(id="a/1", text="Anything."),), split="test"),
        "contract": {},
        "template": "test:000000",
        "prompt": (Message(role="user", content="Summarise."),),
    }
)


def candidate(index: int, text: str) -> Candidate:
    return Candidate.model_validate(
        {
            "id": f"c{index}", "request_id": "a/left", "index": index, "text": text, "raw_text": text, "method": "zero-shot",
            "plan": "p", "sampling": Sampling(), "seed": 0, "model": "m", "finish_reason": "stop", "contract_ok": True,
            "prompt_digest": "d",
            "n_prompt_tokens": 1, "n_tokens": 1,
        }
    )  # fmt: skip


def scores(texts: list[str]) -> list[float | None]:
    judge = open_consensus("near", ConsensusJudge(kind="consensus"), SharedModels())
    inputs = judge_inputs(judge.against, [(REQUEST, candidate(i, text)) for i, text in enumerate(texts)])
    return [verdict.score for verdict in judge.score(inputs)]


def test_the_candidate_nearest_to_the_others_scores_highest():
    # F1 of ROUGE-1: first and second 1 of 2 words, 1/2; second and third 1/2; first and third none
    assert consensus(["a b", "b c", "c d"]) == pytest.approx([0.25, 0.5, 0.25])
    assert scores(["a b", "b c", "c d"]) == pytest.approx([0.25, 0.5, 0.25])


def test_equal_texts_score_alike_and_speak_for_each_other():
    # each of the pair: (1 + 0) / 2; the third: 0
    assert scores(["a b", "a b", "c d"]) == pytest.approx([0.5, 0.5, 0.0])


def test_order_of_candidates_does_not_matter():
    assert consensus(["c d", "a b", "b c"]) == pytest.approx([0.25, 0.25, 0.5])


def test_texts_without_words_are_neither_scored_nor_heard():
    assert consensus(["a b", "...", "a b"]) == [1.0, None, 1.0]


@pytest.mark.parametrize("texts", [["a b"], ["a b", "..."], []])
def test_a_text_without_company_is_unscored(texts: list[str]):
    assert all(score is None for score in consensus(texts))


def test_the_type_of_rouge_is_in_the_signature():
    rouge2 = open_consensus("near", ConsensusJudge(kind="consensus", type="rouge2"), SharedModels())
    assert rouge2.signature.startswith("rouge2-fmeasure|judge:consensus")
    # "a b c" and "a b d" have one pair of two in common
    assert consensus(["a b c", "a b d"], "rouge2") == pytest.approx([0.5, 0.5])


@pytest.mark.parametrize("n", range(3, 9))
def test_twin_texts_tie_exactly_wherever_they_stand(n):
    # sums of the same numbers in another order differ in their last digits
    others = [" ".join("abcdefgh"[: 2 + i]) + f" {'xyz' * i}" for i in range(n)]
    texts = ["a b c q", *others, "q c b a"]
    found = consensus(texts)
    assert found[0] == found[-1]
    again = consensus(["q c b a", "a b c q", *reversed(others)])
    assert again[0] == again[1] == found[0]


def test_a_refusal_is_no_company_and_is_compared_with_the_summaries():
    refusal = candidate(0, "I cannot help with that.").model_copy(update={"issues": ("refusal",), "contract_ok": False})
    rest = [candidate(1, "a b"), candidate(2, "b c")]
    judge = open_consensus("near", ConsensusJudge(kind="consensus"), SharedModels())

    def scored(candidates):
        verdicts = judge.score(judge_inputs(judge.against, [(REQUEST, each) for each in candidates]))
        return [verdict.score for verdict in verdicts]

    again = [refusal.model_copy(update={"id": f"r{n}", "index": n}) for n in range(3, 8)]
    assert scored([refusal, *rest, *again])[:3] == pytest.approx([0.0, 0.5, 0.5])
    # among refusals alone there is nothing to be near to
    assert scored([refusal, *again]) == [None] * 6
