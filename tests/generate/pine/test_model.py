"""Whole models with reweighted attention: order does not matter, one segment is ordinary inference, scaled rotary positions."""

from itertools import permutations

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from evenhand.errors import ModelError  # noqa: E402
from evenhand.generate.pine.model import Parts, PineModel  # noqa: E402

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
    return pine.start(Parts(prefix, tuple(segments), SUFFIX))[1]


@pytest.mark.parametrize("family", FAMILIES)
def test_order_of_the_segments_does_not_change_what_follows(family):
    plain, pine = make(family), opened(make(family))
    expected = suffix_logits(pine, SEGMENTS)
    ordinary = plain_logits(plain, Parts(PREFIX, SEGMENTS, SUFFIX).token_ids, len(SUFFIX))
    for order in list(permutations(SEGMENTS))[1::5]:
        torch.testing.assert_close(suffix_logits(pine, order), expected, atol=1e-4, rtol=0)
        # the control: ordinary inference does depend on it
        other = plain_logits(plain, Parts(PREFIX, order, SUFFIX).token_ids, len(SUFFIX))
        assert (other - ordinary).abs().max() > 0.1
    # and reweighting is not what ordinary inference does
    assert (expected - ordinary).abs().max() > 0.1


@pytest.mark.parametrize("family", FAMILIES)
def test_order_does_not_change_what_is_generated_after(family):
    pine = opened(make(family))
    written = []
    with torch.inference_mode():
        for order in (SEGMENTS, SEGMENTS[::-1]):
            row, logits = pine.start(Parts(PREFIX, order, SUFFIX))
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
        row, first = pine.start(Parts(PREFIX, SEGMENTS, SUFFIX[:3]))
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
    peft = pytest.importorskip("peft")
    torch.manual_seed(1)
    wrapped = peft.get_peft_model(make(), peft.LoraConfig(r=4, target_modules=["q_proj", "v_proj"]))
    for name, weight in wrapped.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(weight, std=0.5)
    wrapped.save_pretrained(tmp_path)
    wrapped.eval()
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
