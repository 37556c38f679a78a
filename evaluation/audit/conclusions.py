"""What follows from a page's numbers: who is named, which system is fairer, what gaps follow, how published measures differ."""

from collections.abc import Sequence
from dataclasses import dataclass

from .. import verdicts
from . import order
from .contents import Chance, Effect, PairedDifference, Vote
from .correction import corrected
from .figures import Measured
from .order import Order
from .pairs import paired_differences
from .plan import AuditPlan
from .votes import Key, gaps_to_chance, pairs_held


@dataclass(frozen=True)
class Concluded:
    """Everything that has a verdict."""

    chances: dict[Key, Chance]
    votes: tuple[Vote, ...]
    effects: tuple[Effect, ...]
    # of published measures, from which nothing is concluded
    differences: tuple[PairedDifference, ...]


def conclude(
    measured: Sequence[Measured], systems: Sequence[str], plan: AuditPlan, *, are_orders: bool = False
) -> Concluded:
    """All tests of a page, corrected together but for those of published measures.

    Args:
        measured: what every family found in every system.
        systems: labels, the reference first.
        plan: level, draws and how many sets a verdict needs.
        are_orders: systems are one summarizer that was given the documents in several orders, that of the file first: it is no
            fairer than itself, and what its gaps follow is asked instead.
    """
    level, compared = plan.bootstrap.level, systems[:1] if are_orders else systems
    exchanges = verdicts.exchanges(plan.bootstrap)
    gaps, pairs = gaps_to_chance(measured, exchanges), pairs_held(measured, compared, exchanges)
    by_order = [each for each in measured if isinstance(each.family, Order)] if are_orders else []
    effects = order.effects_of(by_order, level) if by_order else ()
    p_values = corrected(gaps.tests | pairs.tests | order.tests_of(effects))
    return Concluded(
        gaps.judged(p_values, plan.least_group),
        pairs.judged(p_values, plan.least_group),
        order.judged(effects, p_values, level, plan.least_group),
        paired_differences(measured, compared, exchanges, plan.least_group),
    )
