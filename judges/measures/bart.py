"""Matching by BARTScore: how likely a model that summarises finds the summary, given a value's text.

The score is the mean log-probability of the summary's tokens, begin and end tokens included, under teacher forcing: source to
summary. A value's text is encoded once for all summaries. Source: Yuan et al. 2021 (arXiv:2106.11520), and Zhang et al. 2024
(section 3.2) for its use here; docs/papers.md#zhang-neural.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, cast

from ...config.fairness import MatcherSection
from ...extras import need
from ...fairness.groups.masses import bart_scores
from ...text.digests import canonical_json
from ..aligner import Holder, in_batches, most_tokens
from ..checkpoint import open_checkpoint
from ..shared import Lazy, SharedModels
from .neural import Compared, NeuralMatcher, Reader, ReadText, Scorer

FEATURE = "matcher 'bartscore'"


class BartScorer(Holder):
    """Mean log-probability of a summary by an encoder-decoder."""

    def __init__(self, section: MatcherSection) -> None:
        tokenizer, self._model = open_checkpoint("AutoModelForSeq2SeqLM", section.model_name, FEATURE, section.revision)
        self.reader = Reader(tokenizer, most_tokens(tokenizer, self._model))
        self._batch_size = section.batch_size

    def scores(self, pairs: Sequence[Compared], texts: Mapping[str, ReadText]) -> list[float]:
        """Mean log-probability of each pair's summary given its value's text, in nats, at most 0."""
        torch = need("torch", FEATURE)

        def lengths(pair: Compared) -> tuple[int, int]:
            # sources first: they are the longer ones, and every layer of the decoder reads them
            text, summary = pair
            return len(texts[text].ids), len(texts[summary].ids)

        found: dict[Compared, float] = {}
        with torch.inference_mode():
            states = self._states((text for text, _ in pairs), texts)
            for batch in in_batches(pairs, lengths, self._batch_size):
                rows = self._token_logprobs(
                    [states[text] for text, _ in batch], [texts[summary] for _, summary in batch]
                )
                found.update((pair, float(bart_scores([row])[0])) for pair, row in zip(batch, rows, strict=True))
        return [found[pair] for pair in pairs]

    def _states(self, sources: Iterable[str], texts: Mapping[str, ReadText]) -> dict[str, Any]:
        """What the encoder makes of each text's tokens, shape (tokens, dimensions)."""
        states_by_text: dict[str, Any] = {}
        for batch in in_batches(sources, lambda text: (len(texts[text].ids),), self._batch_size):
            padded = self.reader.padded([texts[text] for text in batch]).to(self._model.device)
            states = self._model.get_encoder()(**padded).last_hidden_state  # (texts, tokens, dimensions)
            # a copy, lest the padding be kept
            states_by_text.update(
                (text, row[: len(texts[text].ids)].clone()) for text, row in zip(batch, states, strict=True)
            )
        return states_by_text

    def _token_logprobs(self, states: Sequence[Any], targets: Sequence[ReadText]) -> list[list[float]]:
        """Log-probability of each token of each target given the states of its source."""
        torch = need("torch", FEATURE)
        outputs = need("transformers.modeling_outputs", FEATURE)
        joined = torch.nn.utils.rnn.pad_sequence(list(states), batch_first=True)  # (targets, source tokens, dimensions)
        mask = torch.nn.utils.rnn.pad_sequence([row.new_ones(len(row)).long() for row in states], batch_first=True)
        labels = self.reader.padded(targets)["input_ids"].to(self._model.device)  # (targets, tokens)
        shifted = self._model.prepare_decoder_input_ids_from_labels(labels)
        # padding stands behind the tokens, and a token sees none behind it
        logits = self._model(
            encoder_outputs=outputs.BaseModelOutput(last_hidden_state=joined),
            attention_mask=mask,
            decoder_input_ids=shifted,
        ).logits.float()
        logps = logits.log_softmax(dim=-1).gather(-1, labels[..., None])[..., 0].cpu().tolist()
        return [row[: len(target.ids)] for row, target in zip(logps, targets, strict=True)]


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
