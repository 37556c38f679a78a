"""TextRank and entities."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import DataError
from evenhand.fairness.opinion import entity_keywords, textrank

UNITS = st.lists(st.lists(st.sampled_from("abcdefg"), max_size=6), max_size=6)


def test_a_star_worked_by_hand():
    # hub h with leaves x and y: S(x) = .15 + .85 S(h)/2, S(h) = .15 + .85 (S(x) + S(y)) = .15 + .255 + .7225 S(h)
    hub = 0.405 / (1 - 0.7225)
    found = textrank([["x", "h", "y"]])
    assert found.scores == pytest.approx({"h": hub, "x": 0.15 + 0.425 * hub, "y": 0.15 + 0.425 * hub}, abs=1e-8)
    assert found.keywords == ("h",)


@given(UNITS, st.integers(2, 4))
def test_on_a_connected_graph_it_is_pagerank_times_the_number_of_tokens(units, window):
    networkx = pytest.importorskip("networkx")
    graph = networkx.Graph()
    for unit in units:
        graph.add_nodes_from(unit)
        for i, here in enumerate(unit):
            graph.add_edges_from((here, there) for there in unit[i + 1 : i + window] if there != here)
    if len(graph) < 2 or not networkx.is_connected(graph):
        return
    ranks = networkx.pagerank(graph, alpha=0.85, tol=1e-12, max_iter=1000)
    expected = {token: len(graph) * rank for token, rank in ranks.items()}
    assert textrank(units, window=window).scores == pytest.approx(expected, abs=1e-6)


@given(UNITS, st.randoms())
def test_order_of_units_does_not_matter(units, random):
    shuffled = random.sample(units, len(units))
    found, expected = textrank(shuffled), textrank(units)
    assert found.keywords == expected.keywords
    assert found.scores == pytest.approx(expected.scores, abs=1e-9)


def test_windows_do_not_cross_units():
    assert textrank([["a"], ["b"]]).scores == pytest.approx({"a": 0.15, "b": 0.15})


@pytest.mark.parametrize(("n", "ratio", "expected"), [(1, 1 / 3, 1), (9, 1 / 3, 3), (10, 1 / 3, 4), (100, 0.55, 55)])
def test_the_number_of_keywords_is_rounded_up(n, ratio, expected):
    # 100 * 0.55 is 55.00000000000001 in floating point
    units = [[f"t{i:03}"] for i in range(n)]
    assert len(textrank(units, ratio=ratio).keywords) == expected


@pytest.mark.parametrize("units", [[], [[], []]])
def test_no_token_gives_no_keyword(units):
    found = textrank(units)
    assert (found.scores, found.keywords) == ({}, ())


@pytest.mark.parametrize("wrong", [{"window": 1}, {"damping": 1.0}, {"damping": -0.1}, {"ratio": 0.0}, {"ratio": 1.1}])
def test_options_out_of_range_are_refused(wrong):
    with pytest.raises(DataError, match="textrank needs window >= 2"):
        textrank([["a"]], **wrong)


def test_entities_become_keywords_of_their_content_tokens():
    assert entity_keywords(["The City Hall", "Anna", "city hall", "the", "O'Neil\u2019s"]) == (
        "city hall",
        "anna",
        "o'neil",
    )
