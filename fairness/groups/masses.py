"""How much of each attribute value is in the sources, and how much of it a summary takes up: before any share is formed.

By N-gram matching: the source counts tokens; the summary counts, for each value, those of its tokens that the value's text has,
each time they occur. A token that several values have counts for each of them. One token is matched at a time: with two or
three, over 80 % of summaries have no overlap at all.

By neural matching: from token log-probabilities (BARTScore), which the caller brings, or rescaled precisions (BERTScore).

Source: Zhang et al. 2024, section 3.2; docs/papers.md#zhang-tokens and #zhang-neural.
"""

from collections.abc import Sequence, Set
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import DataError


@dataclass(frozen=True)
class Masses:
    """Mass of each declared value in one sample; any unit, as long as it is one unit a side."""

    # of the sources, one number a declared value, at least 0
    source: tuple[float, ...]
    # of the summary, in the same order
    target: tuple[float, ...]
    # what the values are called; () when only their places are known
    names: tuple[str, ...] = ()
    # comparisons of a value's text with the summary in which a model had either cut to its length
    n_cut: int = 0


@dataclass(frozen=True)
class Unscored:
    """A sample that has no answer, and why."""

    reason: str


@dataclass(frozen=True)
class MassTable:
    """Masses of many samples side by side; samples that declare fewer values are padded with 0."""

    # (samples, values)
    source: NDArray[np.float64]
    target: NDArray[np.float64]
    # which places are declared, (samples, values)
    declared: NDArray[np.bool_]


def pack(samples: Sequence[Masses]) -> MassTable:
    """The samples as one table.

    Raises:
        DataError: a sample has not one target mass and one name for each source mass; its place is named.
    """
    for row, sample in enumerate(samples):
        if len(sample.source) != len(sample.target) or len(sample.names) not in (0, len(sample.source)):
            raise DataError(
                f"sample {row}: {len(sample.source)} source masses, {len(sample.target)} target masses and {len(sample.names)} "
                "names; one of each is needed for every declared value"
            )
    lengths = np.array([len(sample.source) for sample in samples], dtype=int)
    declared = np.arange(lengths.max(initial=0)) < lengths[:, None]
    source, target = np.zeros(declared.shape), np.zeros(declared.shape)
    source[declared] = np.fromiter(chain.from_iterable(sample.source for sample in samples), float)
    target[declared] = np.fromiter(chain.from_iterable(sample.target for sample in samples), float)
    return MassTable(source, target, declared)


EMPTY_SUMMARY = "empty summary"
NO_SOURCE_MASS = "source has no mass"


def n_matched(vocabularies: Sequence[Set[str]], summary_tokens: Sequence[str]) -> list[int]:
    """How many of a summary's tokens each vocabulary has, each as often as it stands there."""
    # summed over bound membership tests, which no Python code runs for each token
    return [sum(map(vocabulary.__contains__, summary_tokens)) for vocabulary in vocabularies]


def common_tokens(value_tokens: Sequence[Sequence[str]]) -> set[str]:
    """The tokens that the released code takes for common to all values, and can leave out; published numbers have them.

    It intersects value by value and begins anew with the current value whenever nothing is left, so after an empty
    intersection these are tokens of the last values only.
    """
    common: set[str] = set()
    for tokens in value_tokens:
        common = common & set(tokens) if common else set(tokens)
    return common


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


def rescale(precision: ArrayLike, baseline: float = ROBERTA_LARGE_BASELINE) -> Floats:
    """(P - b) / (1 - b): 0 at the baseline of unrelated texts, 1 at identity; about -4.93 for P = 0 with the default baseline.

    Raises:
        DataError: the baseline is not below 1.
    """
    if not baseline < 1:
        raise DataError(f"a BERTScore baseline is below 1, got {baseline!r}")
    return np.asarray((np.asarray(precision, dtype=float) - baseline) / (1 - baseline))
