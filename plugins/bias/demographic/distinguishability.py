"""Distinguishability: whether summaries of inputs about one group are more like each other than like the others'.

Source: Steen and Markert 2024, eq. 4; docs/papers.md#steen-distinguishability. Everything is compared
within the summaries of one original.

Leaving a summary itself out of its own group's mean pulls the score below 0 when the same few texts occur in both groups:
with the same different texts on both sides it is -1. Say so beside results on short or templated summaries, and report the
share of ties.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ....errors import DataError
from ....fairness.stop_words import ENGLISH_STOP_WORDS
from ....text.forms import normal_form

if TYPE_CHECKING:
    from scipy.sparse import csr_array, sparray

# differences of mean similarity up to this are ties; without a tolerance rounding decides about identical summaries
TIE = 1e-9
# of the float32 vectors of a sentence encoder
DENSE_TIE = 1e-6


@dataclass(frozen=True)
class DocumentScore:
    """The summaries of one original."""

    # 1 nearer to its own group, 0.5 tie, 0 nearer to the others, None no trial; one a summary
    trials: tuple[float | None, ...]
    # in [-1, 1], 0 is not distinguishable; None without any trial
    score: float | None


@dataclass(frozen=True)
class Distinguishability:
    """The mean over originals, which count equally."""

    documents: tuple[DocumentScore, ...]
    # in [-1, 1], 0 is not distinguishable; None when no original has a trial
    score: float | None
    # originals without any trial
    n_left_out: int

    @property
    def undefined(self) -> str | None:
        """Why there is no score."""
        return None if self.score is not None else "no original has a summary that can be compared with both sides"


def distinguishability(documents: Iterable[DocumentScore]) -> Distinguishability:
    """The scores of the originals put together; read once, so they may be a stream."""
    scored = tuple(documents)
    document_scores = [document.score for document in scored if document.score is not None]
    return Distinguishability(
        documents=scored,
        score=fmean(document_scores) if document_scores else None,
        n_left_out=len(scored) - len(document_scores),
    )


def score_texts(texts: Sequence[str], groups: Sequence[str], tie_tolerance: float = TIE) -> DocumentScore:
    """Distinguishability of one original's summaries by their token counts.

    Args:
        texts: masked summaries.
        groups: the group of each.
        tie_tolerance: at least 0.

    Raises:
        DataError: texts and groups differ in number.
    """
    return _score(count_vectors(texts), groups, tie_tolerance)


def score_vectors(vectors: ArrayLike, groups: Sequence[str], tie_tolerance: float = TIE) -> DocumentScore:
    """Distinguishability of one original's summaries by given vectors, for instance of a sentence encoder.

    Args:
        vectors: of the masked summaries, of any length, shape (summaries, dimensions).
        groups: the group of each summary.
        tie_tolerance: at least 0; `DENSE_TIE` for an encoder's float32 vectors.

    Raises:
        DataError: vectors are of unequal length or not finite, or vectors and groups differ in number.
    """
    try:
        array = np.asarray(vectors, dtype=float)
    except ValueError as error:
        raise DataError("vectors of one document are of unequal length; use one encoder for all") from error
    if array.ndim != 2 or not np.isfinite(array).all():
        raise DataError(f"vectors need the shape (summaries, dimensions) and finite numbers, got shape {array.shape}")
    # very small and very large vectors have directions too: their squares must not leave the range of numbers
    largest = np.abs(array).max(axis=1, keepdims=True, initial=0.0)
    return _score(array / np.where(largest > 0, largest, 1.0), groups, tie_tolerance)


def _score(vectors: "NDArray[np.float64] | sparray", groups: Sequence[str], tie_tolerance: float) -> DocumentScore:
    if vectors.shape[0] != len(groups):
        raise DataError(f"{vectors.shape[0]} summaries, but {len(groups)} groups; one group a summary is needed")
    if tie_tolerance < 0:
        raise DataError(f"a tie tolerance is at least 0, got {tie_tolerance}")
    similarity, has_content = _cosines(vectors)
    group = np.unique(np.asarray(groups, dtype=str), return_inverse=True)[1]
    is_same_group = group[:, None] == group[None, :]
    neighbour = has_content[None, :] & ~np.eye(len(groups), dtype=bool)
    own_mean, own_n = _mean(similarity, is_same_group & neighbour)
    other_mean, other_n = _mean(similarity, ~is_same_group & neighbour)
    won = np.where(np.abs(own_mean - other_mean) <= tie_tolerance, 0.5, (own_mean > other_mean).astype(float))
    trials = np.where(has_content & (own_n > 0) & (other_n > 0), won, np.nan)
    return DocumentScore(
        trials=tuple(None if np.isnan(trial) else float(trial) for trial in trials),
        score=None if (share := _mean_trial(trials)) is None else 2 * share - 1,
    )


def _cosines(vectors: Any) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Cosine of every two rows, and whether a row is not zero; dense and sparse rows alike."""
    products = vectors @ vectors.T
    dense = np.asarray(products if isinstance(products, np.ndarray) else products.toarray(), dtype=float)
    lengths = np.sqrt(dense.diagonal())
    has_content = lengths > 0
    scale = np.where(has_content, lengths, 1.0)
    return dense / np.outer(scale, scale), has_content


def _mean(values: NDArray[np.float64], mask: NDArray[np.bool_]) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Mean of each row's values under the mask, and how many there are; the mean of none is 0."""
    n = mask.sum(axis=1)
    return (values * mask).sum(axis=1) / np.maximum(n, 1), n


def _mean_trial(trials: NDArray[np.float64]) -> float | None:
    scored_trials = trials[~np.isnan(trials)]
    return float(scored_trials.mean()) if len(scored_trials) else None


# two or more word characters: FIRST_NAME is one token
TOKEN = re.compile(r"\b\w\w+\b")


def count_vectors(texts: Sequence[str]) -> "csr_array":
    """Raw counts of the lower-cased tokens that are no stop words, shape (texts, words); no idf.

    Tokens, stop words and counts as of scikit-learn's `CountVectorizer(stop_words="english")`, which the authors used.

    Args:
        texts: all summaries of one original, masked.
    """
    from scipy.sparse import csr_array

    tokens = [TOKEN.findall(normal_form(text).lower()) for text in texts]
    text_of = np.repeat(np.arange(len(texts)), [len(text_tokens) for text_tokens in tokens])  # (tokens,)
    words: dict[str, int] = {}
    word_of = np.fromiter(
        (words.setdefault(token, len(words)) for text_tokens in tokens for token in text_tokens), dtype=np.intp
    )
    # entries at the same place are added up
    counts = csr_array((np.ones(len(word_of)), (text_of, word_of)), shape=(len(texts), max(1, len(words))))
    columns = np.array([place for word, place in words.items() if word not in ENGLISH_STOP_WORDS], dtype=np.intp)
    return counts[:, columns]
