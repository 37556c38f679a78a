"""Fair extractive summaries: no model, quotas kept, and batches of known bias that fairness measures order."""

import numpy as np
import pytest
from group_samples import cover_set, read_posts, text_masses
from hypothesis import given, settings
from hypothesis import strategies as st
from method_runs import job

from evenhand.config import CorpusSection, Recipe, TaskSection
from evenhand.errors import LeftOutError
from evenhand.evaluation.report.comparison.entries import read_cost
from evenhand.fairness.groups.evidence import SetEvidence
from evenhand.fairness.groups.masses import common_tokens
from evenhand.fairness.groups.shares import compare, unfair_error_rate
from evenhand.generate.backends import NoBackend
from evenhand.generate.method import draws
from evenhand.generate.requests import build_requests
from evenhand.generate.stage import generate
from evenhand.plugins.opinions.fair_extractive import summarise
from evenhand.preflight import check_names
from evenhand.records import Candidate, Document, DocumentSet, Failure
from evenhand.runfolder.phases import CANDIDATES, FAILURES, open_phase
from evenhand.storage import read_jsonl, write_jsonl
from evenhand.text import words


def make_recipe(output="run", path="docs.jsonl", **options):
    return Recipe.model_validate({
        "name": "extract", "output": output, "rounds": 0,
        "corpus": {"path": str(path), "test": {"split": None}},
        "task": {"scope": "all", "sentences": "natural"},
        "generate": {"method": "fair-extractive", "fair_extractive": options},
        "judges": {"overlap": {"kind": "rouge"}}, "reward": {"judges": ["overlap"]}, "evaluation": {"judges": ["overlap"]},
    })  # fmt: skip


def make_set(**texts):
    """A set whose documents stand under their value."""
    documents = [
        Document(id=f"{value}-{i}", text=text, attributes={"stance": value})
        for value, several in texts.items()
        for i, text in enumerate(several)
    ]
    return DocumentSet(id="square", topic="the square", documents=tuple(documents))


# no two documents have a word in common
SQUARE = make_set(
    left=[f"Leftword{i} lefter{i} lefting{i} lefts{i}." for i in range(6)],
    right=[f"Rightword{i} righter{i} righting{i} rights{i}." for i in range(6)],
)


def texts(documents, **options):
    recipe = make_recipe(**options)
    (request,) = build_requests([documents], CorpusSection(), TaskSection(scope="all"))
    (row,) = summarise(job(NoBackend(), [request], draws(recipe.generate.plans), [[0] * 20], recipe))
    return [reply.text for reply in row], row


def counts(text):
    return [sum(word.startswith(f"{side}word") for word in words(text)) for side in ("left", "right")]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"length": 4}, [2, 2]),
        ({"length": 4, "notion": "custom", "quotas": {"right": 3, "left": 1}}, [1, 3]),
        # six of eight units are left's: 3 of 4
        ({"length": 4, "notion": "equal"}, [2, 2]),
    ],
)
def test_quotas_are_kept(options, expected):
    (text,), _ = texts(SQUARE, **options)
    assert counts(text) == expected


def test_shares_of_unequal_groups():
    unequal = make_set(
        left=[d.text for d in SQUARE.select("stance", "left")], right=["Rightword one.", "Rightword two."]
    )
    # six of eight documents are left's: 3 of 4; equal is 2 of 4
    assert counts(texts(unequal, length=4)[0][0].replace("Rightword", "rightword0"))[0] == 3
    assert counts(texts(unequal, length=4, notion="equal")[0][0])[0] == 2


def test_units_stand_in_the_order_of_the_sources_and_nothing_is_random():
    (text,), _ = texts(SQUARE, length=12)
    assert text == " ".join(document.text for document in SQUARE.documents)
    assert texts(SQUARE, length=5) == texts(SQUARE, length=5)


def test_sentences_may_be_the_units():
    two = make_set(left=["The ferry is cheap. It sails at night."], right=["The ferry is dear."])
    assert texts(two, length=3, unit="sentence")[0] == ["The ferry is cheap. It sails at night. The ferry is dear."]


