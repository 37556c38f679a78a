"""The reweighting backend, and the method on a real if tiny model."""

from itertools import permutations

import pytest
from made_adapters import adapted
from method_runs import job, make_recipe

from evenhand.config import BackendSection, CorpusSection, ModelSection, Plan, TaskSection
from evenhand.errors import ModelError
from evenhand.generate.backend import Ask
from evenhand.generate.backends import open_backend
from evenhand.generate.method import draws
from evenhand.generate.requests import build_requests
from evenhand.generate.stage import generate
from evenhand.plugins.attention_reweighting.method import summarise
from evenhand.records import Candidate, Message, Sampling
from evenhand.runfolder.phases import CANDIDATES, TURNS, open_phase
from evenhand.storage import read_jsonl, write_jsonl

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from evenhand.plugins.attention_reweighting.pine.backend import PineBackend, PineModel  # noqa: E402
from evenhand.plugins.attention_reweighting.pine.segments import PromptParts  # noqa: E402

SIZES = {
    "vocab_size": 300, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 3, "num_attention_heads": 4,
    "num_key_value_heads": 2, "max_position_embeddings": 512, "pad_token_id": 0,
}  # fmt: skip
FAMILIES = ["Llama", "Qwen2"]
BASE = {"rope_theta": 10000.0}
SCALED = {
    "default": {"rope_type": "default"},
    "llama3": {
        "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
        "original_max_position_embeddings": 32,
    },
    "linear": {"rope_type": "linear", "factor": 4.0},
    "dynamic": {"rope_type": "dynamic", "factor": 4.0},
    "yarn": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32},
}  # fmt: skip


def drawn(n, seed):
    return tuple(torch.randint(1, 300, (n,), generator=torch.Generator().manual_seed(seed)).tolist())


SEGMENTS = (drawn(9, 1), drawn(14, 2), drawn(5, 3), drawn(9, 4))
PREFIX, SUFFIX = drawn(12, 5), drawn(8, 6)


def opened(model, adapter=None):
    return PineModel(model, 512, adapter)


def make(family="Llama", **changes):
    torch.manual_seed(0)
    config = getattr(transformers, f"{family}Config")(**SIZES | changes)
    model = getattr(transformers, f"{family}ForCausalLM")(config).eval()
    # random weights of the usual size attend nearly evenly; larger ones make who stands where matter
    for name, weight in model.named_parameters():
        if "q_proj" in name or "k_proj" in name:
            weight.data.mul_(8)
    return model


@torch.inference_mode()
def plain_logits(model, tokens, n):
    return model(torch.tensor([list(tokens)]), use_cache=False).logits[0, -n:].float()


@torch.inference_mode()
def suffix_logits(pine, segments, prefix=PREFIX):
    return pine.start(PromptParts(prefix, tuple(segments), SUFFIX))[1]


@pytest.mark.parametrize("family", FAMILIES)
def test_order_of_the_segments_does_not_change_what_follows(family):
    plain, pine = make(family), opened(make(family))
    expected = suffix_logits(pine, SEGMENTS)
    ordinary = plain_logits(plain, PromptParts(PREFIX, SEGMENTS, SUFFIX).token_ids, len(SUFFIX))
    for order in list(permutations(SEGMENTS))[1::5]:
        torch.testing.assert_close(suffix_logits(pine, order), expected, atol=1e-4, rtol=0)
        # the control: ordinary inference does depend on it
        other = plain_logits(plain, PromptParts(PREFIX, order, SUFFIX).token_ids, len(SUFFIX))
        assert (other - ordinary).abs().max() > 0.1
    # and reweighting is not what ordinary inference does
    assert (expected - ordinary).abs().max() > 0.1


@pytest.mark.parametrize("family", FAMILIES)
def test_order_does_not_change_what_is_generated_after(family):
    pine = opened(make(family))
    written = []
    with torch.inference_mode():
        for order in (SEGMENTS, SEGMENTS[::-1]):
            row, logits = pine.start(PromptParts(PREFIX, order, SUFFIX))
            steps = [logits[-1]]
            for token in drawn(6, 7):
                steps.append(pine.step(row, token))
            written.append(torch.stack(steps))
    torch.testing.assert_close(*written, atol=1e-4, rtol=0)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("scaled", SCALED)
