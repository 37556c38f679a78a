"""Matching by BERTScore: how well each token of the summary is matched by some token of a value's text, in context.

The vectors are those of one hidden layer (RoBERTa-large's seventeenth; later ones are not loaded), the whole summary is compared
with the whole text of a value, precision alone counts, and the precision of unrelated texts becomes 0. Source: Zhang et al. 2020
(arXiv:1904.09675), and Zhang et al. 2024 (section 3.2) for its use here; docs/papers.md#zhang-neural.

The judge `bertscore` is another thing: it has the last layer, leaves special tokens out, cuts nothing and rescales nothing.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, cast

from ...config.fairness import MatcherSection
from ...extras import need
from ...fairness.groups.masses import rescale
from ...text.digests import canonical_json
from ..aligner import Holder, in_batches, most_tokens
from ..checkpoint import ends_at, open_checkpoint
from ..encoder import UNREAD
from ..shared import Lazy, SharedModels
from .neural import Compared, NeuralMatcher, Reader, ReadText, Scorer

FEATURE = "matcher 'bertscore'"
# first and last vector of a text
N_SPECIAL = 2


class BertScorer(Holder):
    """Rescaled precision by one hidden layer of an encoder."""

    def __init__(self, section: MatcherSection) -> None:
        tokenizer, self._model = open_checkpoint(
            "AutoModel", section.model_name, FEATURE, section.revision, may_lack=UNREAD, n_layers=section.layer
        )
        # a byte-level vocabulary has other pieces for a word at the very beginning; the published scores do not use them
        before = " " if self._model.config.model_type == "roberta" else ""
        self.reader = Reader(
            tokenizer, most_tokens(tokenizer, self._model), lambda text: before + text.strip() if text.strip() else ""
        )
        self._layer = section.layer
        self._baseline = section.baseline
        self._batch_size = section.batch_size

    def scores(self, pairs: Sequence[Compared], texts: Mapping[str, ReadText]) -> list[float]:
        """Rescaled precision of each pair's summary against its value's text, at most 1."""
        torch = need("torch", FEATURE)
        batches = in_batches(
            (text for pair in pairs for text in pair), lambda text: (len(texts[text].ids),), self._batch_size
        )
        vectors: dict[str, Any] = {}
        with torch.inference_mode():
            for batch in batches:
                vectors.update(zip(batch, self._vectors([texts[text] for text in batch]), strict=True))
            precisions = torch.stack([precision(vectors[summary], vectors[text]) for text, summary in pairs])
        return [float(score) for score in rescale(precisions.tolist(), self._baseline)]

    def _vectors(self, texts: Sequence[ReadText]) -> list[Any]:
        """Unit vectors of each text's tokens, special ones first and last, shape (tokens, dimensions)."""
        torch = need("torch", FEATURE)
        padded = self.reader.padded(texts).to(self._model.device)
        if ends_at(self._model, self._layer):
            states = self._model(**padded).last_hidden_state
        else:
            states = self._model(**padded, output_hidden_states=True).hidden_states[self._layer]
        # (texts, tokens, dimensions); of the padding nothing is kept
        return [
            torch.nn.functional.normalize(row[: len(text.ids)].float(), dim=-1)
            for row, text in zip(states, texts, strict=True)
        ]


def precision(summary: Any, text: Any) -> Any:
    """How well each token of the summary is matched by some token of the value's text: mean best cosine, in [-1, 1].

    First and last vector are the special tokens: they do not count in the mean, but may be matched against. Without other tokens
    on either side the precision is 0, as in the released code.

    Args:
        summary: unit vectors of its tokens, shape (tokens, dimensions).
        text: those of the value's text.
    """
    # special tokens alone match nothing
    if min(len(summary), len(text)) == N_SPECIAL:
        return summary.new_zeros(())
    return (summary[1:-1] @ text.T).amax(dim=1).mean()  # (summary tokens, text tokens) before it is reduced


def open_bert(section: MatcherSection, models: SharedModels) -> NeuralMatcher:
    """Matching by BERTScore.

    Raises:
        MissingExtra, DataError, ModelError: as `NeuralMatcher`.
    """
    options = [section.model_name, section.revision, section.layer, section.baseline, section.batch_size]
    load = partial(BertScorer, section)
    model = cast(Lazy[Scorer], models.lazy(canonical_json(["matcher-bertscore", *options]), load))
    return NeuralMatcher(section, model, {"layer": section.layer, "baseline": section.baseline})
