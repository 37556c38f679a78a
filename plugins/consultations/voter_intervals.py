"""Intervals of approval over voters: the only ones where a single consultation is audited.

The voters of every group of every set are drawn with replacement; which statements a summary says stays as it is.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from ...config.section import Section
from ...evaluation.audit.contents import AuditNumber
from ...evaluation.audit.family import CommandOption
from ...evaluation.audit.figures import Floats, Measured
from ...evaluation.audit.input import AuditInput
from ...evaluation.audit.kinds import Measure
from ...evaluation.audit.supplements import Supplement
from ...fairness.groups.coverage import over
from ...resampling import Bootstrap, defined, percentiles
from .approval import VoteTable, approval, drawn_rates
from .family import APPROVAL, WORST, GroupApproval
from .said import Approved, Votes

HOW = "interval over voters"


class VoterOptions(Section):
    """What is asked for of an audit."""

    # whether approval has intervals over voters, too
    over_voters: bool = False


def over_voters(
    measured: Sequence[Measured], corpus: AuditInput, bootstrap: Bootstrap, options: Section
) -> Iterator[AuditNumber]:
    """Approval of each group and of the worst one with intervals over voters, mean over sets, system after system."""
    for measurement in measured:
        if isinstance(measurement.family, GroupApproval) and measurement.figures.scored.any():
            yield from _of_system(measurement, measurement.family, corpus, bootstrap)


def _of_system(
    measurement: Measured, family: GroupApproval, corpus: AuditInput, bootstrap: Bootstrap
) -> Iterator[AuditNumber]:
    answered = [
        (answer, family.votes.by_set[documents.id])
        for documents, answer in zip(corpus.sets, measurement.answers, strict=True)
        if isinstance(answer, Approved)
    ]
    draws = np.stack([_drawn(family.votes, table, answer, bootstrap) for answer, table in answered])
    observed = np.stack([[*answer.by_group, answer.worst] for answer, _ in answered])  # (sets, groups and worst)
    known = ~np.isnan(observed)
    n_sets = known.sum(axis=0)
    means = over(np.where(known, observed, 0.0).sum(axis=0), n_sets)
    # a draw that leaves a group without a vote in one set says nothing of its mean
    drawn = over(np.where(known[:, None], draws, 0.0).sum(axis=0), np.broadcast_to(n_sets, draws.shape[1:]))
    lows, highs = percentiles(drawn, bootstrap.level)
    sides = (*family.votes.groups, None)
    for place, side in enumerate(sides):
        yield AuditNumber(
            measure=str(Measure(WORST if side is None else APPROVAL, family.by)), system=measurement.system, side=side, how=HOW,
            value=defined(means[place]), low=defined(lows[place]), high=defined(highs[place]), n_sets=int(n_sets[place]),
        )  # fmt: skip


def _drawn(votes: Votes, table: VoteTable, answer: Approved, bootstrap: Bootstrap) -> Floats:
    """Approval of one summary by each group of all sets, and by the worst one, in each draw, (draws, groups and worst)."""
    said = [place for place in answer.statements if place is not None]
    rates = drawn_rates(table, said, bootstrap)
    by_group = np.full((len(rates), len(votes.groups)), np.nan)
    places = [votes.groups.index(group) for group in table.groups]
    by_group[:, places] = [approval(np.ones((1, len(said)), dtype=bool), of_draw)[0] for of_draw in rates]
    # the worst group of a draw is not known where a group has no vote in it
    return np.column_stack([by_group, by_group[:, ~np.isnan(answer.by_group)].min(axis=1)])


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
