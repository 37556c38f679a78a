"""One judge of an audit: its scores, how they spread, and how a probe of them becomes a hypothesis."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ....config.needs import Purpose
from ....judges.calibration import Probe
from ....number import Number
from ....resampling import LEAST_SETS, NOISE, Floats
from .accusations import LEAST_EFFECT, Hypothesis
from .agreement import within
from .differences import Dealt
from .figures import Quantity, spread
from .probes import Variant
from .study import JudgeStudy

CONSTANT, NO_SCORE = "every summary has the same score", "no summary has a score"
FEW = f"fewer than {LEAST_SETS} topics"


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
        test: Quantity | Dealt | None,
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
        number = Number() if test is None else Number(value=test.value) if isinstance(test, Dealt) else test.number
        p = test.p if isinstance(test, Dealt) else number.p_value
        why = why or ("" if number.value is not None else otherwise)
        if not self.has_scores:
            why = NO_SCORE
        elif self.is_constant:
            why = CONSTANT
        elif not why and (p is None or len(set(self.study.topics)) < LEAST_SETS):
            why = FEW
        said = note if isinstance(note, str) else note[(number.value or 0.0) < 0]
        probe = probe_of(number, measure, question, table, reference=reference, note=why or said)
        change = {"verdict": "not tried"} if why else {"p_value": p, "verdict": "not accused"}
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
