"""Rotary positions applied by hand, with the frequencies of a model's own rotary embedding, scaled variants included.

Source: Su et al. 2021 (arXiv:2104.09864), in the form of transformers: the first half of a head is paired with the second.
"""

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
        """The states rotated by so many positions, float32; turning by a and then by b is turning by a + b.

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
    """The rotation that a model's rotary embedding has for a sequence of so many tokens; some scaled variants depend on it."""
    frequencies = rotary.inv_freq
    positions = torch.arange(n_tokens, device=frequencies.device)[None]
    rotary(torch.zeros(1, device=frequencies.device), positions)
    return Rotation(rotary.inv_freq.float().clone(), float(rotary.attention_scaling))
