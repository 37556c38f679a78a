"""Approval as a judge: how far the opinion group that likes a summary least agrees with what it says.

As the reward it chooses by leximin: the candidate whose worst-off group is best off. Its voters are by default one half of every
group, so that what it chose can be measured on the other half (`evenhand audit --voters second-half`).
"""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar, Literal

from ...config.fairness import EntailerSection, FairnessJudgeSection
from ...config.section import Check
from ...corpora.reader import read_any
from ...fairness.groups.masses import Unscored
from ...fairness.labelled import LabelledSummary
from ...judges.documents import WholeSetJudge
from ...judges.judge import Judge, Kind, Verdict, judge_signature
from ...judges.measures import Entailer, entailer_readers, open_entailer
from ...judges.shared import SharedModels
from ...storage import canonical_json, digest, file_digest, local_path
from .said import Approved, Voters, Votes, approved, votes_of


class ApprovalJudge(FairnessJudgeSection):
    """How far the opinion group that likes the summary least agrees with what it says."""

    kind: Literal["approval"]
    meaning: ClassVar[str] = (
        "Share of what a summary says that the opinion group which likes it least approves of, by votes on the statements that "
        "say the same; says nothing of what no statement says."
    )
    scope: ClassVar[Literal["any", "side", "all"]] = "all"
    # the consultation, and the votes on it, as evenhand import polis or remesh writes them
    documents: Path
    votes: Path
    # whose votes count; what is chosen by all voters can be measured on nobody else
    voters: Voters = "first-half"
    entailer: EntailerSection = EntailerSection()

    @property
    def better(self) -> Literal["higher", "lower"] | None:
        """Higher: 1 is a summary of which every group approves."""
        return "higher"


class WorstGroupApproval(WholeSetJudge):
    """Approval of the worst group as a judge, on a scale from 0 to 1; its `raw` has that of every group."""

    def __init__(self, name: str, options: ApprovalJudge, votes: Votes, entailer: Entailer) -> None:
        files = digest([file_digest(local_path(path)) for path in (options.documents, options.votes)], 12)
        named = judge_signature(
            "approval-of-worst-group", "approval", entailer=entailer.signature, votes=files, voters=options.voters, v=1
        )
        super().__init__(name, named, entailer)
        self._votes = votes
        self._entailer = entailer

    def _verdicts(self, summaries: Sequence[LabelledSummary]) -> list[Verdict]:
        return [self._verdict(answer) for answer in approved(self._entailer, self._votes, summaries)]

    def _verdict(self, answer: Approved | Unscored) -> Verdict:
        if isinstance(answer, Unscored):
            return Verdict(None, answer.reason)
        by_group = {
            group: round(float(share), 6)
            for group, share in zip(self._votes.groups, answer.by_group, strict=True)
            if share >= 0  # not nan
        }
        raw = {"approval": by_group, "units": len(answer.units), "without_statement": answer.n_unmatched}
        return Verdict(round(answer.worst, 6), raw=canonical_json(raw))


def _votes(options: ApprovalJudge) -> Votes:
    return votes_of(read_any(local_path(options.documents)), local_path(options.votes), options.voters)


def open_approval(name: str, options: ApprovalJudge, models: SharedModels) -> Judge:
    """The judge of approval that the options describe.

    Raises:
        EvenhandError: the documents or the votes cannot be read, or do not go together.
        ModelError: as `open_entailer`.
    """
    return WorstGroupApproval(name, options, _votes(options), open_entailer(options.entailer, models))


def _checks(name: str, options: ApprovalJudge) -> Iterator[Check]:
    yield Check("votes", partial(_votes, options), is_here=True)


APPROVAL = Kind(
    open_approval, ApprovalJudge, checks=_checks, readers=lambda options: entailer_readers(options.entailer)
)
