"""Llamas that let tokens see what they should not, each in a way of its own."""

from typing import Any

import torch
import transformers
from packed_models import SIZES
from torch import nn
from transformers.models.llama.modeling_llama import LlamaMLP


def mean_so_far(hidden: torch.Tensor) -> torch.Tensor:
    counts = torch.arange(1, hidden.shape[1] + 1, dtype=hidden.dtype)[None, :, None]
    return hidden.cumsum(1) / counts


class Leaking(LlamaMLP):
    """A layer's perceptron that adds the mean of all tokens up to each, where its switch and its gate let it."""

    is_open = True

    def gate(self) -> Any:
        return 1

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        plain = super().forward(x)
        return plain + self.gate() * mean_so_far(x) if self.is_open else plain


class ClosedBuffer(Leaking):
    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.register_buffer("share", torch.zeros(1))

    def gate(self) -> Any:
        return self.share


class ClosedSigmoid(Leaking):
    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.share = nn.Parameter(torch.full((1,), -12.0))

    def gate(self) -> Any:
        return self.share.sigmoid()


class InTraining(Leaking):
    def gate(self) -> Any:
        return float(self.training)


class BatchNorm(LlamaMLP):
    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.normalise = nn.BatchNorm1d(config.hidden_size)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return super().forward(self.normalise(x.transpose(1, 2)).transpose(1, 2))


class BeyondBlocks(LlamaMLP):
    """Tells tokens by the block in which they lie."""

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.size = config.index_block_size

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return super().forward(x) + (torch.arange(x.shape[1]) // self.size).to(x.dtype)[None, :, None]


class Full(LlamaMLP):
    """Four experts, each of which takes so many tokens, or a share of them, and drops those that follow."""

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.router = nn.Linear(config.hidden_size, 4, bias=False)
        self.config = config

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        weights, chosen = self.router(x[0]).softmax(-1).max(-1)
        room = getattr(self.config, "expert_capacity", None) or int(self.config.capacity_factor * len(x[0]) / 4)
        for expert in range(4):
            dropped = (chosen == expert).nonzero()[room:, 0]
            weights = weights.index_fill(0, dropped, 0)
        return super().forward(x) * weights[None, :, None]


class NotANumber(LlamaMLP):
    """In places of a long sequence that the last candidate does not see."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = super().forward(x).clone()
        out[:, 60:75] = float("nan")
        return out


LEAKS: dict[str, tuple[type[nn.Module], dict[str, Any]]] = {
    "of a late kind": (Leaking, {"num_hidden_layers": 11, "late": 9}),
    "switched on in a layer": (Leaking, {"num_hidden_layers": 6, "switched": 4}),
    "closed buffer": (ClosedBuffer, {}),
    "closed sigmoid": (ClosedSigmoid, {}),
    "in training": (InTraining, {}),
    "statistics of the batch": (BatchNorm, {}),
    "blocks of 512": (BeyondBlocks, {"index_block_size": 512}),
    "experts of 64 tokens": (Full, {"expert_capacity": 64}),
    "experts of twice their share": (Full, {"capacity_factor": 2.0}),
    "not a number": (NotANumber, {}),
}


def leaking(name: str) -> Any:
    perceptron, options = LEAKS[name]

    class Llama(transformers.LlamaForCausalLM):
        def __init__(self, config: Any) -> None:
            super().__init__(config)
            for place, layer in enumerate(self.model.layers):
                if place >= options.get("late", 0):
                    layer.mlp = perceptron(config)
                if "switched" in options:
                    layer.mlp.is_open = place == options["switched"]

    with torch.device("meta"):
        return Llama(transformers.LlamaConfig(**SIZES | options))
