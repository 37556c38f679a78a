"""What a summary says of a consultation, as statements that people voted on, and each group's approval of that.

Each unit of the summary stands for one statement: one that it copies, else the one that says it best by the entailer's likeness;
a unit that no statement says stands for none and is counted. Likeness does not tell a claim from its negation.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from ...errors import DataError
from ...fairness.groups.entailment import document_entailment
from ...fairness.groups.masses import EMPTY_SUMMARY, Unscored
from ...fairness.labelled import LabelledSummary
from ...judges.measures.measure import Entailer, UnitEvidence
from ...records import DocumentSet
from ...text import fold
from ...text.shown import counted_as
from .approval import Bools, Floats, VoteTable, approval, vote_table
from .votes import StatementVote, read_votes

# all voters, or one half of every group: so that what was chosen by some can be measured on others
Voters = Literal["all", "first-half", "second-half"]
NO_VOTES = "no votes of two groups on its statements"
NO_MATCH = "no unit says what a statement with votes of two groups says"
# what a copy adds to its likeness, which is at most 1
COPIED = 2.0
# of the division of voters
SEED = 0


@dataclass(frozen=True, eq=False)
class Approved:
    """What groups think of one summary."""

    # approval by each of the consultations' groups, (groups,), in [0, 1]; nan for a group without votes on it
    by_group: Floats
    units: tuple[str, ...]
    # place of the statement that each unit says, None for none, and how like it is, in [0, 1], 1 for a copy
    statements: tuple[int | None, ...]
    likeness: tuple[float, ...]
    # place of the unit that each statement is most like; None for none
    nearest: tuple[int | None, ...]
    # agreeing and disagreeing votes of the group that has fewest, of those with any, on what the summary says
    fewest_votes: int

    @property
    def worst(self) -> float:
        """Approval of the group that approves least."""
        return float(np.nanmin(self.by_group))

    @property
    def gap(self) -> float:
        """Approval of the group that approves most less that of the group that approves least."""
        return float(np.nanmax(self.by_group) - np.nanmin(self.by_group))

    @property
    def n_unmatched(self) -> int:
        """Units that no statement says."""
        return self.statements.count(None)


@dataclass(frozen=True, eq=False)
class Votes:
    """The votes of several sets."""

    # groups of all sets in their order
    groups: tuple[str, ...]
    by_set: Mapping[str, VoteTable]
    # votes by reason
    left_out: Counter[str]

    def rates(self, table: VoteTable) -> Floats:
        """Approval of each statement by each group of all sets, (groups, statements); nan where a group has no vote."""
        rates = np.full((len(self.groups), table.votes.shape[1]), np.nan)
        rates[[self.groups.index(group) for group in table.groups]] = table.rates
        return rates


def votes_of(sets: Sequence[DocumentSet], path: Path, voters: Voters) -> Votes:
    """The votes of a file on the statements of document sets.

    Args:
        sets: consultations as they were imported.
        path: of the votes.
        voters: whose votes count.

    Raises:
        StorageError: the file cannot be read.
        DataError: its lines are wrong, or none of its votes is of a group that is large enough on a statement of these sets.
    """
    left_out: Counter[str] = Counter()
    by_set: dict[str, list[StatementVote]] = defaultdict(list)
    for vote in read_votes(path, left_out):
        by_set[vote.set_id].append(vote)
    tables = {}
    for documents in sets:
        table = vote_table(documents, by_set.pop(documents.id, []), left_out)
        if table is not None and len(table.groups) > 1:
            tables[documents.id] = _only(table, voters)
    if not tables:
        names = f"its sets are {', '.join(map(repr, [*by_set][:5]))}" if by_set else f"{_reasons(left_out)}"
        raise DataError(
            f"{path}: has no votes of two groups of five people on the statements of one of the {len(sets):,} sets "
            f"({names}); give the file that evenhand import polis or remesh wrote with --votes beside these documents"
        )
    left_out["votes on other document sets"] += sum(map(len, by_set.values()))
    groups = tuple(sorted({group for table in tables.values() for group in table.groups}))
    return Votes(groups, tables, +left_out)


def _reasons(counts: Counter[str]) -> str:
    return ", ".join(counted_as(n, reason) for reason, n in (+counts).items()) or "each has one group"


def _only(table: VoteTable, voters: Voters) -> VoteTable:
    if voters == "all":
        return table
    first, second = table.halves(np.random.default_rng(SEED))
    return first if voters == "first-half" else second


def approved(entailer: Entailer, votes: Votes, items: Sequence[LabelledSummary]) -> list[Approved | Unscored]:
    """What groups think of each summary, whose id is that of its set."""
    answers: list[Approved | Unscored] = [
        Unscored(NO_VOTES) if item.summary.strip() else Unscored(EMPTY_SUMMARY) for item in items
    ]
    tables = {place: votes.by_set.get(item.id) for place, item in enumerate(items) if item.summary.strip()}
    places = [place for place, table in tables.items() if table is not None]
    evidence = entailer.evidence([items[place] for place in places], between=False)
    for place, units in zip(places, evidence, strict=True):
        table = tables[place]
        assert table is not None, "others were left out"
        answers[place] = (
            units if isinstance(units, Unscored) else _approved(items[place], units, table, votes.rates(table))
        )
    return answers


def _approved(item: LabelledSummary, evidence: UnitEvidence, table: VoteTable, rates: Floats) -> Approved | Unscored:
    entailed = document_entailment(evidence.evidence.nli, evidence.evidence.windows, len(item.documents))
    likeness = entailed + COPIED * _copies(item, evidence.units)  # (documents, units)
    # what nobody voted on says nothing of approval
    likeness = np.where(np.isnan(rates.T).all(axis=1, keepdims=True), 0.0, likeness)
    best, has = likeness.argmax(axis=0), likeness.max(axis=0) > 0
    chosen = np.bincount(best[has], minlength=len(likeness)).astype(float)
    by_group = approval(chosen[None], rates)[0]
    if (~np.isnan(by_group)).sum() < 2:
        return Unscored(NO_MATCH)
    statements = tuple(int(place) if is_said else None for place, is_said in zip(best, has, strict=True))
    likest, is_like = likeness.argmax(axis=1), likeness.max(axis=1) > 0
    nearest = (unit if has_one else None for unit, has_one in zip(likest.tolist(), is_like.tolist(), strict=True))
    n_votes = (table.count(1) + table.count(-1))[:, chosen > 0].sum(axis=1)
    return Approved(
        by_group, tuple(evidence.units), statements, tuple(np.minimum(likeness.max(axis=0), 1.0).tolist()), tuple(nearest),
        int(n_votes[n_votes > 0].min()),
    )  # fmt: skip


def _copies(item: LabelledSummary, units: Sequence[str]) -> Bools:
    """Which statements have the very words of each unit, (documents, units)."""
    texts = [fold(document.text).casefold() for document in item.documents]
    copies = [fold(unit).casefold().rstrip(".!?\u3002 ") for unit in units]
    return np.array([[bool(copy) and copy in text for copy in copies] for text in texts])