MIX = {"first": "left", "second": "right"}


def test_unfairness_of_a_batch_is_as_it_was_made():
    found, _ = texts(SQUARE, length=4, notion="biased", mix=MIX)
    assert [counts(text) for text in found] == [[0, 4], [1, 3], [2, 2], [3, 1], [4, 0]]
    sources = [" ".join(d.text for d in SQUARE.select("stance", side)) for side in ("left", "right")]
    masses = [text_masses(sources, text, words) for text in found]
    uer = unfair_error_rate(compare([m.source for m in masses], [m.target for m in masses]))
    # shares are a/4 and 1 - a/4, due are 1/2 each: the mean shortfall is |1/2 - a/4| / 2
    assert uer.tolist() == pytest.approx([0.25, 0.125, 0, 0.125, 0.25])
    # a document is covered by the one unit of four that is its own: left's mean is a/6 * 1/4, right's (4 - a)/6 * 1/4, overall
    # 1/12, the mean gap |a - 2| / 24
    ec = [cover_set(evidence(text), 2).ec for text in found]
    assert ec == pytest.approx([2 / 24, 1 / 24, 0, 1 / 24, 2 / 24])


def evidence(text):
    """A unit is entailed by the document that it is, and by no other."""
    chosen = [document.text in text for document in SQUARE.documents]
    entailed = np.eye(len(chosen))[np.flatnonzero(chosen)]  # (units, documents)
    nli = np.stack([np.zeros_like(entailed), 1 - entailed, entailed], axis=2)
    labels = [int(d.attributes["stance"] == "right") for d in SQUARE.documents]
    return SetEvidence(nli, range(len(labels)), labels)


def test_the_balanced_mix_of_real_posts_is_the_fairest():
    posts = read_posts()
    sample = DocumentSet(
        id="street",
        documents=tuple(
            Document(id=str(i), text=post.text, attributes={"stance": post.group}) for i, post in enumerate(posts)
        ),
    )
    mix = {"first": "for", "second": "against", "step": 2, "fixed": {"neutral": 2}}
    found, _ = texts(sample, length=10, notion="biased", mix=mix)
    sources = [" ".join(p.text for p in posts if p.group == side) for side in ("for", "against")]
    # words that both sides use tell nothing
    common = common_tokens(map(words, sources))
    masses = [text_masses(sources, text, lambda text: [w for w in words(text) if w not in common]) for text in found]
    uer = unfair_error_rate(compare([m.source for m in masses], [m.target for m in masses])).tolist()
    assert uer.index(min(uer)) == 2
    assert uer[0] > uer[1] > uer[2] < uer[3] < uer[4]


@settings(max_examples=30)
@given(st.lists(st.sampled_from(["a", "b", "c"]), min_size=3, max_size=12), st.data())
def test_summary_has_as_many_units_as_asked_and_each_of_the_source(values, data):
    length = data.draw(st.integers(1, len(values)))
    documents = tuple(
        Document(id=str(i), text=f"Text {i} of {value}.", attributes={"stance": value})
        for i, value in enumerate(values)
    )
    (text,), _ = texts(DocumentSet(id="any", documents=documents), length=length)
    found = [part.strip() for part in text.split(".") if part.strip()]
    assert len(found) == length
    assert set(found) <= {document.text.rstrip(".") for document in documents}


def test_quota_that_a_set_cannot_meet_is_a_counted_failure(tmp_path):
    write_jsonl(
        tmp_path / "docs.jsonl", [SQUARE, make_set(left=["One."], right=["Two."]).model_copy(update={"id": "small"})]
    )
    phase = open_phase(make_recipe(tmp_path / "run", tmp_path / "docs.jsonl", length=4), "evaluation/base")
    with pytest.raises(LeftOutError, match="1 of 2 requests have no candidate"):
        generate(phase)
    (failure,) = read_jsonl(phase.folder / FAILURES, Failure)
    assert (failure.request_id, failure.reason) == ("small/all", "quotas cannot be met")
    assert "a summary of 4 units cannot be taken from groups of sizes" in failure.detail
    (candidate,) = read_jsonl(phase.folder / CANDIDATES, Candidate)
    assert (candidate.method, candidate.model, candidate.plan) == (
        "fair-extractive",
        "no model|content-tokens:4",
        "proportional",
    )
    assert candidate.n_prompt_tokens == 0


