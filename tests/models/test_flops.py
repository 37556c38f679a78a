"""Operations counted by formula against those that PyTorch counts while it runs."""

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from evenhand.models.flops import step_flops  # noqa: E402
from evenhand.models.sizes import sizes_of  # noqa: E402


@pytest.mark.parametrize("tied", [True, False])
def test_forward_and_backward_are_what_pytorch_counts(tied):
    """One prompt without candidates and full instead of causal attention: what a plain pass runs."""
    from torch.utils.flop_counter import FlopCounterMode

    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=500, hidden_size=64, intermediate_size=160, num_hidden_layers=3, num_attention_heads=4,
        num_key_value_heads=4, tie_word_embeddings=tied, attn_implementation="eager",
    )  # fmt: skip
    model = transformers.LlamaForCausalLM(config).requires_grad_(False)
    n = 40
    embedded = model.get_input_embeddings()(torch.arange(n)[None]).requires_grad_()
    with FlopCounterMode(display=False) as counter:
        with torch.no_grad():
            model(inputs_embeds=embedded)
        model(inputs_embeds=embedded).logits.sum().backward()
    # the causal half of the attention is n (n + 1) / 2 of n x n scores, in three layers of width 64
    hidden_half = 4 * 2 * 2 * 64 * (n * n - n * (n + 1) / 2) * 3
    # the rotary embedding's frequencies are products as well before transformers 5.24
    rotary = sum(counter.get_flop_counts().get("LlamaForCausalLM.model.rotary_emb", {}).values())
    assert step_flops(sizes_of(model), n, [], n) + hidden_half + rotary == pytest.approx(
        counter.get_total_flops(), rel=1e-9
    )


def test_candidates_see_the_prompt_and_themselves():
    config = transformers.LlamaConfig(
        vocab_size=11, hidden_size=8, intermediate_size=8, num_hidden_layers=1, num_attention_heads=2,
        num_key_value_heads=1, head_dim=4,
    )  # fmt: skip
    model = transformers.LlamaForCausalLM(config)
    # scores: prompt 3 + 2 + 1; candidates 2 x 3 + 3 and 1 x 3 + 1; four products of two operations, queries and values, width 8
    attention = 4 * 2 * 2 * 8 * (6 + 9 + 4)
    # 8 x 8 query, 8 x 4 key and value, 8 x 8 output, 3 x 8 x 8 feed-forward
    body = 64 + 2 * 32 + 64 + 192
    assert step_flops(sizes_of(model), 3, [2, 1], 5) == 6 * (body * 6 + 88 * 5) + attention
