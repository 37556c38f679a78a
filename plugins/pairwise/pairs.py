"""Strengths of a request's candidates from pairs of them.

A pair about which the model could not be asked is left out. A candidate of which no verdict at all could be read has no score:
ties of silence would give it the mean.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from ...judges.asking import UNREADABLE
from ...judges.bradley_terry import strengths
from ...judges.judge import Verdict
from ...judges.overflow import CUT_PAIRS, was_cut
from ...text.digests import canonical_json

# virtual wins in every pair, as reports have them, also in those that never met: with eight rivals of 64 candidates the order was
# nearer to the true one than without (rho .85 and .79, simulated), of 16 as near
PRIOR = 0.1
# of a strength, after the point
DIGITS = 6
ALONE = "no other candidate"


class PairedVerdicts(NamedTuple):
    """Two candidates of a request, by place, and what came of both orders."""

    first: int
    second: int
    # of the first before the second, and the other way round: 1 where the one that stands first wins, else 0
    verdicts: tuple[Verdict, Verdict]

    @property
    def refusal(self) -> str | None:
        """Why the model could not be asked in one of the orders; None where it could."""
        reasons = (verdict.unscored for verdict in self.verdicts if verdict.unscored not in (None, UNREADABLE))
        return next(reasons, None)

    @property
    def n_read(self) -> int:
        """Orders in which a verdict could be read."""
        return sum(verdict.score is not None for verdict in self.verdicts)

    @property
    def wins(self) -> float:
        """Of the first: 1, 0, or a half."""
        scores = [verdict.score for verdict in self.verdicts]
        return 0.5 if scores not in ([1.0, 0.0], [0.0, 1.0]) else scores[0] or 0.0


def rival_pairs(n: int, rivals: int, seed: int) -> list[tuple[int, int]]:
    """Who is compared with whom, by place: all pairs, or a draw in which each of n has so many rivals.

    The draw lays the candidates in a circle at random, where each meets its nearest neighbours: so all are connected.

    Args:
        n: candidates.
        rivals: of each at most, even.
        seed: of the circle.
    """
    if n - 1 <= rivals:
        return list(combinations(range(n), 2))
    circle = np.random.default_rng(seed).permutation(n).tolist()
    return [(circle[place], circle[(place + step) % n]) for step in range(1, rivals // 2 + 1) for place in range(n)]


def scored(texts: Sequence[str], pairs: Sequence[PairedVerdicts]) -> Mapping[str, Verdict]:
    """Text -> its strength among those of whose pairs a verdict was read, or why it has none.

    A verdict's `raw` counts the candidate's wins, ties and losses, orders without a verdict, and those with a cut source.
    """
    compared = [pair for pair in pairs if pair.refusal is None]
    is_read = sorted({place for pair in compared if pair.n_read for place in pair[:2]})
    wins = np.zeros((len(texts), len(texts)))
    for pair in compared:
        wins[pair.first, pair.second] += pair.wins
        wins[pair.second, pair.first] += 1 - pair.wins
    fitted = strengths(wins[np.ix_(is_read, is_read)], PRIOR) if is_read else ()
    score_at = dict(zip(is_read, fitted, strict=True))
    verdicts = {}
    for place, text in enumerate(texts):
        matches = [pair for pair in pairs if place in pair[:2]]
        raw, n_asks = canonical_json(_counts(place, matches)), 2 * len(matches)
        if place in score_at:
            # no -0
            verdicts[text] = Verdict(round(float(score_at[place]), DIGITS) + 0.0, None, raw, n_asks)
        else:
            reasons = [pair.refusal for pair in matches]
            verdicts[text] = Verdict(None, UNREADABLE if None in reasons else (*reasons, ALONE)[0], raw, n_asks)
    return verdicts


def _counts(place: int, matches: Sequence[PairedVerdicts]) -> dict[str, int]:
    compared = [pair for pair in matches if pair.refusal is None]
    shares = [pair.wins if place == pair.first else 1 - pair.wins for pair in compared]
    counts = {name: shares.count(share) for name, share in (("wins", 1.0), ("ties", 0.5), ("losses", 0.0))}
    counts["unread"] = sum(2 - pair.n_read for pair in compared)
    n_cut = sum(was_cut(verdict.raw) for pair in matches for verdict in pair.verdicts)
    return counts | ({CUT_PAIRS: n_cut} if n_cut else {})