def test_one_segment_is_ordinary_inference(family, scaled):
    # the dynamic kind changes beyond max_position_embeddings, so that is made shorter than the prompt
    changes = {"rope_parameters": BASE | SCALED[scaled], "max_position_embeddings": 48 if scaled == "dynamic" else 512}
    plain, pine = make(family, **changes), opened(make(family, **changes))
    whole = tuple(token for segment in SEGMENTS for token in segment)
    expected = plain_logits(plain, PREFIX + whole + SUFFIX, len(SUFFIX))
    torch.testing.assert_close(suffix_logits(pine, [whole]), expected, atol=1e-4, rtol=0)
    # no segment at all, and no prefix
    torch.testing.assert_close(suffix_logits(pine, [], prefix=PREFIX + whole), expected, atol=1e-4, rtol=0)
    expected = plain_logits(plain, whole + SUFFIX, len(SUFFIX))
    torch.testing.assert_close(suffix_logits(pine, [whole], prefix=()), expected, atol=1e-4, rtol=0)


def test_scaled_positions_change_the_reweighted_logits():
    found = {name: suffix_logits(opened(make(rope_parameters=BASE | SCALED[name])), SEGMENTS) for name in SCALED}
    for name in ("llama3", "linear", "yarn"):
        assert (found[name] - found["default"]).abs().max() > 0.05, name


@pytest.mark.parametrize("family", FAMILIES)
def test_token_by_token_is_the_same_as_all_at_once(family):
    pine = opened(make(family))
    expected = suffix_logits(pine, SEGMENTS)
    with torch.inference_mode():
        row, first = pine.start(PromptParts(PREFIX, SEGMENTS, SUFFIX[:3]))
        rest = [pine.step(row, token) for token in SUFFIX[3:]]
    torch.testing.assert_close(torch.cat([first, torch.stack(rest)]), expected, atol=1e-4, rtol=0)


def test_window_that_no_prompt_reaches_is_no_window():
    assert suffix_logits(opened(make("Mistral", sliding_window=512)), SEGMENTS).isfinite().all()


def test_empty_segments_are_dropped():
    pine = opened(make())
    with_empty = ((), SEGMENTS[0], (), *SEGMENTS[1:], ())
    assert torch.equal(suffix_logits(pine, with_empty), suffix_logits(pine, SEGMENTS))


def test_equal_segments_may_change_places():
    pine = opened(make())
    one, other = SEGMENTS[0], SEGMENTS[1]
    expected = suffix_logits(pine, [one, one, other])
    torch.testing.assert_close(suffix_logits(pine, [one, other, one]), expected, atol=1e-4, rtol=0)


def test_adapter_speaks(tmp_path):
    wrapped = adapted(make(), tmp_path)
    pine = opened(make(), tmp_path)
    expected = plain_logits(wrapped, PREFIX + SEGMENTS[0] + SUFFIX, len(SUFFIX))
    torch.testing.assert_close(suffix_logits(pine, SEGMENTS[:1]), expected, atol=1e-4, rtol=0)


@pytest.mark.parametrize(
    ("family", "changes"),
    [
        ("GPT2", {"n_embd": 64, "n_layer": 2, "n_head": 4}),
        ("Gemma2", {"head_dim": 16}),
        ("GPTNeoX", {"rotary_pct": 0.25}),
        ("Mistral", {"sliding_window": 511}),
    ],
)
def test_model_that_cannot_be_reweighted_is_refused(family, changes):
    model = getattr(transformers, {"GPT2": "GPT2LMHeadModel"}.get(family, f"{family}ForCausalLM"))
    config = getattr(transformers, f"{family}Config")(**SIZES | changes)
    with pytest.raises(ModelError, match=r"Llama and Qwen2 families|cannot be reweighted"):
        opened(model(config).eval())


PROMPT = (Message(role="user", content="The ferry is cheap, they say, and nurses need it at night."),)


@pytest.fixture(scope="module")
def backend(tiny_model):
    section = BackendSection(backend="transformers", max_model_len=256)
    opened = PineBackend(section, ModelSection(name=str(tiny_model), dtype="float32"), None, "tiny", is_control=False)
    yield opened
    opened.close()


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
        PineBackend(
            BackendSection(backend="transformers"), ModelSection(name=str(tmp_path)), None, "absent", is_control=False
        )


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
