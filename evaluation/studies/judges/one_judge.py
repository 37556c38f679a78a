"""One judge of an audit: its scores, how they spread, and how a probe of them becomes a hypothesis."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ....config.needs import Purpose
from ....judges.calibration import Probe
from ....number import Number
from ....resampling import LEAST_SETS, NOISE
from .accusations import LEAST_EFFECT, Hypothesis
from .answers import Answers
from .differences import Dealt
from .figures import Floats, Quantity, spread, within
from .probes import Variant

CONSTANT, NO_SCORE = "every summary has the same score", "no summary has a score"
FEW = f"fewer than {LEAST_SETS} topics"


@dataclass(frozen=True)
class OneJudge:
    """One judge's answers: what all of its probes look at."""

    name: str
    purpose: Purpose
    answers: Answers
    baselines: Sequence[str]
    level: float

    @cached_property
    def plain(self) -> Floats:
        """Scores of the summaries as they are."""
        return self.answers.scores(self.name)

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
        return within(self.answers.truths[self.purpose], self.plain)

    def n_topics(self, table: Floats) -> int:
        """How many topics have a number in a table, (articles, summaries)."""
        return len({self.answers.topics[row] for row in np.flatnonzero(~np.isnan(table).all(axis=1))})

    def gap(self, one: Variant, two: Variant) -> Floats:
        """What one variant of each summary gets more than another."""
        return self.answers.scores(self.name, one) - self.answers.scores(self.name, two)

    def tested(  # noqa: PLR0913 (of a probe that gives a verdict)
        self,
        probe: Probe,
        test: Quantity | Dealt | None,
        *,
        is_one_sided: bool = False,
        why: str = "",
        least: float = LEAST_EFFECT,
        is_of_people: bool = False,
        is_shown: bool = True,
    ) -> Hypothesis:
        """A probe that gives a verdict, or the reason why it cannot; arguments as the fields of `Hypothesis`."""
        p = None if test is None else test.p if isinstance(test, Dealt) else test.number.p_value
        if not self.has_scores:
            why = NO_SCORE
        elif self.is_constant:
            why = CONSTANT
        elif not why and (p is None or len(set(self.answers.topics)) < LEAST_SETS):
            why = FEW
        if isinstance(test, Dealt):
            probe = probe.model_copy(update={"value": test.value})
        elif test is not None:
            probe = with_value(probe, test.number)
        change = {"note": why, "verdict": "not tried"} if why else {"p_value": p, "verdict": "not accused"}
        return Hypothesis(
            probe.model_copy(update=change), None if why else test, is_of_people, is_one_sided, least, is_shown
        )


def with_value(probe: Probe, of: Number) -> Probe:
    """The probe with another's number, interval and topics."""
    return probe.model_copy(update={"value": of.value, "low": of.low, "high": of.high, "n_sets": of.n_sets})
