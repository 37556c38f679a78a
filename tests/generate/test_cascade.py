"""Attention in parts against PyTorch's own attention on the whole."""

import pytest

torch = pytest.importorskip("torch")

from evenhand.generate.cascade import QUERIES_AT_ONCE, attend, attend_plainly, join  # noqa: E402


def drawn(*shape, dtype=torch.float32, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def reference(query, key, value, **options):
    return torch.nn.functional.scaled_dot_product_attention(query, key, value, enable_gqa=True, **options)


@pytest.mark.parametrize("function", [attend, attend_plainly])
@pytest.mark.parametrize("causal", [True, False])
def test_output_is_that_of_pytorch(function, causal):
    n = QUERIES_AT_ONCE + 9
    query, key, value = drawn(2, 6, n, 16), drawn(2, 3, n, 16, seed=1), drawn(2, 3, n, 16, seed=2)
    out, _ = function(query, key, value, causal=causal, scaling=0.3)
    torch.testing.assert_close(out, reference(query, key, value, is_causal=causal, scale=0.3), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("function", [attend, attend_plainly])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_log_sum_exp_is_float32_and_that_of_the_scores(function, dtype):
    query, key = drawn(1, 2, 5, 16, dtype=dtype), drawn(1, 1, 7, 16, dtype=dtype, seed=1)
    _, lse = function(query, key, key, causal=False, scaling=0.25)
    expected = (query.float() @ key.float().transpose(2, 3) * 0.25).logsumexp(dim=-1)
    assert lse.dtype == torch.float32
    torch.testing.assert_close(lse, expected, atol=2e-2 if dtype == torch.bfloat16 else 1e-5, rtol=1e-4)


@pytest.mark.parametrize("function", [attend, attend_plainly])
def test_large_scores_are_not_rounded_to_bfloat16(function):
    # keys with a common offset, as models with large key biases have: scores of several hundred that differ by a few
    query, value = drawn(1, 2, 9, 128, dtype=torch.bfloat16) * 4, drawn(1, 2, 40, 128, dtype=torch.bfloat16, seed=2)
    key = (drawn(1, 2, 40, 128, seed=1) * 4 + 10).to(torch.bfloat16)
    out, _ = function(query, key, value, causal=False, scaling=128**-0.5)
    expected = reference(query.float(), key.float(), value.float(), scale=128**-0.5)
    torch.testing.assert_close(out.float(), expected, atol=0.02, rtol=0.02)


def test_parts_join_to_the_whole_in_any_order():
    query, key, value = drawn(1, 4, 5, 16), drawn(1, 2, 30, 16, seed=1) * 3, drawn(1, 2, 30, 16, seed=2)
    expected = reference(query, key, value, scale=0.25)
    for cuts in ([(0, 1), (1, 17), (17, 30)], [(17, 30), (0, 1), (1, 17)]):
        (out, lse), *parts = (
            attend(query, key[:, :, first:end], value[:, :, first:end], causal=False, scaling=0.25)
            for first, end in cuts
        )
        for part in parts:
            join((out, lse), part)
        torch.testing.assert_close(out, expected, atol=1e-5, rtol=1e-5)
