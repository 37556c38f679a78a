"""How the scores of a batch of summaries go together."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...errors import DataError

# a spread this small beside the values is rounding
CONSTANT = 1e-12


@dataclass(frozen=True)
class Correlation:
    """Pearson's r over the summaries that have both scores."""

    # in [-1, 1]; None when one side is constant or fewer than two summaries have both scores
    r: float | None
    # summaries it rests on
    n: int
    # summaries without one of the scores
    left_out: int


@dataclass(frozen=True)
class SummaryScores:
    """The scores of one summary of a batch; None where one is undefined or was not taken."""

    # mean ROUGE-1 F1 against the gold summaries, in [0, 1]
    rouge1_f1: float | None = None
    # shares of annotators, in [0, 1]
    very_fair: float | None = None
    very_unfair: float | None = None
    # Perceived Opinion Bias and the Opinion Interaction Graph score; 0 is fair
    perceived: float | None = None
    interaction: float | None = None


@dataclass(frozen=True)
class BatchAgreement:
    """The correlations that the paper reports for a batch."""

    rouge_and_very_fair: Correlation
    perceived_and_very_unfair: Correlation
    perceived_and_interaction: Correlation


def pearson(x: Sequence[float | None], y: Sequence[float | None]) -> Correlation:
    """Pearson's correlation; pairs with a None are left out and counted.

    Source: Shandilya et al. 2020, section V; docs/papers.md#shandilya-approval.

    Raises:
        DataError: the two sides differ in length, or a value is not finite.
    """
    from scipy import stats

    if len(x) != len(y):
        raise DataError(f"{len(x)} and {len(y)} values; a correlation needs one of each for every summary")
    kept = [(a, b) for a, b in zip(x, y, strict=True) if a is not None and b is not None]
    pairs = np.array(kept, dtype=float).reshape(-1, 2)  # (summaries, sides)
    if not np.isfinite(pairs).all():
        raise DataError("a correlation takes finite values; give None where there is no score")
    n, left_out = len(kept), len(x) - len(kept)
    if n < 2 or (np.ptp(pairs, axis=0) <= CONSTANT * np.abs(pairs).max(axis=0)).any():
        return Correlation(None, n, left_out)
    return Correlation(float(stats.pearsonr(pairs[:, 0], pairs[:, 1]).statistic), n, left_out)


def batch_agreement(summaries: Sequence[SummaryScores]) -> BatchAgreement:
    """Agreement of the automatic scores with the readers' votes, and of the two bias scores, over one batch.

    Source: Shandilya et al. 2020, table II.
    """
    perceived = [each.perceived for each in summaries]
    return BatchAgreement(
        rouge_and_very_fair=pearson([s.rouge1_f1 for s in summaries], [s.very_fair for s in summaries]),
        perceived_and_very_unfair=pearson(perceived, [s.very_unfair for s in summaries]),
        perceived_and_interaction=pearson(perceived, [s.interaction for s in summaries]),
    )
