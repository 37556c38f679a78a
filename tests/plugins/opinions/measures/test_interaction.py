"""The Opinion Interaction Graph from texts to score."""

import numpy as np
import pytest

from evenhand.errors import DataError
from evenhand.plugins.opinions.measures.interaction import GraphPlan, interaction_edges, opinion_graph

pytest.importorskip("networkx")

# opinions 0 and 1 share "tax"; 2 shares nothing; the last unit is the dummy's
EDGE_UNITS = [["tax", "cuts"], ["tax", "rise"], ["school"], ["tax", "school", "rise"]]
ATTACHED = [0, 1, 2, -1]


def test_worked_by_hand():
    # n = 4: tax in 3 units ln(5/4) + 1, cuts in 1 ln(5/2) + 1, rise in 2 ln(5/3) + 1
    tax, cuts, rise = (np.log(5 / (1 + df)) + 1 for df in (3, 1, 2))
    (edge,) = interaction_edges(EDGE_UNITS, ATTACHED, 3)
    assert edge[:2] == (0, 1)
    assert edge[2] == pytest.approx(tax**2 / np.sqrt((tax**2 + cuts**2) * (tax**2 + rise**2)))


def test_edges_under_the_least_weight_and_of_opinions_without_units_are_left_out():
    weight = interaction_edges(EDGE_UNITS, ATTACHED, 4)[0][2]
    assert interaction_edges(EDGE_UNITS, ATTACHED, 3, least_weight=weight + 1e-9) == ()
    assert interaction_edges([], [], 0) == ()


def test_opinions_that_say_the_same_have_an_edge_of_at_most_1():
    assert interaction_edges([["a", "b", "c"], ["c", "b", "a"]], [0, 1], 2)[0][2] == pytest.approx(1)


def test_bad_input_is_refused():
    with pytest.raises(DataError, match="4 units, but an attachment of shape"):
        interaction_edges(EDGE_UNITS, [0], 1)
    with pytest.raises(DataError, match="opinion 2 does not exist; attachments are -1"):
        interaction_edges(EDGE_UNITS, ATTACHED, 2)
    with pytest.raises(DataError, match="least_weight must be above 0"):
        interaction_edges(EDGE_UNITS, ATTACHED, 3, least_weight=0)


UNITS = [
    "Cats chase mice", "Cats chase birds", "Mice fear cats",
    "Trams need rails", "Rails need steel", "Trams carry steel rails",
    "Hello!",
]  # fmt: skip
WORDS = ["cats", "chase", "mice", "trams", "rails", "steel"]


def test_opinions_are_found_and_units_attached():
    graph = opinion_graph(UNITS, WORDS)
    assert graph.opinions == (("cats", "chase", "mice"), ("rails", "steel", "trams"))
    assert graph.attachment.opinion.tolist() == [0, 0, 0, 1, 1, 1, -1]


def test_keywords_come_from_textrank_when_none_are_given():
    found = opinion_graph(UNITS)
    # 11 content tokens, of which a third, rounded up, is 4
    tokens = {"birds", "carry", "cats", "chase", "fear", "hello", "mice", "need", "rails", "steel", "trams"}
    assert sum(map(len, found.opinions)) == 4
    assert {keyword for opinion in found.opinions for keyword in opinion} <= tokens


def test_auto_is_extractive_exactly_if_every_unit_is_copied():
    graph = opinion_graph(UNITS, WORDS)
    copied = graph.bias([" cats  chase MICE", "Trams need rails"])
    assert (copied.mode, copied.score) == ("extractive", 0.0)
    written = graph.bias(["Cats chase mice", "Trams run on rails", "Nothing here"])
    # one sentence of each on three units each; the third speaks for none
    assert (written.mode, written.score, written.exposure.strays) == ("abstractive", 0.0, 1)
    assert written.exposure.exposures == pytest.approx((1 / 3, 1 / 3))


def test_signatures_name_all_that_the_score_depends_on():
    plan = GraphPlan(window=3, method="keyword_fraction", threshold=0.2)
    assert opinion_graph(UNITS, plan=plan).bias([UNITS[0]]).signature == (
        "opinion-interaction|content-tokens:4|keywords:textrank(3,0.85,0.333333)|louvain:1x10|attach:keyword_fraction>0.2"
        "|exposure:extractive|v:2"
    )
    named = opinion_graph(UNITS, WORDS, ["The Trams"]).signature
    assert named == "opinion-interaction|content-tokens:4|keywords:given+entities|louvain:1x10|attach:tfidf>0"


def test_entities_are_keywords_too_and_one_that_is_there_already_adds_nothing():
    assert opinion_graph(UNITS, WORDS, ["Trams"]).opinions == opinion_graph(UNITS, WORDS).opinions
    with_name = opinion_graph(UNITS, WORDS, ["Steel Rails"])
    assert "steel rails" in {keyword for opinion in with_name.opinions for keyword in opinion}


@pytest.mark.parametrize("summary", [[], ["Hello!"]])
def test_a_summary_without_opinions_is_undefined_not_fair(summary):
    found = opinion_graph(UNITS, WORDS).bias(summary)
    assert (found.mode, found.score, found.exposure.unscored) == ("extractive", None, "the summary shows no opinion")


@pytest.mark.parametrize("units", [[], ["the and of"], ["\u4f60\u597d", "42"]])
def test_sources_without_shared_content_have_no_division(units):
    graph = opinion_graph(units)
    assert graph.bias([]).score is None


def test_another_script_works_alike():
    units = ["кошки ловят мышей", "кошки любят мышей", "трамвай едет рельсы", "трамвай новый рельсы"]
    graph = opinion_graph(units, ["кошки", "мышей", "трамвай", "рельсы"])
    assert graph.attachment.opinion.tolist() == [0, 0, 1, 1]
    assert graph.bias(units[:2]).score == pytest.approx(0.5)


def test_keywords_without_content_are_told_together():
    with pytest.raises(DataError, match=r"keywords '42', 'the' have no content token"):
        opinion_graph(UNITS, ["the", "cats", "42"])


def test_one_text_in_place_of_units_is_refused():
    with pytest.raises(DataError, match="a source is given as a list"):
        opinion_graph("Cats chase mice.")
    with pytest.raises(DataError, match="a summary is given as a list"):
        opinion_graph(UNITS, WORDS).bias("Cats chase mice.")


def test_unknown_exposures_are_refused():
    with pytest.raises(DataError, match="exposure='both' is not known; take one of auto, extractive, abstractive"):
        opinion_graph(UNITS, WORDS).bias([], "both")
