import networkx
import numpy as np
import pytest
from group_samples import cover_set
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import DataError
from evenhand.fairness.groups.evidence import SetEvidence, cover_sets

# two units, three documents: covered .9 .6 0 and 0 .8 .7
NLI = [[[0.0, 0.1, 0.9], [0.1, 0.3, 0.6], [0.5, 0.1, 0.4]], [[0.9, 0.0, 0.1], [0.0, 0.2, 0.8], [0.2, 0.1, 0.7]]]


def test_one_set_worked_by_hand():
    found = cover_set(SetEvidence(NLI, [0, 1, 2], [0, 0, 1]), 2)
    # documents .45 .7 .35, overall .5; values .575 and .35; gaps .075 and .15
    assert found.by_document == pytest.approx((0.45, 0.7, 0.35))
    assert found.overall == pytest.approx(0.5)
    assert found.difference == pytest.approx((0.075, -0.15))
    assert found.ec == pytest.approx(0.1125)
    assert found.clusters == ((0,), (1,))


def test_merged_units_count_once_with_their_maximum():
    found = cover_set(SetEvidence(NLI, [0, 1, 2], [0, 0, 1], [[1.0, 0.96], [0.97, 1.0]]), 2)
    assert found.clusters == ((0, 1),)
    assert found.n_units == 1
    assert found.by_document == pytest.approx((0.9, 0.8, 0.7))


def test_one_direction_alone_links_nothing():
    found = cover_set(SetEvidence(NLI, [0, 1, 2], [0, 0, 1], [[1.0, 0.99], [0.95, 1.0]]), 2)
    assert found.clusters == ((0,), (1,))


def test_many_sets_are_each_set_alone():
    sets = [SetEvidence(NLI, [0, 1, 2], [0, 0, 1], np.eye(2)), SetEvidence([NLI[0]], [0, 1, 1], [1, 0])]
    together = [each.ec for each in cover_sets(sets, [2, 2])]
    assert together == pytest.approx([cover_set(each, 2).ec for each in sets])


def test_entailment_between_units_has_to_fit_its_set():
    with pytest.raises(DataError, match=r"set 1: entailment between units needs shape \(2, 2\), got \(3, 3\)"):
        cover_sets([SetEvidence(NLI, [0, 1, 2], [0, 0, 1]), SetEvidence(NLI, [0, 1, 2], [0, 0, 1], np.eye(3))], [2, 2])


def test_one_valued_set_has_no_answer_but_is_zero_in_the_paper():
    evidence = SetEvidence([[[0, 0.1, 0.9], [0, 0.2, 0.8]]], [0, 1], [1, 1])
    assert cover_set(evidence, 2).ec is None
    assert cover_set(evidence, 2).unscored == "single value"
    assert cover_set(evidence, 2, "paper").ec == 0


def test_absent_value_has_no_coverage():
    found = cover_set(SetEvidence([[[0, 0.1, 0.9], [0, 0.2, 0.8]]], [0, 1], [0, 2]), 3)
    assert found.by_value == (0.9, None, 0.8)
    assert found.difference[1] is None
    assert found.counts == (1, 0, 1)


def test_set_without_covered_unit_has_no_numbers():
    found = cover_set(SetEvidence([[[0.9, 0, 0.1], [0.8, 0, 0.2]]], [0, 1], [0, 1]), 2)
    assert (found.ec, found.overall, found.unscored) == (None, None, "no unit covered")
    assert found.by_document == found.by_value == found.difference == (None, None)


def test_set_without_units_has_no_answer_in_any_mode():
    evidence = SetEvidence(np.zeros((0, 2, 3)), [0, 1], [0, 1])
    assert cover_set(evidence, 2).unscored == cover_set(evidence, 2, "paper").unscored == "no unit covered"


