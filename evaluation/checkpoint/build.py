"""The report's numbers, gathered from the files of a run."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ...config import Recipe
from ..systems.compare import Comparer, Measured, Values, bootstrap_of
from ..systems.contents import CurvePoint, Difference, Estimate, Examples, JudgeNote, Plane, Report, SideGap
from ..systems.pareto import Rival, axes, fairness_judges, planes
from ..systems.roles import judge_notes
from ..systems.systems import (
    PLAN,
    SYSTEMS,
    TRAITS,
    PolicyOutput,
    best_of,
    issues_of,
    read_policies,
    trait_names,
    values_of,
)
from .cautions import cautions
from .examples import choose_examples
from .findings import RERANKING, TRAINING, Evidence, findings, title
from .ledger import read_ledger
from .provenance import read_provenance
from .training_log import read_training, training_notes

# numbers of candidates between one and all of them that the plane of two judges shows, too
BETWEEN = (3, 9)


@dataclass(frozen=True)
class Measurement:
    """One measure of every system: a value a request, in the order of the requests."""

    measured: Measured
    by_system: Mapping[str, Values]


def build_report(recipe: Recipe, probed: dict[str, Any] | None) -> Report:
    """Everything the report says.

    Args:
        recipe: the run's.
        probed: result of the adapter probe; None when nothing was trained.

    Raises:
        DataError: an evaluation is not finished, or two of them cannot be compared.
    """
    numbers = Numbers(recipe, read_policies(recipe))
    provenance = read_provenance(recipe)
    notes, against = training_notes(recipe)
    totals, ledger = read_ledger(recipe, provenance.stages)
    return Report(
        name=recipe.name,
        title=title(numbers.evidence),
        findings=tuple(findings(numbers.evidence)),
        warnings=(*cautions(recipe, numbers.outputs, numbers.evidence, probed), *against),
        judges=tuple(numbers.judges),
        deciding=tuple(judge.name for judge in numbers.evidence.deciding),
        systems=numbers.systems,
        sides=numbers.compare.sides,
        candidates=recipe.generate.n_candidates,
        scores=tuple(numbers.scores()),
        plan_scores=tuple(numbers.plan_scores()),
        differences=tuple(numbers.differences),
        score_gaps=tuple(numbers.score_gaps),
        gain_gaps=tuple(numbers.gain_gaps),
        traits=tuple(numbers.traits()),
        curve=tuple(numbers.curve()),
        planes=tuple(numbers.planes()),
        training=tuple(read_training(recipe)),
        training_notes=tuple(notes),
        examples=numbers.examples(),
        totals=tuple(totals),
        ledger=tuple(ledger),
        probe=probed,
        provenance=provenance,
    )


class Numbers:
    """The numbers that come from the two policies' judged candidates."""

    def __init__(self, recipe: Recipe, outputs: list[PolicyOutput]) -> None:
        self.recipe = recipe
        self.outputs = outputs
        self.compare = Comparer(outputs[0].requests, bootstrap_of(recipe))
        self.systems = tuple(s.name for s in SYSTEMS if s.policy in {output.policy for output in outputs})
        signatures = {name: text for output in outputs for name, text in output.signatures.items()}
        self.judges: list[JudgeNote] = judge_notes(recipe, signatures)
        self._judged = [self._measure(_measured(note)) for note in self.judges]

    def scores(self) -> Iterator[Estimate]:
        """Mean of every judge and system, by side and overall."""
        for judged in self._judged:
            for system, values in judged.by_system.items():
                yield from self.compare.estimates(judged.measured, system, values)

    def plan_scores(self) -> Iterator[Estimate]:
        """Mean of the summaries of every plan under every judge, where the plans are mixes that extraction makes on purpose."""
        generate = self.recipe.generate
        if generate.fair_extractive is None or len(generate.plans) < 2:
            return
        base = self.outputs[0]
        for plan in generate.plans:
            made = base.column(PLAN + plan) == 1
            for note in self.judges:
                values = base.ranked.first_drawn(base.column(note.name), made)
                yield self.compare.estimates(_measured(note), plan, values)[-1]

    @cached_property
    def differences(self) -> list[Difference]:
        """Every judge's paired differences, by side and overall."""
        return [d for judged in self._judged for d in self.compare.differences(judged.measured, judged.by_system)]

    @cached_property
    def score_gaps(self) -> list[SideGap]:
        """How far apart the sides are under each judge and system."""
        return self._gaps(lambda judged: judged.by_system)

    @cached_property
    def gain_gaps(self) -> list[SideGap]:
        """How far apart the sides' gains are in each comparison."""
        return self._gaps(lambda judged: self.compare.paired(judged.by_system))

    def traits(self) -> Iterator[Estimate]:
        """Contract, wrong side, length and the issues that occurred, by side and overall."""
        named = {name: TRAITS[name] for name in trait_names(self.recipe)}
        named |= dict.fromkeys(issues_of(self.outputs), "share of summaries in which the contract check found this")
        for name, how in named.items():
            measurement = self._measure(Measured(name, how))
            for system, values in measurement.by_system.items():
                yield from self.compare.estimates(measurement.measured, system, values)

    def curve(self) -> Iterator[CurvePoint]:
        """Expected score of the best of n = 1 ... k candidates under every judge and policy.

        A request counts when it has a value for every n, so that all points of a line rest on the same requests.
        """
        for note in self.judges:
            for output in self.outputs:
                draws = range(1, self.recipe.generate.n_candidates + 1)
                rows = zip(*(best_of(output, note.name, n) for n in draws), strict=True)
                whole = [row if None not in row else (None,) * len(draws) for row in rows]
                for n, values in zip(draws, zip(*whole, strict=True), strict=True):
                    yield self.compare.curve(_measured(note), output.policy, n, values)

    def planes(self) -> Iterator[Plane]:
        """Every system, and the best of fewer candidates, under a judge of quality and one of fairness."""
        rivals: dict[Rival, PolicyOutput] = {}
        most = self.recipe.generate.n_candidates
        by_policy = {output.policy: output for output in self.outputs}
        for system in (s for s in SYSTEMS if s.policy in by_policy):
            budgets = [k for k in sorted({*BETWEEN, most}) if 1 < k <= most] if system.reranks else [1]
            for k in budgets:
                name = system.name if k in (1, most) else f"{system.name}, best of {k}"
                rivals[Rival(system.name, k, name)] = by_policy[system.policy]
        return planes(
            axes(self.judges, fairness_judges(self.recipe), self.recipe.reward.judges),
            list(rivals),
            lambda rival, judge: best_of(rivals[rival], judge, rival.k),
            self.compare,
        )

    @cached_property
    def evidence(self) -> Evidence:
        """What the headline is made from."""
        return Evidence(
            judges=self.judges,
            differences=self.differences,
            score_gaps=self.score_gaps,
            gain_gaps=self.gain_gaps,
            sides=self.compare.sides,
            candidates=self.recipe.generate.n_candidates,
            is_trained=len(self.outputs) > 1,
        )

    def examples(self) -> Examples | None:
        """Example requests, ordered by what the headline is about."""
        judge = next(iter(self.evidence.deciding), None)
        if judge is None:
            return None
        comparison = TRAINING if self.evidence.is_trained else RERANKING
        judged = next(j for j in self._judged if j.measured.name == judge.name)
        paired = self.compare.paired(judged.by_system)[comparison]
        return choose_examples(self.outputs, paired, (comparison, judge.name), self.recipe.evaluation.examples)

    def _gaps(self, values_of_subjects: Callable[[Measurement], Mapping[str, Values]]) -> list[SideGap]:
        found = (
            self.compare.gap(judged.measured, subject, values)
            for judged in self._judged
            for subject, values in values_of_subjects(judged).items()
        )
        return [gap for gap in found if gap]

    def _measure(self, measured: Measured) -> Measurement:
        by_policy = {output.policy: output for output in self.outputs}
        return Measurement(
            measured,
            {s.name: values_of(s, by_policy[s.policy], measured.name) for s in SYSTEMS if s.policy in by_policy},
        )


def _measured(note: JudgeNote) -> Measured:
    return Measured(note.name, note.signature, lower_is_better=note.better == "lower")
