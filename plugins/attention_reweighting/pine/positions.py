"""Where the tokens of segments stand for a query: the more important a segment, the nearer.

All segments end at the same base position, just before the suffix. For a query, each segment is shifted to the left by the
lengths of the segments that are nearer, so that they lie side by side in the order of their importance. Pure arithmetic.

Positions are applied by hand, with the frequencies of a model's own rotary embedding, scaled variants included.

Source: Wang et al. 2024 (PINE); docs/papers.md#ri-pine. Rotary positions: Su et al. 2021 (arXiv:2104.09864), in the form of
transformers: the first half of a head is paired with the second.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch


@dataclass(frozen=True, eq=False)
class Rotation:
    """Frequencies of a rotary embedding."""

    # (head size / 2,), float32
    frequencies: torch.Tensor
    # factor of rotated queries and keys; 1 except for some scaled variants
    scaling: float

    def turn(self, states: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        """The states rotated by `positions`, float32; turning by a and then by b is turning by a + b.

        Args:
            states: (..., head size).
            positions: whole numbers that broadcast with the states' leading axes.
        """
        angles = positions[..., None].float() * self.frequencies
        cos, sin = angles.cos(), angles.sin()
        first, second = states.float().chunk(2, dim=-1)
        return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)

    def rotate(self, states: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        """Un-rotated queries or keys as the model has them at these positions, float32."""
        return self.turn(states, positions) * self.scaling


def rotation_for(rotary: Any, n_tokens: int) -> Rotation:
    """The rotation that a model's rotary embedding has for `n_tokens` tokens; some scaled variants depend on it."""
    frequencies = rotary.inv_freq
    positions = torch.arange(n_tokens, device=frequencies.device)[None]
    rotary(torch.zeros(1, device=frequencies.device), positions)
    return Rotation(rotary.inv_freq.float().clone(), float(rotary.attention_scaling))


def segment_means(weights: torch.Tensor, lens: Sequence[int]) -> torch.Tensor:
    """Mean weight a token of each segment, (..., segments).

    Args:
        weights: attention weights over the segments' tokens, (..., tokens).
        lens: tokens of each segment, none 0.
    """
    return torch.stack([part.mean(dim=-1) for part in torch.split(weights, list(lens), dim=-1)], dim=-1)


def ranked(importance: torch.Tensor, segment: int | None) -> torch.Tensor:
    """Segments from the nearest to the farthest, (..., segments): by decreasing importance, equal ones in their order.

    Args:
        importance: (..., segments).
        segment: that the query stands in, which is nearest whatever its importance; None for a query after all segments.
    """
    if segment is not None:
        importance = importance.clone()
        importance[..., segment] = float("inf")
    return importance.sort(dim=-1, descending=True, stable=True).indices


def shifts(nearest_first: torch.Tensor, lens: torch.Tensor) -> torch.Tensor:
    """How far each segment is shifted to the left, (..., segments): the lengths of all that are nearer.

    Args:
        nearest_first: ranking of the segments, (..., segments).
        lens: tokens of each segment, (segments,).
    """
    in_order = lens[nearest_first]
    return torch.empty_like(in_order).scatter_(-1, nearest_first, in_order.cumsum(dim=-1) - in_order)


def base_positions(prefix_len: int, lens: Sequence[int], suffix_len: int) -> torch.Tensor:
    """Position of each token before any shift, (tokens,): the prefix, then each segment ending where the suffix begins."""
    suffix_start = prefix_len + sum(lens)
    parts = [torch.arange(prefix_len)]
    parts += [torch.arange(suffix_start - n, suffix_start) for n in lens]
    return torch.cat([*parts, torch.arange(suffix_start, suffix_start + suffix_len)])
