"""Tests of paired differences, and their correction for how many there are.

Whole document sets change sides, because the requests of a set share their sources. Source: Ri et al. 2025, section 4.1
(documents are the unit); Benjamini and Hochberg 1995 for the correction.
"""

from collections.abc import Sequence

import numpy as np

from ..compare import NOISE


def sign_flip_p_value(
    differences: Sequence[float | None], sets: Sequence[str], *, resamples: int, seed: int
) -> float | None:
    """Two-sided p-value of "systems are exchangeable within a document set"; exact when all sign patterns can be tried.

    Args:
        differences: one a request; None where a system has no value, which is left out.
        sets: the document set of each.
        resamples: sign patterns drawn when there are more of them than this.
        seed: of the draws.

    Returns:
        In (0, 1]; None when fewer than two document sets have a value, and 1 when nothing differs.
    """
    from scipy.stats import permutation_test

    sums: dict[str, float] = {}
    for difference, document_set in zip(differences, sets, strict=True):
        if difference is not None:
            sums[document_set] = sums.get(document_set, 0.0) + difference
    if len(sums) < 2:
        return None
    totals = np.array(list(sums.values()))
    if np.all(np.abs(totals) <= NOISE):
        return 1.0
    found = permutation_test(
        (totals,),
        lambda x, axis: np.sum(x, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=resamples,
        rng=np.random.default_rng(seed),
    )
    return float(found.pvalue)


def adjusted(p_values: Sequence[float | None]) -> list[float | None]:
    """The p-values after Benjamini and Hochberg over those that are there: shares of false findings, in [0, 1]."""
    from scipy.stats import false_discovery_control

    known = [p for p in p_values if p is not None]
    found = iter(false_discovery_control(known).tolist() if known else [])
    return [None if p is None else float(next(found)) for p in p_values]
