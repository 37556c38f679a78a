"""Records refuse what does not hold together, where they are made and where they are read."""

import math

import pytest
from conftest import make_candidate, make_request
from pydantic import ValidationError

from evenhand.records import (
    Candidate,
    Contract,
    Document,
    DocumentSet,
    Judgement,
    Message,
    PairFairness,
    PreferencePair,
    Sampling,
    SummaryRequest,
    Thinned,
)


def judgement(**changes):
    values = {"candidate_id": "c", "request_id": "r", "judge": "j", "signature": "s", "score": 0.5}
    return Judgement.model_validate(values | changes)


def test_values_of_an_attribute_come_once_in_order_of_appearance(ferry):
    assert ferry.values("stance") == ("left", "right")
    assert ferry.values("age") == ()


def test_select_gives_the_documents_of_one_side(ferry):
    assert [d.id for d in ferry.select("stance", "right")] == ["ferry/right-1", "ferry/right-2"]
    assert ferry.select("stance", "centre") == ()


def test_source_is_the_asked_side_and_opposing_the_rest(ferry):
    request = make_request(ferry, "left")
    assert request.side == "left"
    assert request.source == "The ferry is cheap. The town should keep it.\nNurses need the ferry at night."
    assert request.opposing == "The ferry is dear. A bridge pays for itself.\nTaxes are high enough."


def test_a_request_for_all_sides_has_no_opposing_text(ferry):
    request = make_request(ferry).model_copy(update={"perspective": None})
    assert request.side == "all"
    assert len(request.source_documents) == 4
    assert request.opposing == ""


def test_documents_without_the_attribute_are_opposing_to_none_and_source_of_none():
    documents = DocumentSet(
        id="s",
        documents=(Document(id="1", text="a", attributes={"stance": "left"}), Document(id="2", text="b")),
    )
    assert [d.id for d in documents.select("stance", "left")] == ["1"]
    assert documents.values("stance") == ("left",)


@pytest.mark.parametrize("text", ["", " ", "\n\t", "\u00a0"])
def test_an_empty_document_is_refused(text):
    with pytest.raises(ValidationError, match="is empty; give it some text"):
        Document(id="d", text=text)


def test_a_set_without_documents_is_refused():
    with pytest.raises(ValidationError, match="at least 1 item"):
        DocumentSet(id="s", documents=())


def test_document_ids_occur_once():
    twice = Document(id="d", text="x")
    with pytest.raises(ValidationError, match="more than once: d; rename"):
        DocumentSet(id="s", documents=(twice, twice))


def test_unknown_keys_are_refused():
    with pytest.raises(ValidationError, match="extra"):
        Document.model_validate({"id": "d", "text": "x", "atributes": {}})


def test_records_cannot_be_changed(ferry):
    with pytest.raises(ValidationError, match="frozen"):
        ferry.topic = "other"


@pytest.mark.parametrize(("score", "unscored"), [(None, None), (0.5, "no verdict")])
def test_a_judgement_has_a_score_or_a_reason_and_never_both(score, unscored):
    with pytest.raises(ValidationError, match="either a score or the reason"):
        judgement(score=score, unscored=unscored)


def test_zero_is_a_score():
    assert judgement(score=0.0).unscored is None


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf])
def test_a_score_that_json_cannot_hold_is_refused(score):
    # written as JSON it would become null, and the reader would find a judgement without score and reason
    with pytest.raises(ValidationError, match="finite number"):
        judgement(score=score)


def test_a_pair_has_a_positive_margin():
    turn = (Message(role="user", content="x"),)
    values = {
        "prompt": turn, "chosen": turn, "rejected": turn, "request_id": "r", "set_id": "s", "side": "left", "chosen_id": "a",
        "rejected_id": "b", "chosen_reward": 1.0, "rejected_reward": 1.0, "margin": 0.0, "prompt_digest": "0",
    }  # fmt: skip
    with pytest.raises(ValidationError, match="greater than 0"):
        PreferencePair.model_validate(values)


@pytest.mark.parametrize(
    "values",
    [{"temperature": -0.1}, {"top_p": 0}, {"top_p": 1.1}, {"top_k": -1}, {"repetition_penalty": 0}, {"max_tokens": 0}],
)
def test_sampling_parameters_have_bounds(values):
    with pytest.raises(ValidationError):
        Sampling.model_validate(values)


def test_a_contract_asks_for_at_least_one_sentence_or_for_no_number():
    assert Contract(sentences=None).sentences is None
    with pytest.raises(ValidationError):
        Contract(sentences=0)


def test_records_survive_writing_and_reading(ferry):
    request = make_request(ferry)
    candidate = make_candidate(request, 'The Left says "ja"\u2028 and \U0001f6a2.', logps=-1.25, token_ids=(1, 2))
    assert SummaryRequest.model_validate_json(request.model_dump_json()) == request
    assert Candidate.model_validate_json(candidate.model_dump_json()) == candidate


def test_slots_of_a_pair_are_two_for_each_value():
    values = {"values": ("a", "b"), "diff": 1.0, "num": (2, 2, 1, 1)}
    slots = dict.fromkeys(("weight_chosen", "weight_rejected", "pow_chosen", "pow_rejected"), (0.1, 0, 0, 0.2))
    assert PairFairness.model_validate(values | slots).values == ("a", "b")
    with pytest.raises(ValidationError, match="2 values have 4 slots"):
        PairFairness.model_validate(values | slots | {"pow_chosen": (1, 1)})
    with pytest.raises(ValidationError, match="may be below 0"):
        PairFairness.model_validate(values | slots | {"weight_chosen": (0.1, -0.1, 0, 0)})


def test_what_few_candidates_have_is_written_of_those_alone(ferry):
    candidate = make_candidate(make_request(ferry), "The Left.")
    assert "thinned" not in candidate.model_dump_json()
    copy = candidate.model_copy(update={"thinned": Thinned(value="left", left_out=("x",))})
    assert Candidate.model_validate_json(copy.model_dump_json()) == copy


def test_values_stand_in_the_order_that_the_corpus_declares(ferry):
    # documents: left, then right
    declared = ferry.model_copy(update={"notes": {"values": {"stance": ["right", "middle"]}}})
    assert declared.declared_values("stance") == ("right", "middle", "left")
    assert ferry.declared_values("stance") == ("left", "right")
