"""BERTScore: how well each token of one text is matched by some token of the other, in context.

Both texts become unit vectors, one for each token, from the last hidden layer; special tokens are left out. Precision is the
mean over the summary's tokens of the best cosine with a token of the text, recall the mean over the text's tokens, F1 their
harmonic mean. No weighting by rarity, no rescaling. Source: Zhang et al. 2020 (arXiv:1904.09675); specification of the seed
paper, section 6.

Nothing is cut. A model with relative positions (DeBERTa) reads a text of any length at once. One that counts its positions
reads it in windows, one for each passage (line), a longer passage in several; their tokens are then taken together.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..config import BertScoreJudge
from ..extras import need
from ..models import signature
from ..storage import canonical_json
from ..timing import booked
from .aligner import most_tokens
from .checkpoint import open_checkpoint
from .judge import REQUESTS_PER_BATCH, Against, Judge, JudgeInput, Verdict, judge_signature
from .shared import Lazy, SharedModels

Vectors = NDArray[np.float32]

# a pooler is made for classification; the last hidden layer does without
UNUSED = ("pooler.",)


def bert_score(text: Vectors, summary: Vectors) -> dict[str, float]:
    """Precision, recall and F1, each in [-1, 1] and in practice above 0.

    Args:
        text: unit vectors of the text's tokens, shape (tokens, dimensions), at least one token.
        summary: the same of the summary's.
    """
    cosines = (summary @ text.T).astype(float)  # (summary tokens, text tokens)
    precision, recall = float(cosines.max(axis=1).mean()), float(cosines.max(axis=0).mean())
    # the mean of a precision and a recall of different sign has no meaning
    positive = precision > 0 and recall > 0
    fmeasure = 2 * precision * recall / (precision + recall) if positive else 0.0
    return {"precision": precision, "recall": recall, "fmeasure": fmeasure}


@dataclass(frozen=True)
class _Window:
    """A piece of a text that the encoder reads at once."""

    text: str
    # token ids, special ones included
    ids: list[int]
    # which of them are the text's own, shape (tokens,)
    own: NDArray[np.bool_]


class TokenEmbedder:
    """An encoder that gives each token of a text its vector."""

    def __init__(self, model: str, batch_size: int) -> None:
        self._tokenizer, self._model = open_checkpoint("AutoModel", model, "judge 'bertscore'", may_lack=UNUSED)
        config = self._model.config
        relative = config.model_type.startswith("deberta") and not config.position_biased_input
        # tokens of a window, special ones included; None reads a text of any length at once
        self._most = None if relative else most_tokens(self._tokenizer, config)
        self._batch_size = batch_size

    def embed(self, texts: Sequence[str]) -> dict[str, Vectors]:
        """Unit vectors of each text's tokens, shape (tokens, dimensions), in their order."""
        windows = [window for text in dict.fromkeys(texts) for window in self._windows(text)]
        order = sorted(range(len(windows)), key=lambda i: len(windows[i].ids))
        rows: dict[int, Vectors] = {}
        for start in range(0, len(order), self._batch_size):
            batch = order[start : start + self._batch_size]
            rows.update(zip(batch, self._run([windows[i] for i in batch]), strict=True))
        found: dict[str, list[Vectors]] = {text: [] for text in texts}
        for i, window in enumerate(windows):
            found[window.text].append(rows[i])
        return {text: np.concatenate(own) if own else np.empty((0, 0), np.float32) for text, own in found.items()}

    def _windows(self, text: str) -> Iterator[_Window]:
        cut: dict[str, Any] = {}
        pieces = [text.strip()]
        if self._most is not None:
            pieces = [line.strip() for line in text.splitlines()]
            cut = {"truncation": True, "max_length": self._most, "stride": 0, "return_overflowing_tokens": True}
        for piece in filter(None, pieces):
            encoded = self._tokenizer([piece], return_special_tokens_mask=True, verbose=False, **cut)
            for ids, special in zip(encoded["input_ids"], encoded["special_tokens_mask"], strict=True):
                yield _Window(text, ids, ~np.array(special, dtype=bool))

    def _run(self, windows: Sequence[_Window]) -> Iterator[Vectors]:
        """Unit vectors of each window's own tokens."""
        torch = need("torch", "judge 'bertscore'")
        encoded = self._tokenizer.pad({"input_ids": [window.ids for window in windows]}, return_tensors="pt")
        with torch.inference_mode():
            hidden = self._model(**encoded.to(self._model.device)).last_hidden_state  # (windows, tokens, dimensions)
            unit = torch.nn.functional.normalize(hidden.float(), dim=-1).cpu().numpy()
        for window, mask, rows in zip(windows, encoded["attention_mask"].bool().cpu().numpy(), unit, strict=True):
            yield rows[mask][window.own]

    def close(self) -> None:
        """Give the model's memory back."""
        del self._model


class BertScore:
    """One measure of BERTScore as a judge, on a scale from -1 to 1."""

    requests_per_batch = REQUESTS_PER_BATCH
    low = -1.0
    high = 1.0

    def __init__(self, name: str, options: BertScoreJudge, model: Lazy[TokenEmbedder]) -> None:
        self.name = name
        self.against: Against | None = options.against
        self.loads = model.key
        self.signature = judge_signature(
            f"bertscore-{options.measure}",
            "bertscore",
            model=signature(options.model),
            against=options.against,
            layer="last",
            idf="no",
            rescaled="no",
            v=1,
        )
        self._measure = options.measure
        self._model = model

    def score(self, inputs: Sequence[JudgeInput]) -> list[Verdict]:
        """One verdict for each input, in order; its `raw` has all three measures."""
        embedder = self._model.get()
        with booked("models"):
            vectors = embedder.embed([text for each in inputs for text in (each.reference, each.text)])
        return [self._verdict(vectors[each.reference], vectors[each.text]) for each in inputs]

    def _verdict(self, text: Vectors, summary: Vectors) -> Verdict:
        if not len(text) or not len(summary):
            return Verdict(None, "no tokens to compare")
        # the seventh digit differs with the batch that a text stood in
        found = {measure: round(value, 6) for measure, value in bert_score(text, summary).items()}
        return Verdict(found[self._measure], raw=canonical_json(found))

    def close(self) -> None:
        """Give the model's memory back."""
        self._model.close()


def open_bertscore(name: str, options: BertScoreJudge, models: SharedModels) -> Judge:
    """The BERTScore judge that the options describe.

    Raises:
        ModelError: the model is a path that holds none.
    """
    key = canonical_json(["bertscore", options.model, options.batch_size])
    return BertScore(name, options, models.lazy(key, partial(TokenEmbedder, options.model, options.batch_size)))
