"""Numbers of all candidates of a phase, best first: arrays in place of records, a few bytes for each candidate and number.

The expected value of the best of n draws is taken from them for all requests at once.
"""

from array import array
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....records import CandidateGroup, ScoredCandidate

Floats = NDArray[np.float64]
# values that may be drawn, each with the chance that it is; chances sum to 1
Weighted = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Ranked:
    """Candidates of requests as rows, ranked as reranking does; shorter rows are padded."""

    # candidates of each request, (requests,)
    n_candidates: NDArray[np.intp]
    # reward, and place in the order of drawing, (requests, most candidates); nan for none and for padding
    rewards: Floats
    index: Floats
    # what was measured -> its values, likewise
    columns: Mapping[str, Floats]
    # what the contract check found -> the candidates that have it, likewise
    issues: Mapping[str, NDArray[np.bool_]]

    @property
    def is_candidate(self) -> NDArray[np.bool_]:
        """Which places are candidates and not padding, (requests, most candidates)."""
        places: NDArray[np.bool_] = np.arange(self.rewards.shape[1]) < self.n_candidates[:, None]
        return places

    def issue(self, name: str) -> Floats:
        """1 where a candidate has the issue, else 0."""
        has_issue = self.issues.get(name, np.zeros(self.rewards.shape, dtype=bool))
        return np.where(self.is_candidate, has_issue, np.nan)

    def unknown(self) -> Floats:
        """The values of what nobody measured."""
        return np.full(self.rewards.shape, np.nan)

    def in_order(self, places: Sequence[int]) -> "Ranked":
        """The requests of these places, in this order."""
        rows = list(places)
        return replace(self._each(lambda table: table[rows]), n_candidates=self.n_candidates[rows])

    def ranked_by(self, column: Floats) -> "Ranked":
        """The candidates in the order of other numbers, the highest first, then of drawing; those without one last."""
        order = np.lexsort((self.index, -column), axis=-1)
        return replace(self, rewards=column)._each(lambda table: np.take_along_axis(table, order, axis=1))

    def _each(self, changed: Callable[[NDArray[Any]], NDArray[Any]]) -> "Ranked":
        """Every table of candidates changed alike."""
        return replace(
            self,
            rewards=changed(self.rewards),
            index=changed(self.index),
            columns={name: changed(column) for name, column in self.columns.items()},
            issues={name: changed(has_issue) for name, has_issue in self.issues.items()},
        )

    def expected_best(self, column: Floats, n: int) -> list[float | None]:
        """Expected value for the best of `n` candidates by reward, of each request; None where no value is known."""
        chances = self._chances(column, n)
        expected = np.zeros(len(column))
        # one after the other, as a sum over one request's candidates goes
        for rank in range(column.shape[1]):
            expected += np.where(chances[:, rank] > 0, column[:, rank] * chances[:, rank], 0.0)
        known: NDArray[np.bool_] = np.asarray((chances > 0).any(axis=1))
        return [value if is_known else None for value, is_known in zip(expected.tolist(), known.tolist(), strict=True)]

    def best_draws(self, column: Floats, n: int) -> list[Weighted]:
        """Values that the best of `n` candidates by reward may have, with their chances, of each request."""
        chances = self._chances(column, n)
        return [
            [(value, chance) for value, chance in zip(*row, strict=True) if chance > 0]
            for row in zip(column.tolist(), chances.tolist(), strict=True)
        ]

    def first_drawn(self, column: Floats, where: NDArray[np.bool_]) -> list[float | None]:
        """The value of the first drawn of some candidates, of each request."""
        if not column.shape[1]:
            return [None] * len(column)
        place = np.where(where, self.index, np.inf).argmin(axis=1)
        values = [row[at] for row, at in zip(column, place, strict=True)]
        has_some: NDArray[np.bool_] = np.asarray(where.any(axis=1))
        return [
            None if np.isnan(value) or not some else float(value) for value, some in zip(values, has_some, strict=True)
        ]

    def _chances(self, column: Floats, n: int) -> Floats:
        """Chance of each candidate that its value is that of the best of `n`, (requests, most candidates).

        Candidates without a value are left out: the chances are those among draws whose best candidate has one. Without a
        reward a candidate is never chosen, except by a single draw, which chooses nothing. A request that has fewer
        candidates than `n` gives the best of those it has.
        """
        chances: Floats = np.zeros_like(column)
        for k in np.unique(self.n_candidates[self.n_candidates > 0]).tolist():
            chances[self.n_candidates == k, :k] = chances_of_best(k, min(n, k))
        is_single = (np.minimum(self.n_candidates, n) == 1)[:, None]
        chances[np.isnan(column) | (np.isnan(self.rewards) & ~is_single)] = 0.0
        total = np.zeros(len(chances))
        for rank in range(chances.shape[1]):
            total += chances[:, rank]
        return np.divide(chances, total[:, None], out=np.zeros_like(chances), where=total[:, None] > 0)


