"""The backend of attention reweighting: transformers, one row at a time.

The first pass of a prompt is made once for all of its draws. Prompts run one after another, and no fused attention kernel applies
to segments and suffix, so this is the slowest of the backends.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from transformers import AttentionInterface

from ....config import BackendSection, ModelSection
from ....errors import ModelError
from ....generate.answers import Reading
from ....generate.backend import Ask, Prompt, Reply, Usage, tokens_digest
from ....generate.causal_lm import end_ids, open_causal_lm
from ....generate.decoder import MOST_DIFFERENCE
from ....generate.drawing import Rows
from ....generate.work import ReplyInProgress
from ....models.adapters import open_adapter
from ....runfolder.timing import booked
from .reweighting import NAME, SegmentedRow, pine_attention
from .segments import PromptParts, read_parts

# the rule that an error names
KNOWN = (
    "reweighting is made for decoders with rotary positions over whole heads, as those of the Llama and Qwen2 families"
)


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
        modules = [module for name, module in model.named_modules() if name.endswith("rotary_emb")]
        if len(modules) != 1 or not getattr(model, "_supports_attention_backend", False):
            raise ModelError(f"attention of {type(model).__name__} cannot be replaced: {KNOWN}")
        self._rotary = modules[0]
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
        row, _ = self.start(PromptParts(tuple(tokens[:6]), (tuple(tokens[6:20]),), (tokens[20],)))
        logits = torch.stack([self.step(row, token) for token in tokens[21:]])
        difference = float((logits - expected[1:]).abs().mean() / expected.std())
        if not difference <= MOST_DIFFERENCE[model.dtype]:
            raise ModelError(
                f"logits of {type(model).__name__} differ from ordinary inference by {difference:.2g} standard deviations: "
                f"{KNOWN}"
            )

    def start(self, parts: PromptParts) -> tuple[SegmentedRow, torch.Tensor]:
        """A row for this prompt, and the logits after each token of its suffix, (tokens, vocabulary).

        Segments without tokens are dropped.
        """
        segments = [segment for segment in parts.segments if segment]
        row = SegmentedRow(len(parts.prefix), [len(segment) for segment in segments], self._rotary, self._longest)
        tokens = [*parts.prefix, *(token for segment in segments for token in segment), *parts.suffix]
        return row, self._forward(row, tokens, len(parts.suffix))

    def step(self, row: SegmentedRow, token: int) -> torch.Tensor:
        """Give the row its next token; logits of the one after, (vocabulary,)."""
        return self._forward(row, [token], 1)[0]

    def _forward(self, row: SegmentedRow, tokens: Sequence[int], n_logits: int) -> torch.Tensor:
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


class PineBackend:
    """A causal language model of transformers whose attention does not depend on the order of an ask's segments.

    Args:
        signature: of the model on transformers.
        is_control: whether its asks are joined to one segment each, which is ordinary attention; only the signature shows it.

    Raises:
        ModelError: the model cannot be opened, or its attention cannot be reweighted.
    """

    def __init__(
        self, section: BackendSection, model: ModelSection, adapter: Path | None, signature: str, *, is_control: bool
    ) -> None:
        self.signature = f"{signature}|{'pine-control' if is_control else 'pine'}"
        self.usage = Usage()
        self._max_model_len = section.max_model_len
        self._tokenizer, loaded = open_causal_lm(model, "attention reweighting", attention="sdpa")
        self._end_ids = end_ids(loaded, self._tokenizer)
        self._model = PineModel(loaded, section.max_model_len, adapter)

    def complete(self, asks: Sequence[Ask]) -> list[Reply]:
        """One reply for each ask, in order; asks of one prompt that follow each other share its first pass."""
        replies = []
        last: PromptParts | None = None
        started: tuple[SegmentedRow, torch.Tensor] | None = None
        for ask in asks:
            assert not ask.choices, "constrained answers are for judges"
            parts = read_parts(self._tokenizer, ask)
            work = ReplyInProgress(ask, Prompt(parts.token_ids, tokens_digest(parts.token_ids)), Reading())
            if refused := work.too_long(self._max_model_len):
                replies.append(refused)
                continue
            n = len(parts.token_ids)
            with booked("models"), torch.inference_mode():
                if started is None or parts != last:
                    started, last = self._model.start(parts), parts
                    self.usage.add(n, n)
                else:
                    self.usage.add(n, 0)
                row, logits = started
                self._write(work, row.copy(), logits[-1])
            replies.append(work.reply(self._tokenizer))
        return replies

    def _write(self, work: ReplyInProgress, row: SegmentedRow, logits: torch.Tensor) -> None:
        """Write a reply to its end."""
        drawing = Rows([work.ask], [work.given], [()], logits.device)
        while True:
            token, logp = (tensor.item() for tensor in drawing.draw(logits[None]))
            work.take(int(token), logp, self._end_ids)
            if work.finish_reason:
                return
            logits = self._model.step(row, int(token))

    def close(self) -> None:
        """Give the model's memory back."""
        del self._model
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
