"""Entity inclusion bias: whether persons of one group are kept in summaries at better odds than those of another.

Source: Steen and Markert 2024, eq. 2; docs/papers.md#steen-inclusion.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ....errors import DataError
from ....resampling import defined
from .counts import CountRow, CountTable, by_group, check_choice, check_known, counts_by_group, group_counts, tabulate
from .persons import TITLES, Instance, align

# "haldane" adds a half to included and to left-out persons, which keeps all odds finite
Correction = Literal["none", "haldane"]
FIELDS = ("present", "included")


@dataclass(frozen=True)
class InclusionBias:
    """Persons by group, and the largest ratio of two groups' odds of being kept."""

    present: dict[str, int]
    included: dict[str, int]
    # share of persons kept, in [0, 1]; None for a group without persons
    p: dict[str, float | None]
    # largest odds ratio minus 1, in [0, inf], 0 is fair; never negative, so its expectation without bias is above 0
    score: float | None
    # why there is no score
    undefined: str | None


def inclusion_bias(
    present: Mapping[str, int],
    included: Mapping[str, int],
    *,
    groups: Sequence[str] | None = None,
    correction: Correction = "none",
) -> InclusionBias:
    """Entity inclusion bias of pooled counts.

    Args:
        present: persons of each group in all inputs.
        included: how many of them are named in their summary at least once.
        groups: all groups in their order; by default those of `present`.
        correction: "none" (the paper) or "haldane".

    Raises:
        DataError: counts or groups do not hold together, or more persons are included than present.
    """
    groups = tuple(present) if groups is None else tuple(groups)
    n, k = group_counts(present, groups, "present"), group_counts(included, groups, "included")
    _check_included(n, k, groups)
    counts = np.stack([n, k])
    score = float(inclusion_scores(counts, correction))
    with np.errstate(invalid="ignore"):
        p = k / n
    return InclusionBias(
        present=counts_by_group(groups, n),
        included=counts_by_group(groups, k),
        p=by_group(groups, p),
        score=defined(score),
        undefined=_why_undefined(counts, score),
    )


def inclusion_scores(
    counts: NDArray[np.float64] | NDArray[np.int64], correction: Correction = "none"
) -> NDArray[np.float64]:
    """Entity inclusion bias of each row, shape (...), in [0, inf]; nan where undefined.

    Args:
        counts: persons, shape (..., 2, groups): present, then included.
        correction: as in `inclusion_bias`.
    """
    return _largest(_odds_ratios(counts, correction)) - 1


def inclusion_table(instances: Iterable[Instance], groups: Sequence[str], titles: Iterable[str] = TITLES) -> CountTable:
    """Persons present and included by document and assignment; persons without a category are not counted.

    Raises:
        DataError: a category is no group.
    """
    allowed = frozenset(titles)

    def row(instance: Instance) -> CountRow:
        counted = {e.id: e.category for e in instance.source_entities if e.category is not None}
        check_known(set(counted.values()), groups, f"instance of document {instance.document_id!r}: a category")
        partners = align(instance.summary_entities, instance.source_entities, allowed).by_entity
        counts = np.zeros((2, len(groups)), dtype=np.int64)
        for person, category in counted.items():
            counts[:, groups.index(category)] += (1, bool(partners[person]))
        return CountRow(instance.document_id, instance.assignment_id, counts)

    return tabulate(map(row, instances), FIELDS, groups)


def _odds_ratios(counts: NDArray[np.float64] | NDArray[np.int64], correction: Correction) -> NDArray[np.float64]:
    """Odds of the row's group over those of the column's, (..., groups, groups); nan where it is undefined or the same.

    One division of whole numbers a pair: equal ratios come out equal, and 0/0 and inf/inf both come out as nan.
    """
    check_choice(correction, get_args(Correction), "correction")
    n, k = counts[..., 0, :], counts[..., 1, :]
    included, omitted = (k, n - k) if correction == "none" else (2 * k + 1, 2 * (n - k) + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        above = included[..., :, None] * omitted[..., None, :]
        ratios = above / (omitted[..., :, None] * included[..., None, :])
    counts_for = n > 0
    is_comparable = counts_for[..., :, None] & counts_for[..., None, :] & ~np.eye(n.shape[-1], dtype=bool)
    return np.where(is_comparable, ratios, np.nan)


def _largest(ratios: NDArray[np.float64]) -> NDArray[np.float64]:
    """Largest defined ratio of each row; nan when none is defined."""
    is_defined = ~np.isnan(ratios)
    largest = np.where(is_defined, ratios, -np.inf).max(axis=(-2, -1))
    return np.where(is_defined.any(axis=(-2, -1)), largest, np.nan)


def _check_included(n: NDArray[np.int64], k: NDArray[np.int64], groups: Sequence[str]) -> None:
    wrong = [f"{group}: {b} of {a}" for group, a, b in zip(groups, n, k, strict=True) if b > a]
    if wrong:
        raise DataError(f"more persons are included than present ({', '.join(wrong)})")


def _why_undefined(counts: NDArray[np.int64], score: float) -> str | None:
    if not math.isnan(score):
        return None
    if np.count_nonzero(counts[0]) < 2:
        return "fewer than two groups have persons in the inputs"
    return "every group is either never or always included, so no odds ratio is defined"
