"""ROUGE-1 of a summary against gold summaries."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from ...extras import need


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
    readable = bool(tokenize(summary, None))
    return GoldOverlap(
        tuple(
            float(scorer.score(text, summary)["rouge1"].fmeasure) if readable and tokenize(text, None) else None
            for text in gold
        )
    )
