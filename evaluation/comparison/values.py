"""What is measured of every entry at every budget: judges and traits, a value a request."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..systems.compare import Values
from ..systems.ranked import Weighted
from ..systems.systems import CUT_OFF, TRAITS, WORDS, best_of, draws_of
from ..systems.systems import trait_names as run_traits
from .entries import Entry
from .traits import CHARACTERISTICS

# numbers of candidates that are looked at when nothing else is asked for; source: docs/papers.md#ri-budgets
BUDGETS = (1, 3, 9, 18)
# traits that are shares, shown in per cent
SHARES = frozenset({*TRAITS, "novel words", "novel 4-grams", "fragment coverage", "several sentences"} - {WORDS})


@dataclass(frozen=True)
class System:
    """An entry with a budget: k candidates, of which the one of highest reward is taken."""

    entry: Entry
    k: int

    @property
    def label(self) -> str:
        """The entry's."""
        return self.entry.label


def systems(entries: Sequence[Entry], budgets: Sequence[int]) -> list[System]:
    """Every entry at every budget that it has the candidates for, budget by budget."""
    return [System(entry, k) for k in budgets for entry in entries if k <= entry.n_candidates]


def values(system: System, measure: str) -> Values:
    """The system's value of each request: the expected one over all choices of k of its candidates."""
    return best_of(system.entry.output, measure, system.k)


def draws(system: System, measure: str) -> list[Weighted]:
    """What the system may give for each request, with the chances over all choices of k of its candidates."""
    return draws_of(system.entry.output, measure, system.k)


def trait_names(entries: Sequence[Entry]) -> dict[str, str]:
    """The traits that some entry has, by name, and how each is counted."""
    known = {name for entry in entries for name in run_traits(entry.recipe)}
    found = {name: how for name, how in TRAITS.items() if name in known and name != CUT_OFF}
    return {**found, **dict(CHARACTERISTICS.values())}


def budget_name(k: int) -> str:
    """What is taken of k candidates."""
    return "one draw" if k == 1 else f"best of {k}"
