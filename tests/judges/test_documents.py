"""Judges against all documents: what they are given, and what tells their judgements apart."""

from contextlib import closing

import pytest
from conftest import make_candidate, make_request
from labelled_sets import ONE_SIDED, judge_input

from evenhand.config.fairness import EqualCoverageJudge, ValueSharesJudge
from evenhand.fairness.labelled import LabelledDocuments, LabelledSource
from evenhand.judges import open_judge
from evenhand.judges.batch import judge_inputs, keep_verdicts, score_batch
from evenhand.judges.cache import VerdictCache, verdict_key
from evenhand.judges.documents import labelled_documents, summary_of

SHARES = ValueSharesJudge.model_validate({"kind": "value-shares", "matcher": {"kind": "words"}})
TEXTS = ("The ferry is cheap.", "Taxes are high enough.", "The ferry is cheap.")


@pytest.fixture
def whole(ferry):
    """A request for a summary of all sides."""
    return make_request(ferry).model_copy(update={"id": "ferry/all", "perspective": None, "attribute": "stance"})


def relabelled(request, value, **notes):
    """The request with its last document's value changed."""
    first, *others, last = request.document_set.documents
    documents = (first, *others, last.model_copy(update={"attributes": {"stance": value}}))
    update = {"document_set": request.document_set.model_copy(update={"documents": documents, "notes": notes})}
    return request.model_copy(update=update)


def inputs(request, texts=TEXTS):
    return judge_inputs("documents", [(request, make_candidate(request, t, i)) for i, t in enumerate(texts)])


def test_inputs_have_the_documents_of_all_values(whole, ferry):
    first, second, third = inputs(whole)
    documents = tuple(LabelledSource(d.text, d.attributes["stance"]) for d in ferry.documents)
    assert first.labelled == LabelledDocuments(documents, ("left", "right"))
    assert (first.labelled.side, first.text) == (None, TEXTS[0])
    assert (second.candidate_id, second.request_id) == ("ferry/all#1", "ferry/all")
    assert first.labelled is second.labelled is third.labelled


def test_request_for_one_side_says_so_and_keeps_all_documents(ferry):
    found = labelled_documents(make_request(ferry, "right"))
    assert (found.side, len(found.documents)) == ("right", 4)


def test_values_stand_in_the_corpus_order_where_it_declares_one(whole):
    declared = relabelled(whole, "middle", values={"stance": ["right", "centre", "left"]})
    assert labelled_documents(declared).values == ("right", "centre", "left", "middle")
    for notes in ({}, {"values": {"other": ["a"]}}, {"values": "right"}, {"values": {"stance": "right"}}):
        assert labelled_documents(relabelled(whole, "middle", **notes)).values == ("left", "right", "middle")


def test_documents_without_a_value_are_left_out(whole):
    first, *_ = whole.document_set.documents
    bare = first.model_copy(update={"attributes": {}})
    documents = whole.document_set.model_copy(update={"documents": (bare, *whole.document_set.documents[1:])})
    assert len(labelled_documents(whole.model_copy(update={"document_set": documents})).documents) == 3
    nobody = whole.model_copy(update={"attribute": None})
    assert labelled_documents(nobody).text == ""


def test_key_of_a_judgement_depends_on_texts_values_declared_ones_and_side(whole, ferry):
    requests = [
        whole,
        relabelled(whole, "left"),
        relabelled(whole, "right", values={"stance": ["right", "left"]}),
        make_request(ferry, "left"),
        make_request(ferry, "right"),
    ]
    keys = {verdict_key("judge", (labelled_documents(request).text, "summary")) for request in requests}
    assert len(keys) == len(requests)
    assert labelled_documents(relabelled(whole, "right")).text == labelled_documents(whole).text


def test_separator_and_sentences_of_the_corpus_reach_the_measures_and_the_key(whole):
    usual, debate, lines = (
        relabelled(whole, "right", **notes) for notes in ({}, {"separator": "\n"}, {"sentences": "lines"})
    )
    assert summary_of(inputs(debate)[0]).separator == "\n"
    left = [d.text for d in whole.document_set.documents if d.attributes["stance"] == "left"]
    assert summary_of(inputs(debate)[0]).value_texts()[0] == "\n".join(left)
    assert summary_of(inputs(usual)[0]).value_texts()[0] == " || ".join(left)
    assert [d.sentences for d in inputs(usual)[0].labelled.documents] == [None] * 4
    assert [d.sentences for d in inputs(lines)[0].labelled.documents] == [
        (d.text,) for d in whole.document_set.documents
    ]
    assert len({labelled_documents(request).text for request in (usual, debate, lines)}) == 3
    # what most corpora lack leaves their keys as they were
    assert labelled_documents(usual).text == labelled_documents(relabelled(whole, "right", separator=" || ")).text


def test_other_judges_are_given_what_they_were(whole, ferry):
    (found,) = judge_inputs("source", [(whole, make_candidate(whole, "The ferry."))])
    assert (found.reference, found.labelled) == (whole.source, LabelledDocuments())
    (alone,) = judge_inputs(None, [(whole, make_candidate(whole, "The ferry."))])
    assert (alone.reference, alone.contract_ok, alone.text) == ("", True, "The ferry.")


def test_equal_summaries_are_judged_once_and_then_found_in_the_cache(whole, tmp_path):
    judge = open_judge("uer", SHARES)
    with closing(VerdictCache(tmp_path / "cache.sqlite")) as cache:
        work = [(judge, inputs(whole))]
        first = score_batch(work, cache)
        keep_verdicts(first, work, cache)
        again = score_batch(work, cache)
        other = score_batch([(judge, inputs(relabelled(whole, "left")))], cache)
    assert first.judgements == again.judgements
    assert [batch.cached for batch in (first, again, other)] == [{"uer": 0}, {"uer": 2}, {"uer": 0}]
    assert [j.score for j in first.judgements] != [j.score for j in other.judgements]


def test_what_cannot_be_judged_is_unscored_by_reason(whole, tmp_path):
    nobody = whole.model_copy(update={"attribute": None})
    judge = open_judge("uer", SHARES)
    with closing(VerdictCache(tmp_path / "cache.sqlite")) as cache:
        for request, text, reason in (
            (nobody, "The ferry.", "no documents with an attribute value"),
            (whole, " ", "empty summary"),
        ):
            (found,) = score_batch([(judge, inputs(request, [text]))], cache).judgements
            assert (found.score, found.unscored, found.attempts) == (None, reason, 0)


@pytest.mark.parametrize("options", [SHARES, EqualCoverageJudge.model_validate(
    {"kind": "equal-coverage", "entailer": {"kind": "words"}}
)])  # fmt: skip
def test_summary_of_one_side_is_not_judged_by_all_of_them(options):
    one, whole_set = open_judge("fair", options).score(
        [judge_input(ONE_SIDED, side="left"), judge_input(ONE_SIDED, name="d")]
    )
    assert (one.score, one.unscored, one.attempts) == (None, "the request asks for one side", 0)
    assert whole_set.score > 0
