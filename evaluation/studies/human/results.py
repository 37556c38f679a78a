"""People's scores of a summary, and their means by system and side with intervals, the length of the summaries beside them.

A unit is one annotator's marks on one document. Units whose document has no key point are left out of every mean, also of
faithfulness; a document that two people marked counts twice. Whole document sets are resampled, so that both sides of a set and
all annotators of it stay together. Source: Ri et al. 2025, sections 5.2 and 6.1; docs/papers.md#ri-human and #ri-sides.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import inf

from ....errors import DataError
from ....records import LeftOut, Record
from ....resampling import Bootstrap, cluster_interval
from ....text import n_words
from .annotation import Annotation, HumanUnit

NO_KEY_POINTS = "document without key points"


@dataclass(frozen=True)
class HumanScores:
    """What one annotator's marks say of one summary."""

    # share of the document's key points that the summary has, in [0, 1]; None for a document without key points
    coverage: float | None
    # share of the summary's key points that the document has, in [0, 1]; None for a summary without key points
    faithfulness: float | None
    # key points of the document that the summary has, and that it has not
    included: int
    omitted: int
    # key points of the summary that the document has not
    hallucinated: int


def human_scores(annotation: Annotation, method: str) -> HumanScores:
    """The scores of one method's summary.

    Source: Ri et al. 2025, eqs. 1 and 2; docs/papers.md#ri-human.

    Raises:
        DataError: the annotator has not marked a summary of that method.
    """
    if method not in annotation.summaries:
        known = ", ".join(annotation.summaries) or "none"
        raise DataError(f"no summary of method {method!r} was marked; methods of this record are {known}")
    marks = annotation.summaries[method]
    omitted, hallucinated = sum(marks.omitted), sum(marks.hallucinated)
    return HumanScores(
        coverage=(len(marks.omitted) - omitted) / len(marks.omitted) if marks.omitted else None,
        faithfulness=(len(marks.points) - hallucinated) / len(marks.points) if marks.points else None,
        included=len(marks.omitted) - omitted,
        omitted=omitted,
        hallucinated=hallucinated,
    )


class Estimate(Record):
    """A mean with the bounds of its interval."""

    # None without values
    mean: float | None
    # None where fewer than `resampling.LEAST_SETS` document sets have a value
    low: float | None
    high: float | None
    # values that the mean rests on
    n: int


class SystemRow(Record):
    """What people said of one system's summaries, of one side or of all."""

    system: str
    # None: all sides
    side: str | None
    # units, and the document sets that they come from
    n: int
    n_sets: int
    # in [0, 1]; coverage rests on every unit, faithfulness on those whose summary has a key point
    coverage: Estimate
    faithfulness: Estimate
    # key points a summary
    included: Estimate
    omitted: Estimate
    hallucinated: Estimate
    # words a summary
    length: Estimate


class HumanResults(Record):
    """Everything `evenhand human score` says."""

    annotators: tuple[str, ...]
    rows: tuple[SystemRow, ...]
    # items that no score rests on, by reason and side
    left_out: tuple[LeftOut, ...]
    level: float
    resamples: int
    seed: int


def human_results(
    units: Sequence[HumanUnit], left_out: Mapping[tuple[str, str], int], bootstrap: Bootstrap
) -> HumanResults:
    """The scores of every system, each side first and all sides last.

    Args:
        units: finished ones; those whose document has no key point are left out here, and counted.
        left_out: (reason, side) -> items that were left out before.
        bootstrap: how intervals are drawn.
    """
    counting = [unit for unit in units if unit.annotation.key_points]
    out = Counter(left_out) + Counter((NO_KEY_POINTS, unit.side) for unit in units if not unit.annotation.key_points)
    sides = list(dict.fromkeys(unit.side for unit in counting))
    rows = []
    for system in dict.fromkeys(system for unit in counting for system in unit.summaries):
        mine = [unit for unit in counting if system in unit.summaries]
        for side in [*sides, None] if len(sides) > 1 else [None]:
            chosen = [unit for unit in mine if side is None or unit.side == side]
            if chosen:
                rows.append(_row(system, side, chosen, bootstrap))
    return HumanResults(
        annotators=tuple(dict.fromkeys(unit.annotator for unit in units)),
        rows=tuple(rows),
        left_out=LeftOut.rows(("reason", "side"), out),
        **asdict(bootstrap),
    )


def _row(system: str, side: str | None, units: Sequence[HumanUnit], bootstrap: Bootstrap) -> SystemRow:
    scores = [human_scores(unit.annotation, system) for unit in units]
    clusters = [unit.cluster for unit in units]

    def estimate(values: Sequence[float | None], *, is_rate: bool = False) -> Estimate:
        # shares and counts, of which none is below 0
        found = cluster_interval(values, clusters, bootstrap, is_rate=is_rate, scale=(0.0, inf))
        return Estimate(mean=found.estimate, low=found.low, high=found.high, n=found.n)

    return SystemRow(
        system=system,
        side=side,
        n=len(units),
        n_sets=len(set(clusters)),
        coverage=estimate([each.coverage for each in scores], is_rate=True),
        faithfulness=estimate([each.faithfulness for each in scores], is_rate=True),
        included=estimate([each.included for each in scores]),
        omitted=estimate([each.omitted for each in scores]),
        hallucinated=estimate([each.hallucinated for each in scores]),
        length=estimate([n_words(unit.summaries[system]) for unit in units]),
    )
