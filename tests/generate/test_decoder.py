"""Both decoders against plain forward passes, and which model gets which."""

import pytest
from made_adapters import adapted

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from evenhand.generate import cascade, decoder  # noqa: E402
from evenhand.generate.backend import Usage  # noqa: E402
from evenhand.generate.decoder import CascadeDecoder, open_decoder  # noqa: E402
from evenhand.generate.padded import PaddedDecoder  # noqa: E402

SIZES = {
    "vocab_size": 300, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 3, "num_attention_heads": 4,
    "num_key_value_heads": 2, "max_position_embeddings": 1024, "pad_token_id": 0,
}  # fmt: skip


def drawn(n, seed):
    return tuple(torch.randint(1, 300, (n,), generator=torch.Generator().manual_seed(seed)).tolist())


DOCUMENTS, RUBRICS = [drawn(200, 1), drawn(90, 2)], [drawn(40, 3), drawn(60, 4)]
# two documents, two rubrics, endings of many lengths, one prompt twice and one alone
PROMPTS = [
    *(d + r + drawn(n, n) for d in DOCUMENTS for r in RUBRICS for n in (1, 13, 33)),
    DOCUMENTS[0] + RUBRICS[0] + drawn(13, 13),
    drawn(50, 99),
]


ROPE = {"rope_type": "default", "rope_theta": 10000.0}


def make(family="Llama", **changes):
    torch.manual_seed(0)
    name = {"Gemma3": "Gemma3Text"}.get(family, family)
    config = getattr(transformers, f"{name}Config")(**SIZES | changes)
    model = getattr(transformers, f"{family}ForCausalLM")(config).eval()
    # random weights of the usual size attend nearly evenly; larger ones make who sees whom matter
    for name, weight in model.named_parameters():
        if "q_proj" in name or "k_proj" in name:
            weight.data.mul_(8)
    return model


def plain_logits(model, sequences):
    """Logits after the last token of each sequence, one forward pass each."""
    with torch.no_grad():
        return torch.stack([model(torch.tensor([list(s)]), use_cache=False).logits[0, -1].float() for s in sequences])


@torch.inference_mode()
def check(decoder, expected_of, tolerance=1e-4):
    """Start rows, add tokens, drop rows, add tokens: the logits must stay those of plain passes."""
    batches = decoder.arrange(PROMPTS, most_rows=5)
    assert sorted(i for batch in batches for i in batch) == list(range(len(PROMPTS)))
    assert all(len(batch) <= 5 for batch in batches)
    for number, batch in enumerate(batches):
        rows = [PROMPTS[i] for i in batch]
        found = decoder.start(number)
        torch.testing.assert_close(found, expected_of(rows), atol=tolerance, rtol=0)
        for step in range(3):
            if step == 2:
                kept = list(range(0, len(rows), 2))
                decoder.keep(kept)
                rows = [rows[i] for i in kept]
            tokens = drawn(len(rows), 1000 + step)
            rows = [(*row, token) for row, token in zip(rows, tokens, strict=True)]
            found = decoder.step(tokens)
        torch.testing.assert_close(found, expected_of(rows), atol=tolerance, rtol=0)


@pytest.mark.parametrize(
    "family", ["Llama", "Qwen2", "Qwen3", "Mistral", "Gemma", "Phi3", "Olmo2", "SmolLM3", "OPT", "Glm4"]
)
def test_cascade_gives_the_logits_of_a_plain_pass(family):
    plain, model = make(family), make(family)
    decoder = open_decoder(model, None, Usage(), longest=1024)
    assert isinstance(decoder, CascadeDecoder)
    check(decoder, lambda rows: plain_logits(plain, rows))


def test_cascade_gives_them_without_a_fused_kernel_and_in_small_passes(monkeypatch):
    monkeypatch.setattr("evenhand.generate.cascade.FLASH", "no_such_kernel")
    monkeypatch.setattr(decoder, "TOKENS_PER_PASS", 50)
    monkeypatch.setattr(cascade, "FIRST_ROOM", 1)
    plain = make()
    check(CascadeDecoder(cascaded(make()), Usage(), 1024), lambda rows: plain_logits(plain, rows))


def cascaded(model):
    transformers.AttentionInterface.register(cascade.NAME, cascade.cascade_attention)
    model.set_attn_implementation(cascade.NAME)
    return model


