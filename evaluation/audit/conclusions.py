"""What follows from a page's numbers: who is named, which system is fairer, what gaps follow, how published measures differ."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from ...number import Number
from ...resampling import Bootstrap
from ..significance import Concluded, NullDraws, concluded
from .contents import AuditNumber, ChanceGap, Vote
from .families import MEASURES
from .figures import Measured
from .gaps import Key, Tested, judged, judged_gaps, levels_of, tested
from .kinds import SHARES
from .pairs import Pair, judged_differences, paired_differences, pairs
from .plan import AuditPlan


@dataclass(frozen=True)
class Conclusions:
    """Everything that has a verdict."""

    gaps: dict[Key, ChanceGap]
    votes: tuple[Vote, ...]
    effects: tuple[Number, ...]
    differences: tuple[AuditNumber, ...]


@dataclass(frozen=True)
class Tests:
    """Everything that is tested of one attribute's measures, before it is corrected."""

    measured: Sequence[Measured]
    # of shares first
    families: Sequence[Tested]
    votes: Sequence[Pair]
    differences: Sequence[tuple[Sequence[AuditNumber], NullDraws]]
    effects: tuple[Number, ...]
    of_effects: NullDraws | None

    @property
    def first(self) -> list[NullDraws]:
        """The tests of shares."""
        return [family.tests for family in self.families if family.is_first]

    @property
    def remaining(self) -> list[NullDraws]:
        """All others."""
        return [
            *(family.tests for family in self.families if not family.is_first),
            *(pair.tests for pair in self.votes),
            *(tests for _, tests in self.differences),
            *([self.of_effects] if self.of_effects else []),
        ]


def conclude(
    measured: Sequence[Measured], systems: Sequence[str], plan: AuditPlan, *, is_arranged: bool = False
) -> Conclusions:
    """As `conclude_together`, of a page by a single attribute."""
    return conclude_together([measured], systems, plan, is_arranged=is_arranged)[0]


def conclude_together(
    by_attribute: Sequence[Sequence[Measured]], systems: Sequence[str], plan: AuditPlan, *, is_arranged: bool = False
) -> list[Conclusions]:
    """All tests of a page, corrected together: half of the level is for shares, half for everything else.

    Args:
        by_attribute: of each attribute what every family found in every system.
        systems: labels, the reference first.
        plan: level, draws and how many sets a verdict needs.
        is_arranged: systems are one summarizer that was given the documents in several orders, that of the file first: it is no
            fairer than itself, and what its gaps follow is asked instead.

    Returns:
        What is concluded by each attribute.
    """
    of_attributes = [_tests(measured, systems, plan, is_arranged=is_arranged) for measured in by_attribute]
    halves = concluded(
        [draws for tests in of_attributes for draws in tests.first],
        [draws for tests in of_attributes for draws in tests.remaining],
        plan.bootstrap.level,
    )
    first, secondary = map(iter, halves)
    return [
        _conclusions(tests, chain(islice(first, len(tests.first)), islice(secondary, len(tests.remaining))), plan)
        for tests in of_attributes
    ]


def _tests(measured: Sequence[Measured], systems: Sequence[str], plan: AuditPlan, *, is_arranged: bool) -> Tests:
    bootstrap = plan.bootstrap
    compared = systems[:1] if is_arranged else systems
    return Tests(
        measured,
        sorted(tested(measured, bootstrap), key=lambda family: not family.is_first),
        pairs(measured, compared, bootstrap),
        paired_differences(measured, compared, bootstrap, plan.least_group),
        *(_effects(measured, bootstrap) if is_arranged else ((), None)),
    )


def _conclusions(tests: Tests, conclusions: Iterator[Concluded], plan: AuditPlan) -> Conclusions:
    """What follows from the tests of one attribute, given what is said of each in their order."""
    bootstrap, least_sets = plan.bootstrap, plan.least_group
    measured = tests.measured
    gaps = {key: gap for measurement in measured for key, gap in levels_of(measurement)}
    for family in tests.families:
        gaps |= judged_gaps(family, next(conclusions), gaps, bootstrap, least_sets)
    named = {system for (_, system, quantity), gap in gaps.items() if quantity.kind.votes and gap.is_clear}
    judged_votes = tuple(
        pair.vote(
            next(conclusions), bool(named & {pair.measurement.system, pair.reference.system}), bootstrap, least_sets
        )
        for pair in tests.votes
    )
    of_published = tuple(
        difference
        for rows, _ in tests.differences
        for difference in judged_differences(rows, next(conclusions), bootstrap.level)
    )
    return Conclusions(
        gaps,
        tuple(held_against(vote, of_published) for vote in judged_votes),
        effects=tuple(
            judged(effect, conclusion, k, bootstrap, least_sets)
            for conclusion in conclusions
            for k, effect in enumerate(tests.effects)
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
