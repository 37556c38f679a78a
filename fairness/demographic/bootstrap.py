"""Bootstrap intervals of the pooled measures, by document or by assignment.

Source: Steen and Markert 2024, section 5; docs/papers.md#steen-bootstrap. "document" draws originals, and with
each all its instances; "assignment" keeps every original and draws assignments within it. The mean of document scores
(distinguishability) has only the first kind: `resampling.cluster_interval` with one cluster a document.
"""

import logging
from collections.abc import Callable
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ...errors import DataError
from ...resampling import Bootstrap, Interval, Undefined, drawn_weights, percentile_interval
from .count_table import CountTable
from .shares import check_choice

log = logging.getLogger(__name__)

# a measure on arrays: counts (..., fields, groups) to scores (...), nan where undefined
Statistic = Callable[[NDArray[np.float64]], NDArray[np.float64]]
Unit = Literal["document", "assignment"]


def bootstrap(
    statistic: Statistic,
    table: CountTable,
    unit: Unit,
    plan: Bootstrap | None = None,
    undefined: Undefined = "omit",
) -> Interval:
    """Score of the pooled counts and its interval over drawn documents or assignments.

    Warns when under 95 % of the draws have a score.

    Args:
        statistic: `word_list_scores`, `inclusion_scores` or `hallucination_scores`.
        table: counts with the statistic's fields.
        unit: what is drawn.
        plan: of the draws.
        undefined: what draws without a score do; the released program propagates.

    Raises:
        DataError: the unit or `undefined` is not known, or the table has no document.
    """
    plan = plan or Bootstrap()
    check_choice(undefined, get_args(Undefined), "undefined")
    counts = counts_of(table, unit)
    weights = drawn_weights(len(counts), plan, strata=table.document if unit == "assignment" else None)
    scores = np.concatenate([replicates(statistic, counts, each) for each in weights])
    pooled = float(statistic(table.counts.sum(axis=0).astype(float)))
    found = percentile_interval(scores, plan.level, pooled, undefined)
    if found.is_doubtful:
        log.warning("only %d of %d bootstrap replicates have a defined score", found.n_defined, found.n_draws)
    return found


def counts_of(table: CountTable, unit: Unit) -> NDArray[np.float64]:
    """Counts of every unit that can be drawn, (documents or assignments, fields, groups).

    Raises:
        DataError: the unit is not known, or the table has no document.
    """
    check_choice(unit, get_args(Unit), "unit")
    if not table.document_ids:
        raise DataError("a bootstrap needs at least one document, got none")
    if unit == "assignment":
        return table.counts.astype(float)
    counts = np.zeros((len(table.document_ids), *table.counts.shape[1:]))
    np.add.at(counts, table.document, table.counts)
    return counts


def replicates(statistic: Statistic, counts: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Score of resamples that hold each unit as often as its weight says, (resamples,); nan where undefined.

    Args:
        statistic: as in `bootstrap`.
        counts: of the units, from `counts_of`.
        weights: shape (resamples, units).
    """
    return statistic((weights @ counts.reshape(len(counts), -1)).reshape(-1, *counts.shape[1:]))
