"""The comparison: its numbers, gathered from the entries, and its files."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from pathlib import Path

import numpy as np

from ....extras import installed_versions
from ....runfolder.phases import BEST
from ....runfolder.stages import RECORDED
from ...pages.folder import Content, Result, calls_itself
from ...worth import read_worth
from ..checkpoint.provenance import read_receipts, versions
from ..people.build import JudgedFolder, JudgedPage, peoples_numbers
from ..people.ratings import RatingsFile
from ..systems.compare import Comparer, Measured, Trait, bootstrap_of, low_traits, minus
from ..systems.contents import Difference, Examples, JudgeNote, Plane, Score, comparison_name
from ..systems.contrasts import Contrast, conclude
from ..systems.examples import choose_examples
from ..systems.lengths import Lengths
from ..systems.look import MOST_EXAMPLES
from ..systems.pareto import Front, axes, fairness_judges, fronts
from ..systems.questions import Question
from ..systems.roles import deciding, judge_notes
from ..systems.systems import (
    CONTRACT,
    CUT_OFF,
    TRAITS,
    WORDS,
    System,
    budget_name,
    traits_of,
)
from ..systems.worst_group import Rivalry, WorstGroups, rivalry, with_choice, worst_groups
from .baselines import against_baselines, baseline_findings
from .contents import SCHEMA, ByLength, Comparison, EntryNote, Ranking
from .entries import BUDGETS, CHARACTERISTICS, Entry, NamedRecipe, in_one_order, read_entries, refuse_incomparable
from .findings import (
    at_other_budgets,
    by_length,
    findings,
    leader_findings,
    length_warnings,
    low_grade_findings,
    title,
    warnings,
    worst_side_findings,
)
from .own_reports import with_own_reports
from .page import page
from .paired_tests import Pair, as_used, in_halves, names_of, paired_tests, pairs
from .ranking import leading, rank
from .rounds import has_rounds, round_entries


def _runs_of(content: Content) -> list[str]:
    return [*dict.fromkeys(entry["run"] for entry in content["entries"])]


COMPARISON = Result(
    "comparison",
    "comparison.json",
    "comparison.md",
    is_ours=calls_itself("evenhand-comparison"),
    named=lambda content: f"the comparison of {', '.join(_runs_of(content))}",
    key=_runs_of,
)


def compare_runs(
    runs: Sequence[NamedRecipe],
    out: Path,
    budgets: Sequence[int],
    judged: Callable[[Comparison], Comparison] = lambda comparison: comparison,
    *,
    by_round: bool,
    ratings: RatingsFile | None = None,
) -> Comparison:
    """Compare finished runs; the comparison, after it was written to `out`.

    Args:
        runs: at least one, the reference first.
        out: folder for the files.
        budgets: numbers of candidates.
        judged: puts a gate's verdicts on the comparison.
        by_round: each round of a method that asks in rounds becomes an entry; rounds that no judge has seen are judged first.
        ratings: people's, of some of the summaries.

    Raises:
        DataError: a run is not finished, or the runs cannot be compared.
        LeftOutError: a judge left more of the rounds unscored than the recipe allows.
    """
    entries = read_entries(runs)
    if by_round:
        entries = [
            round_entry for entry in entries for round_entry in (round_entries(entry) if has_rounds(entry) else [entry])
        ]
    comparison = judged(build_comparison(entries, budgets, MOST_EXAMPLES, ratings))
    COMPARISON.write(out, comparison, page(comparison), {})
    return comparison


def build_comparison(
    entries: Sequence[Entry],
    budgets: Sequence[int] = BUDGETS,
    n_examples: int = 0,
    ratings: RatingsFile | None = None,
) -> Comparison:
    """Everything the comparison says.

    Args:
        entries: at least one; the first is what the others are tested against.
        budgets: numbers of candidates; an entry is shown at those that it has.
        n_examples: requests whose summaries are read from the entries' folders.
        ratings: people's, of some of the summaries.

    Raises:
        DataError: the entries do not answer the same requests under the same judges, or the ratings are wrong.
    """
    refuse_incomparable(entries)
    entries = in_one_order(entries)
    numbers = _Numbers(entries, budgets)
    judges, concluded = numbers.judges, numbers.concluded
    requests = entries[0].output.requests
    by_budget = at_other_budgets(judges, concluded.tests)
    signatures = {judge.name: judge.signature for judge in judges}
    is_given = all(entry.elsewhere for entry in entries)
    return Comparison(
        format=SCHEMA,
        title=title(judges, concluded.tests, len(entries), numbers.compare.bootstrap.level),
        findings=(
            *findings(judges, concluded.tests),
            # what one draw gives is asked next; more budgets tell the same at other prices
            *by_budget.pop(1, ()),
            *low_grade_findings(concluded.low_grades, judges),
            *baseline_findings(judges, concluded.baselines),
            *worst_side_findings(judges, concluded.worst_sides),
            *chain.from_iterable(by_budget.values()),
            *leader_findings(judges, concluded.tests, concluded.rankings),
        ),
        warnings=(
            *warnings(entries, numbers.budgets, judges, len(concluded.tests)),
            *length_warnings(numbers.by_length, (*concluded.tests, *concluded.baselines)),
        ),
        entries=tuple(
            EntryNote(
                label=entry.label,
                run=entry.run,
                round=entry.round,
                method=entry.method,
                folder=str(entry.folder),
                model=entry.output.model or "no candidate",
                candidates=entry.n_candidates,
                reward=entry.reward,
            )
            for entry in entries
        ),
        judges=tuple(judges),
        sides=numbers.compare.sides,
        budgets=numbers.budgets,
        n_requests=len(requests),
        n_sets=len({request.set_id for request in requests}),
        bootstrap=numbers.compare.bootstrap,
        scores=tuple(e for judge in judges for e in numbers.estimates(judge)),
        tests=tuple(concluded.tests),
        baselines=tuple(concluded.baselines),
        low_grades=tuple(concluded.low_grades),
        by_length=tuple(numbers.by_length),
        slopes=tuple(filter(None, (numbers.lengths.slope(judge.name) for judge in judges))),
        rankings=tuple(concluded.rankings),
        worst_sides=tuple(concluded.worst_sides),
        planes=tuple(concluded.planes),
        axis_judges=tuple(numbers.axis_judges),
        traits=tuple(e for trait in numbers.traits for e in numbers.estimates(trait)),
        counted={trait.name: trait.how for trait in numbers.traits},
        examples=numbers.examples(n_examples),
        costs=tuple(entry.cost for entry in entries if entry.cost),
        recipes={entry.label: entry.asked for entry in entries},
        versions=installed_versions(RECORDED) if is_given else _versions(entries),
        sets=numbers.compare.set_ids,
        documents_digest=numbers.compare.documents_digest,
        people=peoples_numbers(ratings, numbers.judged_page()) if ratings else None,
        # no recipe of theirs names calibrations
        worth=None if is_given else read_worth([entry.recipe for entry in entries], signatures),
    )


def _versions(entries: Sequence[Entry]) -> dict[str, str]:
    recipes = {entry.recipe.output: entry.recipe for entry in entries}.values()
    return versions([receipt for recipe in recipes for receipt in read_receipts(recipe)])


@dataclass(frozen=True)
class _Concluded:
    """Everything that has a verdict."""

    tests: list[Difference]
    # what each reward chooses against what is chosen without a judge
    baselines: list[Difference]
    low_grades: list[Difference]
    rankings: list[Ranking]
    worst_sides: list[WorstGroups]
    planes: list[Plane]


class _Numbers:
    """Values of every system, which is an entry at a budget, request by request, and what is made of them."""

    def __init__(self, entries: Sequence[Entry], budgets: Sequence[int]) -> None:
        first = entries[0]
        self.entries = entries
        self.compare = Comparer(first.output.requests, bootstrap_of(first.recipe))
        # budget by budget, those that there are the candidates for
        self.systems = [
            System(entry.label, entry.output, k)
            for k in sorted(set(budgets))
            for entry in entries
            if k <= entry.n_candidates
        ]
        self.lengths = Lengths(self.compare, [entry.output for entry in entries])
        self.budgets = tuple(dict.fromkeys(system.k for system in self.systems))
        notes = [
            note for entry in entries for note in judge_notes(entry.recipe, entry.output.signatures, entry.equal_judges)
        ]
        # judges of the report, each with the gravest role that it has in any of the runs
        gravest = {note.name: note for role in ("report", "both") for note in notes if note.role == role}
        self.judges = [gravest[name] for name in first.recipe.evaluation.judges]
        self._pairs = pairs(self.systems)
        self._against = [pair for entry in entries for pair in against_baselines(entry)]
        # judges of the reward alone that scored every entry alike
        self._reward_judges = [
            note
            for note in judge_notes(first.recipe, first.output.signatures, first.equal_judges)
            if note.role == "reward" and all(e.output.signatures.get(note.name) == note.signature for e in entries)
        ]

    def estimates(self, measured: Measured) -> list[Score]:
        """The mean of every system, by side and overall."""
        return [
            score
            for system in self.systems
            for score in self.compare.estimates(measured, system.label, _values(system, measured), system.k)
        ]

    def judged_page(self) -> JudgedPage:
        """What people's ratings are set beside: each entry's chosen summaries."""
        return JudgedPage(
            folders=[
                JudgedFolder(entry.label, entry.n_candidates, entry.folder)
                for entry in self.entries
                if (entry.folder / BEST).is_file()
            ],
            attribute=self.entries[0].recipe.corpus.attribute,
            judges=self.judges,
            sides=self.compare.sides,
            sets=self.compare.set_ids,
            scores=[*(score for judge in self.judges for score in self.estimates(judge)), *self.concluded.tests],
            level=self.compare.bootstrap.level,
        )

    @cached_property
    def concluded(self) -> _Concluded:
        """Everything that has a verdict."""
        recipe, names = self.entries[0].recipe, [judge.name for judge in self.judges]
        lows = self._tested(low_traits(recipe, names), self._pairs)
        tests, against, lows = in_halves(
            self.judges,
            self._tested(self.judges, self._pairs),
            self._tested(self.judges, self._against),
            [contrast for contrast in lows if contrast.difference.side is None],
        )
        ranked, worst, fronts = self._ranked(), self._worst_sides(), self._fronts()
        questions = [
            *(question for _, question in ranked),
            *(rivals.question for _, rivals in worst if rivals),
            *(front.rivals.question for front in fronts),
        ]
        differences, answers = conclude([*tests, *against, *lows], self.compare.bootstrap, questions)
        differences = with_own_reports(self.entries, [*self._pairs, *self._against], differences)
        parts = iter(differences)
        conclusions = iter(answers)
        level = self.compare.bootstrap.level
        return _Concluded(
            tests=list(islice(parts, len(tests))),
            baselines=list(islice(parts, len(against))),
            low_grades=list(parts),
            rankings=[leading(ranking, next(conclusions), level) for ranking, _ in ranked],
            worst_sides=[
                with_choice(groups, rivals, next(conclusions) if rivals else None, level) for groups, rivals in worst
            ],
            planes=[front.concluded(next(conclusions), level) for front in fronts],
        )

    def examples(self, count: int) -> Examples | None:
        """The largest loss and gain of the two entries that the headline is about, by its first judge that tells them apart."""
        names = {judge.name for judge in deciding(self.judges)}
        used = [
            e for e in as_used(self.concluded.tests) if e.measure in names and e.side is None and e.value is not None
        ]
        of_two = [test for test in used if test.system != test.reference]
        if not of_two or not count:
            return None
        test = next((test for test in of_two if test.is_clear), of_two[0])
        first, second = next(pair for pair in self._pairs if names_of(pair) == test.systems)
        paired = minus(first.values(test.measure), second.values(test.measure))
        return choose_examples(
            (first, second), paired, (comparison_name(first.label, second.label), test.measure), count
        )

    def _tested(self, measured: Sequence[Measured], tested: Sequence[Pair]) -> list[Contrast]:
        return [test for measure in measured for test in paired_tests(measure, tested, self.lengths)]

    @cached_property
    def by_length(self) -> list[ByLength]:
        """Clear differences that go with length; one draw may be tested twice, as an entry and as what a reward must beat."""
        tested = (*self._pairs, *self._against)
        words = {names_of((first, second)): (self._words(second), self._words(first)) for first, second in tested}
        return by_length(self.judges, (*self.concluded.tests, *self.concluded.baselines), words)

    def _words(self, system: System) -> float | None:
        """Words of a summary, on average."""
        return self.compare.estimate(Trait(WORDS, TRAITS[WORDS]), system.label, system.trait(WORDS)).value

    def _ranked(self) -> list[tuple[Ranking, Question]]:
        rankings = []
        for judge in self.judges:
            for k in self.budgets if judge.better else ():
                drawn = {system.label: system.draws(judge.name) for system in self.systems if system.k == k}
                for side in self.compare.sides_and_all:
                    rows = [row for row, s in enumerate(self.compare.request_sides) if side is None or s == side]
                    draws = {label: [by_request[row] for row in rows] for label, by_request in drawn.items()}
                    sets = [self.compare.sets[row] for row in rows]
                    rankings.append(rank(judge, k, side, draws, sets, self.compare))
        return list(filter(None, rankings))

    def _worst_sides(self) -> list[tuple[WorstGroups, Rivalry | None]]:
        """By judge and budget; none where no side has enough sets to take part."""
        compare, worst_sides = self.compare, []
        for judge in self.judges if len(compare.sides) > 1 else ():
            for k in self.budgets if judge.better else ():
                systems = [system for system in self.systems if system.k == k]
                if len(systems) < 2:
                    continue
                scores = compare.by_side(np.array([system.values(judge.name) for system in systems], dtype=float))
                labels, is_lower = [system.label for system in systems], judge.better == "lower"
                rated = worst_groups(scores, labels, compare.sides, compare.bootstrap, lower_is_better=is_lower)
                if any(system.side for system in rated.systems):
                    rivals = rivalry(scores, rated, lower_is_better=is_lower)
                    worst_sides.append((rated.model_copy(update={"measure": judge.name, "k": k}), rivals))
        return worst_sides

    def _fronts(self) -> list[Front]:
        """Every system, under a judge of quality and one of fairness."""
        reward = max((entry.recipe.reward.judges for entry in self.entries), key=len)
        pairs = axes([*self.judges, *self._reward_judges], fairness_judges(self.entries[0].recipe), reward)
        several = len(self.budgets) > 1
        named = {f"{s.label}, {budget_name(s.k)}" if several else s.label: s for s in self.systems}
        return list(fronts(pairs, named, self.compare))

    @property
    def axis_judges(self) -> list[JudgeNote]:
        """The judges that planes have besides those of the report."""
        used = {name for plane in self.concluded.planes for name in (plane.quality, plane.fairness)}
        return [judge for judge in self._reward_judges if judge.name in used]

    @property
    def traits(self) -> list[Trait]:
        """The traits that some entry has."""
        known = {name: how for entry in self.entries for name, how in traits_of(entry.recipe).items()}
        # nobody asked what was made elsewhere for an opening or a length
        unknown = {CUT_OFF, CONTRACT} if all(entry.elsewhere for entry in self.entries) else {CUT_OFF}
        by_name = {name: how for name, how in known.items() if name not in unknown}
        return [Trait(*name_and_how) for name_and_how in (*by_name.items(), *CHARACTERISTICS.items())]


def _values(system: System, measured: Measured) -> list[float | None]:
    return system.trait(measured.name) if isinstance(measured, Trait) else system.values(measured.name)
