"""What follows from a page's numbers: who is named, which system is fairer, what gaps follow, how published measures differ."""

from collections.abc import Sequence
from dataclasses import dataclass

from ...number import Number
from ...resampling import Bootstrap
from ..significance import NullDraws, concluded
from .contents import AuditNumber, ChanceGap, Vote
from .families import MEASURES
from .figures import Measured
from .gaps import Key, judged, judged_gaps, levels_of, tested
from .kinds import SHARES
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
    measured: Sequence[Measured], systems: Sequence[str], plan: AuditPlan, *, is_arranged: bool = False
) -> Conclusions:
    """All tests of a page, corrected together: half of the level is for shares, half for everything else.

    Args:
        measured: what every family found in every system.
        systems: labels, the reference first.
        plan: level, draws and how many sets a verdict needs.
        is_arranged: systems are one summarizer that was given the documents in several orders, that of the file first: it is no
            fairer than itself, and what its gaps follow is asked instead.
    """
    bootstrap, least_sets = plan.bootstrap, plan.least_group
    compared = systems[:1] if is_arranged else systems
    families = sorted(tested(measured, bootstrap), key=lambda family: not family.is_first)
    votes = pairs(measured, compared, bootstrap)
    differences = paired_differences(measured, compared, bootstrap, least_sets)
    effects, of_effects = _effects(measured, bootstrap) if is_arranged else ((), None)
    n_first = sum(family.is_first for family in families)
    first, secondary = concluded(
        [family.tests for family in families[:n_first]],
        [
            *(family.tests for family in families[n_first:]),
            *(pair.tests for pair in votes),
            *(tests for _, tests in differences),
            *([of_effects] if of_effects else []),
        ],
        bootstrap.level,
    )
    conclusions = iter((*first, *secondary))
    gaps = {key: gap for measurement in measured for key, gap in levels_of(measurement)}
    for family in families:
        gaps |= judged_gaps(family, next(conclusions), gaps, bootstrap, least_sets)
    named = {system for (_, system, quantity), gap in gaps.items() if quantity.kind.votes and gap.is_clear}
    judged_votes = tuple(
        pair.vote(
            next(conclusions), bool(named & {pair.measurement.system, pair.reference.system}), bootstrap, least_sets
        )
        for pair in votes
    )
    of_published = tuple(
        difference
        for rows, _ in differences
        for difference in judged_differences(rows, next(conclusions), bootstrap.level)
    )
    return Conclusions(
        gaps,
        tuple(held_against(vote, of_published) for vote in judged_votes),
        effects=tuple(
            judged(effect, conclusion, k, bootstrap, least_sets)
            for conclusion in conclusions
            for k, effect in enumerate(effects)
        ),
        differences=of_published,
    )


def _effects(
    measured: Sequence[Measured], bootstrap: Bootstrap
) -> tuple[tuple[Number, ...], NullDraws] | tuple[tuple[()], None]:
    """What gaps of an arrangement's family follow, and the tests of that; nothing where it was not measured."""
    for family in dict.fromkeys(measurement.family.name for measurement in measured):
        if arrangement := MEASURES[family].arrangement:
            return arrangement.effects([of for of in measured if of.family.name == family], bootstrap)
    return (), None


def held_against(vote: Vote, differences: Sequence[AuditNumber]) -> Vote:
    """No system is fairer of which published measures of whole corpora clearly say the opposite."""
    opposite = {"fairer": "higher", "less fair": "lower"}.get(vote.verdict or "")
    measures = tuple(
        difference.measure
        for difference in differences
        if difference.verdict == opposite and difference.side is None and difference.family == SHARES
        and (difference.system, difference.reference) == (vote.system, vote.reference)
    )  # fmt: skip
    return vote.model_copy(update={"verdict": "differs", "apart": measures}) if measures else vote
