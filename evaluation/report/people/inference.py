"""Means and differences that people's ratings of some summaries and a judge's scores of all give together.

The mean of the ratings is moved by what the judge says of unrated summaries, less what it says of rated ones, times a weight
that makes the interval narrowest: prediction-powered inference (Angelopoulos et al. 2023) with power tuning (PPI++, Angelopoulos,
Duchi and Zrnic 2023). With a weight of 0 it is the ratings alone, so a judge that is worth nothing costs next to nothing.
ppi-python has it for independent summaries; here document sets are what is drawn, and raters, crossed with them, add a variance
of their own (Cameron, Gelbach and Miller 2011). It holds where the rated summaries of each cell, a system and side, were drawn
at random.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....resampling import NOISE, Floats, t_reach

# named raters from which on it can be told how far people differ; of fewer a number is of these people alone
LEAST_RATERS = 5
# share of a cell that is taken to be others' where a rater has it nearly alone
LEAST_OTHERS = 0.25
Rows = NDArray[np.bool_]
# cell -> what its mean counts
Parts = Mapping[int, float]


@dataclass(frozen=True)
class RatedScores:
    """What a judge and people said of summaries, a row each."""

    # (summaries,)
    scores: Floats
    # document set and cell of each, (summaries,)
    sets: NDArray[np.intp]
    cells: NDArray[np.intp]
    # (summaries, raters), nan where somebody did not rate it; one column where nobody is named
    ratings: Floats

    @property
    def is_rated(self) -> Rows:
        """Which summaries somebody rated, (summaries,)."""
        return np.asarray(~np.isnan(self.ratings).all(axis=1))

    def of(self, parts: Parts) -> "RatedScores":
        """The rows of these cells."""
        rows = np.isin(self.cells, list(parts))
        return RatedScores(self.scores[rows], self.sets[rows], self.cells[rows], self.ratings[rows])


@dataclass(frozen=True)
class Inference:
    """A number on the ratings' scale, and what its interval is made of."""

    value: float
    # of the judge
    weight: float
    # squared standard error from rated sets, from unrated summaries, and from raters
    of_rated: float
    of_unrated: float
    of_raters: float
    # of Student's t
    degrees: float
    # document set -> what it says, whose mean is the value
    by_set: Mapping[int, float]

    @property
    def error(self) -> float:
        """Standard error."""
        return float((self.of_rated + self.of_unrated + self.of_raters) ** 0.5)

    def reach(self, level: float) -> float:
        """How far the bounds are on either side of the value."""
        return t_reach(self.error, self.degrees, level)

    def ratings_for(self, share: float, n: int) -> float:
        """Rated summaries with which the interval would be this share as wide, of `n` that there are; inf where none suffice."""
        rest = share**2 * self.error**2 - self.of_unrated - self.of_raters
        return n * self.of_rated / rest if rest > 0 else float("inf")


def infer(table: RatedScores, parts: Parts, weight: float | None = None) -> Inference:
    """A sum of the means of cells, each times its part.

    Args:
        table: the summaries.
        parts: a mean's sum to 1, a difference's to 0; each cell has two rated summaries or more.
        weight: of the judge; None for the one of the narrowest interval (where fewer are unrated than rated, if they spread as
            the rated ones do; 0 where they do not and the interval is wider with it), 0 for ratings alone.
    """
    table = table.of(parts)
    is_rated = table.is_rated
    people = np.full(len(is_rated), np.nan)
    people[is_rated] = np.nanmean(table.ratings[is_rated], axis=1)
    value, of_people = _sum_of_means(people, is_rated, table.cells, parts)
    shift, of_rated, of_unrated = _shift(table.scores, table, parts)
    names, places = np.unique(table.sets, return_inverse=True)
    by_people, by_judge, by_shift = (np.bincount(places, rows) for rows in (of_people, of_rated, of_rated + of_unrated))
    n_sets = len(np.unique(table.sets[is_rated]))
    tuning, is_tuned = 1.0, weight is None
    if weight is None:
        n_unrated = len(is_rated) - int(is_rated.sum())
        # the spread of few unrated summaries is chance: theirs is taken to be that of the rated ones
        moved, factor = (
            (by_judge, len(is_rated) / max(1, n_unrated)) if 2 * n_unrated < len(is_rated) else (by_shift, 1.0)
        )
        spread = float(moved @ moved) * factor
        weight = -float(by_people @ moved) / spread if spread else 0.0
        # what was chosen for its small variance has a larger one
        tuning = n_sets / (n_sets - 1)
    by_set = by_people + weight * by_shift
    variance, without_judge = (tuning * float(sums @ sums) for sums in (by_set, by_people))
    if is_tuned and variance > without_judge:
        # the unrated ones spread more than was taken
        return infer(table, parts, 0.0)
    rated_part = tuning * float((np.bincount(places, of_people + weight * of_rated) ** 2).sum())
    raters, raters_and_noise = _of_raters(table, people, parts, places)
    degrees = float(max(1, min(n_sets - 1, is_rated.sum() - len(parts)) - 1))
    n_raters = table.ratings.shape[1]
    if raters:
        # Satterthwaite's, of the ratings alone, so that no weight changes it
        both = without_judge**2 / degrees + raters_and_noise**2 / (n_raters - 1)
        degrees = max((without_judge + raters) ** 2 / both, min(degrees, n_raters - 1))
    value += weight * shift
    said = value + len(names) * by_set
    return Inference(
        value=value,
        weight=weight,
        of_rated=min(rated_part, variance),
        of_unrated=max(0.0, variance - rated_part),
        of_raters=raters,
        degrees=degrees,
        by_set=dict(zip(names.tolist(), said.tolist(), strict=True)),
    )


