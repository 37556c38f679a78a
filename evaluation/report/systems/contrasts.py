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

    def asked_in(self, family: Half) -> "Contrast":
        """The contrast, tested in that half of the level."""
        return replace(self, question=replace(self.question, half=family))

    def concluded(self, answer: Concluded, level: float) -> Difference:
        """The difference with the bounds and the verdict that its page gives."""
        difference = self.difference
        bounds: Bounds = (None, None)
        adjusted = None if np.isnan(answer.p_value[0]) else max(float(answer.p_value[0]), difference.p_value or 0.0)
        low, high = float(answer.low[0]), float(answer.high[0])
        if difference.value is not None and np.isfinite(low) and np.isfinite(high):
            bounds = cut_to(self.scale, difference.value, low, high)
        word = verdict(bounds, adjusted, level=level, n_sets=difference.n_sets)
        return difference.model_copy(
            update={"low": bounds[0], "high": bounds[1], "adjusted": adjusted, "verdict": word}
        )


def conclude(
    contrasts: Sequence[Contrast], plan: Bootstrap, claims: Sequence[Question] = ()
) -> tuple[list[Difference], list[Concluded]]:
    """All differences of a page with verdicts, and what is to be said of the tests of its other claims."""
    conclusions = answers([*(contrast.question for contrast in contrasts), *claims], plan)
    differences = [
        contrast.concluded(conclusion, plan.level) for contrast, conclusion in zip(contrasts, conclusions, strict=False)
    ]
    return differences, conclusions[len(contrasts) :]
