"""Statistics over document sets: draws, intervals and exchange tests, for every report.

The requests of a document set share their sources, so whole sets are drawn and exchanged: single requests would count the same
evidence twice and give intervals that are too narrow.
Source: Ri et al. 2025, section 4.1; docs/papers.md#ri-bradley-terry.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import DataError

Floats = NDArray[np.float64]
# lowest and highest value that there can be
Scale = tuple[float, float]
# lower and upper bound of an interval; None where there is none
Bounds = tuple[float | None, float | None]

# differences up to this size are rounding noise: the mean of equal scores is not always equal to them
NOISE = 1e-9
# squares that are this share of those that they were subtracted from are rounding noise, too
ROUNDING = 1e-12
# with fewer document sets there is a number, and neither an interval of it nor a verdict
LEAST_SETS = 5
# of the level that a page's tests have together, what its headline's question has where there are others
HEADLINE_SHARE = 0.5
# bounds of a mean are at most so often as far from it as those of Student's t; docs/run-folder.md#intervals
MOST_REACH = 1.75
# and of differences of values of 0 and 1 not less often than once, as few of their draws differ
WHOLE_REACH = 1.0, 1.4

# of so many sets of equal weight a mean is so near to normal that draws show their own noise alone; docs/run-folder.md#intervals
MANY_SETS = 300
# weights (draws times clusters) and patterns (times sets) that are held at once
BLOCK = 500_000


def differences_scale(scale: Scale | None) -> Scale | None:
    """Where differences of two values of a scale lie; None where values may be anything."""
    return scale and (scale[0] - scale[1], scale[1] - scale[0])


@dataclass(frozen=True)
class Bootstrap:
    """How intervals are drawn, and patterns of exchange tests."""

    level: float = 0.95
    resamples: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what cannot be drawn."""
        if self.resamples < 1 or not 0 < self.level < 1:
            raise DataError(
                f"a bootstrap needs resamples >= 1 and a level between 0 and 1, got {self.resamples} and {self.level}"
            )


@dataclass(frozen=True)
class Interval:
    """A number with the bounds of its percentile interval."""

    # of all the data, not the mean of the draws; None when undefined
    estimate: float | None
    # may be infinite; None where nothing can be resampled, and where no draw defines the number
    low: float | None
    high: float | None
    # draws, and those that define the number: the bounds are theirs
    n_draws: int
    n_defined: int


@dataclass(frozen=True)
class ClusterMean(Interval):
    """A mean with its interval over clusters."""

    # values and clusters that it rests on
    n: int
    n_clusters: int


def drawn_weights(n: int, plan: Bootstrap, *, strata: NDArray[np.intp] | None = None) -> Iterator[Floats]:
    """How often each of `n` clusters is in each draw of as many with replacement, (draws, n), a block of draws at a time.

    The same number and seed give the same draws, so draws of several quantities can be compared one by one.

    Args:
        n: clusters.
        plan: number of draws, and their seed.
        strata: of each cluster, ascending, (n,): each draw takes as many of a stratum as it has.
    """
    generator = np.random.default_rng(plan.seed)
    size: int | NDArray[np.intp] = n
    first: int | NDArray[np.intp] = 0
    if strata is not None:
        size, first = np.bincount(strata)[strata], np.searchsorted(strata, strata)
    for rows in in_blocks(plan.resamples, n):
        cells = generator.integers(size, size=(len(rows), n))
        cells += first + np.arange(len(rows))[:, None] * n
        yield np.bincount(cells.ravel(), minlength=cells.size).reshape(cells.shape).astype(float)


def cluster_sums(table: ArrayLike, clusters: Sequence[str]) -> Floats:
    """The rows added up by cluster, in order of first appearance, (clusters, ...)."""
    rows = np.asarray(table, dtype=float)
    number = {name: place for place, name in enumerate(dict.fromkeys(clusters))}
    sums = np.zeros((len(number), *rows.shape[1:]))
    np.add.at(sums, [number[cluster] for cluster in clusters], rows)
    return sums


