"""Approval: the share of annotators who call a summary fair."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ...errors import DataError

FAIRNESS_LABELS = ("very_fair", "somewhat_fair", "somewhat_unfair", "very_unfair")


@dataclass(frozen=True)
class Approval:
    """What annotators say of one summary's fairness."""

    # label -> number of annotators who gave it
    counts: dict[str, int]
    # annotators without a label
    missing: int

    @property
    def very_fair(self) -> float | None:
        """Share of the annotators with a label who call it very fair, in [0, 1]; None when there are none."""
        return self._share("very_fair")

    @property
    def very_unfair(self) -> float | None:
        """Share of the annotators with a label who call it very unfair, in [0, 1]; None when there are none."""
        return self._share("very_unfair")

    def _share(self, label: str) -> float | None:
        total = sum(self.counts.values())
        return self.counts[label] / total if total else None


def approval(labels: Sequence[str | None]) -> Approval:
    """How many annotators gave each of `FAIRNESS_LABELS`; None is a missing label and is counted apart.

    Source: Shandilya et al. 2020, section V; docs/papers.md#shandilya-approval.

    Raises:
        DataError: a label is not known.
    """
    counts = Counter(labels)
    missing = counts.pop(None, 0)
    wrong = sorted({repr(label) for label in counts if label not in FAIRNESS_LABELS})
    if wrong:
        raise DataError(f"not known as a fairness label: {', '.join(wrong)}; labels are {', '.join(FAIRNESS_LABELS)}")
    return Approval(counts={label: counts[label] for label in FAIRNESS_LABELS}, missing=missing)