def test_padded_gives_the_logits_of_a_plain_pass():
    plain = make()
    check(PaddedDecoder(make(), Usage()), lambda rows: plain_logits(plain, rows))


def test_padded_prefills_a_bounded_number_of_tokens_side_by_side(monkeypatch):
    monkeypatch.setattr("evenhand.generate.padded.TOKENS_PER_BATCH", 20)
    decoder = PaddedDecoder(make(), Usage())
    a, b, c, long = drawn(4, 1), drawn(6, 2), drawn(9, 3), drawn(40, 4)
    prompts = [a, b, a, long, c, b, a]
    # a a a b b: 2 distinct x 6 tokens, with c 3 x 9 would be too many; the long one is alone
    assert [[prompts[i] for i in batch] for batch in decoder.arrange(prompts, most_rows=8)] == [
        [a, a, a, b, b], [c], [long]
    ]  # fmt: skip
    # a a, a b, b c (2 x 9 tokens), and the long one
    assert [len(batch) for batch in decoder.arrange(prompts, most_rows=2)] == [2, 2, 2, 1]


def test_what_is_no_longer_needed_is_let_go():
    decoder = CascadeDecoder(cascaded(make()), Usage(), 1024)
    with torch.inference_mode():
        assert len(decoder.arrange(PROMPTS, most_rows=len(PROMPTS) - 2)) == 2
        decoder.start(0)
        first = set(decoder._live)
        decoder.start(1)
    assert all(segment.kept is None for segment in first - decoder._live)
    assert all(segment.kept is not None for segment in decoder._live)
    assert first - decoder._live
    decoder.release()
    assert not decoder._live


@pytest.mark.parametrize(
    ("family", "changes"),
    [
        ("Mistral", {"sliding_window": 64}),
        ("Gemma2", {"head_dim": 16, "sliding_window": 2048}),
        (
            "Gemma3",
            {"head_dim": 16, "sliding_window": 64, "layer_types": ["sliding_attention", *["full_attention"] * 2]},
        ),
        ("Phi3", {"sliding_window": 64}),
        ("Llama", {"attn_implementation": "eager"}),
        # their frequencies follow the longest sequence
        ("Llama", {"rope_parameters": {"rope_type": "dynamic", "factor": 2.0, "rope_theta": 10000.0}}),
        # its layers have windows and do not say so when they call their attention
        (
            "Qwen2Moe",
            {
                "use_sliding_window": True,
                "sliding_window": 64,
                "max_window_layers": 3,
                "num_experts": 4,
                "moe_intermediate_size": 32,
                "shared_expert_intermediate_size": 32,
            },
        ),
        # the bias of its scores grows with the distance, and its layers compute them themselves
        ("Falcon", {"alibi": True, "new_decoder_architecture": False}),
        # a sink takes a share of the attention
        (
            "GptOss",
            {"layer_types": ["full_attention"] * 3, "head_dim": 16, "num_local_experts": 4, "rope_parameters": ROPE},
        ),
    ],
)
def test_other_attention_is_padded_and_right(family, changes, caplog):
    caplog.set_level("INFO")
    plain, model = make(family, **changes), make(family, **changes)
    decoder = open_decoder(model, None, Usage(), longest=1024)
    assert isinstance(decoder, PaddedDecoder)
    assert "every distinct prompt is prefilled whole, because" in caplog.text
    check(decoder, lambda rows: plain_logits(plain, rows))


def test_window_that_no_prompt_reaches_is_no_window():
    decoder = open_decoder(make("Mistral", sliding_window=1024), None, Usage(), longest=1024)
    assert isinstance(decoder, CascadeDecoder)


def test_model_that_would_answer_otherwise_is_padded(monkeypatch):
    # an attention that forgets its scaling
    def unscaled(*args, scaling, **options):
        return cascade.cascade_attention(*args, scaling=1.0, **options)

    monkeypatch.setattr("evenhand.generate.decoder.cascade_attention", unscaled)
    assert isinstance(open_decoder(make(), None, Usage(), longest=1024), PaddedDecoder)


def test_adapter_speaks_through_both_decoders(tmp_path):
    wrapped = adapted(make(), tmp_path)
    for implementation in ("sdpa", "eager"):
        decoder = open_decoder(make(attn_implementation=implementation), tmp_path, Usage(), longest=1024)
        check(decoder, lambda rows: plain_logits(wrapped, rows))
