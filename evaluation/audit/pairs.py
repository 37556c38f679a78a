"""Systems side by side: what differs from the first one, over the sets that are scored under both.

One test serves all quantities, means over sets or not: systems are exchanged within sets, by the same draws for every quantity,
and the quantity's difference is taken anew. For a mean over sets this is the sign-flip test of `study.significance`. Where
patterns are no more than draws all of them are tried, and the p-value is exact.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..compare import NOISE, Bootstrap
from ..contents import Verdict
from ..study.significance import adjusted
from .contents import PairedDifference
from .estimates import CHUNK, bounds, defined, drawn_weights
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
                if quantity.kind.is_tested and enough:
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
    n = len(mine.columns)
    drawn = [
        mine.reduce(weights @ mine.columns) - theirs.reduce(weights @ theirs.columns)
        for weights in (drawn_weights(n, bootstrap) if n > 1 else ())
    ]
    observed = mine.all_sets() - theirs.all_sets()
    return _Pair(
        mine,
        theirs,
        observed=observed,
        drawn=np.concatenate(drawn) if drawn else np.full((0, len(one.quantities)), np.nan),
        p_values=_p_values(mine, theirs, observed, bootstrap),
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
        measure=quantity.measure,
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
        is_share=quantity.kind.is_share,
        is_unfairness=quantity.kind.is_unfairness,
        p_value=defined(pair.p_values[place]) if n > 1 else None,
        adjusted=None,
        verdict="cannot tell",
    )


def _p_values(mine: Figures, theirs: Figures, observed: Floats, bootstrap: Bootstrap) -> Floats:
    """How often systems exchanged within sets differ as much as they do, (quantities,); nan where a system has no value.

    A draw that leaves a quantity undefined counts as differing as much: nothing speaks against it.
    """
    ours, others = mine.columns.sum(axis=0), theirs.columns.sum(axis=0)
    swap = theirs.columns - mine.columns
    n = as_far = 0
    for exchanged in _patterns(len(swap), bootstrap):
        moved = exchanged @ swap
        differences = mine.reduce(ours + moved) - mine.reduce(others - moved)
        as_far = as_far + (~(np.abs(differences) < np.abs(observed) - NOISE)).sum(axis=0)
        n += len(exchanged)
    # what was observed is one of all patterns, but none of those that are drawn
    drawn = 0 if _tries_all(len(swap), bootstrap) else 1
    return np.where(np.isnan(observed), np.nan, (drawn + as_far) / (drawn + n))


def _tries_all(n_sets: int, bootstrap: Bootstrap) -> bool:
    return bool(2**n_sets <= bootstrap.resamples)


def _patterns(n_sets: int, bootstrap: Bootstrap) -> Iterator[Floats]:
    """Which sets change systems, 0 or 1, (up to 64 patterns, sets) at a time: all patterns, or as many as there are draws."""
    generator = np.random.default_rng(bootstrap.seed)
    is_all = _tries_all(n_sets, bootstrap)
    n = 2**n_sets if is_all else bootstrap.resamples
    for start in range(0, n, CHUNK):
        rows = np.arange(start, min(start + CHUNK, n))
        drawn = rows[:, None] >> np.arange(n_sets) & 1 if is_all else generator.integers(2, size=(len(rows), n_sets))
        yield drawn.astype(float)


def _verdict(difference: PairedDifference, q: float | None, alpha: float) -> Verdict:
    """What test and interval agree on; "cannot tell" where either leaves 0 possible."""
    if q is None or q > alpha or difference.low is None or difference.high is None:
        return "cannot tell"
    if difference.low > NOISE:
        return "higher"
    return "lower" if difference.high < -NOISE else "cannot tell"
