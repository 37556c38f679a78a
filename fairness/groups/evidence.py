"""From a classifier's probabilities to coverage: entailments of many sets, or all of each set's answer.

Source: Li et al. 2025, eqs. 1 to 5; docs/papers.md#li-coverage.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from math import isnan

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import DataError
from .coverage import (
    NO_UNIT,
    ONE_VALUE,
    CoverageMode,
    CoverageRule,
    Floats,
    coverage,
    coverage_rule,
    equal_coverage,
)
from .entailment import Entailments, checked, gated, merge_linked

Places = NDArray[np.intp]
# sets whose arrays stand side by side, padded to the largest of them: enough to be fast, few enough for memory not to grow
SIDE_BY_SIDE = 128


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
    # pairs of units that entail each other, in both orders, (links, 2): in place of all those probabilities, where few units do;
    # units that are linked through others need no link of their own
    links: NDArray[np.intp] | None = None


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


def cover_sets(
    sets: Sequence[SetEvidence], n_values: Sequence[int], mode: CoverageMode | CoverageRule = "released"
) -> list[SetCoverage]:
    """Coverage of each document set, from a classifier's probabilities: many at once are many times faster than one by one.

    Args:
        sets: may differ in documents, windows and units.
        n_values: declared attribute values of each set; its labels are below it.
        mode: as in `coverage`.

    Raises:
        DataError: names the set whose shapes do not go together, that has a window of no document of its own, a probability
            outside [0, 1], or a label that is negative or not declared.
    """
    rule = coverage_rule(mode)
    coverages: list[SetCoverage] = []
    for start in range(0, len(sets), SIDE_BY_SIDE):
        block = slice(start, start + SIDE_BY_SIDE)
        coverages += _covered(sets[block], n_values[block], rule, start)
    return coverages


def _covered(
    sets: Sequence[SetEvidence], n_values: Sequence[int], rule: CoverageRule, first_place: int
) -> Iterator[SetCoverage]:
    """Coverage of sets that stand side by side; padding is taken off again."""
    entailments, first = _entailments(sets, rule, first_place)
    undeclared = (entailments.labels >= np.array(n_values)[:, None]).any(axis=1)
    if undeclared.any():
        row = int(np.argmax(undeclared))
        raise DataError(
            f"set {first_place + row}: a document's label is a place below {n_values[row]}, got {max(sets[row].labels)}"
        )
    table = coverage(entailments, max(n_values), rule)
    rows = zip(
        sets, n_values, equal_coverage(table).tolist(), table.overall.tolist(), table.no_unit.tolist(),
        table.one_valued.tolist(), table.n_units.tolist(), table.by_document.tolist(), table.by_value.tolist(),
        table.difference.tolist(), table.counts.tolist(), first.tolist(), strict=True,
    )  # fmt: skip
    for (
        evidence,
        n,
        ec,
        overall,
        no_unit,
        one_valued,
        n_units,
        by_document,
        by_value,
        difference,
        counts,
        leaders,
    ) in rows:
        yield SetCoverage(
            ec=None if isnan(ec) else ec,
            unscored=NO_UNIT if no_unit else ONE_VALUE if one_valued else None,
            by_document=_row(by_document[: len(evidence.labels)]),
            overall=None if isnan(overall) else overall,
            by_value=_row(by_value[:n]),
            difference=_row(difference[:n]),
            counts=tuple(counts[:n]),
            clusters=_clusters(leaders[: len(np.asarray(evidence.nli))]),
            n_units=n_units,
        )


def _row(values: list[float]) -> tuple[float | None, ...]:
    """The numbers of a row, None for nan."""
    # most rows have none, and a sum tells
    return tuple(None if isnan(value) else value for value in values) if isnan(sum(values)) else tuple(values)


def _clusters(leaders: list[int]) -> tuple[tuple[int, ...], ...]:
    """The units of each cluster, by its first."""
    alone = _each_alone(len(leaders))
    # in most sets no unit says what another says
    if leaders == list(range(len(leaders))):
        return alone
    members: dict[int, tuple[int, ...]] = {}
    for unit, leader in enumerate(leaders):
        members[leader] = alone[unit] if leader == unit else (*members[leader], unit)
    return tuple(members.values())


@cache
def _each_alone(n: int) -> tuple[tuple[int, ...], ...]:
    # one object for all sets of so many units: thousands of small tuples keep the garbage collector busier than the measures
    return tuple((unit,) for unit in range(n))


def _entailments(sets: Sequence[SetEvidence], rule: CoverageRule, first_place: int) -> tuple[Entailments, Places]:
    """Gated and merged entailments, and the first unit of each unit's cluster; `first_place` is that of the first set, for
    messages.
    """
    classes = [_classes(evidence, place) for place, evidence in enumerate(sets, first_place)]
    packed = _side_by_side(sets, classes, rule.gate, first_place)
    if rule.merge_above is None:
        return packed, np.broadcast_to(np.arange(packed.units.shape[1]), packed.units.shape)
    return merge_linked(
        packed, *_links(sets, [len(probabilities) for probabilities in classes], rule.merge_above, first_place)
    )


def _links(
    sets: Sequence[SetEvidence], n_units: Sequence[int], above: float, first_place: int
) -> tuple[Places, Places, Places]:
    """Places of a set and of two of its units that entail each other, in both directions."""
    between = [np.zeros((0, 0)) if s.between_units is None else np.asarray(s.between_units, dtype=float) for s in sets]
    for place, (matrix, s, n) in enumerate(zip(between, sets, n_units, strict=True), first_place):
        if s.between_units is not None and matrix.shape != (n, n):
            raise DataError(f"set {place}: entailment between units needs shape {(n, n)}, got {matrix.shape}")
    # set after set, unit after unit
    mutual, sizes = (
        np.concatenate([np.zeros(0), *(matrix.reshape(-1) for matrix in between)]),
        np.array([*map(len, between)], dtype=int),
    )
    (places,) = (mutual > above).nonzero()
    of_set, unit, row = _located(places, sizes, sizes)
    neighbour = row - (np.cumsum(sizes) - sizes)[of_set]
    back = places + (neighbour - unit) * (sizes[of_set] - 1)
    linked = (unit != neighbour) & (mutual[back] > above)
    listed = [(place, s.links) for place, s in enumerate(sets) if s.links is not None]
    return (
        np.concatenate([of_set[linked], *(np.full(len(links), place) for place, links in listed)]),
        np.concatenate([unit[linked], *(links[:, 0] for _, links in listed)]),
        np.concatenate([neighbour[linked], *(links[:, 1] for _, links in listed)]),
    )


def _classes(evidence: SetEvidence, place: int) -> Floats:
    """A set's probabilities, once its shapes are known to go together."""
    classes, windows = np.asarray(evidence.nli, dtype=float), evidence.windows
    if classes.ndim != 3 or classes.shape[1:] != (len(windows), 3):
        raise DataError(
            f"set {place}: entailment needs shape (units, {len(windows)} windows, 3 classes), got {classes.shape}"
        )
    return classes


