"""Approval: how far each opinion group agrees with statements that it voted on, and selections of statements by votes.

A group's approval of a statement is agrees / (agrees + disagrees); a pass is neither. Its approval of a selection is the mean
over those of its statements that the group agreed or disagreed with. A selection that was made by votes is to be measured on
other voters: `halves`.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...fairness.groups.coverage import over
from ...records import DocumentSet
from ...resampling import exact_bounds, rate_bounds
from .votes import StatementVote

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

# voters that a group needs for its approval to be said
LEAST_VOTERS = 5
NO_GROUP = "votes of people of no group"
SMALL_GROUP = f"votes of groups of fewer than {LEAST_VOTERS} voters"
NO_STATEMENT = "votes on statements that are not among the documents"


@dataclass(frozen=True, eq=False)
class VoteTable:
    """The votes of one document set."""

    # opinion groups in their order, and the place of each voter's among them, (voters,)
    groups: tuple[str, ...]
    group_of: NDArray[np.intp]
    # 1 agrees, -1 disagrees, 0 passes, nan where nothing was said, (voters, statements); statements in the documents' order
    votes: Floats

    def count(self, vote: int) -> Floats:
        """How many of each group voted so on each statement, (groups, statements)."""
        return np.asarray(self._is_in.T.astype(float) @ (self.votes == vote))

    @property
    def rates(self) -> Floats:
        """Approval of each statement by each group, (groups, statements), in [0, 1]; nan where nobody agreed or disagreed."""
        agrees = self.count(1)
        return over(agrees, agrees + self.count(-1))

    @property
    def likely_rates(self) -> Floats:
        """The same with one agreeing and one disagreeing voter more, so that few votes are no certainty; ½ without votes."""
        agrees = self.count(1)
        return np.asarray((agrees + 1) / (agrees + self.count(-1) + 2))

    @property
    def consensus(self) -> Floats:
        """Group-informed consensus of each statement, (statements,), in (0, 1).

        The product over the groups of (agrees + 1) / (votes + 2), passes counted among the votes.

        Source: Small et al. 2021, "Polis: Scaling deliberation by mapping high dimensional opinion spaces".
        """
        agrees = self.count(1)
        return np.asarray(((agrees + 1) / (agrees + self.count(-1) + self.count(0) + 2)).prod(axis=0))

    def halves(self, generator: np.random.Generator) -> tuple["VoteTable", "VoteTable"]:
        """Two tables, each with half of the voters of every group."""
        # a random order, in which every other voter of each group goes to the first half
        order = generator.permutation(len(self.group_of))
        nth = (np.cumsum(self._is_in[order], axis=0) - 1)[np.arange(len(order)), self.group_of[order]]
        return self._only(order[nth % 2 == 0]), self._only(order[nth % 2 == 1])

    def of(self, statements: NDArray[np.intp]) -> "VoteTable":
        """The votes on some of the statements."""
        return replace(self, votes=self.votes[:, statements])

    def _only(self, voters: NDArray[np.intp]) -> "VoteTable":
        return replace(self, group_of=self.group_of[voters], votes=self.votes[voters])

    @property
    def _is_in(self) -> Bools:
        return np.asarray(self.group_of[:, None] == np.arange(len(self.groups)))  # (voters, groups)


def vote_table(
    documents: DocumentSet, votes: Sequence[StatementVote], left_out: Counter[str], least_voters: int = LEAST_VOTERS
) -> VoteTable | None:
    """The votes on the statements of a set; None without votes of a group that is large enough.

    Args:
        documents: their ids are those of the votes.
        votes: of this set, one of each voter on each statement.
        left_out: votes by reason, to which is added what is.
        least_voters: that a group needs.
    """
    places = {document.id: place for place, document in enumerate(documents.documents)}
    cast = [(vote, str(vote.group)) for vote in votes if vote.document in places and vote.group is not None]
    left_out[NO_STATEMENT] += sum(vote.document not in places for vote in votes)
    left_out[NO_GROUP] += sum(vote.document in places and vote.group is None for vote in votes)
    group_by_voter = {vote.voter: group for vote, group in cast}
    sizes = Counter(group_by_voter.values())
    groups = tuple(sorted(group for group, size in sizes.items() if size >= least_voters))
    voters = [voter for voter, group in group_by_voter.items() if group in groups]
    rows = {voter: row for row, voter in enumerate(voters)}
    table = np.full((len(voters), len(places)), np.nan)
    for vote, _ in cast:
        if vote.voter in rows:
            table[rows[vote.voter], places[vote.document]] = vote.vote
    left_out[SMALL_GROUP] += sum(vote.voter not in rows for vote, _ in cast)
    if not voters:
        return None
    return VoteTable(groups, np.array([groups.index(group_by_voter[voter]) for voter in voters]), table)


def approval(selections: Bools | Floats, rates: Floats) -> Floats:
    """Approval of each selection by each group, (selections, groups), in [0, 1]; nan where a group voted on none of it.

    Args:
        selections: which statements each has, (selections, statements); numbers weigh a statement.
        rates: of each statement by each group, (groups, statements); nan where nobody agreed or disagreed.
    """
    chosen, is_known = selections.astype(float), ~np.isnan(rates)
    return over(chosen @ np.where(is_known, rates, 0.0).T, chosen @ is_known.T.astype(float))


def voter_bounds(parts: Sequence[tuple[VoteTable, int, Sequence[int]]], level: float) -> tuple[float, float]:
    """Exact interval over voters of a group's approval of what summaries say, the mean over sets, in [0, 1].

    The statements stay as they are, and voters are as many as give the approval its standard error (`resampling.rate_bounds`):
    percentiles of drawn voters hold the true approval of few voters far too seldom, docs/fairness-evidence.md#approval.

    Args:
        parts: of each set its votes, the place of the group there, and of the statements that its summary says; the group voted
            on some of them.
        level: of the interval.
    """
    rate, n_values, rows = 0.0, 0.0, []
    for table, group, said in parts:
        places, times = np.unique(said, return_counts=True)
        votes = table.votes[table.group_of == group][:, places]  # (voters, statements)
        n_votes = (np.abs(votes) == 1).sum(axis=0)
        votes, n_votes, times = votes[:, n_votes > 0], n_votes[n_votes > 0], times[n_votes > 0]
        is_vote, agrees = np.abs(votes) == 1, votes == 1
        rates = agrees.sum(axis=0) / n_votes
        weights = is_vote * (times / times.sum() / n_votes / len(parts))
        table_of_set = np.stack([(weights * (agrees - rates)).sum(axis=1), weights.sum(axis=1)], axis=1)
        rows.append(table_of_set[is_vote.any(axis=1)])
        rate += float(rates @ times / times.sum()) / len(parts)
        n_values += float((weights**2).sum())
    voters = np.concatenate(rows)
    return exact_bounds(rate, 1, level) if len(voters) == 1 else rate_bounds(rate, voters, 1 / n_values, level)


def leximin(rates: Floats, n: int) -> list[int]:
    """Places of `n` statements, taken one by one, each so that the group that approves least approves as much as it can.

    Where several do so, the next group decides.

    Args:
        rates: of each statement by each group, (groups, statements), without nan.
        n: at most all statements.
    """
    chosen: list[int] = []
    sums = np.zeros(len(rates))
    for _ in range(n):
        left = [place for place in range(rates.shape[1]) if place not in chosen]
        best = max(left, key=lambda place: (*np.sort(sums + rates[:, place]).tolist(), -place))
        chosen.append(best)
        sums = sums + rates[:, best]
    return chosen
