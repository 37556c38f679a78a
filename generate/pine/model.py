"""A model of transformers with reweighted attention: rows are started from their parts and continued token by token."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import AttentionInterface

from ...errors import ModelError
from ...models.adapters import open_adapter
from .reweighting import NAME, Row, pine_attention

# largest mean difference to a plain pass, in standard deviations of the logits
MOST_DIFFERENCE = {torch.float32: 1e-3, torch.bfloat16: 0.1, torch.float16: 0.1}
# the rule that an error names
KNOWN = (
    "reweighting is made for decoders with rotary positions over whole heads, as those of the Llama and Qwen2 families"
)


@dataclass(frozen=True)
class Parts:
    """A prompt in tokens: what stands before the segments, the segments, what stands after them."""

    prefix: tuple[int, ...]
    segments: tuple[tuple[int, ...], ...]
    # at least one token
    suffix: tuple[int, ...]

    @property
    def token_ids(self) -> tuple[int, ...]:
        """All tokens in order."""
        return (*self.prefix, *(token for segment in self.segments for token in segment), *self.suffix)


class PineModel:
    """A causal language model whose attention is `pine_attention`.

    Args:
        model: its attention implementation is changed.
        longest: most tokens of a prompt and its answer.
        adapter: folder of a LoRA adapter.

    Raises:
        ModelError: with one segment, which is ordinary inference, the model would not give its own logits.
    """

    def __init__(self, model: Any, longest: int, adapter: Path | None = None) -> None:
        self._model = model
        self._longest = longest
        self.device = next(model.parameters()).device
        found = [module for name, module in model.named_modules() if name.endswith("rotary_emb")]
        if len(found) != 1 or not getattr(model, "_supports_attention_backend", False):
            raise ModelError(f"attention of {type(model).__name__} cannot be replaced: {KNOWN}")
        self._rotary = found[0]
        with torch.inference_mode():
            self._replace_attention()
        if adapter is not None:
            self._model = open_adapter(model, adapter)

    def _replace_attention(self) -> None:
        model = self._model
        size = model.config.get_text_config().vocab_size
        tokens = [37 * i % size for i in range(1, 25)]
        expected = model(input_ids=torch.tensor([tokens], device=self.device), use_cache=False).logits[0, -4:].float()
        AttentionInterface.register(NAME, pine_attention)
        model.set_attn_implementation(NAME)
        row, _ = self.start(Parts(tuple(tokens[:6]), (tuple(tokens[6:20]),), (tokens[20],)))
        found = torch.stack([self.step(row, token) for token in tokens[21:]])
        difference = float((found - expected[1:]).abs().mean() / expected.std())
        if not difference <= MOST_DIFFERENCE[model.dtype]:
            raise ModelError(
                f"logits of {type(model).__name__} differ from ordinary inference by {difference:.2g} standard deviations: "
                f"{KNOWN}"
            )

    def start(self, parts: Parts) -> tuple[Row, torch.Tensor]:
        """A row for this prompt, and the logits after each token of its suffix, (tokens, vocabulary).

        Segments without tokens are dropped.
        """
        segments = [segment for segment in parts.segments if segment]
        row = Row(len(parts.prefix), [len(segment) for segment in segments], self._rotary, self._longest)
        tokens = [*parts.prefix, *(token for segment in segments for token in segment), *parts.suffix]
        return row, self._forward(row, tokens, len(parts.suffix))

    def step(self, row: Row, token: int) -> torch.Tensor:
        """Give the row its next token; logits of the one after, (vocabulary,)."""
        return self._forward(row, [token], 1)[0]

    def _forward(self, row: Row, tokens: Sequence[int], n_logits: int) -> torch.Tensor:
        row.begin_pass(len(tokens))
        ids = torch.tensor([list(tokens)], device=self.device)
        out = self._model(
            input_ids=ids,
            position_ids=torch.zeros_like(ids),
            use_cache=False,
            logits_to_keep=n_logits,
            pine=row,
        )
        logits: torch.Tensor = out.logits[0].float()
        return logits
