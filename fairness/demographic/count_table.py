"""Counts by document and assignment: what the pooled measures add up and what the bootstrap resamples.

Pooled measures add counts over all instances first and form shares once. The table keeps no texts, so its size grows with
documents and assignments only, however long the corpus is.
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import DataError
from .shares import check_groups, counts_by_group


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
