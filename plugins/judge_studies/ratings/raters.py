"""How far people agree among themselves: each rater's scores beside the mean of the other raters', as if the rater were a judge.

What no judge can be asked to surpass by much: the truth that judges are held against is the mean of the same people.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ....fairness.groups.coverage import over
from ....judges.benchmark import Ties
from ....number import Number
from ....resampling import Floats
from ..agreement import correlation, cut_off, jackknife, winrates, within
from ..figures import mean

# what the row of people among themselves is called beside the judges
ONE_RATER = "one rater"


def others_mean(cube: Floats) -> Floats:
    """Mean of the other raters' scores of each rating, (articles, summaries, raters); nan where there is no other."""
    is_known = ~np.isnan(cube)
    scores = np.where(is_known, cube, 0.0)
    totals, counts = (table.sum(axis=2, keepdims=True) - table for table in (scores, is_known.astype(float)))
    return np.asarray(np.where(is_known, over(totals, counts), np.nan))


def one_rater(cube: Floats, topics: Sequence[str]) -> tuple[Number, Number]:
    """Correlation of a rater's scores with the mean of the others': over all summaries, and the mean of the articles' own.

    Each rater's own correlation is computed and averaged, by the number of summaries with a score of somebody else, too.

    Args:
        cube: (articles, summaries, raters), nan where nobody scored.
        topics: of each article.
    """
    others = others_mean(cube)
    is_known = ~np.isnan(others)
    n_raters = cube.shape[2]

    def of_all(rows: NDArray[np.bool_]) -> float:
        values = np.array([correlation(others[rows, :, k], cube[rows, :, k], chooses=False) for k in range(n_raters)])
        weights = np.where(np.isnan(values), 0.0, is_known[rows].sum(axis=(0, 1)))
        return float(over(np.nansum(values * weights), weights.sum()))

    tables = [within(others[:, :, k], cube[:, :, k], chooses=False) for k in range(n_raters)]
    by_article = np.array(
        [np.nan if np.isnan(values).all() else np.nanmean(values) for values in np.stack(tables, axis=1)]
    )
    is_rated = np.asarray(is_known.any(axis=2))
    pooled = jackknife(of_all, is_rated, topics)
    return (
        cut_off(pooled, is_rated, -1.0),
        cut_off(mean(by_article, topics).number, ~np.isnan(by_article), -1.0),
    )


def one_raters_pairs(cube: Floats, topics: Sequence[str], ties: Ties) -> tuple[Number, Number, int]:
    """The winrates of `winrates` of a rater's scores against the mean of the others', each rater's article by itself."""
    others = others_mean(cube)
    truths, scores = (np.moveaxis(table, 2, 1).reshape(-1, cube.shape[1]) for table in (others, cube))
    return winrates(truths, scores, list(np.repeat(topics, cube.shape[2])), ties)
