import networkx
import numpy as np
import pytest
from group_samples import entailments
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import DataError
from evenhand.fairness.groups.entailment import document_entailment, merge_linked
from evenhand.fairness.groups.evidence import SetEvidence, cover_sets


def test_gate_wants_entailment_to_be_the_first_of_the_most_probable():
    # windows: .4 loses to .6; .5 ties with an earlier class; .6 wins
    nli = [[[0.6, 0.0, 0.4], [0.5, 0.0, 0.5], [0.1, 0.3, 0.6]]]
    assert document_entailment(nli, [0, 0, 1], 3).tolist() == [[0.0], [0.6], [0.0]]
    assert document_entailment(nli, [0, 0, 1], 3, gate=False).tolist() == [[0.5], [0.6], [0.0]]


@pytest.mark.parametrize(("windows", "n"), [([0, 1], 2), ([0, 0, 2], 2), ([0, 0, -1], 2)])
def test_windows_that_do_not_fit_are_refused(windows, n):
    with pytest.raises(DataError, match="window"):
        document_entailment(np.full((1, 3, 3), 1 / 3), windows, n)


@pytest.mark.parametrize(
    ("classes", "windows", "labels"),
    [
        ([[[0, 0, 0.9], [0, 0, 0.9]]], [0], [0]),
        ([[[0, 0, 0.9], [0, 0, 0.9]]], [0, 1], [0]),
        ([[[0, 0, 1.1]]], [0], [0]),
        ([[[0, 0, float("nan")]]], [0], [0]),
        ([[[0, 0, 0.9]]], [0], [-1]),
    ],
)
def test_sets_that_do_not_hold_together_are_refused_by_place(classes, windows, labels):
    with pytest.raises(DataError, match="set 1: "):
        cover_sets([SetEvidence([[[0, 0, 0.5]]], [0], [0]), SetEvidence(classes, windows, labels)], [1, 1])


@settings(max_examples=50)
@given(st.integers(1, 3), st.integers(0, 5), st.integers(0, 2**32 - 1))
def test_clusters_are_connected_components_with_the_maximum_of_their_members(n_sets, n_units, seed):
    rng = np.random.default_rng(seed)
    p = rng.random((n_sets, 3, n_units)).round(2)
    links = rng.random((n_sets, n_units, n_units)) < 0.25
    links |= links.swapaxes(1, 2)
    packed = entailments([(each, [0, 1, 0]) for each in p])
    merged, first = merge_linked(packed, *np.nonzero(links))
    for s in range(n_sets):
        graph = networkx.Graph()
        graph.add_nodes_from(range(n_units))
        graph.add_edges_from(np.argwhere(links[s]).tolist())
        clusters = {min(component): component for component in networkx.connected_components(graph)}
        assert np.flatnonzero(merged.units[s]).tolist() == sorted(clusters)
        for leader, members in clusters.items():
            assert all(first[s, unit] == leader for unit in members)
            assert merged.probability[s][:, leader].tolist() == p[s][:, sorted(members)].max(axis=1).tolist()
        others = sorted(set(range(n_units)) - set(clusters))
        assert not merged.probability[s][:, others].any()


def test_nothing_is_merged_without_links():
    packed = entailments([([[0.5, 0.6]], [0]), ([[0.1, 0.2, 0.3]], [0])])
    none = np.array([], dtype=np.intp)
    merged, first = merge_linked(packed, none, none, none)
    assert merged is packed
    assert first.tolist() == [[0, 1, 2], [0, 1, 2]]