def cluster_interval(
    values: Sequence[float | None],
    clusters: Sequence[str],
    plan: Bootstrap,
    *,
    is_rate: bool = False,
    scale: Scale | None = None,
) -> ClusterMean:
    """Mean of the values and its bootstrap-t interval, whole clusters drawn with replacement.

    The distance of each draw's mean is divided by the draw's own standard error (Efron 1981; Hall 1988): percentiles of the means
    themselves are far too narrow over few clusters. No bound is further off than `MOST_REACH` times that of Student's t, which
    draws of few clusters, many alike, would otherwise have, and of differences of 0 and 1 neither nearer nor further than
    `WHOLE_REACH` says. Of `MANY_SETS` or more the bounds are those that ever more draws come
    to (Hall 1988), without drawing. Fewer than `LEAST_SETS` clusters with a value have no interval, nor have five that agree.
    How often it holds was simulated: docs/run-folder.md#intervals.

    Args:
        values: one a request; None is left out. For a paired comparison, the differences.
        clusters: the document set of each value.
        plan: of the draws.
        is_rate: the values are shares of a count, in [0, 1]: the interval is that of `rate_bounds`. Differences never are.
        scale: where values lie; no bound of their mean lies outside. Of differences it is on both sides of 0.

    Raises:
        DataError: values and clusters differ in number.
    """
    if len(values) != len(clusters):
        raise DataError(f"{len(values)} values, but {len(clusters)} clusters; one cluster a value is needed")
    known = [(value, cluster) for value, cluster in zip(values, clusters, strict=True) if value is not None]
    if not known:
        return ClusterMean(None, None, None, 0, 0, n=0, n_clusters=0)
    mean = float(cluster_sums([value for value, _ in known], [cluster for _, cluster in known]).sum() / len(known))
    # what each cluster adds to the distance from the mean and to the number of values, (clusters, 2)
    table = cluster_sums([[value - mean, 1.0] for value, _ in known], [cluster for _, cluster in known])
    bounds, is_drawn = None, not is_rate and effective_sets(table[:, 0]) < MANY_SETS
    reach = WHOLE_REACH if all(value in (-1, 0, 1) for value, _ in known) else (-MOST_REACH, MOST_REACH)
    if len(table) >= LEAST_SETS:
        if is_rate:
            limit = len(known) if all(value in (0, 1) for value, _ in known) else math.inf
            bounds = rate_bounds(mean, table, limit, plan.level)
        else:
            bounds = _bootstrap_t(table, plan, reach) if is_drawn else _bounds_of_many(table, plan.level)
    low, high = (None, None) if bounds is None else bounds if is_rate else (mean + bounds[0], mean + bounds[1])
    low, high = cut_to(scale, mean, low, high)
    n_draws = 0 if bounds is None or not is_drawn else plan.resamples
    return ClusterMean(mean, low, high, n_draws, n_draws, n=len(known), n_clusters=len(table))


def cut_to(scale: Scale | None, estimate: float, low: float | None, high: float | None) -> Bounds:
    """Bounds of a number without what lies off its scale; the number itself is never cut off."""
    if scale is None:
        return low, high
    lowest, highest = min(scale[0], estimate), max(scale[1], estimate)
    return None if low is None else max(low, lowest), None if high is None else min(high, highest)


def _bootstrap_t(table: Floats, plan: Bootstrap, reach: tuple[float, float]) -> tuple[float, float] | None:
    """Bounds about a mean of 0; None where too few clusters agree.

    Args:
        table: sums and numbers of values of each cluster, (clusters, 2).
        plan: of the draws.
        reach: how far each bound is at least and at most, in units of those of Student's t.
    """
    from scipy.stats import t

    n = len(table)
    error = float(_mean_and_error(table, np.ones((1, n)))[1][0])
    if error <= NOISE:  # all clusters agree: no more is known than that they do
        return (0.0, 0.0) if 2.0 ** (1 - n) <= 1 - plan.level else None
    ratios = []
    for weights in drawn_weights(n, plan):
        means, errors = _mean_and_error(table, weights)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios.append(np.where(np.abs(means) <= NOISE, 0.0, means / np.where(errors > NOISE, errors, 0.0)))
    nearest, furthest = (float(t.ppf((1 + plan.level) / 2, n - 1)) * factor for factor in reach)
    low, high = (float(bound) for bound in percentiles(np.concatenate(ratios), plan.level))
    return -float(np.clip(high, nearest, furthest)) * error, -float(np.clip(low, -furthest, -nearest)) * error