def reasons(sides=None, documents=None, **options):
    recipe = make_recipe(**options)
    recipe = recipe.model_copy(update={"corpus": recipe.corpus.model_copy(update={"sides": sides})})
    (request,) = build_requests([documents], CorpusSection(), TaskSection(scope="all"))
    (row,) = summarise(job(NoBackend(), [request], draws(recipe.generate.plans), [[0] * 20], recipe))
    return [reply.error for reply in row]


@pytest.mark.parametrize("length", [4, 5, 6, 7])
@pytest.mark.parametrize("short", [1, 2, 3])
def test_equal_numbers_are_equal_or_refused(short, length):
    documents = make_set(left=[f"Leftword{i}." for i in range(short)], right=[f"Rightword{i}." for i in range(9)])
    (error,) = reasons(documents=documents, length=length, notion="equal")
    # of an odd length one side has one more
    assert (error == "") == (short >= length // 2)
    if error:
        assert error == (
            f"square: an equal summary of {length} units takes {length // 2} of each group or one more, but 'left' has {short}"
        )
    assert reasons(documents=documents, length=length, notion="proportional") == [""]


def test_side_of_the_corpus_that_a_set_lacks_is_short_of_equal_numbers():
    documents = make_set(left=[f"Leftword{i}." for i in range(9)])
    assert reasons(documents=documents, length=4, notion="equal") == [""]
    (error,) = reasons(sides=("left", "right"), documents=documents, length=4, notion="equal")
    assert "'right' has 0" in error


def test_impossible_mix_leaves_the_other_mixes_of_the_set(tmp_path):
    lean = make_set(left=["One.", "Two."], right=[f"Rightword{i}." for i in range(6)]).model_copy(update={"id": "lean"})
    write_jsonl(tmp_path / "docs.jsonl", [SQUARE, lean])
    mix = {"first": "left", "second": "right", "step": 2}
    recipe = make_recipe(tmp_path / "run", tmp_path / "docs.jsonl", length=4, notion="biased", mix=mix)
    phase = open_phase(recipe, "evaluation/base")
    receipt, _ = generate(phase)
    found = read_jsonl(phase.folder / CANDIDATES, Candidate)
    assert [(c.request_id, c.index) for c in found] == [("square/all", i) for i in range(3)] + [
        ("lean/all", i) for i in range(2)
    ]
    (failure,) = read_jsonl(phase.folder / FAILURES, Failure)
    assert (failure.request_id, failure.index, failure.reason) == ("lean/all", 2, "quotas cannot be met")
    assert [(row.what, row.reason, row.count) for row in receipt.left_out] == [("answer", "quotas cannot be met", 1)]


def test_quota_of_none_for_a_value_that_a_set_lacks_is_met():
    documents = make_set(left=["One.", "Two."], right=["Three."])
    quotas = {"left": 2, "right": 1, "centre": 0}
    assert reasons(documents=documents, length=3, notion="custom", quotas=quotas) == [""]
    (error,) = reasons(documents=documents, length=3, notion="custom", quotas={"left": 2, "centre": 1})
    assert "group 'centre' is not among ['left', 'right']" in error


def test_what_no_model_wrote_took_no_calls_and_no_tokens(tmp_path):
    write_jsonl(tmp_path / "docs.jsonl", [SQUARE])
    phase = open_phase(make_recipe(tmp_path / "run", tmp_path / "docs.jsonl", length=4), "evaluation/base")
    receipt, _ = generate(phase)
    assert (receipt.counts["candidates"], receipt.counts["tokens"]) == (1, 0)
    cost = read_cost("extract", phase)
    assert (cost.calls, cost.tokens) == (0, 0)


def test_preflight_looks_for_no_model():
    check_names(make_recipe())
