"""The backend of attention reweighting: transformers, one row at a time.

The first pass of a prompt is made once for all of its draws. Prompts run one after another, and no fused attention kernel applies
to segments and suffix, so this is the slowest of the backends.
"""

from collections.abc import Sequence
from pathlib import Path

import torch

from ...config import BackendSection, ModelSection
from ...runfolder.timing import booked
from ..backend import TOO_LONG, Ask, Prompt, Reply, Usage, failed, tokens_digest, too_long
from ..backends import backend_signature
from ..causal_lm import end_ids, open_causal_lm
from ..drawing import Rows
from .model import Parts, PineModel
from .reweighting import Row
from .segments import read_parts


class PineBackend:
    """A causal language model of transformers whose attention does not depend on the order of an ask's segments.

    Args:
        is_control: whether its asks are joined to one segment each, which is ordinary attention; told by the signature alone.

    Raises:
        ModelError: the model cannot be opened, or its attention cannot be reweighted.
    """

    def __init__(self, section: BackendSection, model: ModelSection, adapter: Path | None, *, is_control: bool) -> None:
        self.signature = f"{backend_signature(section, model, adapter)}|{'pine-control' if is_control else 'pine'}"
        self.usage = Usage()
        self._max_model_len = section.max_model_len
        self._tokenizer, loaded = open_causal_lm(model, "attention reweighting", attention="sdpa")
        self._end_ids = end_ids(loaded, self._tokenizer)
        self._model = PineModel(loaded, section.max_model_len, adapter)

    def complete(self, asks: Sequence[Ask]) -> list[Reply]:
        """One reply for each ask, in order; asks of one prompt that follow each other share its first pass."""
        replies = []
        last: Parts | None = None
        started: tuple[Row, torch.Tensor] | None = None
        for ask in asks:
            assert not ask.choices, "constrained answers are for judges"
            parts = read_parts(self._tokenizer, ask)
            prompt = Prompt(parts.token_ids, tokens_digest(parts.token_ids))
            n = len(prompt.token_ids)
            if reason := too_long(n, ask, self._max_model_len):
                replies.append(failed(prompt, TOO_LONG, reason))
                continue
            with booked("models"), torch.inference_mode():
                if started is None or parts != last:
                    started, last = self._model.start(parts), parts
                    self.usage.add(n, n)
                else:
                    self.usage.add(n, 0)
                row, logits = started
                replies.append(self._write(ask, prompt, row.copy(), logits[-1]))
        return replies

    def _write(self, ask: Ask, prompt: Prompt, row: Row, logits: torch.Tensor) -> Reply:
        drawing = Rows([ask], [prompt.token_ids], [()], logits.device)
        ids: list[int] = []
        total = 0.0
        while True:
            token, logp = (each.item() for each in drawing.draw(logits[None]))
            ids.append(int(token))
            total += logp
            ended = token in self._end_ids
            if ended or len(ids) == ask.sampling.max_tokens:
                break
            logits = self._model.step(row, int(token))
        text_ids = ids[:-1] if ended else ids
        text: str = self._tokenizer.decode(text_ids, skip_special_tokens=True)
        return Reply(
            text=text,
            finish_reason="stop" if ended else "length",
            n_prompt_tokens=len(prompt.token_ids),
            prompt_digest=prompt.digest,
            token_ids=tuple(ids),
            logps=total,
        )

    def close(self) -> None:
        """Give the model's memory back."""
        del self._model
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
