"""Everything that an audit may accuse judges of, and one rule over all of it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ....judges.calibration import Probe
from ....resampling import Bootstrap, defined
from ...significance import Concluded, NullDraws, concluded, flipped
from .differences import Dealt
from .figures import LEVEL, Quantity

# in standard deviations of a judge's scores within an article: a small effect (Cohen 1988); of agreement, in correlation
LEAST_EFFECT = 0.2


@dataclass(frozen=True)
class Hypothesis:
    """A way in which a judge may be led, before it is known whether it is."""

    # its name, question and effect; accused of nothing yet
    probe: Probe
    # None of what is told, or could not be tried
    test: Quantity | Dealt | None = None
    # whether people's documents are what it rests on
    is_of_people: bool = False
    # only a rise is a fault
    is_one_sided: bool = False
    # effects below are no accusation
    least: float = LEAST_EFFECT
    # shown, or only counted among the tests
    is_shown: bool = True


def conclude(hypotheses: Sequence[Hypothesis]) -> list[Probe]:
    """The probes of those that are shown, with what the rule of `evaluation.significance` says of all of them together.

    A probe accuses where its effect is clear and no smaller than its least: with many summaries an effect that changes no order
    is clear, too.

    Args:
        hypotheses: of all judges of a page. What an accusation says stands in the probe's note.
    """
    kinds, order = _kinds(hypotheses)
    said, _ = concluded(kinds, [], LEVEL)
    by_place: dict[int, tuple[float, float, float]] = {}
    for places, each in zip(order, said, strict=True):
        by_place |= {place: _row(each, column) for column, place in enumerate(places)}
    return [_judged(each, by_place.get(place)) for place, each in enumerate(hypotheses) if each.is_shown]


def _kinds(hypotheses: Sequence[Hypothesis]) -> tuple[list[NullDraws], list[list[int]]]:
    """The tests by how they are drawn, and which hypotheses they are of."""
    plan, kinds, order = Bootstrap(level=LEVEL), list[NullDraws](), list[list[int]]()
    for is_of_people in (False, True):
        flips = {
            place: each.test
            for place, each in enumerate(hypotheses)
            if isinstance(each.test, Quantity) and each.is_of_people == is_of_people
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


def _row(said: Concluded, column: int) -> tuple[float, float, float]:
    return float(said.p_value[column]), float(said.low[column]), float(said.high[column])


def _judged(each: Hypothesis, said: tuple[float, float, float] | None) -> Probe:
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
