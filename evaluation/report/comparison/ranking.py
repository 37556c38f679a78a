"""The entries of each budget ranked by who beats whom, request by request, under each judge.

A summary of one entry against a summary of another: where an entry is a draw from several candidates, its win is the chance that
what is drawn scores higher, so that averaging over more candidates makes nobody stronger.
Source: Ri et al. 2025, section 4.1; docs/papers.md#ri-bradley-terry.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ....judges.bradley_terry import order, strengths
from ....resampling import LEAST_SETS, NOISE, cluster_sums, defined, jackknife_t
from ...significance import Concluded
from ..systems.compare import Comparer
from ..systems.contents import JudgeNote
from ..systems.questions import Half, Question
from ..systems.ranked import Weighted
from .contents import Ranking, Strength

PRIOR = 0.1


def chance_to_win(first: Weighted, second: Weighted) -> float | None:
    """Chance that a draw of the first scores higher than one of the second, ties half; None where one has no score.

    Args:
        first: scores with the chances that they are drawn.
        second: the same of the other.
    """
    if not first or not second:
        return None
    first_draws, second_draws = np.array(first), np.array(second)  # (draws, 2): score, chance
    differences = first_draws[:, None, 0] - second_draws[None, :, 0]
    # scores that differ in rounding alone are ties
    won = (differences > NOISE) + 0.5 * (np.abs(differences) <= NOISE)
    return float(first_draws[:, 1] @ won @ second_draws[:, 1])


def rank(
    judge: JudgeNote,
    k: int,
    side: str | None,
    by_label: Mapping[str, Sequence[Weighted]],
    sets: Sequence[str],
    compare: Comparer,
) -> tuple[Ranking, Question] | None:
    """The entries by Bradley-Terry strength, strongest first, and the tests of who wins more often against whom.

    None with fewer than two, or without any comparison.

    Args:
        judge: whose scores are compared; the lower score wins when lower is better.
        k: the budget.
        side: whose requests they are; None for all.
        by_label: of each entry, what may be drawn for each request.
        sets: the document set of each request, left out whole by the jackknife.
        compare: of all requests of the page.
    """
    won = _wins(list(by_label.values()), judge.better == "lower")
    # requests of which no two entries have a score say nothing, nor do their sets
    compared = np.flatnonzero(won.any(axis=(1, 2)))
    if len(by_label) < 2 or not len(compared):
        return None
    won = won[compared]
    labels, names = list(by_label), [sets[request] for request in compared]
    of_sets = cluster_sums(won, names)
    total = of_sets.sum(axis=0)
    point, without = strengths(total, PRIOR), np.array([strengths(total - of_set, PRIOR) for of_set in of_sets])
    intervals = jackknife_t(point, without, np.ones(without.shape, dtype=bool), compare.bootstrap.level)
    low, high, places = intervals.low, intervals.high, order(point)
    wins, games = won.sum(axis=(0, 2)), (won + won.transpose(0, 2, 1)).sum(axis=(0, 2))
    rows = (
        Strength(
            system=labels[place],
            value=float(point[place]),
            low=defined(low[place]),
            high=defined(high[place]),
            won=float(wins[place] / games[place]) if games[place] else None,
        )
        for place in places
    )
    ranking = Ranking(
        measure=judge.name,
        k=k,
        side=side,
        n=len(compared),
        n_sets=len(of_sets),
        prior=PRIOR,
        leads=False,
        rows=tuple(rows),
    )
    # how much more often the first of the ranking wins against each other one, and then all other pairs
    first, *rivals = places
    pairs = [*((first, rival) for rival in rivals), *combinations(rivals, 2)]
    of_page = np.zeros((len(compare.set_ids), *total.shape))
    of_page[[compare.set_ids.index(name) for name in dict.fromkeys(names)]] = of_sets
    added = np.array([of_page[:, i, j] - of_page[:, j, i] for i, j in pairs]).T
    weights = np.array([of_page[:, i, j] + of_page[:, j, i] for i, j in pairs]).T
    family: Half = "others" if judge.role == "report" else "by design"
    return ranking, Question(family, np.where(weights > 0, added, np.nan), weights)


def leading(ranking: Ranking, answer: Concluded, level: float) -> Ranking:
    """The ranking; it leads where its first entry clearly wins more often than it loses against every other one."""
    n_others = len(ranking.rows) - 1
    is_ahead = (answer.low[:n_others] > NOISE) & (answer.p_value[:n_others] <= 1 - level)
    return ranking.model_copy(update={"leads": bool(is_ahead.all()) and ranking.n_sets >= LEAST_SETS})


def _wins(entries: Sequence[Sequence[Weighted]], lower_wins: bool) -> NDArray[np.float64]:
    """Wins of each request, shape (requests, entries, entries)."""
    won = np.zeros((len(entries[0]) if entries else 0, len(entries), len(entries)))
    for i, draws in enumerate(entries):
        for j, rival_draws in enumerate(entries[:i]):
            for request, (a, b) in enumerate(zip(draws, rival_draws, strict=True)):
                chance = chance_to_win(b, a) if lower_wins else chance_to_win(a, b)
                if chance is not None:
                    won[request, i, j], won[request, j, i] = chance, 1 - chance
    return won