def selection_p_value(values: Floats, table: RatedScores, parts: Parts) -> float:
    """How often a difference of rated and unrated summaries as large as this one comes up, had the rated been drawn at random.

    Args:
        values: in which they may differ, (summaries,).
        table: the summaries.
        parts: cells that count.
    """
    from scipy.stats import t

    rows = np.isin(table.cells, list(parts))
    table = table.of(parts)
    shift, *added = _shift(values[rows], table, parts)
    _, places = np.unique(table.sets, return_inverse=True)
    error = float((np.bincount(places, sum(added)) ** 2).sum()) ** 0.5
    n_sets = len(np.unique(table.sets[table.is_rated]))
    if abs(shift) <= NOISE:
        return 1.0
    return float(2 * t.sf(abs(shift) / error, max(1, n_sets - 1))) if error else 0.0


def _shift(values: Floats, table: RatedScores, parts: Parts) -> tuple[float, Floats, Floats]:
    """By how much unrated summaries have higher values than rated ones, and what each rated and unrated row adds to that."""
    is_rated = table.is_rated
    # a single summary has no spread
    open_parts = {
        cell: part for cell, part in parts.items() if min(np.bincount(is_rated[table.cells == cell], minlength=2)) > 1
    }
    of_rated, rated_rows = _sum_of_means(values, is_rated, table.cells, open_parts)
    of_unrated, unrated_rows = _sum_of_means(values, ~is_rated, table.cells, open_parts)
    return of_unrated - of_rated, -rated_rows, unrated_rows


def _sum_of_means(values: Floats, rows: Rows, cells: NDArray[np.intp], parts: Parts) -> tuple[float, Floats]:
    """The sum of cells' means over some rows, and how far each row moves it, for an unbiased variance."""
    total, added = 0.0, np.zeros(len(values))
    for cell, part in parts.items():
        inside = rows & (cells == cell)
        n = int(inside.sum())
        mean = float(values[inside].mean())
        total += part * mean
        added[inside] = part / n * (n / (n - 1)) ** 0.5 * (values[inside] - mean)
    return total, added


def _of_raters(table: RatedScores, people: Floats, parts: Parts, places: NDArray[np.intp]) -> tuple[float, float]:
    """Variance of the ratings' mean by who rated: without that of a rater within a set, which the sets' has, and with it."""
    n_raters = table.ratings.shape[1]
    if n_raters < LEAST_RATERS:
        return 0.0, 0.0
    is_known, is_rated = ~np.isnan(table.ratings), table.is_rated
    added = np.zeros(table.ratings.shape)
    for cell, part in parts.items():
        inside = is_rated & (table.cells == cell)
        left = np.where(is_known[inside], table.ratings[inside] - people[inside].mean(), 0.0)
        weights = is_known[inside] / is_known[inside].sum(axis=1, keepdims=True) / inside.sum()
        # as the jackknife has it: who rated much moves the mean that they are held against
        added[inside] = part * weights * left / np.maximum(1 - weights.sum(axis=0), LEAST_OTHERS)
    with_noise = (n_raters - 1) / n_raters * float((added.sum(axis=0) ** 2).sum())
    within_sets = np.zeros((places.max() + 1, n_raters))
    np.add.at(within_sets, places, added)
    noise = ((n_raters - 1) / n_raters) ** 2 * float((within_sets**2).sum())
    return max(0.0, with_noise - noise), with_noise
