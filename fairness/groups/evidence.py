"""From a classifier's probabilities to coverage: entailments of many sets, or all of one set's answer.

Source: Li et al. 2025 (arXiv:2412.08795) and its code; specification of group fairness, sections 14-15.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import DataError
from .coverage import (
    NO_UNIT,
    ONE_VALUE,
    CoverageMode,
    CoverageRule,
    coverage,
    coverage_rule,
    equal_coverage,
    or_none,
)
from .entailment import Entailments, document_entailment, merge_units, pack_entailments


@dataclass(frozen=True)
class SetEvidence:
    """What a classifier said about one document set and its summary."""

    # (contradiction, neutral, entailment) of each unit in each window, (units, windows, 3)
    nli: ArrayLike
    # place of each window's document, (windows,)
    windows: Sequence[int]
    # value of each document
    labels: Sequence[int]
    # probability that a unit entails another, (units, units); None merges no units
    between_units: ArrayLike | None = None


@dataclass(frozen=True)
class SetCoverage:
    """Coverage of one document set; None where there is none."""

    # Equal Coverage in [0, 1), lower is better
    ec: float | None
    # why there is none
    unscored: str | None
    by_document: tuple[float | None, ...]
    overall: float | None
    # by place in the declared list
    by_value: tuple[float | None, ...]
    difference: tuple[float | None, ...]
    counts: tuple[int, ...]
    # units that were taken as one
    clusters: tuple[tuple[int, ...], ...]
    n_units: int


def entailments_of(
    sets: Sequence[SetEvidence], mode: CoverageMode | CoverageRule = "released"
) -> tuple[Entailments, NDArray[np.intp]]:
    """Gated and merged entailments of the sets, and the first unit of each unit's cluster, (sets, units).

    Raises:
        DataError: as `document_entailment`, `pack_entailments` and `merge_units`.
    """
    rule = coverage_rule(mode)
    best = [document_entailment(s.nli, s.windows, len(s.labels), gate=rule.gate) for s in sets]
    packed = pack_entailments([(matrix, s.labels) for matrix, s in zip(best, sets, strict=True)])
    if rule.merge_above is None:
        return packed, np.broadcast_to(np.arange(packed.units.shape[1]), packed.units.shape)
    n = packed.units.shape[1]
    mutual = np.zeros((len(sets), n, n))
    for place, (matrix, each) in enumerate(zip(best, sets, strict=True)):
        if each.between_units is not None:
            given, own = np.asarray(each.between_units, dtype=float), matrix.shape[1]
            if given.shape != (own, own):
                raise DataError(f"set {place}: entailment between units needs shape {(own, own)}, got {given.shape}")
            mutual[place, :own, :own] = given
    return merge_units(packed, mutual, rule.merge_above)


def cover_set(evidence: SetEvidence, n_values: int, mode: CoverageMode | CoverageRule = "released") -> SetCoverage:
    """Coverage of one document set, from a classifier's probabilities.

    Raises:
        DataError: as `entailments_of` and `coverage`.
    """
    entailments, first = entailments_of([evidence], mode)
    table = coverage(entailments, n_values, mode)
    members: dict[int, list[int]] = {}
    for unit, leader in enumerate(first[0].tolist()):
        members.setdefault(leader, []).append(unit)
    unscored = NO_UNIT if table.no_unit[0] else ONE_VALUE if table.one_valued[0] else None
    return SetCoverage(
        ec=or_none(equal_coverage(table))[0],
        unscored=unscored,
        by_document=or_none(table.by_document[0]),
        overall=or_none(table.overall)[0],
        by_value=or_none(table.by_value[0]),
        difference=or_none(table.difference[0]),
        counts=tuple(table.counts[0].tolist()),
        clusters=tuple(tuple(each) for each in members.values()),
        n_units=int(table.n_units[0]),
    )
