"""Shares of the values by neural matching: from a model's scores or vectors to masses.

No model is imported here: token log-probabilities (BARTScore) and token vectors (BERTScore) come from whoever ran one.
Source: Zhang et al. 2024, section 3.2; docs/papers.md#zhang-neural.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import DataError

Floats = NDArray[np.float64]

DEFAULT_TEMPERATURE = 0.1
# precision baseline of RoBERTa-large, layer 17, English
ROBERTA_LARGE_BASELINE = 0.83150584


def softmax(scores: ArrayLike, temperature: float = DEFAULT_TEMPERATURE) -> Floats:
    """Shares of the values from their matching scores, shape (..., values), summing to 1; a share may underflow to 0.

    Args:
        scores: matching score of each value, shape (..., values).
        temperature: at least 0. The paper has 0.1; its released script is left at 2. 0 shares the mass among the best.

    Raises:
        DataError: there is no value, a score is no finite number, or the temperature is below 0.
    """
    array = np.asarray(scores, dtype=float)
    if array.ndim == 0 or array.shape[-1] == 0 or not np.isfinite(array).all():
        raise DataError(f"a softmax over values needs one finite score for each of them, got {scores!r}")
    if not temperature >= 0:
        raise DataError(f"a softmax temperature is at least 0, got {temperature!r}")
    behind = array - array.max(axis=-1, keepdims=True)  # at most 0
    with np.errstate(over="ignore"):  # far behind at a tiny temperature: e^-inf is 0
        weights = np.exp(behind / temperature) if temperature > 0 else (behind == 0).astype(float)
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def bart_scores(token_logprobs: ArrayLike) -> Floats:
    """Mean log-probability of the summary's tokens given each value's text, in nats, at most 0, shape (values,).

    Args:
        token_logprobs: of each target position, begin and end tokens included, shape (values, tokens): encoder input is the
            value's raw text, decoder target the summary.

    Raises:
        DataError: the array has no token, or not two axes.
    """
    array = np.asarray(token_logprobs, dtype=float)
    if array.ndim != 2 or array.shape[1] == 0:
        raise DataError(
            f"BARTScore needs log-probabilities of shape (values, tokens) with at least one token, got {array.shape}"
        )
    return np.asarray(array.mean(axis=1))


def bert_precision(candidate: ArrayLike, reference: ArrayLike) -> float:
    """How well each token of the summary is matched by some token of the value's text: mean best cosine, in [-1, 1].

    First and last vector are the special tokens: they do not count in the mean, but may be matched against. Without other
    tokens on either side the precision is 0, as in the released code.

    Args:
        candidate: vectors of the whole summary's tokens, shape (tokens, dimensions).
        reference: vectors of the value's whole text, shape (tokens, dimensions).

    Raises:
        DataError: a side has not two axes, lacks its special tokens, or has a vector of length 0.
    """
    ours, theirs = _unit(candidate, "summary"), _unit(reference, "value's text")
    if len(ours) == 2 or len(theirs) == 2:
        return 0.0
    cosines = ours[1:-1] @ theirs.T  # (summary tokens, reference tokens)
    return float(cosines.max(axis=1).mean())


def rescale(precision: ArrayLike, baseline: float = ROBERTA_LARGE_BASELINE) -> Floats:
    """(P - b) / (1 - b): 0 at the baseline of unrelated texts, 1 at identity; about -4.93 for P = 0 with the default baseline.

    Raises:
        DataError: the baseline is not below 1.
    """
    if not baseline < 1:
        raise DataError(f"a BERTScore baseline is below 1, got {baseline!r}")
    return np.asarray((np.asarray(precision, dtype=float) - baseline) / (1 - baseline))


def _unit(vectors: ArrayLike, side: str) -> Floats:
    array = np.asarray(vectors, dtype=float)
    if array.ndim != 2 or len(array) < 2:
        raise DataError(
            f"the {side} needs vectors of shape (tokens, dimensions), special tokens first and last; got {array.shape}"
        )
    lengths = np.linalg.norm(array, axis=1, keepdims=True)
    if not (lengths > 0).all():
        raise DataError(f"the {side} has a token vector of length 0 or no number, which has no direction")
    return np.asarray(array / lengths)
