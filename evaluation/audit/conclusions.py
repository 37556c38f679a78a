"""What follows from a page's numbers: who is named, which system is fairer, what gaps follow, how published measures differ."""

from collections.abc import Sequence
from dataclasses import dataclass

from ...number import Number
from ..significance import concluded
from .contents import AuditNumber, ChanceGap, Vote
from .figures import Measured
from .gaps import Key, judged, judged_gaps, levels_of, tested
from .kinds import SHARES
from .order import Order, effects_of
from .pairs import judged_differences, paired_differences, pairs
from .plan import AuditPlan


@dataclass(frozen=True)
class Conclusions:
    """Everything that has a verdict."""

    gaps: dict[Key, ChanceGap]
    votes: tuple[Vote, ...]
    effects: tuple[Number, ...]
    differences: tuple[AuditNumber, ...]


def conclude(
    measured: Sequence[Measured], systems: Sequence[str], plan: AuditPlan, *, are_orders: bool = False
) -> Conclusions:
    """All tests of a page, corrected together: half of the level is for shares, half for everything else.

    Args:
        measured: what every family found in every system.
        systems: labels, the reference first.
        plan: level, draws and how many sets a verdict needs.
        are_orders: systems are one summarizer that was given the documents in several orders, that of the file first: it is no
            fairer than itself, and what its gaps follow is asked instead.
    """
    bootstrap, least = plan.bootstrap, plan.least_group
    compared = systems[:1] if are_orders else systems
    families = sorted(tested(measured, bootstrap), key=lambda each: not each.is_first)
    votes = pairs(measured, compared, bootstrap)
    differences = paired_differences(measured, compared, bootstrap, least)
    by_order = [each for each in measured if isinstance(each.family, Order)] if are_orders else []
    effects, of_effects = effects_of(by_order, bootstrap) if by_order else ((), None)
    n_first = sum(each.is_first for each in families)
    first, others = concluded(
        [each.tests for each in families[:n_first]],
        [
            *(each.tests for each in families[n_first:]),
            *(each.tests for each in votes),
            *(tests for _, tests in differences),
            *([of_effects] if of_effects else []),
        ],
        bootstrap.level,
    )
    left = iter((*first, *others))
    gaps = {key: gap for each in measured for key, gap in levels_of(each)}
    for family in families:
        gaps |= judged_gaps(family, next(left), gaps, bootstrap, least)
    named = {system for (_, system, quantity), gap in gaps.items() if quantity.kind.votes and gap.is_clear}
    told = tuple(
        each.vote(next(left), bool(named & {each.mine.system, each.theirs.system}), bootstrap, least) for each in votes
    )
    of_published = tuple(
        each for rows, _ in differences for each in judged_differences(rows, next(left), bootstrap.level)
    )
    return Conclusions(
        gaps,
        tuple(held_against(each, of_published) for each in told),
        effects=tuple(judged(each, its, k, bootstrap, least) for its in left for k, each in enumerate(effects)),
        differences=of_published,
    )


def held_against(vote: Vote, differences: Sequence[AuditNumber]) -> Vote:
    """No system is fairer of which published measures of whole corpora clearly say the opposite."""
    opposite = {"fairer": "higher", "less fair": "lower"}.get(vote.verdict or "")
    found = tuple(
        each.measure
        for each in differences
        if each.verdict == opposite and each.side is None and each.family == SHARES
        and (each.system, each.reference) == (vote.system, vote.reference)
    )  # fmt: skip
    return vote.model_copy(update={"verdict": "differs", "apart": found}) if found else vote
