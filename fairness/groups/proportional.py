"""Proportional Representation: the baseline that Equal Coverage is compared with.

Sources by tokens, summary by BARTScore, aimed at the sources' shares. The paper prints no formula; here it is UER in the default
mode. The mean absolute difference, returned beside it, is exactly twice that, so ranks agree.
Source: Li et al. 2025, section 5.1; docs/papers.md#li-proportional.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ...errors import DataError
from .matching import DEFAULT_TEMPERATURE, softmax
from .shares import compare, unfair_error_rate


@dataclass(frozen=True)
class ProportionalRepresentation:
    """Shares of the values with mass in the source, and how far they differ."""

    # places of the values in the declared list
    values: tuple[int, ...]
    p_source: tuple[float, ...]
    p_target: tuple[float, ...]
    # mean shortfall, in [0, 1); 0 is fair
    pr: float
    # mean absolute difference, twice `pr`
    pr_abs: float
    temperature: float


def proportional_representation(
    source: ArrayLike, scores: ArrayLike, *, temperature: float = DEFAULT_TEMPERATURE
) -> ProportionalRepresentation:
    """How far a summary's shares are from its sources'.

    Args:
        source: tokens of each declared value, shape (values,).
        scores: BARTScore of the summary given each value's text, shape (values,).
        temperature: of the softmax over the scores.

    Raises:
        DataError: the source has no mass; otherwise as `compare` and `softmax`.
    """
    shares = compare(source, softmax(scores, temperature))
    if not shares.scorable:
        raise DataError("Proportional Representation is undefined for a source without mass; leave it out and count it")
    gold, target = shares.gold[shares.kept], shares.target[shares.kept]
    return ProportionalRepresentation(
        values=tuple(np.flatnonzero(shares.kept).tolist()),
        p_source=tuple(gold.tolist()),
        p_target=tuple(target.tolist()),
        pr=float(unfair_error_rate(shares)),
        pr_abs=float(np.abs(gold - target).mean()),
        temperature=temperature,
    )