def _side_by_side(sets: Sequence[SetEvidence], classes: Sequence[Floats], gate: bool, first_place: int) -> Entailments:
    """The best windows of all sets, padded to the largest."""
    lengths = [
        (len(probabilities), len(evidence.windows), len(evidence.labels))
        for probabilities, evidence in zip(classes, sets, strict=True)
    ]
    n_units, n_windows, n_documents = np.array(lengths, dtype=int).reshape(-1, 3).T
    windows = np.fromiter(chain.from_iterable(evidence.windows for evidence in sets), int)
    strays = (windows < 0) | (windows >= np.repeat(n_documents, n_windows))
    if strays.any():
        row = int(np.repeat(np.arange(len(sets)), n_windows)[np.argmax(strays)])
        documents, n = list(sets[row].windows), n_documents[row]
        raise DataError(f"set {first_place + row}: a window's document is a place below {n}, got {documents}")
    is_unit = np.arange(n_units.max(initial=0)) < n_units[:, None]
    is_document = np.arange(n_documents.max(initial=0)) < n_documents[:, None]
    labels = np.full(is_document.shape, -1)
    labels[is_document] = np.fromiter(chain.from_iterable(evidence.labels for evidence in sets), int)

    # set after set, unit after unit, window after window
    entailed = gated(
        np.concatenate([np.zeros((0, 3)), *(probabilities.reshape(-1, 3) for probabilities in classes)]), gate
    )
    (places,) = (entailed != 0).nonzero()
    of_set, unit, window = _located(places, n_units, n_windows)
    best = np.zeros((*is_document.shape, is_unit.shape[1]))
    into = (of_set * best.shape[1] + windows[window]) * best.shape[2] + unit
    with np.errstate(invalid="ignore"):
        # nan is refused below
        np.maximum.at(best.reshape(-1), into, entailed[places])
    return checked(Entailments(best, labels, is_unit), is_document, first_place)


def _located(places: Places, n_units: Places, n_windows: Places) -> tuple[Places, Places, Places]:
    """Set, unit in the set, and window among the windows of all sets, of places in the row of all sets' (units, windows)."""
    sizes = n_units * n_windows
    of_set = np.repeat(np.arange(len(sizes)), sizes)[places]
    unit, window = np.divmod(places - (np.cumsum(sizes) - sizes)[of_set], n_windows[of_set])
    return of_set, unit, (np.cumsum(n_windows) - n_windows)[of_set] + window
