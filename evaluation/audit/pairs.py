"""Systems side by side: what differs from the first one, over the sets that are scored under both.

One test serves all quantities: the sign-flip test of `study.significance`, over what each set adds to the difference. For a mean
over sets that is the set's own difference; for others (SOF, Coverage Parity, word lists) it is the set's jackknife pseudo-value,
n times the difference less n - 1 times the difference without the set, which for a mean is the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..compare import NOISE, Bootstrap
from ..contents import Verdict
from ..study.significance import adjusted, sign_flip_p_value
from .contents import PairedDifference
from .estimates import bounds, defined, drawn_weights
from .figures import Bools, Family, Figures, Floats


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
                if quantity.is_tested and enough:
                    found.append(_difference(family, pair, place, (system, systems[0]), bootstrap))
    corrected = adjusted([each.p_value for each in found])
    return tuple(
        each.model_copy(update={"adjusted": q, "verdict": _verdict(each, q, 1 - bootstrap.level)})
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
    n = len(mine.columns)
    drawn = [
        mine.reduce(weights @ mine.columns) - theirs.reduce(weights @ theirs.columns)
        for weights in (drawn_weights(n, bootstrap) if n > 1 else ())
    ]
    return _Pair(
        mine,
        theirs,
        observed=mine.all_sets() - theirs.all_sets(),
        drawn=np.concatenate(drawn) if drawn else np.full((0, len(one.quantities)), np.nan),
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
    low, high, n_defined = bounds(pair.drawn[:, place] if n > 1 else pair.drawn[:0, place], bootstrap.level)
    return PairedDifference(
        measure=quantity.name,
        family=family.name,
        signature=family.signature,
        value=quantity.value,
        system=systems[0],
        reference=systems[1],
        estimate=defined(pair.observed[place]),
        low=low,
        high=high,
        n=n,
        left_out=int(pair.either[place]) - n,
        level=bootstrap.level,
        resamples=bootstrap.resamples,
        n_defined=n_defined,
        seed=bootstrap.seed,
        is_share=quantity.is_share,
        is_unfairness=quantity.is_unfairness,
        p_value=_p_value(pair, place, bootstrap),
        adjusted=None,
        verdict="cannot tell",
    )


def _p_value(pair: _Pair, place: int, bootstrap: Bootstrap) -> float | None:
    added = _pseudo_values(pair.mine, pair.rests_on(place), place) - _pseudo_values(
        pair.theirs, pair.rests_on(place), place
    )
    if np.isnan(added).any():
        # undefined without one of its sets, so nothing is known of how it varies
        return None
    sets = [str(row) for row in range(len(added))]
    return sign_flip_p_value(added.tolist(), sets, resamples=bootstrap.resamples, seed=bootstrap.seed)


def _pseudo_values(figures: Figures, kept: Bools, place: int) -> Floats:
    """What each set adds to a quantity, (sets kept,); nan where it is undefined without the set."""
    columns = figures.columns[kept]
    total = columns.sum(axis=0)
    n = len(columns)
    if n < 2:
        return np.full(n, np.nan)
    return np.asarray(n * figures.reduce(total)[place] - (n - 1) * figures.reduce(total - columns)[:, place])


def _verdict(difference: PairedDifference, q: float | None, alpha: float) -> Verdict:
    """What test and interval agree on; "cannot tell" where either leaves 0 possible."""
    if q is None or q > alpha or difference.low is None or difference.high is None:
        return "cannot tell"
    if difference.low > NOISE:
        return "higher"
    return "lower" if difference.high < -NOISE else "cannot tell"
