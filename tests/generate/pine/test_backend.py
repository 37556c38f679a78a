"""The reweighting backend, and the method on a real if tiny model."""

import pytest
from method_runs import job, make_recipe

from evenhand.config import BackendSection, CorpusSection, ModelSection, Plan, TaskSection
from evenhand.errors import ModelError
from evenhand.generate.attention_reweighting import summarise
from evenhand.generate.backend import Ask
from evenhand.generate.backends import open_backend
from evenhand.generate.plans import draws
from evenhand.generate.requests import build_requests
from evenhand.generate.stage import generate
from evenhand.records import Candidate, Message, Sampling
from evenhand.runfolder.phases import CANDIDATES, TURNS, open_phase
from evenhand.storage import read_jsonl, write_jsonl

pytest.importorskip("transformers")

from evenhand.generate.pine.backend import PineBackend

PROMPT = (Message(role="user", content="The ferry is cheap, they say, and nurses need it at night."),)


@pytest.fixture(scope="module")
def backend(tiny_model):
    section = BackendSection(backend="transformers", max_model_len=256)
    opened = PineBackend(section, ModelSection(name=str(tiny_model), dtype="float32"), None, is_control=False)
    yield opened
    opened.close()


@pytest.fixture
def requests(ferry):
    return build_requests([ferry], CorpusSection(), TaskSection())


def turned(requests):
    """The same requests, of each the documents of its own side the other way round."""
    one, two, three, four = requests[0].document_set.documents
    orders = [(two, one, three, four), (one, two, four, three)]
    changed = [requests[0].document_set.model_copy(update={"documents": order}) for order in orders]
    return [
        build_requests([documents], CorpusSection(), TaskSection())[place] for place, documents in enumerate(changed)
    ]


def written(backend, requests, **options):
    recipe = make_recipe("attention-reweighting", backend="transformers", attention_reweighting=options)
    order = draws({"greedy": Plan(temperature=0, candidates=1, max_tokens=24)})
    return [row[0] for row in summarise(job(backend, requests, order, [[0]] * len(requests), recipe))]


def test_order_of_the_passages_changes_no_token(backend, requests):
    one, other = written(backend, requests), written(backend, turned(requests))
    assert [r.token_ids for r in one] == [r.token_ids for r in other]
    assert [r.logps for r in one] == pytest.approx([r.logps for r in other], abs=1e-3)
    # the control reads the passages in their order
    controls = [written(backend, each, reweight=False) for each in (requests, turned(requests))]
    assert [r.logps for r in controls[0]] != pytest.approx([r.logps for r in controls[1]], abs=1e-3)
    # the same tokens were read, in whatever order
    assert [r.prompt_digest for r in one] == [r.prompt_digest for r in controls[0]]


def test_control_and_asks_without_segments_are_ordinary_inference(backend, requests, tiny_model):
    ordinary = open_backend(
        BackendSection(backend="transformers", max_model_len=256), ModelSection(name=str(tiny_model), dtype="float32")
    )
    plain = Ask(PROMPT, Sampling(temperature=0.8, max_tokens=16), seed=5)
    (expected,), (found,) = ordinary.complete([plain]), backend.complete([plain])
    assert found.token_ids == expected.token_ids
    assert found.text == expected.text
    assert found.logps == pytest.approx(expected.logps, abs=1e-3)
    # of the side that stands last the control has the ordinary prompt; its parts are tokenised apart, which changes no token here
    control = written(backend, requests, reweight=False)[1]
    (expected,) = ordinary.complete([Ask(requests[1].prompt, Sampling(temperature=0, max_tokens=24), seed=0)])
    assert control.prompt_digest == expected.prompt_digest
    assert control.token_ids == expected.token_ids


def test_draws_of_a_prompt_share_its_first_pass(backend):
    before = backend.usage.prefilled_tokens
    asks = [Ask(PROMPT, Sampling(max_tokens=8), seed) for seed in (1, 2, 1)]
    replies = backend.complete(asks)
    assert backend.usage.prefilled_tokens - before == replies[0].n_prompt_tokens
    assert replies[0] == replies[2]
    assert replies[0].token_ids != replies[1].token_ids


def test_too_long_prompt_fails_alone(backend):
    long = (Message(role="user", content="ferry " * 400),)
    first, second = backend.complete([Ask(long, Sampling(), 0), Ask(PROMPT, Sampling(max_tokens=2), 0)])
    assert (first.finish_reason, first.reason) == ("failed", "prompt too long")
    assert second.finish_reason in {"stop", "length"}


def test_model_that_is_not_there_is_named(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ModelError, match="attention reweighting cannot open model"):
        PineBackend(BackendSection(backend="transformers"), ModelSection(name=str(tmp_path)), None, is_control=False)


@pytest.mark.parametrize(("reweight", "made_by"), [(True, "|transformers|pine"), (False, "|transformers|pine-control")])
def test_stage_runs_the_method_and_names_the_control(tmp_path, ferry, tiny_model, reweight, made_by):
    corpus = tmp_path / "docs.jsonl"
    write_jsonl(corpus, [ferry.model_copy(update={"split": "test"})])
    recipe = make_recipe(
        "attention-reweighting",
        tmp_path / "run",
        backend="transformers",
        attention_reweighting={"reweight": reweight},
        plans={"greedy": {"temperature": 0, "candidates": 1, "max_tokens": 8}},
    )
    changes = {
        "model": ModelSection(name=str(tiny_model), dtype="float32"),
        "corpus": CorpusSection(path=str(corpus)),
    }
    phase = open_phase(recipe.model_copy(update=changes), "evaluation/base")
    receipt, _ = generate(phase)
    made = read_jsonl(phase.folder / CANDIDATES, Candidate)
    assert [(c.request_id, c.method) for c in made] == [
        ("ferry/left", "attention-reweighting"),
        ("ferry/right", "attention-reweighting"),
    ]
    assert all(c.model.endswith(made_by) for c in made)
    assert not (phase.folder / TURNS).exists()
    assert receipt.counts["prefilled_tokens"] == receipt.counts["prompt_tokens"]
