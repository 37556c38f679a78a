"""Coverage Parity: does a system favour the documents of one value over the whole corpus?

A set's gaps can cancel over a corpus (fair in the long run) or add up. Sums are kept, not sets, so a corpus streams through.
Source: Li et al. 2025, section 3.3, eqs. 6 and 7; docs/papers.md#li-parity.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import DataError
from ...resampling import NOISE, Bootstrap, drawn_weights
from .coverage import NO_UNIT, ONE_VALUE, CoverageTable, equal_coverage, or_none

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class CoverageFairness:
    """Equal Coverage and Coverage Parity of a corpus, lower is fairer; None when nothing could be scored."""

    # mean over documents of their coverage less their set's, by place in the declared list; positive is over-represented
    mean_difference: tuple[float | None, ...]
    n_documents: tuple[int, ...]
    # mean over sets
    ec: float | None
    # mean over values of the absolute mean difference
    cp: float | None
    over_represented: int | None
    under_represented: int | None
    n_scored: int
    # reason -> sets
    left_out: dict[str, int]
    # what the sum of absolute mean differences was divided by
    n_values: int


def deviations(table: CoverageTable) -> tuple[Floats, NDArray[np.intp]]:
    """Coverage of each document of a scored set less its set's, and the document's value; both (documents of all sets,)."""
    real = (table.labels >= 0) & table.scored[:, None]
    return (table.by_document - table.overall[:, None])[real], table.labels[real]


def coverage_fairness(tables: Iterable[CoverageTable], *, n_values: int | None = None) -> CoverageFairness:
    """The measures of a corpus.

    Args:
        tables: coverage of batches of sets, all with the same declared values; read once.
        n_values: divisor of Coverage Parity; None takes the values that have a document. The released code takes it from the
            file's name, which is wrong for two of its data sets.

    Raises:
        DataError: two batches declare different numbers of values, or the divisor is below 1.
    """
    if n_values is not None and n_values < 1:
        raise DataError(f"Coverage Parity divides by at least 1 value, got {n_values}")
    sums, counts = np.zeros(0), np.zeros(0, dtype=int)
    ec, n, declared = 0.0, 0, None
    left_out = {NO_UNIT: 0, ONE_VALUE: 0}
    for table in tables:
        width = table.counts.shape[1]
        if declared is None:
            sums, counts = np.zeros(width), np.zeros(width, dtype=int)
        elif declared != width:
            raise DataError(f"one batch declares {declared} values, another {width}; give all of them the same list")
        declared = width
        values, labels = deviations(table)
        sums += np.bincount(labels, weights=values, minlength=width)
        counts += np.bincount(labels, minlength=width)
        ec += float(np.nansum(equal_coverage(table)))
        n += int(table.scored.sum())
        left_out[NO_UNIT] += int(table.no_unit.sum())
        left_out[ONE_VALUE] += int((table.one_valued & ~table.no_unit).sum())
    means = np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
    present = int((counts > 0).sum())
    divisor = present if n_values is None else n_values
    return CoverageFairness(
        mean_difference=or_none(means),
        n_documents=tuple(counts.tolist()),
        ec=ec / n if n else None,
        cp=float(np.nansum(np.abs(means)) / divisor) if present else None,
        over_represented=int(np.nanargmax(means)) if present else None,
        under_represented=int(np.nanargmin(means)) if present else None,
        n_scored=n,
        left_out={reason: count for reason, count in left_out.items() if count},
        n_values=divisor,
    )


def parity_significance(
    deviations_of_value: ArrayLike, direction: Literal["over", "under"], *, resamples: int = 1000, seed: int = 0
) -> float:
    """Bootstrap p of a value being over- or under-represented, in [0, 1].

    One less the share of resamples (same size, with replacement) whose sum has the direction's sign.

    Args:
        deviations_of_value: coverage of the value's documents less their sets', shape (documents,).
        direction: "over" for the value of the largest mean, "under" for that of the smallest.
        resamples: bootstrap draws.
        seed: of the draws.

    Raises:
        DataError: there is no document, a deviation is no number, or no draw is asked for, or the direction is neither.
    """
    values = np.asarray(deviations_of_value, dtype=float)
    if direction not in ("over", "under"):
        raise DataError(f"a value is represented 'over' or 'under', got {direction!r}")
    if values.ndim != 1 or not values.size or not np.isfinite(values).all() or resamples < 1:
        raise DataError(
            "significance needs one finite deviation for each document, at least one, and at least one resample"
        )
    sign = 1 if direction == "over" else -1
    weights = drawn_weights(values.size, Bootstrap(resamples=resamples, seed=seed))
    return 1 - sum(int((sign * (each @ values) > NOISE).sum()) for each in weights) / resamples
