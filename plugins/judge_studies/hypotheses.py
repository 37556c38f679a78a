"""What an audit may accuse judges of: probes of one judge as hypotheses, and one rule over all of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...config.needs import Purpose
from ...evaluation.significance import NullDraws, concluded, flipped
from ...judges.calibration import Probe
from ...number import Number
from ...resampling import LEAST_SETS, NOISE, Bootstrap, Floats, defined
from .agreement import within
from .differences import Dealt
from .figures import LEVEL, TestedQuantity, spread
from .probes import Variant
from .study import JudgeStudy

CONSTANT, NO_SCORE = "every summary has the same score", "no summary has a score"
FEW = f"fewer than {LEAST_SETS} topics"
# in standard deviations of a judge's scores within an article: a small effect (Cohen 1988); of agreement, in correlation
LEAST_EFFECT = 0.2


@dataclass(frozen=True)
class Hypothesis:
    """A way in which a judge may be led, before it is known whether it is."""

    # its name, question and effect; accused of nothing yet
    probe: Probe
    # None of what is told, or could not be tried
    test: TestedQuantity | Dealt | None = None
    # whether people's documents are what it rests on
    is_of_people: bool = False
    # only a rise is a fault
    is_one_sided: bool = False
    # effects below are no accusation
    least: float = LEAST_EFFECT
    # shown, or only counted among the tests
    is_shown: bool = True


@dataclass(frozen=True)
class OneJudge:
    """One judge's answers: what all of its probes look at."""

    name: str
    purpose: Purpose
    study: JudgeStudy
    baselines: Sequence[str]

    @cached_property
    def plain(self) -> Floats:
        """Scores of the summaries as they are."""
        return self.study.scores(self.name)

    @cached_property
    def spread(self) -> float:
        """Standard deviation of scores within an article."""
        return spread(self.plain)

    @cached_property
    def has_scores(self) -> bool:
        """Whether any summary has one."""
        return not bool(np.isnan(self.plain).all())

    @cached_property
    def is_constant(self) -> bool:
        """Whether every summary that has a score has the same."""
        known = self.plain[~np.isnan(self.plain)]
        return self.has_scores and float(np.ptp(known)) <= NOISE

    @cached_property
    def agreement(self) -> Floats:
        """With what it is to measure, of each article."""
        return within(self.study.truths[self.purpose], self.plain)

    def n_topics(self, table: Floats) -> int:
        """How many topics have a number in a table, (articles, summaries)."""
        return len({self.study.topics[row] for row in np.flatnonzero(~np.isnan(table).all(axis=1))})

    def gap(self, one: Variant, two: Variant) -> Floats:
        """What one variant of each summary gets more than another."""
        return self.study.scores(self.name, one) - self.study.scores(self.name, two)

    def probe(  # noqa: PLR0913 (of a probe that gives a verdict)
        self,
        measure: str,
        question: str,
        test: TestedQuantity | Dealt | None,
        table: Floats,
        note: str | tuple[str, str] = "",
        *,
        reference: str = "",
        why: str = "",
        otherwise: str = "",
        is_one_sided: bool = False,
        least: float = LEAST_EFFECT,
        is_of_people: bool = False,
        is_shown: bool = True,
    ) -> Hypothesis:
        """A probe that gives a verdict, or the reason why it cannot.

        Args:
            measure: its name.
            question: what was done, in a sentence.
            test: its effect; None where it could not be tried.
            table: what it rests on, nan for nothing.
            note: what an effect says that accuses; of one below 0 the second.
            reference: of which summaries, if not of all.
            why: nothing can be said, whatever the effect is.
            otherwise: why nothing can be said where there is no effect.
            is_one_sided: see `Hypothesis`, as the others.
        """
        number = Number() if test is None else test.number
        why = why or ("" if number.value is not None else otherwise)
        if not self.has_scores:
            why = NO_SCORE
        elif self.is_constant:
            why = CONSTANT
        elif not why and (number.p_value is None or len(set(self.study.topics)) < LEAST_SETS):
            why = FEW
        said = note if isinstance(note, str) else note[(number.value or 0.0) < 0]
        probe = probe_of(number, measure, question, table, reference=reference, note=why or said)
        change = {"verdict": "not tried"} if why else {"p_value": number.p_value, "verdict": "not accused"}
        return Hypothesis(
            probe.model_copy(update=change), None if why else test, is_of_people, is_one_sided, least, is_shown
        )


def probe_of(
    number: Number, measure: str, question: str, table: Floats, *, reference: str = "", note: str = ""
) -> Probe:
    """The record of a probe with this effect; arguments as of `OneJudge.probe`."""
    return Probe(
        measure=measure, reference=reference, question=question, note=note, value=number.value, low=number.low,
        high=number.high, n=int((~np.isnan(table)).sum()), n_sets=number.n_sets,
    )  # fmt: skip


def conclude(hypotheses: Sequence[Hypothesis]) -> list[Probe]:
    """The probes of those that are shown, with what the rule of `evaluation.significance` says of all of them together.

    A probe accuses where its effect is clear and no smaller than its least: with many summaries an effect that changes no order
    is clear, too.

    Args:
        hypotheses: of all judges of a page. What an accusation says stands in the probe's note.
    """
    kinds, order = _kinds(hypotheses)
    said, _ = concluded(kinds, [], LEVEL)
    by_place: dict[int, list[float]] = {}
    for places, each in zip(order, said, strict=True):
        for column, place in enumerate(places):
            by_place[place] = [float(of[column]) for of in (each.p_value, each.low, each.high)]
    return [_judged(each, by_place.get(place)) for place, each in enumerate(hypotheses) if each.is_shown]


def _kinds(hypotheses: Sequence[Hypothesis]) -> tuple[list[NullDraws], list[list[int]]]:
    """The tests by how they are drawn, and which hypotheses they are of."""
    plan, kinds, order = Bootstrap(level=LEVEL), list[NullDraws](), list[list[int]]()
    for is_of_people in (False, True):
        flips = {
            place: each.test
            for place, each in enumerate(hypotheses)
            if isinstance(each.test, TestedQuantity) and each.is_of_people == is_of_people
        }
        if flips:
            added, weights = (
                np.column_stack(columns)
                for columns in ([x.added for x in flips.values()], [x.weights for x in flips.values()])
            )
            kinds.append(flipped(added, weights, plan))
            order.append([*flips])
    for place, each in enumerate(hypotheses):
        if isinstance(each.test, Dealt):
            kinds.append(each.test.as_draws)
            order.append([place])
    return kinds, order


def _judged(each: Hypothesis, said: Sequence[float] | None) -> Probe:
    if said is None or each.probe.value is None or np.isnan(said[0]):
        return each.probe.model_copy(update={"note": "" if each.test else each.probe.note})
    p, low, high = said
    value = each.probe.value
    is_accused = p <= 1 - LEVEL and (value if each.is_one_sided else abs(value)) >= max(each.least, 1e-12)
    bounds = (min(low, value), max(high, value)) if np.isfinite([low, high]).all() else (None, None)
    return each.probe.model_copy(
        update={
            "low": bounds[0], "high": bounds[1], "adjusted": defined(p),
            "verdict": "accused" if is_accused else "not accused", "note": each.probe.note if is_accused else "",
        }
    )  # fmt: skip
