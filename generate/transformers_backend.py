"""transformers as a backend: for machines where vLLM does not run, and as the control of methods that need its hooks.

Whatever prompts of one call share at their beginning is prefilled once, and all replies to a prompt start from that one prefill.
Each reply draws from random numbers of its own, and equal calls give equal replies. What is asked beside it only changes how its
logits are rounded: in float32 in the sixth digit, which hardly ever changes a draw; in bfloat16 in the second, which often does.
"""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..config import BackendSection, ModelSection
from ..extras import need
from ..runfolder.timing import booked
from .backend import Ask, Reply, Usage
from .causal_lm import end_ids, open_causal_lm
from .work import ReplyInProgress, read_asks

if TYPE_CHECKING:
    from .decoder import Decoder

log = logging.getLogger(__name__)

# replies decoded side by side
MOST_ROWS = 64
# the rows that have ended are taken out when at most this share goes on
FEW_GO_ON = 0.75


class TransformersBackend:
    """A causal language model of transformers and, where asked for, a LoRA adapter."""

    def __init__(self, section: BackendSection, model: ModelSection, adapter: Path | None, signature: str) -> None:
        self._torch = need("torch", "backend 'transformers'")
        self.signature = signature
        self.usage = Usage()
        self._max_model_len = section.max_model_len
        self._tokenizer, loaded = open_causal_lm(model, "backend 'transformers'")
        self._end_ids = end_ids(loaded, self._tokenizer)
        from .decoder import open_decoder

        self._decoder: Decoder = open_decoder(loaded, adapter, self.usage, section.max_model_len)

    def complete(self, asks: Sequence[Ask]) -> list[Reply]:
        """One reply for each ask, in order."""
        replies: dict[int, Reply] = {}
        fitting: dict[int, ReplyInProgress] = {}
        for index, row in enumerate(read_asks(self._tokenizer, asks)):
            if refused := row.too_long(self._max_model_len):
                replies[index] = refused
            else:
                fitting[index] = row
        batches = self._decoder.arrange([row.given for row in fitting.values()], MOST_ROWS)
        indexes = list(fitting)
        for number, places in enumerate(batches):
            batch = [indexes[place] for place in places]
            rows = [fitting[index] for index in batch]
            with booked("models"), self._torch.inference_mode():
                self._decode(rows, number)
            replies.update((index, row.reply(self._tokenizer)) for index, row in zip(batch, rows, strict=True))
        self._decoder.release()
        return [replies[index] for index in range(len(asks))]

    def _decode(self, rows: Sequence[ReplyInProgress], batch: int) -> None:
        """Write the rows of one of the decoder's batches to their ends."""
        from .drawing import Rows

        logits = self._decoder.start(batch)
        asks, prompts = [row.ask for row in rows], [row.given for row in rows]
        drawing = Rows(asks, prompts, [row.reading.ids for row in rows], logits.device)
        for row, probabilities in zip(rows, drawing.choice_probabilities(logits), strict=True):
            row.probabilities = probabilities
        going = list(rows)
        while True:
            drawn, logps = (each.tolist() for each in drawing.draw(logits))
            for row, token, logp in zip(going, drawn, logps, strict=True):
                row.take(token, logp, self._end_ids)
            on = [place for place, row in enumerate(going) if not row.finish_reason]
            if not on:
                return
            # where a row that has ended would go on
            longest = max(len(row.given) for row in going) + len(going[on[0]].ids)
            if len(on) <= FEW_GO_ON * len(going) or longest > self._max_model_len:
                going, drawn = [going[place] for place in on], [drawn[place] for place in on]
                self._decoder.keep(on)
                drawing.keep(on)
            logits = self._decoder.step(drawn)

    def close(self) -> None:
        """Give the model's memory back."""
        del self._decoder
        if self._torch.cuda.is_available():
            self._torch.cuda.empty_cache()