class RankingBuilder:
    """Takes groups one after the other, keeps their numbers, and gives them as arrays in the end."""

    def __init__(self) -> None:
        self._n_candidates = array("q")
        self._rewards, self._index = array("d"), array("d")
        self._columns: dict[str, array[float]] = {}
        # places among all candidates
        self._issues: dict[str, array[int]] = {}

    def add(self, group: CandidateGroup, numbers: Mapping[str, Mapping[str, float | None]]) -> None:
        """Take the next request's candidates; `numbers` are theirs, by id and name, and have the same names for all."""
        ranked = sorted(group.candidates, key=lambda scored: _rank(scored, group.best_id))
        self._n_candidates.append(len(ranked))
        for scored in ranked:
            for issue in set(scored.candidate.issues):
                self._issues.setdefault(issue, array("q")).append(len(self._rewards))
            self._rewards.append(_or_nan(scored.reward))
            self._index.append(scored.candidate.index)
            for name, value in numbers[scored.candidate.id].items():
                self._columns.setdefault(name, array("d")).append(_or_nan(value))

    def ranked(self) -> Ranked:
        """The numbers so far."""
        n_candidates = np.array(self._n_candidates, dtype=np.intp)
        is_candidate = np.arange(n_candidates.max(initial=0)) < n_candidates[:, None]

        def laid_out(numbers: "array[float]") -> Floats:
            table = np.full(is_candidate.shape, np.nan)
            table[is_candidate] = numbers
            return table

        issues = {}
        for issue, places in self._issues.items():
            has = np.zeros(len(self._rewards), dtype=bool)
            has[places] = True
            issues[issue] = np.zeros(is_candidate.shape, dtype=bool)
            issues[issue][is_candidate] = has
        columns = {name: laid_out(numbers) for name, numbers in self._columns.items()}
        return Ranked(n_candidates, laid_out(self._rewards), laid_out(self._index), columns, issues)


def commonest_issues(all_of: Sequence[Ranked]) -> list[str]:
    """The issues that the contract check found anywhere, the commonest first."""
    counts = Counter[str]()
    for ranked in all_of:
        counts.update({issue: int(has_issue.sum()) for issue, has_issue in ranked.issues.items()})
    return sorted(counts, key=lambda issue: (-counts[issue], issue))


@cache
def chances_of_best(k: int, n: int) -> list[float]:
    """Chance that the candidate of each rank, best first, is the best of `n` drawn from `k` without replacement.

    The candidate of rank r (0 is the best) wins when it is drawn and the other n - 1 come from the k - 1 - r below it:
    C(k - 1 - r, n - 1) / C(k, n). The chances sum to 1.
    """
    return [comb(k - 1 - rank, n - 1) / comb(k, n) for rank in range(k)]


def _rank(scored: ScoredCandidate, best_id: str | None) -> tuple[bool, bool, bool, float, bool, int]:
    """Sort key, best first, as reranking chooses: refusals last; of ties what keeps the contract, then what was drawn first."""
    candidate, reward = scored.candidate, scored.reward
    return (
        candidate.id != best_id,
        reward is None,
        candidate.is_refusal,
        -(reward or 0.0),
        not candidate.contract_ok,
        candidate.index,
    )


def _or_nan(value: float | None) -> float:
    return np.nan if value is None else value
