"""Approval as a measure of the audit: how far each opinion group agrees with what summaries of a consultation say.

What a summary says is told by the audit's entailer, as statements that people voted on (`plugins.consultations.said`). Shares of
authors say little of it: docs/fairness-evidence.md#approval.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...config.section import Section
from ...errors import DataError
from ...evaluation.audit.family import CommandOption, FamilyKind, FamilyPage, GroupTable, Opening
from ...evaluation.audit.figures import Figures, Floats, Measured, in_order, most, quantities_of, reasons
from ...evaluation.audit.kinds import NumberKind, Side, SummaryUnit, TakenApart
from ...evaluation.pages.words import counted
from ...fairness.groups.coverage import over
from ...fairness.groups.masses import Unscored
from ...fairness.labelled import LabelledSummary
from ...judges.measures.measure import Entailer
from ...resampling import Bootstrap
from ...storage import file_digest
from ...text.shown import counted_as
from .approval import LEAST_VOTERS, approval
from .points import points_of
from .points_page import FAMILY as NAME
from .points_page import GROUPS, PART
from .said import Approved, Voters, Votes, approved, votes_of

WORST = NumberKind("approval of the worst group", is_told=True)
GAP = NumberKind("approval gap", grows_by_chance=True)
APPROVAL = NumberKind("approval", is_tested=False)
WHOLES, ROWS = (WORST, GAP), (APPROVAL,)
# columns before those of the groups: scored, the two wholes, units, and units that no statement says
HEAD = 5
# share of units that no statement says, above which a warning says so
MOST_UNMATCHED = 0.25
# of a summary of which everybody approves
LEAST_UNFAIRNESS = 1e-6


@dataclass(frozen=True)
class GroupApproval:
    """The family of approval."""

    entailer: Entailer
    votes: Votes
    voters: Voters
    # digest of the file of votes
    digest: str
    # draws of statements, and the level
    plan: Bootstrap

    name = NAME

    @property
    def by(self) -> str:
        """The entailer's name."""
        return self.entailer.name

    @property
    def signature(self) -> str:
        """Entailer and votes."""
        return f"approval|{self.entailer.signature}|votes:{self.digest}|voters:{self.voters}|v:1"

    def measure(self, items: Sequence[LabelledSummary]) -> list[Approved | Unscored]:
        """What groups think of each summary."""
        return approved(self.entailer, self.votes, items)

    def figures(self, answers: Sequence[Approved | Unscored]) -> Figures:
        """The sums of all sets."""
        n = len(self.votes.groups)
        columns = np.zeros((len(answers), HEAD + 2 * n))
        for row, answer in enumerate(answers):
            if isinstance(answer, Approved):
                head = 1.0, answer.worst, answer.gap, len(answer.units), answer.n_unmatched
                columns[row] = *head, *~np.isnan(answer.by_group), *np.nan_to_num(answer.by_group)
        scored = columns[:, :1] > 0
        return Figures(
            quantities=quantities_of(self.by, ROWS, self.votes.groups, WHOLES),
            columns=columns,
            reduce=self._reduce,
            rests_on=np.hstack([scored, scored, columns[:, HEAD : HEAD + n] > 0]),
            # above 0 also where all approve: whose points it leaves out is shown of every summary
            unfairness=np.where(scored[:, 0], np.maximum(1 - columns[:, 1], LEAST_UNFAIRNESS), np.nan),
            left_out=reasons(answers),
            no_part="no vote of the group on what the summary says",
        )

    def sentence(self, kind: NumberKind, point: str, figures: Figures) -> str:
        """What an aggregate means, and how much of the summaries it speaks of."""
        n_units, n_unmatched = (int(n) for n in figures.columns[:, 3:HEAD].sum(axis=0))
        if kind == GAP:
            return (
                f"The group that approves most approves of {point} points of 100 more than the one that approves least."
            )
        return (
            f"Of what a summary says, the group that likes it least approves of {point} % on average; {n_unmatched:,} of "
            f"{n_units:,} units match no statement and do not count."
        )

    def example(self, item: LabelledSummary, answer: Approved, left_out: tuple[str, ...] | None = None) -> TakenApart:
        """Approval by group of all statements and of the summary, and the statement that each unit says."""
        table = self.votes.by_set[item.id]
        rates, groups = self.votes.rates(table), self.votes.groups
        of_all = approval(np.ones((1, rates.shape[1]), dtype=bool), rates)[0]
        known = [k for k in range(len(groups)) if not np.isnan(answer.by_group[k])]
        worst = most({groups[k]: 1.0 - float(answer.by_group[k]) for k in known}) if left_out is None else left_out
        lines = []
        for unit, place in zip(answer.units, answer.statements, strict=True):
            takes = {} if place is None else {groups[k]: float(rates[k, place]) for k in known if rates[k, place] >= 0}
            note = "no statement says it" if place is None else f"as: {item.documents[place].text}"
            lines.append(SummaryUnit(text=unit, takes=takes, note=note))
        texts = [document.text for document in item.documents]
        return TakenApart(
            measure=f"what the worst group does not approve of ({self.by})",
            columns=("approval of all statements", "approval of the summary"), takes_what="share of the group that agrees",
            sides=tuple(
                Side(name=groups[k], source=float(of_all[k]), summary=float(answer.by_group[k])) for k in known
            ),
            lines=tuple(lines),
            left_out=worst,
            documents=(),
            own=points_of(table, answer, texts, self.plan).model_dump(mode="json"),
        )  # fmt: skip

    def _reduce(self, sums: Floats) -> Floats:
        n = len(self.votes.groups)
        by_group = over(sums[..., HEAD + n :], sums[..., HEAD : HEAD + n])
        return in_order((by_group,), over(sums[..., 1:3], sums[..., :1]))


