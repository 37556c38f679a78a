"""Matching by BERTScore: how well each token of the summary is matched by some token of a value's text, in context.

The vectors are those of one hidden layer (RoBERTa-large's seventeenth), the whole summary is compared with the whole text of a
value, precision alone counts, and the precision of unrelated texts becomes 0. Source: Zhang et al. 2020 (arXiv:1904.09675), and
Zhang et al. 2024 (arXiv:2311.07884) for its use here; specification of group fairness, section 3.4.

The judge `bertscore` is another thing: it has the last layer, leaves special tokens out, cuts nothing and rescales nothing.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ...config import MatcherSection
from ...errors import JudgeError
from ...extras import need
from ...fairness.groups import bert_precision, rescale
from ...storage import canonical_json
from ..aligner import most_tokens, release
from ..bertscore import UNUSED
from ..checkpoint import open_checkpoint
from ..shared import Lazy, SharedModels
from ..tokens import ids_as_text
from .neural import NeuralMatcher, Scorer

FEATURE = "matcher 'bertscore'"


class BertScorer:
    """Rescaled precision by one hidden layer of an encoder."""

    def __init__(self, section: MatcherSection) -> None:
        name = section.model_name
        self._tokenizer, self._model = open_checkpoint("AutoModel", name, FEATURE, section.revision, may_lack=UNUSED)
        n_layers = self._model.config.num_hidden_layers
        if section.layer > n_layers:
            raise JudgeError(f"{FEATURE}: layer {section.layer} is not there, model {name!r} has {n_layers}")
        self.most_tokens = most_tokens(self._tokenizer, self._model)
        # a byte-level vocabulary has other pieces for a word at the very beginning; the published scores do not use them
        self._before = " " if self._model.config.model_type == "roberta" else ""
        self._layer = section.layer
        self._baseline = section.baseline
        self._batch_size = section.batch_size

    def lengths(self, texts: Sequence[str]) -> dict[str, int]:
        """Tokens of each text, special ones included."""
        encoded = self._tokenizer([self._laid_out(text) for text in texts], verbose=False)["input_ids"]
        return {text: len(ids) for text, ids in zip(texts, encoded, strict=True)}

    def scores(self, value_texts: Sequence[str], summaries: Sequence[str]) -> NDArray[np.float64]:
        """Rescaled precision of each summary against each value's text, shape (summaries, values)."""
        vectors = self._vectors([*value_texts, *summaries])
        precision = np.array([[bert_precision(vectors[s], vectors[text]) for text in value_texts] for s in summaries])
        return rescale(precision, self._baseline)

    def _laid_out(self, text: str) -> str:
        return self._before + text.strip() if text.strip() else ""

    def _vectors(self, texts: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """Vectors of each text's tokens, special ones first and last, shape (tokens, dimensions)."""
        distinct = sorted(dict.fromkeys(texts), key=len)
        found: dict[str, NDArray[np.float32]] = {}
        for start in range(0, len(distinct), self._batch_size):
            batch = distinct[start : start + self._batch_size]
            found.update(zip(batch, self._run([self._laid_out(text) for text in batch]), strict=True))
        return found

    def _run(self, texts: list[str]) -> list[NDArray[np.float32]]:
        torch = need("torch", FEATURE)
        encoded = self._tokenizer(texts, truncation=True, max_length=self.most_tokens)
        ids = ids_as_text(self._tokenizer, encoded)
        # what some tokenizers do is to pad in front
        padded: Any = self._tokenizer.pad({"input_ids": ids}, return_tensors="pt", padding_side="right")
        with torch.inference_mode():
            states = self._model(**padded.to(self._model.device), output_hidden_states=True).hidden_states
            rows = states[self._layer].float().cpu().numpy()  # (texts, tokens, dimensions)
        return [row[: len(own)] for row, own in zip(rows, ids, strict=True)]

    def close(self) -> None:
        """Give the model's memory back."""
        release(self, "_model")


def open_bert(section: MatcherSection, models: SharedModels) -> NeuralMatcher:
    """Matching by BERTScore.

    Raises:
        MissingExtra, DataError, ModelError: as `NeuralMatcher`.
    """
    options = [section.model_name, section.revision, section.layer, section.baseline, section.batch_size]
    load = partial(BertScorer, section)
    model = cast(Lazy[Scorer], models.lazy(canonical_json(["matcher-bertscore", *options]), load))
    return NeuralMatcher(section, model, {"layer": section.layer, "baseline": section.baseline})
