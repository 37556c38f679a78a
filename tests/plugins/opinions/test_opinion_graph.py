"""The Opinion Interaction Graph as a judge."""

import json
from contextlib import closing

import pytest
from conftest import make_candidate, make_request
from labelled_sets import judge_input

from evenhand.judges.batch import judge_inputs, score_batch
from evenhand.judges.cache import VerdictCache
from evenhand.judges.shared import SharedModels
from evenhand.plugins.opinions.opinion_graph import OpinionGraphScore, open_opinion_graph
from evenhand.plugins.opinions.sections import OpinionGraphJudge

pytest.importorskip("networkx")

# four words of equal rank, of which the first two in the alphabet are keywords: "bridge" and "cheap", which never meet
POSTS = (("left", "Cheap ferry."), ("left", "Cheap ferry!"), ("right", "Dear bridge."), ("right", "Dear bridge!"))


def open_judge(**options):
    return open_opinion_graph("opinions", OpinionGraphJudge(kind="opinion-graph", **options), SharedModels())


def judged(summary, pairs=POSTS, side=None, **options):
    return open_judge(**options).score([judge_input(summary, pairs, side=side)])[0]


def test_opinions_that_keep_their_share_are_fair_and_one_alone_is_not():
    fair, biased = judged("Cheap ferry. Dear bridge."), judged("Cheap ferry.")
    assert fair.score == 0
    # exposures 1/2 and 0: the Gini coefficient of two values of which one is 0
    assert biased.score == 0.5
    assert json.loads(biased.raw) == {
        "exposure": "extractive",
        "opinions": 2,
        "units": [2, 2],
        "shown": [0, 1],
        "strays": 0,
    }


def test_own_words_are_attached_to_opinions():
    found = judged("A ferry is cheap indeed. People say so.")
    assert found.score == 0.5
    assert json.loads(found.raw)["exposure"] == "abstractive"
    assert json.loads(found.raw)["strays"] == 1


def test_summary_without_an_opinion_is_unscored_and_not_fair():
    found = judged("Zebras graze.")
    assert (found.score, found.unscored) == (None, "the summary shows no opinion")


def test_source_without_a_word_is_unscored():
    assert judged("It is.", (("left", "It is."),)).unscored == "the source has no opinion with units"


def test_request_for_one_side_is_judged_by_its_own_documents():
    assert judged("Cheap ferry.", side="left").score == 0
    assert json.loads(judged("Cheap ferry.", side="left").raw)["opinions"] == 1


def test_documents_need_no_attribute_value(ferry, tmp_path):
    bare = tuple(document.model_copy(update={"attributes": {}}) for document in ferry.documents)
    request = make_request(ferry).model_copy(
        update={
            "document_set": ferry.model_copy(update={"documents": bare}),
            "perspective": None,
            "attribute": None,
        }
    )
    judge = open_judge()
    given = judge_inputs(judge.against, [(request, make_candidate(request, ferry.documents[0].text))])
    assert given[0].sources == tuple(document.text for document in ferry.documents)
    with closing(VerdictCache(tmp_path / "cache.sqlite")) as cache:
        (found,) = score_batch([(judge, given)], cache).judgements
    assert found.score is not None


def test_units_are_sentences_or_whole_documents():
    pairs = (("left", "Cheap ferry. Dear bridge."), ("right", "Dear bridge."))
    sentences, documents = (json.loads(judged("Dear bridge.", pairs, units=u).raw) for u in ("sentences", "documents"))
    assert sum(sentences["units"]) == 3
    assert sum(documents["units"]) == 2


# two documents of three sentences on one opinion, two of one sentence on another
FERRY = ("Cheap ferry. The cheap ferry helps. Ferry, cheap ferry.", "Ferry so cheap! Cheap, the ferry. A cheap ferry.")
BRIDGE = ("Dear bridge", "Bridge, dear bridge")


@pytest.mark.parametrize("exposure", ["auto", "extractive", "abstractive"])
@pytest.mark.parametrize("joint", [" ", "\n"])
def test_one_whole_document_of_each_of_two_opinions_is_fair(exposure, joint):
    pairs = [("left", text) for text in FERRY] + [("right", text) for text in BRIDGE]
    summary = joint.join((FERRY[1], BRIDGE[0]))
    found = judged(summary, pairs, units="documents", exposure=exposure)
    # exposures 1/2 and 1/2, as the graph itself says of the two documents
    graph = open_judge(units="documents").graph([text for _, text in pairs])
    assert found.score == graph.bias([FERRY[1], BRIDGE[0]]).score == 0
    raw = json.loads(found.raw)
    assert (raw["units"], raw["shown"], raw["strays"]) == ([2, 2], [1, 1], 0)
    assert raw["exposure"] == ("abstractive" if exposure == "abstractive" else "extractive")
    # both of one opinion and none of the other: 1 and 0
    assert judged(joint.join(FERRY), pairs, units="documents", exposure=exposure).score == 0.5


def test_documents_beside_own_words_count_once_and_the_rest_by_sentences():
    pairs = [("left", text) for text in FERRY] + [("right", text) for text in BRIDGE]
    raw = json.loads(judged(f"{FERRY[0]} Some want a bridge. The bridge is dear.", pairs, units="documents").raw)
    # the document of three sentences once, each sentence on the bridge once
    assert (raw["exposure"], sorted(raw["shown"]), raw["strays"]) == ("abstractive", [1, 2], 0)


def test_graph_of_a_source_is_made_once_for_all_of_its_summaries():
    class Counting(OpinionGraphScore):
        made = 0

        def graph(self, units):
            type(self).made += 1
            return super().graph(units)

    judge = Counting("opinions", OpinionGraphJudge(kind="opinion-graph"), "s")
    other = (("left", "Green park."), ("right", "Loud street."))
    judge.score(
        [judge_input(s, pairs) for pairs in (POSTS, other) for s in ("Cheap ferry.", "Green park.", "Dear bridge.")]
    )
    assert Counting.made == 2


def test_what_changes_scores_changes_the_signature():
    changes = [
        {"units": "documents"},
        {"method": "keyword_fraction"},
        {"threshold": 0.1},
        {"threshold": 0.1000001},
        {"exposure": "abstractive"},
    ]
    assert len({open_judge().signature, *(open_judge(**change).signature for change in changes)}) == len(changes) + 1
