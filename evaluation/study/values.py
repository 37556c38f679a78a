"""What is measured of every entry at every budget: judges and traits, a value a request."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from ...records import ScoredCandidate, SummaryRequest
from ..abstractiveness import Characteristics, characteristics
from ..compare import Values
from ..systems import CUT_OFF, TRAITS, WORDS, Quantity, Weighted, best_of, draws_of, quantities
from .entries import Entry

# characteristic -> what the tables call it, and how it is counted
CHARACTERISTICS: dict[str, tuple[str, str]] = {
    "novel_1": ("novel words", "share of words that the side's documents do not have"),
    "novel_4": ("novel 4-grams", "share of 4-grams that the side's documents do not have"),
    "coverage": ("fragment coverage", "share of words that stand in a fragment copied from the side's documents"),
    "density": ("fragment density", "mean length in words of the copied fragment that a word stands in"),
    "compression": ("compression", "words of the side's documents for each word of the summary"),
    "characters": ("characters", "characters of a summary"),
    "multi_sentence": ("several sentences", "share of summaries of more than one sentence"),
}
# numbers of candidates that are looked at when nothing else is asked for; source: specification of the seed paper, section 9.5
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


def values(system: System, quantity: Quantity) -> Values:
    """The system's value of each request: the expected one over all choices of k of its candidates."""
    return best_of(system.entry.output, quantity, system.k)


def draws(system: System, quantity: Quantity) -> list[Weighted]:
    """What the system may give for each request, with the chances over all choices of k of its candidates."""
    return draws_of(system.entry.output, quantity, system.k)


def trait_names(entries: Sequence[Entry]) -> dict[str, str]:
    """The traits that some entry has, by name, and how each is counted."""
    known = set().union(*(quantities(entry.recipe, [entry.output]) for entry in entries))
    found = {name: how for name, how in TRAITS.items() if name in known and name != CUT_OFF}
    return {**found, **dict(CHARACTERISTICS.values())}


def measures(entry: Entry) -> Mapping[str, Quantity]:
    """What is measured of an entry's candidates, by name: judges, then traits."""
    by_id = {request.id: request for request in entry.output.requests}

    @cache
    def found(text: str, request_id: str) -> Characteristics:
        return characteristics(_passages(by_id[request_id]), text)

    def trait(field: str) -> Callable[[ScoredCandidate], float | None]:
        return lambda scored: getattr(found(scored.candidate.text, scored.candidate.request_id), field)

    own = {name: trait(field) for field, (name, _) in CHARACTERISTICS.items()}
    return {**quantities(entry.recipe, [entry.output]), **own}


def _passages(request: SummaryRequest) -> list[str]:
    return [document.text for document in request.source_documents]


def budget_name(k: int) -> str:
    """What is taken of k candidates."""
    return "one draw" if k == 1 else f"best of {k}"
