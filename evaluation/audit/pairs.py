"""Systems side by side: what differs from the first one, over the sets that are scored under both.

One test serves all quantities, means over sets or not: systems are exchanged within sets, by the same patterns for every
quantity, and the quantity's difference is taken anew. For a mean over sets this is the sign-flip test.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from ...resampling import Bootstrap, TInterval, adjusted, defined, exchange_p_values, t_interval, verdict
from .contents import PairedDifference
from .figures import Family, Figures, Floats, Measured


def paired_differences(
    measured: Sequence[Measured], systems: Sequence[str], bootstrap: Bootstrap, least_group: int
) -> tuple[PairedDifference, ...]:
    """Every later system minus the first one in every tested quantity, corrected for their number.

    Args:
        measured: what every family found in every system.
        systems: labels, the reference first.
        bootstrap: draws of the intervals and of the tests.
        least_group: sets that must have a value before systems are compared by it.
    """
    by_system = {(each.family.name, each.system): each for each in measured}
    found = []
    for system in systems[1:]:
        for family in dict.fromkeys(each.family.name for each in measured):
            pair = Pair.of(by_system[family, system], by_system[family, systems[0]], bootstrap)
            for place, quantity in enumerate(pair.mine.quantities):
                enough = quantity.value is None or pair.n(place) >= least_group
                if quantity.kind.is_tested and enough:
                    found.append(pair.difference(place, bootstrap))
    corrected = adjusted([each.p_value for each in found])
    return tuple(_judged(each, q) for each, q in zip(found, corrected, strict=True))


def _judged(difference: PairedDifference, adjusted_p: float | None) -> PairedDifference:
    """The difference with its corrected p-value and what follows from it."""
    said = verdict((difference.low, difference.high), adjusted_p, level=difference.level, n_sets=difference.n)
    return difference.model_copy(
        update={"adjusted": adjusted_p, "verdict": "not measured" if difference.estimate is None else said}
    )


@dataclass(frozen=True)
class Pair:
    """Two systems under one family, over the sets that are scored under both."""

    family: Family
    system: str
    reference: str
    mine: Figures
    theirs: Figures
    # differences over these sets
    found: TInterval
    # two-sided p-values, (quantities,); nan where there is none
    p_values: Floats
    # sets that each quantity rests on under either system, (quantities,)
    either: Floats

    @classmethod
    def of(cls, one: Measured, other: Measured, bootstrap: Bootstrap) -> "Pair":
        """A system and the reference that it is held against."""
        both = one.figures.scored & other.figures.scored
        mine, theirs = one.figures.only(both), other.figures.only(both)
        observed = mine.all_sets() - theirs.all_sets()
        ours, others = mine.columns.sum(axis=0), theirs.columns.sum(axis=0)
        swap, width = theirs.columns - mine.columns, len(ours)
        rests_on = mine.rests_on | theirs.rests_on

        def exchanged(marks: Floats) -> Floats:
            moved = marks @ swap
            return mine.reduce(ours + moved) - mine.reduce(others - moved)

        def difference(sums: Floats) -> Floats:
            return mine.reduce(sums[..., :width]) - mine.reduce(sums[..., width:])

        columns = np.hstack([mine.columns, theirs.columns])
        return cls(
            one.family,
            one.system,
            other.system,
            mine,
            theirs,
            found=t_interval(difference, columns, rests_on, bootstrap.level),
            p_values=exchange_p_values(exchanged, observed, len(swap), bootstrap),
            either=(one.figures.rests_on | other.figures.rests_on).sum(axis=0),
        )

    def n(self, place: int) -> int:
        """How many sets a quantity rests on under both."""
        return int((self.mine.rests_on[:, place] & self.theirs.rests_on[:, place]).sum())

    def difference(self, place: int, bootstrap: Bootstrap) -> PairedDifference:
        """One quantity's difference, not yet corrected for the number of tests."""
        quantity, n, found = self.mine.quantities[place], self.n(place), self.found
        return PairedDifference(
            measure=quantity.measure,
            family=self.family.name,
            signature=self.family.signature,
            value=quantity.value,
            system=self.system,
            reference=self.reference,
            estimate=defined(found.estimate[place]),
            low=defined(found.low[place]),
            high=defined(found.high[place]),
            n=n,
            left_out=int(self.either[place]) - n,
            **asdict(bootstrap),
            is_share=quantity.kind.is_share,
            p_value=defined(self.p_values[place]) if n > 1 else None,
            adjusted=None,
            verdict="no clear difference",
        )