class ApprovalOptions(Section):
    """Options of the audit's measure."""

    # the votes, as an importer of a consultation writes them
    votes: Path | None = None
    # whose votes count
    voters: Voters = "all"


def _opened(opening: Opening) -> GroupApproval:
    options, entailer = opening.options, opening.tools.entailer
    assert isinstance(options, ApprovalOptions) and entailer is not None, "of its own kind, and it uses the entailer"
    if options.votes is None:
        raise DataError(
            f"measure {opening.name!r} needs votes: give --votes FILE, which evenhand import polis or remesh writes"
        )
    votes = votes_of(opening.audited.sets, options.votes, options.voters)
    return GroupApproval(entailer, votes, options.voters, file_digest(options.votes), opening.plan.bootstrap)


def _warnings(measured: Measured, least_group: int) -> Iterator[str]:
    """Units that no statement says, and votes that do not count."""
    family = measured.family
    if not isinstance(family, GroupApproval):
        return
    n_units, n_unmatched = measured.figures.columns[:, 3:HEAD].sum(axis=0)
    if n_unmatched > MOST_UNMATCHED * n_units:
        yield (
            f"{measured.system}, approval: {n_unmatched:,.0f} of {n_units:,.0f} units of the summaries match no statement "
            f"({family.by}), so approval speaks of the rest alone."
        )
    few = [answer for answer in measured.answers if isinstance(answer, Approved) and answer.fewest_votes < LEAST_VOTERS]
    if few:
        yield (
            f"{measured.system}, approval: in {counted(len(few), 'set')} a group gave fewer than {LEAST_VOTERS} votes on what "
            "the summary says, so that its approval is hardly known (--over-voters)."
        )
    for reason, n in family.votes.left_out.items():
        yield f"Approval leaves out {counted_as(n, reason)}."


# on request: it needs votes
FAMILY = FamilyKind(
    _opened,
    (*WHOLES, *ROWS),
    other_names=("votes", "leximin", "approval-of-the-worst-group"),
    uses=("entailer",),
    named_by="entailer",
    options=ApprovalOptions,
    command_options=(
        CommandOption(
            "votes",
            Path | None,
            "Measure approval: how far each opinion group agrees with what the summaries say, by the votes that import polis "
            "and import remesh write.",
            after="units",
            metavar="FILE.jsonl",
        ),
        CommandOption(
            "voters",
            str,
            "Whose votes count: all, first-half or second-half of every group. Judges of kind approval choose by the first "
            "half; measure what they chose by the second.",
            after="units",
            metavar="VOTERS",
        ),
    ),
    page=FamilyPage(
        groups=GROUPS,
        row="{value}",
        table=GroupTable(
            "Approval: {by}",
            "How far each opinion group agrees with what the summaries say, by its votes on the statements that say the same, "
            "in per cent. The groups are the voters'; where votes made them, as in Polis, those of two sets share a name alone.",
            "approval",
            (GROUPS, "approval"),
        ),
        zero_is_fair=False,
        warnings=_warnings,
        part=PART,
    ),
)  # fmt: skip