def _bounds_of_many(table: Floats, level: float) -> tuple[float, float]:
    """Bounds about a mean of 0 without draws: those of Student's t, moved by the first term of the series (Hall 1988).

    The term is for skewness, and for distances that go with the number of values of a set.
    """
    from scipy.stats import skew, t

    n, (distances, counts) = len(table), table.T
    error = float(_mean_and_error(table, np.ones((1, n)))[1][0])
    reach = float(t.ppf((1 + level) / 2, n - 1))
    with_counts = np.cov(distances, counts, bias=True)[0, 1] / (distances.std() * counts.mean())
    moved = float(skew(distances) * (2 * reach**2 + 1) / 6 - with_counts * reach**2) / math.sqrt(n)
    return (moved - reach) * error, (moved + reach) * error


def effective_sets(values: Floats) -> float:
    """How many sets of equal weight are worth as much as those of the values: few where some are far larger than others.

    Values that are rounding noise weigh nothing, so where all are there are none.
    """
    squares = np.where(np.abs(values) <= NOISE, 0.0, values) ** 2
    total = float((squares**2).sum())
    return float(squares.sum()) ** 2 / total if total > 0 else 0.0


def _mean_and_error(table: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Mean and standard error of each row of weights, (draws,), the table being of sums and numbers of values, (clusters, 2)."""
    n, (sums, counts) = len(table), table.T
    totals, gained, squares, products, square_counts = (
        weights @ np.stack([counts, sums, sums**2, sums * counts, counts**2], axis=1)
    ).T
    means = gained / totals
    residuals = squares - 2 * means * products + means**2 * square_counts
    # of clusters that agree nothing is left but rounding
    residuals[residuals <= ROUNDING * squares] = 0.0
    return means, np.sqrt(n / (n - 1) * residuals) / totals


def rate_bounds(rate: float, table: Floats, n_values: float, level: float) -> tuple[float, float]:
    """Exact interval of a rate over clusters, in [0, 1]: that of Clopper and Pearson of as many independent values.

    Independent are as many as give the rate its standard error over clusters, corrected for the few degrees of freedom of it
    and never more than there are values; where all agree, as many as there are clusters. Source: Korn and Graubard 1998. Of
    shares nearly all may be 1, so that one or two clusters make the standard error: its degrees of freedom are after
    Satterthwaite (1946), by the kurtosis of the distances, so that normal ones have all of them.

    Args:
        rate: mean of all values.
        table: sums of the distances from it and numbers of values of each cluster, (clusters, 2).
        n_values: as many as there are of 0 and 1; infinite of shares, each of which rests on several.
        level: of the interval.
    """
    from scipy.stats import t

    n = len(table)
    if not NOISE < rate < 1 - NOISE:
        return exact_bounds(round(rate), n, level)
    error = float(_mean_and_error(table, np.ones((1, n)))[1][0])
    if error <= NOISE:
        return exact_bounds(rate, min(n_values, n), level)
    freedom = n - 1.0
    if math.isinf(n_values):
        # of distances that are normal 3 * effective_sets is the number of sets
        freedom = min(freedom, 3 * effective_sets(table[:, 0]) - 1)
    ratio = t.ppf((1 + level) / 2, n_values - 1) / t.ppf((1 + level) / 2, freedom)
    independent = rate * (1 - rate) / error**2 * float(ratio) ** 2
    return exact_bounds(rate, min(independent, n_values), level)


def percentiles(draws: ArrayLike, level: float) -> tuple[Floats, Floats]:
    """Lower and upper bound of the percentile interval over the first axis, nan left out; nan where nothing is left.

    Interpolated linearly as by numpy, but infinite beside one infinity and nan between -inf and inf, where numpy may give either.
    """
    ordered = np.sort(np.asarray(draws, dtype=float), axis=0)  # nan is last
    last = np.maximum((~np.isnan(ordered)).sum(axis=0) - 1, 0)
    if not len(ordered):
        return np.full(last.shape, np.nan), np.full(last.shape, np.nan)

    def at(share: float) -> Floats:
        place = share * last
        below = np.floor(place).astype(np.intp)
        low, high = (
            np.take_along_axis(ordered, places[None], axis=0)[0] for places in (below, np.ceil(place).astype(np.intp))
        )
        with np.errstate(invalid="ignore"):
            between = np.where(np.isfinite(low) & np.isfinite(high), low + (place - below) * (high - low), low + high)
        return np.where(low == high, low, between)

    tail = (1 - level) / 2
    return at(tail), at(1 - tail)


@dataclass(frozen=True)
class TInterval:
    """Quantities with intervals by Student's t and tests of "it is 0", arrays of shape (quantities,)."""

    # nan where undefined
    estimate: Floats
    # how far the bounds are on either side of it, nan with fewer than `LEAST_SETS` sets
    reach: Floats
    # nan with fewer than two
    p_value: Floats

    @property
    def low(self) -> Floats:
        """Lower bounds."""
        return self.estimate - self.reach

    @property
    def high(self) -> Floats:
        """Upper bounds."""
        return self.estimate + self.reach

    def at(self, place: int) -> tuple[float | None, float | None, float | None, float | None]:
        """One quantity, its bounds and its p-value; None for nan."""
        quantities = (self.estimate, self.low, self.high, self.p_value)
        estimate, low, high, p_value = (defined(values[place]) for values in quantities)
        return estimate, low, high, p_value


def t_interval(
    quantities: Callable[[Floats], Floats], columns: Floats, rests_on: NDArray[np.bool_], level: float
) -> TInterval:
    """Student's t with the standard error of the jackknife over sets (Tukey 1958); of a mean it is the usual t interval.

    Where all sets agree there is no standard error; p is then that of as many equal signs.

    Args:
        quantities: of sums of columns; (..., columns) to (..., quantities), nan where undefined.
        columns: what each set adds, (sets, columns).
        rests_on: which sets each quantity rests on, (sets, quantities).
        level: of the intervals.
    """
    total = columns.sum(axis=0)
    estimate = quantities(total)
    without = quantities(total - columns) if len(columns) else np.empty((0, len(estimate)))
    return jackknife_t(estimate, without, rests_on, level)


def jackknife_t(estimate: Floats, without: Floats, rests_on: NDArray[np.bool_], level: float) -> TInterval:
    """Student's t with the jackknife's standard error, of quantities that are known without each set.

    Args:
        estimate: of all sets, (quantities,).
        without: without each set, (sets, quantities); an interval needs all of them.
        rests_on: which sets each quantity rests on, (sets, quantities).
        level: of the intervals.
    """
    from scipy.stats import t

    n = rests_on.sum(axis=0).astype(float)
    without = np.where(rests_on, without - estimate, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        centre = without.sum(axis=0) / n
        spread = np.where(rests_on, (without - centre) ** 2, 0.0).sum(axis=0)
        error = np.where(n > 1, np.sqrt((n - 1) / n * spread), np.nan)
        reach = t.ppf((1 + level) / 2, n - 1) * error
        p_value = 2 * t.sf(np.abs(estimate) / error, n - 1)
    is_zero, agree = np.abs(estimate) <= NOISE, error <= NOISE
    p_value = np.where(agree, np.where(is_zero, 1.0, 2.0 ** np.minimum(1 - n, 0)), p_value)
    reach = np.where(n < LEAST_SETS, np.nan, reach)
    return TInterval(estimate, reach, p_value)


def t_reach(error: float, degrees: float, level: float) -> float:
    """How far bounds of Student's t are on either side of a number, from its standard error."""
    from scipy.stats import t

    return float(t.ppf((1 + level) / 2, degrees) * error)


def least_p_value(n_sets: int) -> float:
    """Chance that as many sets have equal signs where nothing differs: no test of exchanges has a smaller p-value."""
    return 2.0 ** min(1 - n_sets, 0)


def sets_needed(p_value: float) -> int:
    """Document sets from which a test of exchanges can have so small a p-value, and a number an interval."""
    return max(LEAST_SETS, 1 + math.ceil(-math.log2(p_value) - NOISE))


def too_few(
    n_sets: int,
    level: float | None = None,
    *,
    subject: str = "The comparison",
    unit: str = "document set",
) -> str:
    """The one sentence that says of whatever rests on so many document sets that it concludes nothing; "" of enough.

    Args:
        n_sets: document sets, or whatever else is drawn and exchanged as a whole.
        level: of intervals, where tests exchange whole sets, so that p is not as small as one may want; None where no tests do.
        subject: rests on them, at the beginning of a sentence.
        unit: one of them.
    """
    needed = LEAST_SETS if level is None else sets_needed(1 - level)
    if n_sets >= needed:
        return ""
    conclusion = f"with fewer than {LEAST_SETS} nothing is concluded"
    if level is not None:
        intervals = f"there are no intervals with fewer than {LEAST_SETS}, and " if n_sets < LEAST_SETS else ""
        smallest = least_p_value(n_sets)
        conclusion = f"{intervals}the smallest p that its tests can have is {smallest:g}, so no difference is clear"
    return f"{subject} rests on {n_sets} {unit}{'' if n_sets == 1 else 's'}: {conclusion}; take {needed} or more."


def few_for_headline(n_sets: int, level: float, n_judges: int, *, is_alone: bool) -> str:
    """What `too_few` says, and how many sets the headline's tests need together; "" of enough.

    Args:
        n_sets: that differences rest on.
        level: of intervals.
        n_judges: that the headline goes by, a test each.
        is_alone: whether the page asks nothing else.
    """
    warning = too_few(n_sets, level)
    needed = sets_needed((1 - level) * (1.0 if is_alone else HEADLINE_SHARE) / n_judges) if n_judges else 0
    if n_sets >= needed:
        return warning
    also = "" if is_alone else " and for the other questions of the page"
    tests = "the test" if n_judges == 1 else f"{n_judges} tests"
    return (
        f"{warning or f'{n_sets} document sets.'} Corrected for {tests} of the headline{also}, a difference by itself can be "
        f"clear from {needed} on."
    )


def pseudo_values(quantities: Callable[[Floats], Floats], columns: Floats, rests_on: NDArray[np.bool_]) -> Floats:
    """What each set says of each quantity, (sets, quantities): of a mean over sets its own value, of others the jackknife's.

    Their mean is the quantity, of others than means but for a bias of the order of 1 / sets (Tukey 1958), and differences of two
    quantities can be taken set by set.

    Args:
        quantities: of sums of columns; (..., columns) to (..., quantities), nan where undefined.
        columns: what each set adds, (sets, columns).
        rests_on: which sets each quantity rests on, (sets, quantities); the others are nan, and all are where the quantity is
            undefined without one of them: it rests on that set alone, whatever the others say.
    """
    total, n = columns.sum(axis=0), rests_on.sum(axis=0)
    values = n * quantities(total) - (n - 1) * quantities(total - columns)
    alone = (rests_on & np.isnan(values)).any(axis=0)
    return np.where(rests_on & ~alone, values, np.nan)


def interval_by_sets(estimate: float | None, values: Sequence[float | None], plan: Bootstrap) -> Bounds:
    """Bootstrap-t bounds of a number by what each set says of it, see `pseudo_values`, about the number itself; None where
    `cluster_interval` has none.

    Args:
        estimate: the number; of others than means it is not quite the mean of what sets say.
        values: by each set; None for one that says nothing.
        plan: of the draws.
    """
    mean = cluster_interval(values, [str(place) for place in range(len(values))], plan)
    if estimate is None or mean.estimate is None or mean.low is None or mean.high is None:
        return None, None
    shift = estimate - mean.estimate
    return mean.low + shift, mean.high + shift


def exact_bounds(rate: float, n: float, level: float) -> tuple[float, float]:
    """Interval of Clopper and Pearson (1934) of a rate over `n` independent values, which need not be whole, in [0, 1]."""
    from scipy.stats import beta

    hits, tail = rate * n, (1 - level) / 2
    low = float(beta.ppf(tail, hits, n - hits + 1)) if rate > NOISE else 0.0
    return low, float(beta.ppf(1 - tail, hits + 1, n - hits)) if rate < 1 - NOISE else 1.0


def added_by_sets(quantities: Callable[[Floats], Floats], columns: Floats, weights: Floats) -> Floats:
    """What each set adds to ratios of sums, (sets, quantities): its part of the numerator, over the whole denominator.

    Where the quantity is 0, what sets add is on either side of 0 alike, however much they weigh. Pseudo-values are not: those of
    sets of little weight all lie near the quantity.

    Args:
        quantities: of sums of columns; (..., columns) to (..., quantities), nan where undefined.
        columns: what each set has of these, (sets, columns).
        weights: what each set adds to the denominators, up to a factor, (sets, quantities); nothing is added by those of 0.
    """
    total = columns.sum(axis=0)
    with np.errstate(invalid="ignore"):
        added = quantities(total) - quantities(total - columns) * (1 - weights / weights.sum(axis=0))
    return np.where(weights > 0, added, np.nan)


def sign_flip_p_value(differences: Sequence[float | None], sets: Sequence[str], plan: Bootstrap) -> float | None:
    """Two-sided p-value of "systems are exchangeable within a document set"; exact when all sign patterns can be tried.

    Args:
        differences: one a request; None where a system has no value, which is left out.
        sets: the document set of each; sets change sides as a whole.
        plan: see `sign_flip_p_values`.

    Returns:
        In (0, 1]; None when fewer than two document sets have a value, and 1 when nothing differs.
    """
    known = [(value, name) for value, name in zip(differences, sets, strict=True) if value is not None]
    totals = cluster_sums([value for value, _ in known], [name for _, name in known])
    return defined(float(sign_flip_p_values(totals[:, None], plan)[0]))


def sign_flip_p_values(totals: Floats, plan: Bootstrap) -> Floats:
    """p-values as of `sign_flip_p_value`, one a quantity, (quantities,): nan when fewer than two sets have a value.

    Of `MANY_SETS` or more the sum over patterns is normal, and p is no smaller than draws would give it.

    Args:
        totals: of each set, (sets, quantities), nan for no value.
        plan: sign patterns drawn when there are more of them than its draws, and their seed.
    """
    known = ~np.isnan(totals)
    p_values = np.where(known.sum(axis=0) < 2, np.nan, 1.0)
    # quantities of the same sets have the same patterns
    alike: dict[bytes, list[int]] = {}
    for place, values in enumerate(column[~np.isnan(column)] for column in totals.T):
        if effective_sets(values) >= MANY_SETS:
            p = math.erfc(abs(float(values.sum())) / math.sqrt(2 * float((values**2).sum())))
            p_values[place] = max(p, 1 / (1 + plan.resamples))
        elif len(values) > 1 and (np.abs(values) > NOISE).any():
            alike.setdefault(known[:, place].tobytes(), []).append(place)
    for places in alike.values():
        p_values[places] = _flipped(totals[known[:, places[0]]][:, places], plan)
    return p_values


def _flipped(totals: Floats, plan: Bootstrap) -> Floats:
    observed = totals.sum(axis=0)
    return exchange_p_values(lambda marks: observed - 2 * marks @ totals, observed, len(totals), plan)


def exchange_p_values(
    differences: Callable[[Floats], Floats], observed: Floats, n_sets: int, plan: Bootstrap
) -> Floats:
    """Two-sided p-values of quantities when systems change places in some sets, (quantities,); means over sets or not.

    A pattern that leaves a quantity undefined counts as differing as much: nothing speaks against it.

    Args:
        differences: of each quantity when the sets marked 1 are exchanged; (patterns, sets) to (patterns, quantities).
        observed: when none is, (quantities,); nan gives nan.
        n_sets: all patterns are tried where they are no more than the draws.
        plan: number of patterns otherwise, and their seed.
    """
    generator = np.random.default_rng(plan.seed)
    is_all = 2**n_sets <= plan.resamples
    n = 2**n_sets if is_all else plan.resamples
    as_far = np.zeros(observed.shape)
    threshold = np.abs(observed) - NOISE * np.maximum(1.0, np.abs(observed))
    for rows in in_blocks(n, n_sets):
        marks = rows[:, None] >> np.arange(n_sets) & 1 if is_all else generator.integers(2, size=(len(rows), n_sets))
        as_far += (~(np.abs(differences(marks.astype(float))) < threshold)).sum(axis=0)
    # what was observed is one of all patterns, but none of those that are drawn
    itself = 0 if is_all else 1
    # few drawn patterns need not have the one that exchanges all, which is as far
    p_values = np.maximum((itself + as_far) / (itself + n), least_p_value(n_sets))
    return np.where(np.isnan(observed), np.nan, p_values)


def defined(value: float | Floats | None) -> float | None:
    """The number; None for nan. Infinity is a defined value."""
    return None if value is None or math.isnan(value) else float(value)


def in_blocks(n: int, width: int) -> Iterator[NDArray[np.intp]]:
    """The rows 0 to n - 1, as many at a time as a block holds of that width, and never many thousands."""
    size = max(1, BLOCK // max(128, width))
    yield from (np.arange(start, min(start + size, n)) for start in range(0, n, size))
