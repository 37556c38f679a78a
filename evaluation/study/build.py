"""The comparison's numbers, gathered from the entries."""

from collections.abc import Sequence
from functools import cached_property

from ...config import Recipe
from ..cautions import FEW_SETS
from ..compare import Comparer, Measured, Values, bootstrap_of
from ..contents import JudgeNote
from ..judge_roles import judge_notes, overlap_warnings
from ..provenance import read_receipts, versions
from ..systems import Quantity
from .contents import BudgetEstimate, Comparison, EntryNote, PairedTest, Ranking
from .entries import Entry, refuse_incomparable
from .findings import findings, title
from .paired_tests import paired_tests
from .ranking import rank
from .values import System, measures, systems, trait_names, values

BUDGETS = (1, 3, 9, 18)


def build_comparison(entries: Sequence[Entry], budgets: Sequence[int] = BUDGETS) -> Comparison:
    """Everything the comparison says.

    Args:
        entries: at least one; the first is what the others are tested against.
        budgets: numbers of candidates; an entry is shown at those that it has.

    Raises:
        DataError: the entries do not answer the same requests under the same judges.
    """
    refuse_incomparable(entries)
    numbers = _Numbers(entries, budgets)
    requests = entries[0].output.requests
    return Comparison(
        title=title(numbers.judges, numbers.tests),
        findings=tuple(findings(numbers.judges, numbers.tests, numbers.rankings)),
        warnings=tuple(_warnings(entries)),
        entries=tuple(_note(entry) for entry in entries),
        judges=tuple(numbers.judges),
        sides=numbers.compare.sides,
        budgets=tuple(dict.fromkeys(system.k for system in numbers.systems)),
        n_requests=len(requests),
        n_sets=len({request.document_set.id for request in requests}),
        scores=tuple(numbers.scores),
        tests=tuple(numbers.tests),
        rankings=tuple(numbers.rankings),
        traits=tuple(numbers.traits),
        costs=tuple(entry.cost for entry in entries),
        recipes={entry.label: entry.recipe.model_dump(mode="json") for entry in entries},
        versions=versions([receipt for recipe in _recipes(entries) for receipt in read_receipts(recipe)]),
    )


class _Numbers:
    """Values of every system, request by request, and what is made of them."""

    def __init__(self, entries: Sequence[Entry], budgets: Sequence[int]) -> None:
        first = entries[0]
        self.entries = entries
        self.compare = Comparer(first.output.requests, bootstrap_of(first.recipe))
        self.systems = systems(entries, sorted(set(budgets)))
        self.judges = _judges(entries)
        self._measures = {entry.label: measures(entry) for entry in entries}

    @cached_property
    def scores(self) -> list[BudgetEstimate]:
        return [e for judge in self.judges for e in self._estimates(_measured(judge))]

    @cached_property
    def tests(self) -> list[PairedTest]:
        return [test for j in self.judges for test in paired_tests(_measured(j), self._by_system(j.name), self.compare)]

    @cached_property
    def rankings(self) -> list[Ranking]:
        found = []
        for judge in self.judges:
            if judge.better is None:
                continue
            rows = self._by_system(judge.name)
            for k in dict.fromkeys(system.k for system, _ in rows):
                by_label = {system.label: v for system, v in rows if system.k == k}
                found.append(rank(judge, k, by_label, self.compare.sets, self.compare.bootstrap))
        return [ranking for ranking in found if ranking]

    @cached_property
    def traits(self) -> list[BudgetEstimate]:
        named = trait_names(self.entries)
        return [e for name, how in named.items() for e in self._estimates(Measured(name, how))]

    def _estimates(self, measured: Measured) -> list[BudgetEstimate]:
        return [
            BudgetEstimate(**estimate.model_dump(), k=system.k)
            for system, found in self._by_system(measured.name)
            for estimate in self.compare.estimates(measured, system.label, found)
        ]

    def _by_system(self, measure: str) -> list[tuple[System, Values]]:
        return [(system, values(system, self._quantity(system, measure))) for system in self.systems]

    def _quantity(self, system: System, measure: str) -> Quantity:
        return self._measures[system.label][measure]


def _recipes(entries: Sequence[Entry]) -> list[Recipe]:
    return list({entry.recipe.output: entry.recipe for entry in entries}.values())


def _judges(entries: Sequence[Entry]) -> list[JudgeNote]:
    """The report judges, each with the gravest role that it has in any of the runs."""
    found: dict[str, JudgeNote] = {}
    for entry in entries:
        for note in judge_notes(entry.recipe, entry.output.signatures):
            if note.role != "reward" and (note.name not in found or note.role == "both"):
                found[note.name] = note
    return [found[name] for name in entries[0].recipe.evaluation.judges]


def _measured(judge: JudgeNote) -> Measured:
    return Measured(judge.name, judge.signature, lower_is_better=judge.better == "lower")


def _note(entry: Entry) -> EntryNote:
    candidates = [scored.candidate for group in entry.output.groups.values() for scored in group.candidates]
    return EntryNote(
        label=entry.label,
        run=entry.run,
        round=entry.round,
        method=entry.recipe.generate.method,
        folder=str(entry.folder),
        model=candidates[0].model if candidates else "no candidate",
        candidates=entry.n_candidates,
        reward=entry.recipe.reward.judges,
    )


def _warnings(entries: Sequence[Entry]) -> list[str]:
    about: dict[str, list[str]] = {}
    for entry in entries:
        for warning in overlap_warnings(entry.recipe, entry.output.signatures):
            about.setdefault(warning, []).append(entry.label)
        missing = sum(entry.output.group(request.id) is None for request in entry.output.requests)
        if missing:
            about.setdefault(f"{missing} requests have no summary.", []).append(entry.label)
    found = [warning if len(who) == len(entries) else f"{', '.join(who)}: {warning}" for warning, who in about.items()]
    n_sets = len({request.document_set.id for request in entries[0].output.requests})
    if n_sets < FEW_SETS:
        found.append(
            f"The comparison rests on {n_sets} document sets: with so few, intervals are narrower than they should be, and tests "
            "can tell large differences only."
        )
    return found
