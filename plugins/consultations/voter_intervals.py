"""Intervals of approval over voters: the only ones where a single consultation is audited.

They are exact (`approval.voter_bounds`); which statements a summary says stays as it is.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from ...config.section import Section
from ...evaluation.audit.contents import AuditNumber
from ...evaluation.audit.family import CommandOption
from ...evaluation.audit.figures import Measured
from ...evaluation.audit.input import AuditInput
from ...evaluation.audit.kinds import Measure
from ...evaluation.audit.supplements import Supplement
from ...resampling import Bootstrap
from .approval import voter_bounds
from .family import APPROVAL, WORST, GroupApproval
from .said import Approved

HOW = "interval over voters"


class VoterOptions(Section):
    """What is asked for of an audit."""

    # whether approval has intervals over voters, too
    over_voters: bool = False


def over_voters(
    measured: Sequence[Measured], corpus: AuditInput, bootstrap: Bootstrap, options: Section
) -> Iterator[AuditNumber]:
    """Approval of each group with intervals over voters, mean over sets, and of a single set's worst one, system after system."""
    for measurement in measured:
        if isinstance(measurement.family, GroupApproval) and measurement.figures.scored.any():
            yield from _of_system(measurement, measurement.family, corpus, bootstrap.level)


def _of_system(measurement: Measured, family: GroupApproval, corpus: AuditInput, level: float) -> Iterator[AuditNumber]:
    answered = [
        (family.votes.by_set[documents.id], answer)
        for documents, answer in zip(corpus.sets, measurement.answers, strict=True)
        if isinstance(answer, Approved)
    ]
    # which group is worst was not known before: the error of that adds up over sets, so of several the worst has none
    for side in (*family.votes.groups, *((None,) if len(answered) == 1 else ())):
        rated = [
            (approved, (table, table.groups.index(group), [place for place in answer.statements if place is not None]))
            for table, answer in answered
            for group, approved in [_approval(family.votes.groups, answer, side)]
            if not np.isnan(approved)
        ]
        low, high = voter_bounds([votes for _, votes in rated], level) if rated else (None, None)
        yield AuditNumber(
            measure=str(Measure(WORST if side is None else APPROVAL, family.by)), system=measurement.system, side=side, how=HOW,
            value=float(np.mean([approved for approved, _ in rated])) if rated else None,
            low=low, high=high, n_sets=len(rated),
        )  # fmt: skip


def _approval(groups: Sequence[str], answer: Approved, side: str | None) -> tuple[str, float]:
    """The group and its approval of a summary; without a side those of the group that approves least."""
    place = int(np.nanargmin(answer.by_group)) if side is None else groups.index(side)
    return groups[place], float(answer.by_group[place])


SUPPLEMENT = Supplement(
    over_voters,
    VoterOptions,
    (
        CommandOption(
            "over_voters",
            bool,
            "Show also intervals of approval over voters, which a single consultation has, too.",
            after="option",
        ),
    ),
    effects={"over_voters": "approval"},
)
