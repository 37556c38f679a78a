"""Variable-length attention in plain softmax, with the signatures of flash-attn 2 and 3 and of torch: loops over sequences."""

from typing import Any

import torch


def flash_attn_2(  # noqa: PLR0917 - as the library has it
    q: Any, k: Any, v: Any, cu_seqlens_q: Any, cu_seqlens_k: Any, max_seqlen_q: int, max_seqlen_k: int, dropout_p: float = 0.0,
    softmax_scale: float | None = None, causal: bool = False, window_size: tuple[int, int] = (-1, -1), softcap: float = 0.0,
    alibi_slopes: Any = None, deterministic: bool = False, return_attn_probs: bool = False, block_table: Any = None,
) -> Any:  # fmt: skip
    """flash_attn.flash_attn_varlen_func of flash-attn 2.8."""
    assert dropout_p == 0
    left, right = window_size[0], 0 if causal else window_size[1]
    longest = (max_seqlen_q, max_seqlen_k)
    return each_alone(q, k, v, (cu_seqlens_q, cu_seqlens_k), longest, softmax_scale, (left, right), softcap)


def flash_attn_3(  # noqa: PLR0917 - as the library has it
    q: Any, k: Any, v: Any, cu_seqlens_q: Any, cu_seqlens_k: Any, max_seqlen_q: int, max_seqlen_k: int, seqused_q: Any = None,
    seqused_k: Any = None, softmax_scale: float | None = None, causal: bool = False, qv: Any = None, q_descale: Any = None,
    k_descale: Any = None, v_descale: Any = None, window_size: tuple[int, int] = (-1, -1), attention_chunk: int = 0,
    softcap: float = 0.0, num_splits: int = 1, pack_gqa: Any = None, deterministic: bool = False, sm_margin: int = 0,
) -> Any:  # fmt: skip
    """flash_attn_interface.flash_attn_varlen_func of an early flash-attn 3, which answers with the log-sum-exp, too."""
    left, right = window_size[0], 0 if causal else window_size[1]
    longest = (max_seqlen_q, max_seqlen_k)
    return each_alone(q, k, v, (cu_seqlens_q, cu_seqlens_k), longest, softmax_scale, (left, right), softcap), None


def varlen_attn(  # noqa: PLR0917 - as the library has it
    query: Any, key: Any, value: Any, cu_seq_q: Any, cu_seq_k: Any, max_q: int, max_k: int, *, return_aux: Any = None,
    scale: float | None = None, window_size: tuple[int, int] = (-1, -1), enable_gqa: bool = False, seqused_k: Any = None,
    block_table: Any = None, num_splits: int | None = None,
) -> Any:  # fmt: skip
    """torch.nn.attention.varlen.varlen_attn of torch 2.13."""
    assert enable_gqa or query.shape[1] == key.shape[1]
    return each_alone(query, key, value, (cu_seq_q, cu_seq_k), (max_q, max_k), scale, window_size, 0.0)


def varlen_attn_2_11(  # noqa: PLR0917 - as the library has it
    query: Any, key: Any, value: Any, cu_seq_q: Any, cu_seq_k: Any, max_q: int, max_k: int, *, return_aux: Any = None,
    scale: float | None = None, window_size: tuple[int, int] = (-1, -1),
) -> Any:  # fmt: skip
    """torch.nn.attention.varlen.varlen_attn of torch 2.11, which shares heads without being asked."""
    return each_alone(query, key, value, (cu_seq_q, cu_seq_k), (max_q, max_k), scale, window_size, 0.0)


def each_alone(  # noqa: PLR0917 - as the kernels have it
    query: Any, key: Any, value: Any, starts: Any, longest: Any, scale: Any, window: tuple[int, int], softcap: float
) -> Any:
    """(queries, heads, size); the last query of a sequence is aligned with its last key."""
    for each, most, cut in zip((query, key), longest, starts, strict=True):
        assert each.is_contiguous()
        assert cut.dtype == torch.int32
        assert cut[0] == 0
        assert int(cut[-1]) == len(each), "tokens that are in no sequence"
        assert int(cut.diff().max()) == most
        assert int(cut.diff().min()) > 0, "an empty sequence"
    out = []
    for q0, q1, k0, k1 in zip(*(c for cut in starts for c in (cut[:-1].tolist(), cut[1:].tolist())), strict=True):
        # head h of the queries has head h // group of the keys
        k, v = (each[k0:k1].repeat_interleave(query.shape[1] // key.shape[1], dim=1) for each in (key, value))
        scores = torch.einsum("qhd,khd->hqk", query[q0:q1], k).float() * scale
        if softcap:
            scores = softcap * torch.tanh(scores / softcap)
        ahead = torch.arange(k1 - k0) - (torch.arange(q1 - q0)[:, None] + (k1 - k0) - (q1 - q0))
        left, right = window
        unseen = torch.zeros_like(ahead, dtype=torch.bool)
        if left >= 0:
            unseen |= ahead < -left
        if right >= 0:
            unseen |= ahead > right
        weights = scores.masked_fill(unseen, float("-inf")).softmax(dim=-1)
        out.append(torch.einsum("hqk,khd->qhd", weights.to(v.dtype), v))
    return torch.cat(out)
