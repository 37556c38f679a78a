"""The entries of each budget ranked by who beats whom, request by request, under each judge.

A summary of one entry against a summary of another: where an entry is a draw from several candidates, its win is the chance that
what is drawn scores higher, so that averaging over more candidates makes nobody stronger.
Source: Ri et al. 2025, section 4.1; docs/papers.md#ri-bradley-terry.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

import numpy as np
from numpy.typing import NDArray

from ...resampling import LEAST_SETS, NOISE, Bootstrap, cluster_sums, defined, jackknife_t, largest_p_value
from ..systems.contents import JudgeNote
from ..systems.ranked import Weighted
from ..verdicts import adjusted
from .bradley_terry import order, strengths
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
    mine, other = np.array(first), np.array(second)  # (draws, 2): score, chance
    differences = mine[:, None, 0] - other[None, :, 0]
    # scores that differ in rounding alone are ties
    won = (differences > NOISE) + 0.5 * (np.abs(differences) <= NOISE)
    return float(mine[:, 1] @ won @ other[:, 1])


def rank(
    judge: JudgeNote,
    k: int,
    side: str | None,
    by_label: Mapping[str, Sequence[Weighted]],
    sets: Sequence[str],
    bootstrap: Bootstrap,
) -> Ranking | None:
    """The entries by Bradley-Terry strength, strongest first; None with fewer than two, or without any comparison.

    Args:
        judge: whose scores are compared; the lower score wins when lower is better.
        k: the budget.
        side: whose requests they are; None for all.
        by_label: of each entry, what may be drawn for each request.
        sets: the document set of each request, left out whole by the jackknife.
        bootstrap: of which the level is taken.
    """
    won = _wins(list(by_label.values()), judge.better == "lower")
    # requests of which no two entries have a score say nothing, nor do their sets
    compared = np.flatnonzero(won.any(axis=(1, 2)))
    if len(by_label) < 2 or not len(compared):
        return None
    won = won[compared]
    labels, of_sets = list(by_label), cluster_sums(won, [sets[request] for request in compared])
    whole = of_sets.sum(axis=0)
    point, without = strengths(whole, PRIOR), np.array([strengths(whole - each, PRIOR) for each in of_sets])
    first, *others = places = order(point)
    # every entry's own strength, then how far the first is ahead of each other one
    all_sets, left = (
        np.concatenate([each, each[..., [first]] - each[..., others]], axis=-1) for each in (point, without)
    )
    found = jackknife_t(all_sets, left, np.ones(left.shape, dtype=bool), bootstrap.level)
    low, high, ahead = found.low, found.high, found.p_value[len(labels) :]
    wins, games = won.sum(axis=(0, 2)), (won + won.transpose(0, 2, 1)).sum(axis=(0, 2))
    rows = (
        Strength(
            label=labels[each],
            strength=float(point[each]),
            low=defined(low[each]),
            high=defined(high[each]),
            won=float(wins[each] / games[each]) if games[each] else None,
        )
        for each in places
    )
    return Ranking(
        measure=judge.name,
        k=k,
        side=side,
        n=len(compared),
        n_sets=len(of_sets),
        prior=PRIOR,
        p_value=largest_p_value(ahead, len(of_sets)),
        leads=False,
        **asdict(bootstrap),
        rows=tuple(rows),
    )


def leading(rankings: Sequence[Ranking]) -> list[Ranking]:
    """The same, those marked whose first entry is clearly stronger than every other one, corrected for their number."""
    corrected = adjusted([each.p_value if each.n_sets >= LEAST_SETS else None for each in rankings])
    return [
        each.model_copy(update={"leads": p is not None and p <= 1 - each.level})
        for each, p in zip(rankings, corrected, strict=True)
    ]


def _wins(entries: Sequence[Sequence[Weighted]], lower_wins: bool) -> NDArray[np.float64]:
    """Wins of each request, shape (requests, entries, entries)."""
    won = np.zeros((len(entries[0]) if entries else 0, len(entries), len(entries)))
    for i, mine in enumerate(entries):
        for j, other in enumerate(entries[:i]):
            for request, (a, b) in enumerate(zip(mine, other, strict=True)):
                chance = chance_to_win(b, a) if lower_wins else chance_to_win(a, b)
                if chance is not None:
                    won[request, i, j], won[request, j, i] = chance, 1 - chance
    return won
