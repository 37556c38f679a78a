"""Opinion labels scored: bias, votes, and their agreement for each source."""

import json

import pytest

from evenhand.errors import DataError
from evenhand.plugins.opinions.labels import opinion_results
from evenhand.plugins.opinions.measures.perceived import perceived_opinion_bias
from evenhand.plugins.opinions.reader import AnnotatedSummary
from evenhand.plugins.opinions.texts import OpinionTexts, read_opinion_texts

LABELLED = [("us", "us/1"), ("us", "us/2"), ("uk", "uk/1")]


def read(folder, *lines):
    path = folder / "texts.jsonl"
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
    return read_opinion_texts(path, LABELLED)


def test_lines_of_three_kinds_are_read_in_any_order(tmp_path):
    found = read(
        tmp_path,
        {"set_id": "us", "summary_id": "us/1", "summary": ""},
        {"set_id": "us", "units": ["a", "a"]},
        {"set_id": "uk", "gold": ["g"]},
    )
    assert found.units == {"us": ("a", "a")}
    assert found.gold == {"uk": ("g",)}
    assert found.summaries == {("us", "us/1"): ""}


def test_mistakes_are_told_together_with_their_lines(tmp_path):
    with pytest.raises(DataError) as error:
        read(
            tmp_path,
            {"set_id": "us", "units": ["a"]},
            {"set_id": "us", "units": ["b"]},
            {"set_id": "fr", "gold": ["g"]},
            {"set_id": "us", "summary_id": "us/3", "summary": "s"},
            {"set_id": "us", "units": []},
            {"set_id": "us", "unit": ["a"]},
            "[",
            {"set_id": "us", "summary_id": "uk/1", "summary": "s"},
            {"set_id": "us", "summary": "s"},
        )
    said = str(error.value)
    for line, text in enumerate(
        [
            "'us' has its 'units' already; give it once",
            "nobody labelled summaries of set 'fr'",
            "no labelled summary has the id 'us/3'; the labels' ids are like 'us/1'",
            "'units': needs at least 1, and there are 0",
            "is of no kind: an entry has 'units', 'gold', or a summary and its 'summary_id', not 'set_id', 'unit'",
            "is not JSON",
            "nobody labelled summary 'uk/1' of set 'us', but one of 'uk'",
            "has the id of its set alone; write that of the summary as well",
        ],
        start=2,
    ):
        assert any(f"texts.jsonl:{line}: " in each and text in each for each in said.splitlines()), text