def by_hand(evidence):
    """Equal Coverage by the book, number by number; None without an answer."""
    n_units, labels = len(evidence.nli), evidence.labels
    p = [[0.0] * n_units for _ in labels]
    for unit, row in enumerate(evidence.nli):
        for document, (contradiction, neutral, entailment) in zip(evidence.windows, row, strict=True):
            if entailment > max(contradiction, neutral):
                p[document][unit] = max(p[document][unit], entailment)
    graph = networkx.empty_graph(n_units)
    between = evidence.between_units
    pairs = [(u, v) for u in range(n_units) for v in range(u)] if between is not None else []
    graph.add_edges_from((u, v) for u, v in pairs if min(between[u][v], between[v][u]) > 0.95)
    clusters = [[max(row[unit] for unit in cluster) for row in p] for cluster in networkx.connected_components(graph)]
    covered = [each for each in clusters if any(each)]
    if not covered or len(set(labels)) < 2:
        return None
    by_document = [sum(each[d] for each in covered) / len(covered) for d in range(len(labels))]
    overall = sum(by_document) / len(labels)
    gaps = []
    for value in set(labels):
        own = [c for c, label in zip(by_document, labels, strict=True) if label == value]
        gaps.append(abs(sum(own) / len(own) - overall))
    return sum(gaps) / len(gaps)


def random_evidence(rng):
    n_documents, n_units, n_windows = rng.integers(1, 5), rng.integers(0, 5), rng.integers(0, 7)
    nli = rng.dirichlet([0.5] * 3, (n_units, n_windows)).round(1)
    between = rng.choice([0.5, 0.96], (n_units, n_units)) if rng.random() < 0.7 else None
    windows, labels = rng.integers(0, n_documents, n_windows).tolist(), rng.integers(0, 3, n_documents).tolist()
    return SetEvidence(nli, windows, labels, between)


@settings(max_examples=60)
@given(st.integers(0, 140), st.integers(0, 2**32 - 1))
def test_sets_of_any_shape_are_covered_together_as_by_hand(n_sets, seed):
    # windows in any order, documents without one, sets without units; more sets than stand side by side
    rng = np.random.default_rng(seed)
    sets = [random_evidence(rng) for _ in range(n_sets)]
    found = cover_sets(sets, [3 + k % 2 for k in range(n_sets)])
    assert [each.ec for each in found] == [None if (ec := by_hand(s)) is None else pytest.approx(ec) for s in sets]
    for k, each in enumerate(found):
        assert len(each.by_value) == len(each.counts) == 3 + k % 2
        assert len(each.by_document) == sum(each.counts) == len(sets[k].labels)
        assert sorted(unit for cluster in each.clusters for unit in cluster) == list(range(len(sets[k].nli)))


def test_no_set_is_covered_by_nothing():
    assert cover_sets([], []) == []


SOUND = SetEvidence(NLI, [0, 1, 2], [0, 0, 1])


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (SetEvidence(NLI, [0, 1], [0, 1]), r"shape \(units, 2 windows, 3 classes\), got \(2, 3, 3\)"),
        (SetEvidence(NLI, [0, 1, 3], [0, 0, 1]), r"a window's document is a place below 3, got \[0, 1, 3\]"),
        (SetEvidence(NLI, [0, 1, -1], [0, 0, 1]), "a window's document is a place below 3"),
        (SetEvidence(NLI, [0, 1, 2], [0, 2, 1]), "a document's label is a place below 2, got 2"),
        (SetEvidence(NLI, [0, 1, 2], [0, -1, 1]), "labels are places of declared values"),
        (SetEvidence([[[0, 0, 1.5]]], [0], [0, 1]), r"entailments are in \[0, 1\]"),
        (SetEvidence([[[0, 0, np.nan]]], [0], [0, 1]), r"entailments are in \[0, 1\]"),
        (SetEvidence(NLI, [0, 1, 2], [0, 0, 1], np.eye(3)), r"between units needs shape \(2, 2\), got \(3, 3\)"),
    ],
)
def test_what_does_not_hold_together_is_refused_by_its_place(wrong, said):
    # the place counts from the first of all sets
    with pytest.raises(DataError, match=f"set 70: .*{said}"):
        cover_sets([*[SOUND] * 70, wrong], [2] * 71)
