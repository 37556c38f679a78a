"""What the measures are set against: overlap with gold summaries, and how the scores of a batch of summaries go together."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from ....errors import DataError
from ....extras import need
from ....text import is_read
from ....text.forms import base_letters

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


def pearson(x: Sequence[float | None], y: Sequence[float | None]) -> Correlation:
    """Pearson's correlation; pairs with a None are left out and counted.

    Source: Shandilya et al. 2020, section V; docs/papers.md#shandilya-approval.

    Raises:
        DataError: the two sides differ in length, or a value is not finite.
    """
    from scipy import stats

    if len(x) != len(y):
        raise DataError(f"{len(x)} and {len(y)} values; a correlation needs one of each for every summary")
    complete_pairs = [(a, b) for a, b in zip(x, y, strict=True) if a is not None and b is not None]
    pairs = np.array(complete_pairs, dtype=float).reshape(-1, 2)  # (summaries, sides)
    if not np.isfinite(pairs).all():
        raise DataError("a correlation takes finite values; give None where there is no score")
    n, left_out = len(complete_pairs), len(x) - len(complete_pairs)
    if n < 2 or (np.ptp(pairs, axis=0) <= CONSTANT * np.abs(pairs).max(axis=0)).any():
        return Correlation(None, n, left_out)
    return Correlation(float(stats.pearsonr(pairs[:, 0], pairs[:, 1]).statistic), n, left_out)


@dataclass(frozen=True)
class GoldOverlap:
    """Unigram overlap of a summary with each gold summary."""

    # F1 for each gold summary, in [0, 1]; None where one of the two texts has no word that ROUGE reads (a-z, 0-9)
    f1: tuple[float | None, ...]

    @property
    def mean(self) -> float | None:
        """Mean F1 over the gold summaries that have one, in [0, 1], higher is better; None when none has."""
        known = [value for value in self.f1 if value is not None]
        return fmean(known) if known else None

    @property
    def left_out(self) -> int:
        """Gold summaries that the mean does without."""
        return self.f1.count(None)


def rouge1_f1(summary: str, gold: Sequence[str]) -> GoldOverlap:
    """ROUGE-1 F1 of the summary against each gold summary, by rouge-score: lower case, no stemming, stop words stay.

    Source: Lin 2004; Shandilya et al. 2020, section V; docs/papers.md#shandilya-approval.

    Raises:
        MissingExtra: rouge-score is not installed.
    """
    feature = "ROUGE-1 against gold summaries"
    tokenize = need("rouge_score.tokenize", feature).tokenize
    scorer = need("rouge_score.rouge_scorer", feature).RougeScorer(["rouge1"], use_stemmer=False)

    def readable(text: str) -> bool:
        return is_read(text, tokenize(base_letters(text), None))

    return GoldOverlap(
        tuple(
            float(scorer.score(base_letters(text), base_letters(summary))["rouge1"].fmeasure)
            if readable(summary) and readable(text)
            else None
            for text in gold
        )
    )
