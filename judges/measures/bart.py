"""Matching by BARTScore: how likely a model that summarises finds the summary, given a value's text.

The score is the mean log-probability of the summary's tokens, begin and end tokens included, under teacher forcing: source to
summary. A value's text is encoded once for all summaries. Source: Yuan et al. 2021 (arXiv:2106.11520), and Zhang et al. 2024
(arXiv:2311.07884) for its use here; specification of group fairness, section 3.3.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ...config import MatcherSection
from ...extras import need
from ...fairness.groups import bart_scores
from ...storage import canonical_json
from ..aligner import most_tokens, release
from ..checkpoint import open_checkpoint
from ..shared import Lazy, SharedModels
from ..tokens import ids_as_text
from .neural import NeuralMatcher, Scorer

FEATURE = "matcher 'bartscore'"


class BartScorer:
    """Mean log-probability of a summary by an encoder-decoder."""

    def __init__(self, section: MatcherSection) -> None:
        self._tokenizer, self._model = open_checkpoint(
            "AutoModelForSeq2SeqLM", section.model_name, FEATURE, section.revision
        )
        self.most_tokens = most_tokens(self._tokenizer, self._model)
        self._batch_size = section.batch_size

    def lengths(self, texts: Sequence[str]) -> dict[str, int]:
        """Tokens of each text, special ones included."""
        encoded = self._tokenizer(list(texts), verbose=False)["input_ids"]
        return {text: len(ids) for text, ids in zip(texts, encoded, strict=True)}

    def scores(self, value_texts: Sequence[str], summaries: Sequence[str]) -> NDArray[np.float64]:
        """Mean log-probability of each summary given each value's text, in nats, shape (summaries, values)."""
        targets = self._encoded(summaries)
        by_value = [self._token_logprobs(text, targets) for text in value_texts]
        return np.array([bart_scores(rows) for rows in zip(*by_value, strict=True)])

    def _encoded(self, texts: Sequence[str]) -> list[list[int]]:
        encoded = self._tokenizer(list(texts), truncation=True, max_length=self.most_tokens)
        return ids_as_text(self._tokenizer, encoded)

    def _token_logprobs(self, text: str, targets: Sequence[list[int]]) -> list[list[float]]:
        """Log-probability of each token of each target given the text."""
        torch = need("torch", FEATURE)
        outputs = need("transformers.modeling_outputs", FEATURE)
        source = torch.tensor(self._encoded([text]), device=self._model.device)  # (1, tokens)
        found: dict[int, list[float]] = {}
        with torch.inference_mode():
            hidden = self._model.get_encoder()(input_ids=source).last_hidden_state
            for batch in self._batches(targets):
                rows = len(batch)
                encoder = outputs.BaseModelOutput(last_hidden_state=hidden.expand(rows, -1, -1))
                mask = torch.ones_like(source).expand(rows, -1)
                picked = self._picked(encoder, mask, [targets[i] for i in batch])
                found.update(zip(batch, picked, strict=True))
        return [found[i] for i in range(len(targets))]

    def _batches(self, targets: Sequence[list[int]]) -> list[list[int]]:
        order = sorted(range(len(targets)), key=lambda i: len(targets[i]))
        return [order[start : start + self._batch_size] for start in range(0, len(order), self._batch_size)]

    def _picked(self, encoder: Any, mask: Any, targets: list[list[int]]) -> list[list[float]]:
        padded = self._tokenizer.pad({"input_ids": targets}, return_tensors="pt", padding_side="right")
        labels = padded["input_ids"].to(self._model.device)  # (targets, tokens)
        shifted = self._model.prepare_decoder_input_ids_from_labels(labels)
        # padding stands behind the tokens, and a token sees none behind it
        logits = self._model(encoder_outputs=encoder, attention_mask=mask, decoder_input_ids=shifted).logits.float()
        logps = logits.log_softmax(dim=-1).gather(-1, labels[..., None])[..., 0].cpu().tolist()
        return [row[: len(target)] for row, target in zip(logps, targets, strict=True)]

    def close(self) -> None:
        """Give the model's memory back."""
        release(self, "_model")


def open_bart(section: MatcherSection, models: SharedModels) -> NeuralMatcher:
    """Matching by BARTScore.

    Raises:
        MissingExtra, DataError, ModelError: as `NeuralMatcher`.
    """
    options = [section.model_name, section.revision, section.batch_size]
    model = cast(
        Lazy[Scorer], models.lazy(canonical_json(["matcher-bartscore", *options]), partial(BartScorer, section))
    )
    return NeuralMatcher(section, model, {})
