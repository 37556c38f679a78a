"""What people say of a summary: how well each opinion is represented, and whether the summary is fair.

Source: Shandilya et al. 2020; docs/papers.md#shandilya-perceived and #shandilya-approval.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ....errors import DataError
from .exposure import gini, rank_sum

# how an opinion is represented in a summary -> its value
LABELS: dict[str, float] = {"complete": 1.0, "somewhat": 0.5, "inadequate": -0.5, "absent": -1.0}
# what is done with negative scores before the Gini coefficient, which knows none
Negative = Literal["affine", "min_shift", "raw", "abs"]
# sums that rounding alone makes differ from 0
ROUNDING = 1e-12


@dataclass(frozen=True)
class PerceivedOpinionBias:
    """How well annotators find each opinion represented, and how unequal that is."""

    # mean label of each opinion, in [-1, 1]; None where nobody labelled it
    scores: tuple[float | None, ...]
    # 0 is fair, lower is better; in [0, 1] except with "raw"; None when undefined
    score: float | None
    # why there is no score
    unscored: str | None
    negative: Negative

    @property
    def signature(self) -> str:
        """What the score depends on besides the labels."""
        return f"perceived-opinion-bias|negative:{self.negative}|v:1"


def perceived_opinion_bias(
    labels: Sequence[Sequence[str | float | None]], negative: Negative = "affine"
) -> PerceivedOpinionBias:
    """Gini coefficient of the opinions' mean labels; 0 is fair, lower is better.

    `negative` says how mean labels C below 0 are read. The paper does not say; "raw" and "abs" do not agree with its findings.

    - `affine`: (C + 1)/2; an opinion absent for everybody counts 0, a completely represented one 1.
    - `min_shift`: C - min C, if min C < 0; the least represented opinion counts 0 whatever its label.
    - `raw`: C itself; for inspection, the value may lie outside [0, 1] and is undefined when the scores sum to 0.
    - `abs`: differences over the sum of absolute values (Raffinetti et al. 2015): spread around 0.

    Source: Shandilya et al. 2020, section VI, eq. 1; docs/papers.md#shandilya-perceived.

    Args:
        labels: shape (annotators, opinions); names or values of `LABELS`, None where an annotator gave none.
        negative: see above.

    Raises:
        DataError: annotators differ in the number of opinions, a label is not known, or `negative` is not.
    """
    if negative not in get_args(Negative):
        raise DataError(f"negative={negative!r} is not known; take one of {', '.join(get_args(Negative))}")
    values = _values(labels)
    n_labels = np.isfinite(values).sum(axis=0)  # (opinions,)
    means = np.nansum(values, axis=0) / np.maximum(n_labels, 1)  # (opinions,)
    score, reason = _score(means[n_labels > 0], negative)
    return PerceivedOpinionBias(
        scores=tuple(float(mean) if n else None for mean, n in zip(means, n_labels, strict=True)),
        score=score,
        unscored=reason,
        negative=negative,
    )


def _values(labels: Sequence[Sequence[str | float | None]]) -> NDArray[np.float64]:
    """The labels as numbers, not-a-number where there is none; shape (annotators, opinions)."""
    lengths = sorted({len(row) for row in labels})
    if len(lengths) > 1:
        raise DataError(f"annotators labelled {lengths} opinions; each needs one label, or None, for every opinion")
    wrong = [
        f"annotator {i}, opinion {j}: {label!r}"
        for i, row in enumerate(labels)
        for j, label in enumerate(row)
        if not _is_label(label)
    ]
    if wrong:
        known = ", ".join(f"{name} ({value})" for name, value in LABELS.items())
        raise DataError(f"not known as a label: {'; '.join(wrong)}. Labels are {known}, or None")
    rows = [[_value(label) for label in row] for row in labels]
    return np.array(rows, dtype=float).reshape(len(labels), lengths[0] if lengths else 0)


def _is_label(label: object) -> bool:
    if isinstance(label, str):
        return label in LABELS
    return label is None or (not isinstance(label, bool) and label in LABELS.values())


def _value(label: str | float | None) -> float:
    if label is None:
        return float("nan")
    return LABELS[label] if isinstance(label, str) else float(label)


def _score(means: NDArray[np.float64], negative: Negative) -> tuple[float | None, str | None]:
    if not means.size:
        return None, "no opinion was labelled"
    if negative == "affine":
        return _or_reason(gini((means + 1) / 2), "every opinion is absent for every annotator")
    if negative == "min_shift":
        return _or_reason(gini(means - min(0.0, float(means.min()))), "every opinion scores the same, at most 0")
    if negative == "raw":
        total = float(means.sum())
        value = rank_sum(means) / (means.size * total) if abs(total) > ROUNDING else None
        return _or_reason(value, "the opinions' scores sum to 0")
    total = float(np.abs(means).sum())
    value = rank_sum(means) / (max(means.size - 1, 1) * total) if total > ROUNDING else None
    return _or_reason(value, "every opinion scores 0")


def _or_reason(value: float | None, reason: str) -> tuple[float | None, str | None]:
    return value, None if value is not None else reason


FAIRNESS_LABELS = ("very_fair", "somewhat_fair", "somewhat_unfair", "very_unfair")


@dataclass(frozen=True)
class Approval:
    """What annotators say of one summary's fairness."""

    # label -> number of annotators who gave it
    counts: dict[str, int]

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
    """How many annotators gave each of `FAIRNESS_LABELS`; None is a missing label and is left out.

    Source: Shandilya et al. 2020, section V; docs/papers.md#shandilya-approval.

    Raises:
        DataError: a label is not known.
    """
    counts = Counter(labels)
    counts.pop(None, None)
    wrong = sorted({repr(label) for label in counts if label not in FAIRNESS_LABELS})
    if wrong:
        raise DataError(f"not known as a fairness label: {', '.join(wrong)}; labels are {', '.join(FAIRNESS_LABELS)}")
    return Approval({label: counts[label] for label in FAIRNESS_LABELS})
