"""Approval as a judge: how far the opinion group that likes a summary least agrees with what it says.

As the reward it chooses by leximin's first round: the candidate whose worst-off group is best off. Its voters are by default one
half of every group, so that what it chose can be measured on the other half (`evenhand audit --voters second-half`).
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import ClassVar, Literal

from ...config.fairness import EntailerSection, FairnessJudgeSection
from ...config.section import Check
from ...corpora.reader import read_any
from ...fairness.groups.masses import Unscored
from ...fairness.labelled import LabelledSource, LabelledSummary
from ...judges.documents import WholeSetJudge
from ...judges.judge import Judge, Kind, Verdict, judge_signature
from ...judges.measures import Entailer, entailer_readers, open_entailer
from ...judges.shared import SharedModels
from ...records import Document
from ...storage import file_digest, local_path
from ...text.digests import canonical_json, digest
from .said import Approved, Voters, Votes, approved, votes_of


class ApprovalJudge(FairnessJudgeSection):
    """How far the opinion group that likes the summary least agrees with what it says."""

    kind: Literal["approval"]
    meaning: ClassVar[str] = (
        "Share of what a summary says that the opinion group which likes it least approves of, by votes on the statements that "
        "say the same; says nothing of what no statement says."
    )
    scope: ClassVar[Literal["any", "side", "all"]] = "all"
    # groups of voters are compared, not of authors
    least_values: ClassVar[int] = 1
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

    def __init__(self, name: str, options: ApprovalJudge, entailer: Entailer) -> None:
        files = digest([file_digest(local_path(path)) for path in (options.documents, options.votes)], 12)
        named = judge_signature(
            "approval-of-worst-group", "approval", entailer=entailer.signature, votes=files, voters=options.voters, v=1
        )
        super().__init__(name, named, entailer)
        self._votes, self._set_ids = _read(options)
        self._entailer = entailer

    def _verdicts(self, summaries: Sequence[LabelledSummary]) -> list[Verdict]:
        items = [replace(summary, id=self._set_ids.get(_texts(summary.documents), "")) for summary in summaries]
        return [self._verdict(answer) for answer in approved(self._entailer, self._votes, items)]

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


def _read(options: ApprovalJudge) -> tuple[Votes, dict[tuple[str, ...], str]]:
    """The votes, and the id of each set by the texts of its documents, by which alone a judge knows a set."""
    sets = read_any(local_path(options.documents))
    n_alike = Counter(_texts(documents.documents) for documents in sets)
    # votes on one of two sets of the same texts are not votes on the other
    ids = {texts: documents.id for documents in sets if n_alike[texts := _texts(documents.documents)] == 1}
    return votes_of(sets, local_path(options.votes), options.voters), ids


def _texts(documents: Sequence[Document | LabelledSource]) -> tuple[str, ...]:
    return tuple(document.text for document in documents)


def open_approval(name: str, options: ApprovalJudge, models: SharedModels) -> Judge:
    """The judge of approval that the options describe.

    Raises:
        EvenhandError: the documents or the votes cannot be read, or do not go together.
        ModelError: as `open_entailer`.
    """
    return WorstGroupApproval(name, options, open_entailer(options.entailer, models))


def _checks(name: str, options: ApprovalJudge) -> Iterator[Check]:
    yield Check("votes", partial(_read, options), is_here=True)


APPROVAL = Kind(
    open_approval, ApprovalJudge, checks=_checks, readers=lambda options: entailer_readers(options.entailer)
)
