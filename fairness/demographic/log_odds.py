"""Words that tell two sets of texts apart: log-odds with an uninformative Dirichlet prior.

Source: Monroe et al. 2008; Steen and Markert 2024, section 4; docs/papers.md#steen-simulated.
"""

from collections.abc import Mapping

import numpy as np

from ...errors import DataError


def log_odds_z(counts_a: Mapping[str, int], counts_b: Mapping[str, int], alpha: float = 0.01) -> dict[str, float]:
    """z of each word's log odds ratio between two text sets, words in alphabetical order; above 0 the word leans to a.

    |z| well above 1.96 is read as a difference. A set's size is the sum of its counts.

    Args:
        counts_a: tokens of each word in the one set.
        counts_b: in the other.
        alpha: prior count of every word, above 0.

    Raises:
        DataError: alpha is not above 0, a count is negative, or both tables together hold fewer than two words.
    """
    words = sorted(counts_a.keys() | counts_b.keys())
    y = np.array([[counts.get(word, 0) for word in words] for counts in (counts_a, counts_b)], dtype=float)
    if len(words) < 2:
        raise DataError(f"log-odds set a word against all others; at least two words are needed, got {words}")
    if not alpha > 0 or (y < 0).any():
        raise DataError(
            f"log-odds need alpha > 0 and counts of at least 0, got alpha {alpha} and a least count {y.min()}"
        )
    seen = y + alpha  # (sets, words)
    log_odds = np.log(seen) - np.log(seen.sum(axis=1, keepdims=True) - seen)
    z = (log_odds[0] - log_odds[1]) / np.sqrt((1 / seen).sum(axis=0))
    return dict(zip(words, z.tolist(), strict=True))
