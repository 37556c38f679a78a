"""The report's numbers, gathered from the files of a run."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain
from typing import Any

from ....config import Recipe
from ....runfolder.phases import phases
from ...worth import read_worth
from ..people.build import JudgedFolder, JudgedPage, peoples_numbers
from ..people.ratings import RatingsFile
from ..systems.compare import Comparer, Trait, Values, bootstrap_of, low_traits
from ..systems.contents import SCHEMA, Difference, Examples, JudgeNote, Report, Score, comparison_name
from ..systems.examples import choose_examples
from ..systems.lengths import Lengths
from ..systems.pareto import Front, axes, fairness_judges, fronts
from ..systems.roles import equal_judges, judge_notes
from ..systems.systems import (
    PLAN,
    SYSTEMS,
    TRAIT,
    PolicyOutput,
    System,
    issues_of,
    read_policies,
    stage_warnings,
    systems_of,
    traits_of,
)
from .cautions import cautions
from .evidence import evidence_of
from .findings import Evidence, findings, title
from .ledger import read_ledger
from .provenance import read_provenance
from .rounds import read_rounds, round_findings, round_warnings
from .training_log import read_training

# numbers of candidates between one and all of them that the plane of two judges shows, too
BETWEEN = (3, 9)


def build_report(recipe: Recipe, probed: dict[str, Any] | None, ratings: RatingsFile | None = None) -> Report:
    """Everything the report says.

    Args:
        recipe: the run's.
        probed: result of the adapter probe; None when nothing was trained.
        ratings: people's, of some of the summaries.

    Raises:
        DataError: an evaluation is not finished, two of them cannot be compared, or the ratings are wrong.
    """
    untrained, *trained = read_policies(recipe)
    numbers = PolicyNumbers(recipe, [untrained, *trained[-1:]])
    rounds = read_rounds([untrained, *trained], numbers.judges, numbers.compare)
    evidence = numbers.evidence
    provenance = read_provenance(recipe)
    training = read_training(recipe)
    totals, ledger = read_ledger(recipe, provenance.stages)
    return Report(
        format=SCHEMA,
        name=recipe.name,
        title=title(evidence),
        findings=(*findings(evidence), *(round_findings(rounds) if rounds else ())),
        warnings=(
            *cautions(recipe, numbers.outputs, evidence, probed),
            *chain.from_iterable(map(stage_warnings, phases(recipe))),
            *(round_warnings(rounds) if rounds else ()),
            *training.warnings,
        ),
        judges=tuple(numbers.judges),
        deciding=tuple(judge.name for judge in evidence.deciding),
        systems=tuple(system.label for system in numbers.systems),
        sides=numbers.compare.sides,
        candidates=numbers.candidates,
        bootstrap=numbers.compare.bootstrap,
        scores=tuple(numbers.scores()),
        plan_scores=tuple(numbers.plan_scores()),
        differences=tuple(evidence.differences),
        low_grades=tuple(evidence.low_grades),
        score_gaps=tuple(evidence.score_gaps),
        gain_gaps=tuple(evidence.gain_gaps),
        slopes=tuple(filter(None, (numbers.lengths.slope(judge.name) for judge in numbers.judges))),
        traits=tuple(numbers.traits),
        counted={trait.name: trait.how for trait in numbers.counted.values()},
        curve=tuple(numbers.curve()),
        planes=tuple(evidence.planes),
        rounds=rounds,
        training=training.curves,
        training_notes=training.notes,
        examples=numbers.examples(),
        totals=tuple(totals),
        ledger=tuple(ledger),
        probe=probed,
        provenance=provenance,
        sets=numbers.compare.set_ids,
        documents_digest=numbers.compare.documents_digest,
        worth=read_worth([recipe], {judge.name: judge.signature for judge in numbers.judges}),
        people=peoples_numbers(ratings, numbers.judged_page()) if ratings else None,
    )


class PolicyNumbers:
    """The numbers that come from the two policies' judged candidates."""

    def __init__(self, recipe: Recipe, outputs: Sequence[PolicyOutput]) -> None:
        self.recipe, self.outputs = recipe, outputs
        self.candidates = outputs[0].phase.n_candidates
        self.compare = Comparer(outputs[0].requests, bootstrap_of(recipe))
        self.systems = systems_of(outputs)
        self.lengths = Lengths(self.compare, outputs)
        signatures = {name: text for output in outputs for name, text in output.signatures.items()}
        names = list(dict.fromkeys(recipe.evaluation.judges + recipe.reward.judges))
        self.judges: list[JudgeNote] = judge_notes(recipe, signatures, equal_judges(outputs, names))
        # judge -> system -> a value a request
        self._values = {judge.name: self._by_system(judge.name) for judge in self.judges}

    def scores(self) -> Iterator[Score]:
        """Mean of every judge and system, by side and overall."""
        for judge in self.judges:
            for system, values in self._values[judge.name].items():
                yield from self.compare.estimates(judge, system, values)

    def plan_scores(self) -> Iterator[Score]:
        """Mean of the summaries of every plan under every judge, where the plans are mixes that extraction makes on purpose."""
        generate, base = self.recipe.generate, self.outputs[0]
        if generate.options.asks_model or len(generate.plans) < 2:
            return
        for plan in generate.plans:
            is_of_plan = base.column(PLAN + plan) == 1
            for judge in self.judges:
                yield self.compare.estimate(judge, plan, base.ranked.first_drawn(base.column(judge.name), is_of_plan))

    def judged_page(self) -> JudgedPage:
        """What people's ratings are set beside: the systems that have one summary of each request."""
        return JudgedPage(
            folders=[
                JudgedFolder(system.label, 0, system.output.phase.folder)
                for system in self.systems
                if system.k == self.candidates
            ],
            attribute=self.recipe.corpus.attribute,
            judges=self.judges,
            sides=self.compare.sides,
            sets=self.compare.set_ids,
            scores=[*self.scores(), *self.evidence.differences],
            level=self.compare.bootstrap.level,
        )

    @cached_property
    def concluded(self) -> Evidence:
        """Everything that has a verdict."""
        planes = list(self._fronts())
        traits = low_traits(self.recipe, [judge.name for judge in self.judges])
        lows = [(trait, self._by_system(TRAIT + trait.name)) for trait in traits]
        return evidence_of(self.compare, self.judges, self._values, self.candidates, planes, lows)

    @cached_property
    def evidence(self) -> Evidence:
        """The numbers that the headline is made from."""
        differences = list(map(self._at_equal_length, self.concluded.differences))
        shares = {(score.measure, score.system): score.value for score in self.traits if score.side is None}
        return replace(self.concluded, differences=differences, traits=shares)

    @cached_property
    def counted(self) -> dict[str, Trait]:
        """Contract, wrong side, refusals, copying, length and the issues that occurred, by the column of their values."""
        issue = "share of summaries in which the contract check found this"
        traits = {TRAIT + name: Trait(name, how) for name, how in traits_of(self.recipe).items()}
        return traits | {name: Trait(name, issue) for name in issues_of(self.outputs)}

    @cached_property
    def traits(self) -> list[Score]:
        """By side and overall."""
        return [
            score
            for column, trait in self.counted.items()
            for system, values in self._by_system(column).items()
            for score in self.compare.estimates(trait, system, values)
        ]

    def curve(self) -> Iterator[Score]:
        """Expected score of the best of n = 1 ... k candidates under every judge and policy.

        A request counts when it has a value for every n, so that all points of a line rest on the same requests.
        """
        draws = range(1, self.candidates + 1)
        for judge in self.judges:
            for output in self.outputs:
                rows = zip(*(System(output.policy, output, n).values(judge.name) for n in draws), strict=True)
                complete_rows = [row if None not in row else (None,) * len(draws) for row in rows]
                for n, values in zip(draws, zip(*complete_rows, strict=True), strict=True):
                    point = self.compare.estimate(judge, output.policy, values, k=n)
                    yield point.model_copy(update={"by_set": ()})

    def _fronts(self) -> Iterator[Front]:
        """Every system, and the best of fewer candidates, under a judge of quality and one of fairness."""
        n_candidates = self.candidates
        shown: dict[str, System] = {}
        for output in self.outputs:
            draw, best = SYSTEMS[output.policy]
            shown[draw] = System(draw, output, 1)
            for k in sorted({*BETWEEN, n_candidates}):
                if 1 < k <= n_candidates:
                    shown[best if k == n_candidates else f"{best}, best of {k}"] = System(best, output, k)
        pairs = axes(self.judges, fairness_judges(self.recipe), self.recipe.reward.judges)
        return fronts(pairs, shown, self.compare)

    def examples(self) -> Examples | None:
        """Example requests, ordered by what the headline is about."""
        if not self.evidence.deciding:
            return None
        judge, comparison = self.evidence.deciding[0].name, self.evidence.comparison
        if not self.evidence.is_compared:
            comparison = self.systems[0].label
        paired = self.compare.paired(self._values[judge])
        shown = {**self._values[judge], **{comparison_name(*pair): values for pair, values in paired.items()}}
        return choose_examples(self.systems, shown[comparison], (comparison, judge), self.recipe.evaluation.examples)

    def _at_equal_length(self, difference: Difference) -> Difference:
        by_name = {system.label: system for system in self.systems}
        return difference.model_copy(
            update=self.lengths.parts(
                difference.measure, by_name[difference.system], by_name[difference.reference], difference.side
            )
        )

    def _by_system(self, column: str) -> Mapping[str, Values]:
        return {system.label: system.values(column) for system in self.systems}
