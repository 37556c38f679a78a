"""Whether a judge agrees with the truth alike: by side, by topic, by length of the source, and over all articles.

What is asked is how much would differ if it did agree alike, so whole articles are dealt anew to the groups, and for "over all
articles" what the scores do not owe to the truth is dealt anew among all summaries. Each test's place among its draws is turned
into a normal one, and shortened as a sum is that is divided by its own root of squares, so that it stands beside tests by flipped
signs on one page (`evaluation.significance`).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from ...evaluation.lengths import about_mean
from ...evaluation.significance import DRAWS, NullDraws
from ...fairness.groups.coverage import over
from ...number import Number
from ...resampling import NOISE, Floats, in_blocks
from .figures import NOTHING, TestedQuantity, about_ranks

# articles, or topics where every topic is of one group, that a group needs
LEAST_OF_GROUP = 3
# summaries that an article needs for its agreement to be held against that of others
LEAST_SUMMARIES = 4
# rows that a difference is written as: more than the square of any critical value
ROWS = 100


def by_group(agreement: Floats, is_in: NDArray[np.bool_], topics: Sequence[str], seed: int) -> TestedQuantity:
    """Mean agreement of the articles in a group less that of the others; nothing where either has too few.

    Welch's statistic, so that groups that are unlike in their spread alone are not taken for unlike.

    Args:
        agreement: of each article, (articles,); nan for none.
        is_in: whether it is in the group.
        topics: of each article; where each is of one group, whole topics are dealt.
        seed: of the deals.
    """
    is_known = ~np.isnan(agreement)
    values, inside, names = agreement[is_known], is_in[is_known].astype(float), np.array(topics)[is_known]
    of_topics = [(values[names == name], inside[names == name]) for name in dict.fromkeys(names.tolist())]
    if all(np.ptp(memberships) == 0 for _, memberships in of_topics):
        values = np.array([topic_values.mean() for topic_values, _ in of_topics])
        inside = np.array([memberships[0] for _, memberships in of_topics])
    if min(inside.sum(), (1 - inside).sum()) < LEAST_OF_GROUP:
        return NOTHING

    def statistics(rows: Floats) -> tuple[Floats, Floats]:
        means, errors = [], []
        for group in (inside, 1 - inside):
            n = group.sum()
            mean = rows @ group / n
            variances = np.maximum(rows**2 @ group / n - mean**2, 0.0)
            means.append(mean)
            errors.append(variances / (n - 1))
        gap = means[0] - means[1]
        return gap, gap / np.sqrt(np.maximum(errors[0] + errors[1], NOISE))

    gap, size = statistics(values[None])
    drawn = np.abs(statistics(_dealt(values, seed))[1])
    return _placed(float(gap[0]), float(size[0]), drawn, len(values))


def by_topic(agreement: Floats, topics: Sequence[str], seed: int) -> TestedQuantity:
    """Standard deviation of agreement between topics of two articles or more, beyond what articles dealt anew give; nothing of
    fewer than three topics."""
    is_known = ~np.isnan(agreement)
    names, place = np.unique(np.array(topics)[is_known], return_inverse=True)
    several = np.bincount(place, minlength=len(names))[place] > 1
    values, members = agreement[is_known][several], np.eye(len(names))[place[several]]
    members = members[:, members.any(axis=0)]
    if members.shape[1] < LEAST_OF_GROUP:
        return NOTHING
    n = members.sum(axis=0)

    def between(rows: Floats) -> Floats:
        return np.asarray((rows @ members / n) ** 2 @ n)

    values = values - values.mean()
    return _spread(float(between(values[None])[0]) / n.sum(), between(_dealt(values, seed)) / n.sum(), len(n))


def over_articles(truths: Floats, scores: Floats, seed: int) -> TestedQuantity:
    """Standard deviation of agreement between articles, beyond what a judge that errs alike everywhere has; nothing of few.

    Args:
        truths: (articles, summaries), nan for none.
        scores: of the same shape.
        seed: of the deals.
    """
    is_known = ~np.isnan(truths) & ~np.isnan(scores)
    varies = np.where(is_known, truths, -np.inf).max(axis=1) > np.where(is_known, truths, np.inf).min(axis=1)
    enough = (is_known.sum(axis=1) >= LEAST_SUMMARIES) & varies
    is_known = is_known[enough]
    if len(is_known) < 2 * LEAST_OF_GROUP:
        return NOTHING
    x, y = (about_mean(table[enough][..., None], is_known)[..., 0] for table in (truths, scores))
    slope = (x * y).sum() / max((x**2).sum(), NOISE)
    residuals, ranks = (y - slope * x)[is_known], about_ranks(np.where(is_known, x, np.nan))
    generator = np.random.default_rng(seed)
    drawn = []
    for rows in in_blocks(DRAWS, is_known.size * is_known.shape[1]):
        cells = np.full((len(rows), *is_known.shape), np.nan)
        cells[:, is_known] = slope * x[is_known] + generator.permuted(np.tile(residuals, (len(rows), 1)), axis=1)
        drawn.append(_correlations(ranks, cells).var(axis=1))
    observed = _correlations(ranks, np.where(is_known, y, np.nan)[None]).var()
    return _spread(float(observed), np.concatenate(drawn), len(is_known))


def _correlations(ranks: Floats, cells: Floats) -> Floats:
    """Correlations of ranks and cells in each article, (draws, articles); 0 where the cells do not differ."""
    cell_ranks = about_ranks(cells)
    products = np.nansum(ranks * cell_ranks, axis=-1)
    sizes = np.sqrt(np.nansum(ranks**2, axis=-1) * np.nansum(cell_ranks**2, axis=-1))
    return np.where(sizes > NOISE, over(products, sizes), 0.0)


def _dealt(values: Floats, seed: int) -> Floats:
    """The values in new orders, (DRAWS, values)."""
    return np.random.default_rng(seed).permuted(np.tile(values, (DRAWS, 1)), axis=1)


def _spread(observed: float, drawn: Floats, n: int) -> TestedQuantity:
    """The root of what a variance has beyond its draws' mean, and how seldom draws are as large; without an interval."""
    return _placed(float(np.sqrt(max(observed - float(drawn.mean()), 0.0))), observed, drawn, n, is_spread=True)


def _placed(value: float, size: float, drawn: Floats, n: int, *, is_spread: bool = False) -> TestedQuantity:
    """A statistic by its place among its draws, whose standard error is the one that its own test has.

    Args:
        value: what is told.
        size: the statistic; its sign is that of the value.
        drawn: its size in every deal, at least 0.
        n: what is dealt.
        is_spread: whether it has no sign, so that nothing bounds it.
    """
    ordered = np.sort(drawn)

    def normal(sizes: Floats) -> Floats:
        n_as_large = len(ordered) - np.searchsorted(ordered, sizes - NOISE * np.maximum(1.0, sizes), side="left")
        p = (1 + n_as_large) / (1 + len(ordered))
        place = stats.norm.isf(np.minimum(p, 1.0) / 2)
        return np.asarray(place / np.sqrt(1 + place**2 / n))

    share = float((1 + (drawn >= abs(size) * (1 - NOISE)).sum()) / (1 + len(drawn)))
    observed = float(np.sign(size) * normal(np.array([abs(size)]))[0])
    error = np.inf if is_spread or abs(observed) <= NOISE else abs(value / observed)
    added, weights = np.full((ROWS, 1), value / ROWS), np.full((ROWS, 1), 1 / ROWS)
    draws = NullDraws(np.array([observed]), normal(drawn)[:, None], added, weights, np.array([error**2]))
    return TestedQuantity(Number(value=value, p_value=share), draws=draws)
