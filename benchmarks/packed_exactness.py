"""Packed sequences by every kernel that can be tried on the CPU, and each candidate alone: what `exactness` compares."""

import contextlib
from collections.abc import Iterator
from functools import partial
from typing import Any

import torch

from ..train.attention import use_masks
from ..train.packed_attention import flex, sdpa
from ..train.varlen import Cuts, Kernel, varlen_attention
from .gpu.kernels import MASKS, Scores, build, make_groups, scores_alone, scores_packed

KERNELS = ("sdpa", MASKS, "flex_attention", "cut")
ALONE = "alone"
# under which transformers calls a kernel that is tried; without "flash" or "flex" in it, which it would take for its own
TRIED = "evenhand_tried"
CPU = torch.device("cpu")


def errors(family: str) -> dict[str, tuple[float, float]]:
    """Way -> its errors of log-probabilities and gradients in a family."""
    groups = make_groups()
    exact = scores_alone(build(family, torch.float64, CPU, "eager"), groups)
    found = {ALONE: _apart(scores_alone(build(family, torch.float32, CPU, "eager"), groups), exact)}
    for kernel in KERNELS:
        found[kernel] = _apart(packed(family, kernel), exact)
    return found


def packed(family: str, kernel: str, cut: Kernel | None = None) -> Scores:
    """What a packed sequence gives; `cut` takes the place of the plain kernel for sequences of variable length."""
    from transformers import AttentionInterface

    model = build(family, torch.float32, CPU, "sdpa")
    if kernel == MASKS:
        use_masks(model)
        return scores_packed(model, make_groups())
    function: Any = {"sdpa": sdpa, "flex_attention": flex, "cut": partial(varlen_attention, kernel=cut or plain)}[
        kernel
    ]
    AttentionInterface.register(TRIED, function)
    model.set_attn_implementation(TRIED)
    with _eager_flex() if kernel == "flex_attention" else contextlib.nullcontext():
        return scores_packed(model, make_groups())


def _apart(found: Scores, exact: Scores) -> tuple[float, float]:
    logps = float((found.logps - exact.logps).abs().max())
    return logps, float((found.gradient - exact.gradient).norm() / exact.gradient.norm())


@contextlib.contextmanager
def _eager_flex() -> Iterator[None]:
    """Within it FlexAttention is not compiled, and may go backward on the CPU, which torch refuses and its operations can."""
    from torch.nn.attention import flex_attention as own
    from transformers.integrations.flex_attention import WrappedFlexAttention as Wrapped

    compiled = {"_instance": None, "_is_flex_compiled": True, "training": False}
    before = {name: getattr(Wrapped, name, None) for name in compiled}, own._validate_device
    for name, value in compiled.items():
        setattr(Wrapped, name, value)
    Wrapped._compiled_flex_attention = staticmethod(own.flex_attention)
    own._validate_device = lambda *_: None
    try:
        yield
    finally:
        own._validate_device = before[1]
        for name, value in before[0].items():
            setattr(Wrapped, name, value)
        Wrapped._instance, Wrapped._is_flex_compiled = None, False


def plain(  # noqa: PLR0913 - what a kernel is asked
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, cuts: Cuts, *, scale: float, window: int | None,
    softcap: float | None, dropout: float,
) -> torch.Tensor:  # fmt: skip
    """A kernel for sequences of variable length in plain softmax, one after another; see `train.varlen.Kernel`."""
    assert not dropout, "nothing is drawn"
    out, group = [], query.shape[1] // key.shape[1]
    queries, keys = (each.tolist() for each in cuts.starts)
    for q0, q1, k0, k1 in zip(queries, queries[1:], keys, keys[1:], strict=False):
        k, v = (each[k0:k1].repeat_interleave(group, dim=1) for each in (key, value))
        scores = torch.einsum("qhd,khd->hqk", query[q0:q1], k) * scale
        if softcap:
            scores = softcap * torch.tanh(scores / softcap)
        # the last query sees the last key
        behind = torch.arange(q1 - q0)[:, None] + (k1 - k0) - (q1 - q0) - torch.arange(k1 - k0)
        unseen = (behind < 0) if window is None else (behind < 0) | (behind >= window)
        out.append(torch.einsum("hqk,khd->qhd", scores.masked_fill(unseen, float("-inf")).softmax(dim=-1), v))
    return torch.cat(out)
