"""What an audit may accuse judges of: probes of one judge as hypotheses, and one rule over all of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...config.needs import Purpose
from ...evaluation.pages.tables import grouped
from ...evaluation.significance import NullDraws, concluded, flipped
from ...judges.calibration import Probe
from ...number import Number
from ...resampling import LEAST_SETS, NOISE, Bootstrap, Floats
from .agreement import within
from .figures import LEVEL, NOTHING, TestedQuantity, spread
from .probes import Variant
from .study import JudgeStudy

CONSTANT, NO_SCORE = "every summary has the same score", "no summary has a score"
FEW = f"fewer than {LEAST_SETS} topics"
# in standard deviations of a judge's scores within an article: a small effect (Cohen 1988); of agreement, in correlation
LEAST_EFFECT = 0.2
# of a probe that rests on nothing
NONE = np.empty(0)


@dataclass(frozen=True)
class Hypothesis:
    """A way in which a judge may be led, before it is known whether it is."""

    # its name, question and effect; accused of nothing yet
    probe: Probe
    # NOTHING of what is told, or could not be tried
    tested: TestedQuantity = NOTHING
    # only a rise is a fault
    is_one_sided: bool = False
    # effects below are no accusation
    least_effect: float = LEAST_EFFECT
    # shown, or only counted among the tests
    is_shown: bool = True

    def judged(self, p: float | None, low: float | None, high: float | None) -> Probe:
        """The probe with what the rule says of it: accused where its effect is clear and no smaller than its least effect."""
        value = self.probe.value
        if value is None or p is None:
            return self.probe.model_copy(update={} if self.tested is NOTHING else {"note": ""})
        is_accused = p <= 1 - LEVEL and (value if self.is_one_sided else abs(value)) >= max(self.least_effect, 1e-12)
        bounds = (None, None) if low is None or high is None else (min(low, value), max(high, value))
        return self.probe.model_copy(
            update={
                "low": bounds[0], "high": bounds[1], "adjusted": p, "verdict": "accused" if is_accused else "not accused",
                "note": self.probe.note if is_accused else "",
            }
        )  # fmt: skip


def conclude(hypotheses: Sequence[Hypothesis]) -> list[Probe]:
    """The probes of those that are shown, with what the rule of `evaluation.significance` says of all of them together.

    With many summaries an effect that changes no order is clear, too, hence the least effect.

    Args:
        hypotheses: of all judges of a page. What an accusation says stands in the probe's note.
    """
    tests = {
        place: hypothesis.tested for place, hypothesis in enumerate(hypotheses) if hypothesis.tested is not NOTHING
    }
    # those that are flipped together by how many topics they have, every other one by itself
    kinds = grouped(
        tests, lambda place: (-1, place) if (contributions := tests[place].added) is None else (len(contributions), 0)
    )
    draws = [_drawn([tests[place] for place in places]) for places in kinds.values()]
    conclusions = {
        place: conclusion.at(column)
        for places, conclusion in zip(kinds.values(), concluded(draws, [], LEVEL)[0], strict=True)
        for column, place in enumerate(places)
    }
    return [
        hypothesis.judged(*conclusions.get(place, (None, None, None)))
        for place, hypothesis in enumerate(hypotheses)
        if hypothesis.is_shown
    ]


def _drawn(tests: Sequence[TestedQuantity]) -> NullDraws:
    """Tests of sums over as many topics each, with the same signs for all of them; or one that is dealt in its own way."""
    if tests[0].draws:
        return tests[0].draws
    table = [test.added for test in tests if test.added is not None]
    added, weights = (np.column_stack([contributions[:, column] for contributions in table]) for column in (0, 1))
    return flipped(added, weights, Bootstrap(level=LEVEL))


@dataclass(frozen=True)
class OneJudge:
    """The answers of one judge, which all of its probes look at."""

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
        """Whether any summary has a score."""
        return not bool(np.isnan(self.plain).all())

    @cached_property
    def is_constant(self) -> bool:
        """Whether all summaries that have a score have the same."""
        scored = self.plain[~np.isnan(self.plain)]
        return self.has_scores and float(np.ptp(scored)) <= NOISE

    @cached_property
    def agreement(self) -> Floats:
        """Agreement of the scores with what the judge is to measure, of each article."""
        return within(self.study.truths[self.purpose], self.plain)

    def n_topics(self, table: Floats) -> int:
        """How many topics have a number in a table, (articles, summaries)."""
        return len({self.study.topics[row] for row in np.flatnonzero(~np.isnan(table).all(axis=1))})

    def gap(self, first: Variant, second: Variant) -> Floats:
        """Score of the first variant of each summary less that of the second."""
        return self.study.scores(self.name, first) - self.study.scores(self.name, second)

    def probe(  # noqa: PLR0913 (of a probe that gives a verdict)
        self,
        measure: str,
        question: str,
        tested: TestedQuantity = NOTHING,
        table: Floats = NONE,
        note: str | tuple[str, str] = "",
        *,
        reference: str = "",
        otherwise: str = "",
        is_one_sided: bool = False,
        least_effect: float = LEAST_EFFECT,
        is_shown: bool = True,
    ) -> Hypothesis:
        """A probe that gives a verdict, or the reason why it cannot.

        Args:
            measure: its name.
            question: what was done, in a sentence.
            tested: its effect.
            table: what it rests on, nan for nothing.
            note: what an effect says that accuses; of one below 0 the second.
            reference: of which summaries, if not of all.
            otherwise: why nothing can be said where there is no effect.
            is_one_sided: see `Hypothesis`, as the others.
        """
        value, p_value = tested.number.value, tested.number.p_value
        reason = otherwise if value is None else ""
        if not self.has_scores:
            reason = NO_SCORE
        elif self.is_constant:
            reason = CONSTANT
        elif not reason and (p_value is None or len(set(self.study.topics)) < LEAST_SETS):
            reason = FEW
        text = reason or (note if isinstance(note, str) else note[(value or 0.0) < 0])
        probe = _probe(measure, question, tested.number, table, reference=reference, note=text)
        verdict = {"verdict": "not tried"} if reason else {"p_value": p_value, "verdict": "not accused"}
        return Hypothesis(
            probe.model_copy(update=verdict), NOTHING if reason else tested, is_one_sided, least_effect, is_shown
        )

    def told(self, measure: str, question: str, tested: TestedQuantity, table: Floats, reason: str = "") -> Hypothesis:
        """A figure without a verdict, unless `reason` says that there is none; the rest as of `probe`."""
        probe = _probe(measure, question, tested.number, table, note=reason)
        return Hypothesis(probe.model_copy(update={"verdict": "not tried" if reason else "told"}))


def _probe(measure: str, question: str, number: Number, table: Floats, *, reference: str = "", note: str = "") -> Probe:
    return Probe(
        measure=measure, reference=reference, question=question, note=note, value=number.value, low=number.low,
        high=number.high, n=int((~np.isnan(table)).sum()), n_sets=number.n_sets,
    )  # fmt: skip
