"""FairPO's triples as arithmetic: thinned sets, pairs and their slots; weights are `fairness.groups.fairpo`'s.

    thinnings        copies of a set whose summary is not judged yet, each without some documents of one value
    choose_thinnings the two of them that lack documents of the most and of the least represented value, afterwards
    fair_pairs       chosen and rejected of the three candidates, slots and powers

Each value k has two slots: 2k "over-represented", 2k + 1 "under-represented".
Source: FairPO; docs/papers.md#fairpo.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import DataError

Places = NDArray[np.intp]

DEFAULT_RATE = 0.1
# the released code thins an over-represented value only if it has more documents than this
FEWEST_OVER = 3


@dataclass(frozen=True)
class Thinning:
    """A set with some documents of one value taken out."""

    value: int
    # places of the documents that stay, in their new, shuffled order
    documents: tuple[int, ...]

    def counts(self, labels: Sequence[int], n_values: int) -> list[int]:
        """Documents of each value that are left."""
        remaining = np.asarray(labels, dtype=int)[list(self.documents)]
        return [int(n) for n in np.bincount(remaining, minlength=n_values)]


def thinnings(
    labels: Sequence[int], n_values: int, rng: np.random.Generator, *, rate: float = DEFAULT_RATE
) -> tuple[Thinning, ...]:
    """Every thinned copy that can be wanted of a set while the differences of its values are not known yet, by value.

    One of each value with documents enough to be thinned as over- or as under-represented. A value that may have to be both gets
    a second one, of other documents: that happens only where it alone has documents enough.

    Args:
        labels: value of each document, below `n_values`.
        n_values: number of values.
        rng: the generator that chooses documents and shuffles.
        rate: share of all documents that is taken, in (0, 1); rounded half to even, at least one document (the released code
            can round to 0 and then takes all of the value).

    Raises:
        DataError: the rate is outside (0, 1), or a label is not below the number of values.
    """
    places, counts, n = _counted(labels, n_values, rate)
    over, under = counts > FEWEST_OVER, counts > n
    drawn = []
    for value in np.flatnonzero(over | under).tolist():
        first = _thinned(places, value, n, rng)
        drawn.append(first)
        if over[value] and under[value] and np.count_nonzero(over & under) == 1:
            drawn.append(_other(first, places, n, rng))
    return tuple(drawn)


def choose_thinnings(
    labels: Sequence[int], differences: Sequence[float | None], drawn: Sequence[int], *, rate: float = DEFAULT_RATE
) -> tuple[int, int] | None:
    """Which two of the copies that `thinnings` drew make the pair: minus over, minus under; None where a value lacks documents.

    The values are taken by their difference; of those that are equal, the first. Where all values that can be thinned have one
    difference, the released code thins the first of them twice; here the second copy is of the next value.

    Args:
        labels: as given to `thinnings`.
        differences: coverage of each value less the overall one, in the summary of the full set; None for an absent value.
        drawn: value of each copy.
        rate: as given to `thinnings`.

    Raises:
        DataError: the rate is outside (0, 1), a label is not below the number of differences, or a present value has none.
    """
    _, counts, n = _counted(labels, len(differences), rate)
    known = _known(differences, counts)
    over = _first(np.argsort(-known, kind="stable"), counts, FEWEST_OVER)
    if over is None or over not in drawn:
        return None
    minus_over = list(drawn).index(over)
    for value in np.argsort(known, kind="stable").tolist():
        copies = [place for place, drawn_value in enumerate(drawn) if drawn_value == value and place != minus_over]
        if counts[value] > n and copies:
            return minus_over, copies[0]
    return None


def _counted(labels: Sequence[int], n_values: int, rate: float) -> tuple[Places, Places, int]:
    """Value of each document, documents of each value, and how many documents a thinning takes."""
    places = np.asarray(labels, dtype=int)
    if not 0 < rate < 1 or ((places < 0) | (places >= n_values)).any():
        raise DataError(f"thinning needs a rate in (0, 1), got {rate!r}, and labels below {n_values}, got {labels!r}")
    return places, np.bincount(places, minlength=n_values), max(1, round(rate * len(places)))


def _known(differences: Sequence[float | None], counts: Places) -> NDArray[np.float64]:
    """The differences, nan for absent values."""
    known = np.array([np.nan if d is None else d for d in differences], dtype=float)
    if np.isnan(known[counts > 0]).any():
        raise DataError("a value that has documents needs its difference; only absent values may have None")
    return known


def _first(order: Places, counts: Places, above: int) -> int | None:
    """The first value of the order with more documents than that."""
    return next((int(value) for value in order if counts[value] > above), None)


def _thinned(places: Places, value: int, n: int, rng: np.random.Generator) -> Thinning:
    members = np.flatnonzero(places == value)
    dropped = rng.choice(members, size=min(n, len(members)), replace=False)
    remaining = rng.permutation(np.setdiff1d(np.arange(len(places)), dropped))
    return Thinning(value, tuple(remaining.tolist()))


def _other(first: Thinning, places: Places, n: int, rng: np.random.Generator) -> Thinning:
    """Another thinning of the same value, by other documents; the value has more than `n`."""
    while True:
        second = _thinned(places, first.value, n, rng)
        if set(second.documents) != set(first.documents):
            return second


Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

# order of the candidates; ties take the first
CANDIDATES = ("minus_over", "original", "minus_under")
# a spread of log weights below this is none
NO_SPREAD = 1e-12


@dataclass(frozen=True)
class Slots:
    """Slots of one side (chosen or rejected) of pairs; arrays of shape (pairs, 2 * values)."""

    flags: Bools
    # |C_k| where flagged, 0 elsewhere
    weight: Floats
    # exp((ln weight - mean) / (2 spread)) over the pairs with this slot flagged; 0 elsewhere, 1 where there is no spread
    power: Floats


@dataclass(frozen=True)
class FairPairs:
    """Pairs of chosen and rejected summaries; sets whose candidates are equally fair are left out."""

    # places of the sets that give a pair, (pairs,)
    sets: NDArray[np.intp]
    # places in CANDIDATES, (pairs,)
    chosen: NDArray[np.intp]
    rejected: NDArray[np.intp]
    # square root of the gap in Equal Coverage over its mean, (pairs,): weights of the margin-weighted baseline, mean 1
    margin_weight: Floats
    chosen_slots: Slots
    rejected_slots: Slots
    # documents of each value of the full set, in both of its slots, (pairs, 2 * values)
    counts: Floats


def fair_pairs(ec: ArrayLike, difference: ArrayLike, counts: ArrayLike) -> FairPairs:
    """The pairs of document sets with three judged candidates each.

    Args:
        ec: Equal Coverage of each candidate against the full set, shape (sets, 3), candidates ordered as `CANDIDATES`.
        difference: coverage of each value less the overall one, shape (sets, 3, values); anything (nan) for absent values.
        counts: documents of each value in the full set, shape (sets, values).

    Raises:
        DataError: the shapes do not go together, or an Equal Coverage or the difference of a present value is not a number.
    """
    scores, gaps, numbers = (np.asarray(x, dtype=float) for x in (ec, difference, counts))
    if scores.ndim != 2 or scores.shape[1] != len(CANDIDATES) or gaps.shape != (*scores.shape, *numbers.shape[1:]):
        raise DataError(
            f"pairs need shapes (sets, 3), (sets, 3, values) and (sets, values), got {scores.shape}, {gaps.shape} and "
            f"{numbers.shape}"
        )
    present = numbers[:, None] > 0
    if not np.isfinite(scores).all() or not np.isfinite(np.where(present, gaps, 0.0)).all():
        raise DataError(
            "a candidate without Equal Coverage, or without the difference of a present value, gives no pair; leave its set out"
        )
    chosen, rejected = scores.argmin(axis=1), scores.argmax(axis=1)
    sets = np.flatnonzero(chosen != rejected)
    chosen, rejected = chosen[sets], rejected[sets]
    root = np.sqrt(scores[sets, rejected] - scores[sets, chosen])
    summed = np.where(present, gaps, 0.0) * numbers[:, None]  # C_k, (sets, 3, values)
    return FairPairs(
        sets=sets,
        chosen=chosen,
        rejected=rejected,
        margin_weight=root / root.mean() if root.size else root,
        chosen_slots=_slots(summed[sets, chosen]),
        rejected_slots=_slots(summed[sets, rejected]),
        counts=np.repeat(numbers[sets], 2, axis=1),
    )


def _slots(summed: Floats) -> Slots:
    """The slots of C_k of shape (pairs, values)."""
    signed = np.stack([summed, -summed], axis=-1).reshape(len(summed), 2 * summed.shape[1])
    flags = signed > 0
    weight = np.where(flags, signed, 0.0)
    return Slots(flags, weight, _power(weight, flags))


def _power(weight: Floats, flags: Bools) -> Floats:
    n = np.maximum(flags.sum(axis=0), 1)
    logs = np.log(weight, out=np.zeros_like(weight), where=flags)
    centred = np.where(flags, logs - logs.sum(axis=0) / n, 0.0)
    spread = np.sqrt((centred**2).sum(axis=0) / n)
    # the released code divides by a spread of 0 and gets nan
    spread = np.where(spread < NO_SPREAD, np.inf, spread)
    return np.where(flags, np.exp(centred / (2 * spread)), 0.0)
