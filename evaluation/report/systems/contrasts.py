"""Paired differences from what sets add to them to their verdicts."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ....resampling import Bootstrap, Bounds, Scale, cut_to
from ...significance import Concluded
from ...verdicts import verdict
from .contents import Difference
from .questions import Half, Question, answers


@dataclass(frozen=True)
class Contrast:
    """A difference that nothing is concluded of yet: the first test of its question, beside what it was chosen among."""

    difference: Difference
    question: Question
    # where differences lie; None where they may be anything
    scale: Scale | None = None

    def asked_in(self, half: Half) -> "Contrast":
        """The same, tested in that half of the level."""
        return replace(self, question=replace(self.question, half=half))

    def concluded(self, found: Concluded, level: float) -> Difference:
        """The difference with the bounds and the verdict that its page gives."""
        each = self.difference
        bounds: Bounds = (None, None)
        adjusted = None if np.isnan(found.p_value[0]) else max(float(found.p_value[0]), each.p_value or 0.0)
        low, high = float(found.low[0]), float(found.high[0])
        if each.value is not None and np.isfinite(low) and np.isfinite(high):
            bounds = cut_to(self.scale, each.value, low, high)
        said = verdict(bounds, adjusted, level=level, n_sets=each.n_sets)
        return each.model_copy(update={"low": bounds[0], "high": bounds[1], "adjusted": adjusted, "verdict": said})


def conclude(
    contrasts: Sequence[Contrast], plan: Bootstrap, claims: Sequence[Question] = ()
) -> tuple[list[Difference], list[Concluded]]:
    """All differences of a page with verdicts, and what is to be said of the tests of its other claims."""
    found = answers([*(each.question for each in contrasts), *claims], plan)
    told = [each.concluded(its, plan.level) for each, its in zip(contrasts, found, strict=False)]
    return told, found[len(contrasts) :]
