"""Counts by group, document and assignment: their shares, the pooled measures' table, and its bootstrap.

Pooled measures add counts over all instances first and form shares once. The table keeps no texts, so its size grows with
documents and assignments only, however long the corpus is. Arrays hold nan where a share is undefined; records hold None.

A bootstrap draws documents, and with each all its instances, or keeps every document and draws assignments within it. The mean of
document scores (distinguishability) has only the first kind: `resampling.cluster_interval` with one cluster a document.

Source: Steen and Markert 2024, section 5; docs/papers.md#steen-bootstrap.
"""

import logging
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ....errors import DataError
from ....resampling import Bootstrap, Interval, defined, drawn_weights, percentiles

# the released program's order of genders
GENDERS = ("male", "female")


def shares(counts: ArrayLike) -> NDArray[np.float64]:
    """Shares of the groups in each row, in [0, 1]; a row without counts is undefined, all nan.

    Args:
        counts: not negative, shape (..., groups).
    """
    array = np.asarray(counts, dtype=float)
    total: NDArray[np.float64] = array.sum(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore"):
        return array / total


def total_variation(p: ArrayLike, q: ArrayLike) -> NDArray[np.float64]:
    """Total variation distance of distributions over the same groups, in [0, 1]; nan where one of them is undefined.

    Args:
        p: shape (..., groups).
        q: a shape that broadcasts with that of `p`.
    """
    gaps = np.abs(np.asarray(p, dtype=float) - np.asarray(q, dtype=float))
    distance: NDArray[np.float64] = gaps.sum(axis=-1) / 2
    return distance


def group_counts(counts: Mapping[str, int], groups: Sequence[str], label: str) -> NDArray[np.int64]:
    """The counts in the order of the groups, shape (groups,); a group that is not named counts 0.

    Args:
        counts: by group.
        groups: at least two, each once.
        label: what was counted, as an error should name it ("present").

    Raises:
        DataError: fewer than two groups, a group twice, a count of another group, or a count that is not a number >= 0.
    """
    check_groups(groups)
    check_known(counts, groups, label)
    wrong = {group: count for group, count in counts.items() if count < 0 or count != int(count)}
    if wrong:
        raise DataError(f"counts of {label} are whole numbers of at least 0, got {wrong}")
    return np.array([counts.get(group, 0) for group in groups], dtype=np.int64)


def check_groups(groups: Sequence[str]) -> None:
    """Refuse a list of groups that cannot be compared.

    Raises:
        DataError: fewer than two groups, or a group twice.
    """
    if len(groups) < 2 or len(set(groups)) < len(groups):
        raise DataError(f"a measure compares two or more groups, each named once, got {list(groups)}")


def check_known(named: Mapping[str, float] | set[str], groups: Sequence[str], label: str) -> None:
    """Refuse groups that are not in the list.

    Raises:
        DataError: a name in `named` is no group.
    """
    unknown = sorted(set(named) - set(groups))
    if unknown:
        raise DataError(f"{label} names {', '.join(map(repr, unknown))}, but the groups are {', '.join(groups)}")


def by_group(groups: Sequence[str], values: ArrayLike) -> dict[str, float | None]:
    """Values by group; None where undefined."""
    return {group: defined(value) for group, value in zip(groups, np.asarray(values, dtype=float), strict=True)}


def counts_by_group(groups: Sequence[str], counts: NDArray[np.int64]) -> dict[str, int]:
    """Counts by group, as Python's numbers."""
    return dict(zip(groups, counts.tolist(), strict=True))


def check_choice(choice: str, choices: Sequence[str], label: str) -> None:
    """Refuse a value that is none of the choices.

    Raises:
        DataError: the text names `label` and the choices.
    """
    if choice not in choices:
        raise DataError(f"{label} {choice!r} is not known; choices are {', '.join(choices)}")


@dataclass(frozen=True)
class CountRow:
    """Counts of one instance."""

    document_id: str
    # instances that share it within a document are resampled together
    assignment_id: Hashable
    # shape (fields, groups)
    counts: ArrayLike


@dataclass(frozen=True)
class CountTable:
    """Counts of every assignment of every document."""

    # what was counted: ("present", "included")
    fields: tuple[str, ...]
    groups: tuple[str, ...]
    # in order of first appearance
    document_ids: tuple[str, ...]
    # position of each assignment's document, ascending, shape (assignments,)
    document: NDArray[np.intp]
    # shape (assignments, fields, groups)
    counts: NDArray[np.int64]

    def pooled(self) -> dict[str, dict[str, int]]:
        """Counts added up over all instances, by field and group."""
        total = self.counts.sum(axis=0)
        return {field: counts_by_group(self.groups, row) for field, row in zip(self.fields, total, strict=True)}


def tabulate(rows: Iterable[CountRow], fields: Sequence[str], groups: Sequence[str]) -> CountTable:
    """The rows added up by document and assignment; read once, so they may be a stream.

    Raises:
        DataError: the groups cannot be compared, a row has another shape, or a count is negative.
    """
    check_groups(groups)
    shape = (len(fields), len(groups))
    documents: dict[str, dict[Hashable, NDArray[np.int64]]] = {}
    for row in rows:
        counts = np.asarray(row.counts, dtype=np.int64)
        if counts.shape != shape or (counts < 0).any():
            raise DataError(
                f"counts of document {row.document_id!r}, assignment {row.assignment_id!r}: need shape {shape} "
                f"(fields, groups) and numbers of at least 0, got {counts.tolist()}"
            )
        assignments = documents.setdefault(row.document_id, {})
        if row.assignment_id in assignments:
            assignments[row.assignment_id] += counts
        else:
            assignments[row.assignment_id] = counts.copy()
    sizes = [len(assignments) for assignments in documents.values()]
    flat = [counts for assignments in documents.values() for counts in assignments.values()]
    return CountTable(
        fields=tuple(fields),
        groups=tuple(groups),
        document_ids=tuple(documents),
        document=np.repeat(np.arange(len(sizes)), sizes),
        counts=np.array(flat, dtype=np.int64).reshape(-1, *shape),
    )


log = logging.getLogger(__name__)

# a measure on arrays: counts (..., fields, groups) to scores (...), nan where undefined
Statistic = Callable[[NDArray[np.float64]], NDArray[np.float64]]
Unit = Literal["document", "assignment"]
# what draws without a defined score do: "omit" leaves them out, "propagate" leaves no interval
Undefined = Literal["omit", "propagate"]
# least share of draws that define a score, below which its interval is doubtful
LEAST_DEFINED = 0.95


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
    scores = np.concatenate([replicates(statistic, counts, block) for block in weights])
    pooled = float(statistic(table.counts.sum(axis=0).astype(float)))
    interval = percentile_interval(scores, plan.level, pooled, undefined)
    if interval.n_defined < LEAST_DEFINED * interval.n_draws:
        log.warning("only %d of %d bootstrap replicates have a defined score", interval.n_defined, interval.n_draws)
    return interval


def percentile_interval(
    draws: ArrayLike, level: float, estimate: float | None = None, undefined: Undefined = "omit"
) -> Interval:
    """Percentile interval of one number.

    Args:
        draws: the number in each draw, None or nan where undefined, (draws,).
        level: of the interval.
        estimate: of all the data, None or nan when undefined.
        undefined: what draws without a defined number do.
    """
    array = np.asarray(draws, dtype=float)
    low, high = (defined(float(bound)) for bound in percentiles(array, level))
    interval = Interval(defined(estimate), low, high, len(array), int((~np.isnan(array)).sum()))
    return (
        replace(interval, low=None, high=None)
        if undefined == "propagate" and interval.n_defined < len(array)
        else interval
    )


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