def test_summaries_that_several_sets_call_alike_go_by_the_set_as_well(tmp_path):
    path = tmp_path / "texts.jsonl"
    labelled = [("us", "1"), ("uk", "1"), ("uk", "2")]
    lines = [
        {"set_id": "uk", "summary_id": 1, "summary": "a"},
        {"set_id": "us", "summary_id": "1", "summary": "b"},
        {"summary_id": "2", "summary": "c"},
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    assert read_opinion_texts(path, labelled).summaries == {("us", "1"): "b", ("uk", "1"): "a", ("uk", "2"): "c"}
    for wrong, said in (
        ({"set_id": "us", "summary_id": 2.0}, "nobody labelled summary '2' of set 'us', but one of 'uk'"),
        ({"set_id": "uk", "summary_id": ["2"]}, "an id is a text or a whole number"),
        ({"set_id": ["uk"], "summary_id": "2"}, "nobody labelled summaries of set"),
    ):
        path.write_text(json.dumps([wrong | {"summary": "whose?"}]))
        with pytest.raises(DataError, match=said):
            read_opinion_texts(path, labelled)
    path.write_text(json.dumps({"summary_id": "1", "summary": "whose?"}))
    with pytest.raises(DataError, match="no labelled summary has the id '1'; the labels' ids are like 'us/1'"):
        read_opinion_texts(path, labelled)


def test_sources_without_summaries_and_summaries_without_sources_are_read(tmp_path):
    assert read(tmp_path, {"set_id": "us", "units": ["a"]}).summaries == {}
    assert read(tmp_path, {"set_id": "us", "gold": ["a"]}).gold == {"us": ("a",)}
    path = tmp_path / "texts.csv"
    path.write_text("summary_id,output\nuk/1,One.\nus/1,Two.\n")
    assert read_opinion_texts(path, LABELLED).summaries == {("us", "us/1"): "Two.", ("uk", "uk/1"): "One."}


def annotated(summary, labels, fairness, source="us"):
    n = len(labels)
    return AnnotatedSummary(
        set_id=source,
        summary_id=summary,
        annotators=tuple("abc"[:n]),
        opinions=("wall", "tax"),
        labels=tuple(labels),
        fairness=tuple(fairness),
        reasons=("opinions", *[None] * (n - 1)),
    )


ONE = annotated("1", [("complete", "absent"), ("somewhat", None)], ["very_unfair", None])
TWO = annotated("2", [("complete", "complete")], ["very_fair"])
THREE = annotated("3", [("somewhat", "absent"), ("somewhat", "inadequate")], ["very_unfair", "very_fair"])


def test_a_summary_is_scored_by_hand():
    (found,) = opinion_results([ONE]).summaries
    # means 3/4 and -1: exposures 7/8 and 0, Gini 1/2
    assert found.bias == pytest.approx(0.5)
    assert found.by_opinion == {"wall": 0.75, "tax": -1.0}
    assert (found.very_unfair, found.very_fair, found.n_votes) == (1.0, 0.0, 1)
    assert found.reasons == {"opinions": 1}


def test_an_unlabelled_opinion_is_none_and_an_absent_one_is_not():
    (found,) = opinion_results([annotated("x", [(None, "absent")], [None])]).summaries
    assert found.by_opinion == {"wall": None, "tax": -1.0}
    assert found.bias is None
    assert found.unscored == "every opinion is absent for every annotator"
    assert found.very_fair is None


def test_agreement_is_told_source_by_source():
    other = annotated("4", [("absent", "complete")], ["very_unfair"], source="uk")
    us, uk = opinion_results([ONE, other, TWO, THREE]).sources
    # bias 1/2, 0 and, of exposures 3/4 and 1/8, (2 - 1)(3/4 - 1/8) / (2 * 7/8) = 5/14; votes 1, 0, 1/2
    # deviations of bias from 2/7: 3/14, -4/14, 1/14; of votes: 1/2, -1/2, 0: r = 7/28 / sqrt(26/196 * 1/2)
    # without texts there is nothing else
    ((votes,), (of_one,)) = us.numbers, uk.numbers
    assert (votes.measure, votes.reference, votes.n, votes.left_out) == ("bias", "very unfair", 3, 0)
    assert votes.value == pytest.approx(0.25 / (13 / 196) ** 0.5)
    assert (of_one.value, of_one.n) == (None, 1)


# four words of equal rank, of which the first two in the alphabet are keywords: "bridge" and "cheap", which never meet
UNITS = ("Cheap ferry.", "Cheap ferry!", "Dear bridge", "Dear bridge!")
TEXTS = OpinionTexts(
    units={"us": UNITS},
    gold={"us": ("cheap ferry dear bridge", "cheap ferry")},
    summaries={("us", "1"): "Cheap ferry.", ("us", "2"): "Dear bridge Cheap ferry!", ("us", "3"): "Zebras graze."},
)


def test_scores_of_texts_stand_beside_those_of_people():
    pytest.importorskip("networkx")
    pytest.importorskip("rouge_score")
    results = opinion_results([ONE, TWO, THREE], texts=TEXTS)
    # two words of four: precision 1, recall 1/2, F1 2/3; of two: 1. Four of four: 1; precision 1/2, recall 1, F1 2/3
    assert [each.rouge1_f1 for each in results.summaries] == [pytest.approx(5 / 6), pytest.approx(5 / 6), 0]
    # exposures 0 and 1/2 (the two like units differ in a mark); 1/2 and 1/2; none
    assert [each.graph_bias for each in results.summaries] == [0.5, 0.0, None]
    assert results.summaries[2].graph_unscored == "the summary shows no opinion"
    (us,) = results.sources
    # bias 1/2 and 0 goes with 1/2 and 0; the third has no graph score
    _, rouge, graph = us.numbers
    assert (graph.measure, graph.reference, graph.n, graph.left_out) == ("bias", "graph", 2, 1)
    assert graph.value == pytest.approx(1.0)
    # ROUGE 5/6, 5/6, 0 and very fair 0, 1, 1/2: deviations 5/18, 5/18, -10/18 and -1/2, 1/2, 0: r = 0
    assert (rouge.measure, rouge.reference, rouge.n, rouge.left_out) == ("ROUGE-1", "very fair", 3, 0)
    assert rouge.value == pytest.approx(0.0, abs=1e-9)
    assert results.rouge_signature.startswith("rouge1-f1|rouge-score:")
    assert "|sentences:sentencex-" in results.graph_signature


def test_what_is_not_given_is_not_scored():
    pytest.importorskip("rouge_score")
    texts = OpinionTexts(units={}, gold=TEXTS.gold, summaries={("us", "1"): "Cheap ferry."})
    results = opinion_results([ONE, TWO], texts=texts)
    assert [each.rouge1_f1 for each in results.summaries] == [pytest.approx(5 / 6), None]
    assert [each.graph_bias for each in results.summaries] == [None, None]
    assert results.graph_signature is None
    (us,) = results.sources
    _, rouge = us.numbers
    assert (rouge.measure, rouge.n, rouge.left_out) == ("ROUGE-1", 1, 1)


def test_the_signature_is_that_of_the_measure():
    assert opinion_results([TWO]).signature == perceived_opinion_bias(TWO.labels).signature
