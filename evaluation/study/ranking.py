"""The entries of each budget ranked by who beats whom, request by request, under each judge."""

from collections.abc import Sequence

from ...resampling import cluster_draws
from ..compare import Bootstrap, Values
from ..contents import JudgeNote
from ..ranking import order, row_wins, strength_intervals
from .contents import Ranking, Strength

PRIOR = 0.1
# each draw fits the strengths anew, so there are fewer than of a mean
MOST_DRAWS = 1000
# scores that differ in rounding alone are ties
PLACES = 9


def rank(
    judge: JudgeNote, k: int, by_label: dict[str, Values], sets: Sequence[str], bootstrap: Bootstrap
) -> Ranking | None:
    """The entries by Bradley-Terry strength, strongest first; None with fewer than two, or without any comparison.

    Args:
        judge: whose scores are compared; the lower score wins when lower is better.
        k: the budget.
        by_label: a value a request of each entry.
        sets: the document set of each request, resampled whole.
        bootstrap: how the intervals are drawn.
    """
    sign = -1.0 if judge.better == "lower" else 1.0
    columns = [[None if v is None else round(sign * v, PLACES) for v in values] for values in by_label.values()]
    rows = [list(row) for row in zip(*columns, strict=True)]
    won = row_wins(rows)
    compared = won + won.transpose(0, 2, 1)
    n = int((compared.sum(axis=(1, 2)) > 0).sum())
    if len(by_label) < 2 or not n:
        return None
    resamples = min(bootstrap.resamples, MOST_DRAWS)
    draws = cluster_draws(sets, resamples=resamples, seed=bootstrap.seed)
    found = strength_intervals(rows, draws, prior=PRIOR, level=bootstrap.level)
    labels, wins, games = list(by_label), won.sum(axis=(0, 2)), compared.sum(axis=(0, 2))

    def strength(place: int) -> Strength:
        return Strength(
            label=labels[place],
            strength=float(found.point[place]),
            low=float(found.low[place]),
            high=float(found.high[place]),
            won=float(wins[place] / games[place]) if games[place] else None,
        )

    return Ranking(
        measure=judge.name,
        k=k,
        n=n,
        prior=PRIOR,
        level=bootstrap.level,
        resamples=resamples,
        seed=bootstrap.seed,
        rows=tuple(strength(place) for place in order(found.point)),
    )


def is_told_apart(ranking: Ranking) -> bool:
    """Whether the interval of the strongest lies above that of every other entry."""
    first, *others = ranking.rows
    return all(first.low > other.high for other in others)
