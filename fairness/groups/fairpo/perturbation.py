"""Thinned document sets, so that summaries of them differ in fairness.

From one copy some documents of the most over-represented value are taken, from another some of the most under-represented.
Source: FairPO; docs/papers.md#fairpo-thinning.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....errors import DataError

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
        kept = np.asarray(labels, dtype=int)[list(self.documents)]
        return [int(n) for n in np.bincount(kept, minlength=n_values)]


@dataclass(frozen=True)
class Perturbation:
    """Both thinned copies of a set; None where no value has documents enough."""

    # documents taken from each copy, at most
    n_removed: int
    # places of all documents in the shuffled order that the full set is summarised in
    original: tuple[int, ...]
    minus_over: Thinning | None
    minus_under: Thinning | None

    @property
    def complete(self) -> bool:
        """Whether the set can be used: both copies exist."""
        return self.minus_over is not None and self.minus_under is not None


def perturb(
    labels: Sequence[int],
    differences: Sequence[float | None],
    rng: np.random.Generator,
    *,
    rate: float = DEFAULT_RATE,
) -> Perturbation:
    """Two thinned copies of a document set.

    The values are taken by their difference; of those that are equal, the first. If both copies thin the same value, the second
    is drawn again until its documents are others.

    Args:
        labels: value of each document, below the number of values.
        differences: coverage of each value less the overall one, in the summary of the full set; None for an absent value.
        rng: the generator that chooses documents and shuffles.
        rate: share of all documents that is taken, in (0, 1); rounded half to even, at least one document (the released code
            can round to 0 and then takes all of the value).

    Raises:
        DataError: the rate is outside (0, 1), a label is not below the number of differences, or a present value has none.
    """
    places, counts, n = _counted(labels, len(differences), rate)
    known = _known(differences, counts)
    over = _first(np.argsort(-known, kind="stable"), counts, FEWEST_OVER)
    under = _first(np.argsort(known, kind="stable"), counts, n)
    original = tuple(rng.permutation(len(places)).tolist())
    minus_over = None if over is None else _thinned(places, over, n, rng)
    minus_under = None if under is None else _thinned(places, under, n, rng)
    if minus_over and minus_under and set(minus_over.documents) == set(minus_under.documents):
        minus_under = _other(minus_over, places, n, rng)
    return Perturbation(n, original, minus_over, minus_under)


def thinnings(
    labels: Sequence[int], n_values: int, rng: np.random.Generator, *, rate: float = DEFAULT_RATE
) -> tuple[Thinning, ...]:
    """Every thinned copy that `perturb` could want of a set while the differences are not known yet, by value.

    One of each value with documents enough to be thinned as over- or as under-represented. A value that may have to be both gets
    a second one, of other documents: that happens only where it alone has documents enough.

    Args:
        labels: value of each document, below `n_values`.
        n_values: number of values.
        rng: the generator that chooses documents and shuffles.
        rate: as of `perturb`.

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
    """Which of the copies that `thinnings` drew `perturb` would have made: minus over, minus under; None where it makes none.

    Where all values that can be thinned have one difference, `perturb` thins the first of them twice; here the second copy is of
    the next value.

    Args:
        labels: as given to `thinnings`.
        differences: as of `perturb`.
        drawn: value of each copy.
        rate: as given to `thinnings`.

    Raises:
        DataError: as of `perturb`.
    """
    _, counts, n = _counted(labels, len(differences), rate)
    known = _known(differences, counts)
    over = _first(np.argsort(-known, kind="stable"), counts, FEWEST_OVER)
    if over is None or over not in drawn:
        return None
    minus_over = list(drawn).index(over)
    for value in np.argsort(known, kind="stable").tolist():
        others = [place for place, each in enumerate(drawn) if each == value and place != minus_over]
        if counts[value] > n and others:
            return minus_over, others[0]
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
    own = np.flatnonzero(places == value)
    taken = rng.choice(own, size=min(n, len(own)), replace=False)
    left = rng.permutation(np.setdiff1d(np.arange(len(places)), taken))
    return Thinning(value, tuple(left.tolist()))


def _other(first: Thinning, places: Places, n: int, rng: np.random.Generator) -> Thinning:
    """Another thinning of the same value, by other documents; the value has more than `n`."""
    while True:
        second = _thinned(places, first.value, n, rng)
        if set(second.documents) != set(first.documents):
            return second
