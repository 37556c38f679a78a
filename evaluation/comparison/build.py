"""The comparison's numbers, gathered from the entries."""

from collections.abc import Sequence
from functools import cached_property

from ...config import Recipe
from ..checkpoint.provenance import read_receipts, versions
from ..systems.compare import Comparer, Measured, Values, bootstrap_of
from ..systems.contents import JudgeNote, Plane
from ..systems.pareto import Rival, axes, fairness_judges, planes
from ..systems.ranked import Weighted
from ..systems.roles import judge_notes
from .contents import BudgetEstimate, Comparison, EntryNote, PairedTest, Ranking, WorstSides
from .entries import Entry, in_one_order, refuse_incomparable
from .findings import findings, title, worst_side_findings
from .paired_tests import paired_tests
from .ranking import rank
from .values import BUDGETS, System, budget_name, draws, systems, trait_names, values
from .warnings import warnings
from .worst_sides import worst_sides


def build_comparison(entries: Sequence[Entry], budgets: Sequence[int] = BUDGETS) -> Comparison:
    """Everything the comparison says.

    Args:
        entries: at least one; the first is what the others are tested against.
        budgets: numbers of candidates; an entry is shown at those that it has.

    Raises:
        DataError: the entries do not answer the same requests under the same judges.
    """
    refuse_incomparable(entries)
    entries = in_one_order(entries)
    numbers = _Numbers(entries, budgets)
    requests = entries[0].output.requests
    return Comparison(
        title=title(numbers.judges, numbers.tests),
        findings=(
            *findings(numbers.judges, numbers.tests, numbers.rankings),
            *worst_side_findings(numbers.worst_sides),
        ),
        warnings=tuple(warnings(entries, numbers.budgets)),
        entries=tuple(_note(entry) for entry in entries),
        judges=tuple(numbers.judges),
        sides=numbers.compare.sides,
        budgets=numbers.budgets,
        n_requests=len(requests),
        n_sets=len({request.set_id for request in requests}),
        scores=tuple(numbers.scores),
        tests=tuple(numbers.tests),
        rankings=tuple(numbers.rankings),
        worst_sides=tuple(numbers.worst_sides),
        planes=tuple(numbers.planes),
        axis_judges=tuple(numbers.axis_judges),
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
        self._reward_judges = _reward_judges(entries)

    @cached_property
    def scores(self) -> list[BudgetEstimate]:
        return [e for judge in self.judges for e in self._estimates(_measured(judge))]

    @cached_property
    def tests(self) -> list[PairedTest]:
        return [test for j in self.judges for test in paired_tests(_measured(j), self._by_system(j.name), self.compare)]

    @cached_property
    def rankings(self) -> list[Ranking]:
        sides = (*self.compare.sides, None) if len(self.compare.sides) > 1 else (None,)
        found = []
        for judge in self.judges:
            for k in self.budgets if judge.better else ():
                drawn = {s.label: draws(s, judge.name) for s in self.systems if s.k == k}
                found += [self._ranking(judge, k, side, drawn) for side in sides]
        return [ranking for ranking in found if ranking]

    @cached_property
    def worst_sides(self) -> list[WorstSides]:
        found = []
        for judge in self.judges if len(self.compare.sides) > 1 else ():
            by_system = self._by_system(judge.name) if judge.better else []
            for k in self.budgets:
                mine = [each for each in by_system if each[0].k == k]
                if len(mine) > 1 and (rated := worst_sides(judge, mine, self.compare)):
                    found.append(WorstSides(measure=judge.name, k=k, found=rated))
        return found

    @cached_property
    def planes(self) -> list[Plane]:
        """Every entry at every budget, under a judge of quality and one of fairness."""
        first = self.entries[0].recipe
        reward = max((entry.recipe.reward.judges for entry in self.entries), key=len)
        several = len(self.budgets) > 1
        by_rival = {
            Rival(s.label, s.k, f"{s.label}, {budget_name(s.k)}" if several else s.label): s for s in self.systems
        }
        found = planes(
            axes([*self.judges, *self._reward_judges], fairness_judges(first), reward),
            list(by_rival),
            lambda rival, judge: values(by_rival[rival], judge),
            self.compare,
        )
        return list(found)

    @property
    def axis_judges(self) -> list[JudgeNote]:
        """The judges that planes have besides those of the report."""
        used = {name for plane in self.planes for name in (plane.quality, plane.fairness)}
        return [judge for judge in self._reward_judges if judge.name in used]

    @property
    def budgets(self) -> tuple[int, ...]:
        """Those that some entry has the candidates for."""
        return tuple(dict.fromkeys(system.k for system in self.systems))

    def _ranking(self, judge: JudgeNote, k: int, side: str | None, drawn: dict[str, list[Weighted]]) -> Ranking | None:
        rows = [row for row, s in enumerate(self.compare.request_sides) if side is None or s == side]
        kept = {label: [found[row] for row in rows] for label, found in drawn.items()}
        return rank(judge, k, side, kept, [self.compare.sets[row] for row in rows], self.compare.bootstrap)

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
        return [(system, values(system, measure)) for system in self.systems]


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


def _reward_judges(entries: Sequence[Entry]) -> list[JudgeNote]:
    """The judges of the reward alone that scored every entry alike."""
    first = entries[0]
    return [
        note
        for note in judge_notes(first.recipe, first.output.signatures)
        if note.role == "reward" and all(e.output.signatures.get(note.name) == note.signature for e in entries)
    ]


def _measured(judge: JudgeNote) -> Measured:
    return Measured(judge.name, judge.signature, lower_is_better=judge.better == "lower")


def _note(entry: Entry) -> EntryNote:
    return EntryNote(
        label=entry.label,
        run=entry.run,
        round=entry.round,
        method=entry.output.phase.method,
        folder=str(entry.folder),
        model=entry.output.model or "no candidate",
        candidates=entry.n_candidates,
        reward=entry.recipe.reward.judges,
    )
