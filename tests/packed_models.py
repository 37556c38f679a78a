"""A small model of each family that knows packed sequences, and a packed sequence to try it with."""

from typing import Any

import torch
import transformers

from evenhand.train.packing import Layout, PackedSpan

SIZES = {
    "vocab_size": 300, "hidden_size": 64, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "max_position_embeddings": 256, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
}  # fmt: skip
WINDOW = ["sliding_attention", "full_attention"]
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "llama": ("LlamaConfig", {}),
    "mistral": ("MistralConfig", {"sliding_window": None}),
    "mistral, window": ("MistralConfig", {"sliding_window": 12}),
    "mistral, wide window": ("MistralConfig", {"sliding_window": 200}),
    "qwen2": ("Qwen2Config", {}),
    "qwen2, window": ("Qwen2Config", {"use_sliding_window": True, "sliding_window": 12, "layer_types": WINDOW}),
    "qwen3": ("Qwen3Config", {"head_dim": 16}),
    "qwen3, window": (
        "Qwen3Config",
        {"head_dim": 16, "use_sliding_window": True, "sliding_window": 12, "layer_types": WINDOW},
    ),
    "gemma": ("GemmaConfig", {"head_dim": 16}),
    "gemma2": (
        "Gemma2Config",
        {
            "head_dim": 16, "sliding_window": 12, "layer_types": WINDOW, "attn_logit_softcapping": 2.0,
            "query_pre_attn_scalar": 16,
        },
    ),
    "gemma3": (
        "Gemma3TextConfig",
        {"head_dim": 16, "sliding_window": 12, "layer_types": WINDOW, "query_pre_attn_scalar": 16},
    ),
    # a layer without positions, and experts
    "smollm3": ("SmolLM3Config", {"no_rope_layers": [1, 0]}),
    "mixtral": ("MixtralConfig", {"num_local_experts": 4, "num_experts_per_tok": 2}),
}  # fmt: skip
# two requests: a prompt of 23 tokens with candidates of 5, none and 9, and one of 11 with candidates of 3 and 4; then a beginning
# of 14 that three share: one goes on with 3 and has candidates of 4 and 2, two go on with 5 and have one of 3, and 2 and 6; 5 of
# padding
SHARED = (55, 69)
LAYOUT = Layout(
    (
        PackedSpan(0, 23, (5, 0, 9)), PackedSpan(37, 11, (3, 4)), PackedSpan(55, 14), PackedSpan(69, 3, (4, 2), (SHARED,)),
        PackedSpan(78, 5, (), (SHARED,)), PackedSpan(83, 2, (3,), (SHARED, (78, 83))),
        PackedSpan(88, 1, (2, 6), (SHARED, (78, 83))), PackedSpan(97, 5),
    )
)  # fmt: skip


def build(name: str, attention: str = "sdpa") -> Any:
    kind, options = MODELS[name]
    # transformers' sdpa has no bounds of scores
    attention = "eager" if name == "gemma2" and attention == "sdpa" else attention
    torch.manual_seed(3)
    config = getattr(transformers, kind)(**SIZES | options, attn_implementation=attention)
    return transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()


def sequences(ids: Any, layout: Layout) -> list[tuple[Any, list[int]]]:
    """Every candidate behind its prompt as a sequence of its own, and where its tokens lie in the packed one."""
    found = []
    for span in layout.spans:
        prompt, start = [place for part in span.prompt for place in range(*part)], span.prompt_end
        for n in span.own or (0,):
            places = prompt + list(range(start, start + n))
            found.append((ids[:, places], places))
            start += n
    return found


def packed_and_alone(
    model: Any, ids: Any, layout: Layout, attention: str | None = None
) -> tuple[Any, list[tuple[Any, list[int]]]]:
    """Hidden states of the packed sequence, and of each sequence alone."""
    from evenhand.train.attention import use_packed_attention

    alone = [(model.base_model(input_ids=part).last_hidden_state[0], at) for part, at in sequences(ids, layout)]
    use_packed_attention(model, attention)
    positions = layout.positions()[None].to(ids.device)
    return model.base_model(input_ids=ids, position_ids=positions, shared_prefix=layout).last_hidden_state[0], alone
