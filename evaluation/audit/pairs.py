"""Systems side by side: what differs from the first one, over the sets that are scored under both.

One test serves all quantities, means over sets or not: systems are exchanged within sets, by the same patterns for every
quantity, and the quantity's difference is taken anew. For a mean over sets this is the sign-flip test.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from ...resampling import (
    INTERVAL_AND_TEST,
    Bootstrap,
    adjusted,
    defined,
    exchange_p_values,
    percentile_interval,
    verdict,
)
from .contents import PairedDifference
from .figures import Bools, Family, Figures, Floats

# of the verdicts
RULE = INTERVAL_AND_TEST


def paired_differences(
    families: Sequence[Family],
    figures: Mapping[tuple[str, str], Figures],
    systems: Sequence[str],
    bootstrap: Bootstrap,
    least_group: int,
) -> tuple[PairedDifference, ...]:
    """Every later system minus the first one in every tested quantity, corrected for their number.

    Args:
        families: measured.
        figures: by family and system.
        systems: labels, the reference first.
        bootstrap: draws of the intervals and of the tests.
        least_group: sets that must have a value before systems are compared by it.
    """
    found = []
    for system in systems[1:]:
        for family in families:
            pair = _pair(figures[family.name, system], figures[family.name, systems[0]], bootstrap)
            for place, quantity in enumerate(pair.mine.quantities):
                enough = quantity.value is None or pair.n(place) >= least_group
                if quantity.kind.is_tested and enough:
                    found.append(_difference(family, pair, place, (system, systems[0]), bootstrap))
    corrected = adjusted([each.p_value for each in found])
    return tuple(
        each.model_copy(
            update={
                "adjusted": q,
                "verdict": verdict(RULE, each.estimate, (each.low, each.high), adjusted_p=q, level=bootstrap.level),
            }
        )
        for each, q in zip(found, corrected, strict=True)
    )


@dataclass(frozen=True)
class _Pair:
    """Two systems over the sets that are scored under both."""

    mine: Figures
    theirs: Figures
    # differences of all sets and of every draw, (quantities,) and (draws, quantities)
    observed: Floats
    drawn: Floats
    # two-sided p-values, (quantities,); nan where there is none
    p_values: Floats
    # sets that each quantity rests on under either system, (quantities,)
    either: Floats

    def rests_on(self, place: int) -> Bools:
        """Which sets a quantity rests on under both, (sets,)."""
        return np.asarray(self.mine.rests_on[:, place] & self.theirs.rests_on[:, place])

    def n(self, place: int) -> int:
        """How many those are."""
        return int(self.rests_on(place).sum())


def _pair(one: Figures, other: Figures, bootstrap: Bootstrap) -> _Pair:
    both = one.scored & other.scored
    mine, theirs = _only(one, both), _only(other, both)
    observed = mine.all_sets() - theirs.all_sets()
    ours, others = mine.columns.sum(axis=0), theirs.columns.sum(axis=0)
    swap = theirs.columns - mine.columns

    def exchanged(marks: Floats) -> Floats:
        moved = marks @ swap
        return mine.reduce(ours + moved) - mine.reduce(others - moved)

    return _Pair(
        mine,
        theirs,
        observed=observed,
        drawn=mine.draws(bootstrap) - theirs.draws(bootstrap),
        p_values=exchange_p_values(exchanged, observed, len(swap), bootstrap),
        either=(one.rests_on | other.rests_on).sum(axis=0),
    )


def _only(figures: Figures, kept: Bools) -> Figures:
    return replace(
        figures,
        columns=figures.columns[kept],
        rests_on=figures.rests_on[kept],
        unfairness=figures.unfairness[kept],
        left_out=(None,) * int(kept.sum()),
    )


def _difference(
    family: Family, pair: _Pair, place: int, systems: tuple[str, str], bootstrap: Bootstrap
) -> PairedDifference:
    quantity = pair.mine.quantities[place]
    n = pair.n(place)
    found = percentile_interval(pair.drawn[:, place] if n > 1 else pair.drawn[:0, place], bootstrap.level)
    return PairedDifference(
        measure=quantity.measure,
        family=family.name,
        signature=family.signature,
        value=quantity.value,
        system=systems[0],
        reference=systems[1],
        estimate=defined(pair.observed[place]),
        low=found.low,
        high=found.high,
        n=n,
        left_out=int(pair.either[place]) - n,
        n_defined=found.n_defined,
        **asdict(bootstrap),
        is_share=quantity.kind.is_share,
        is_unfairness=quantity.kind.is_unfairness,
        p_value=defined(pair.p_values[place]) if n > 1 else None,
        adjusted=None,
        verdict="cannot tell",
    )
