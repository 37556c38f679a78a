"""Means of people's scores by system and side with intervals, the length of the summaries beside them.

A unit is one annotator's marks on one document. Units whose document has no key point are left out of every mean, also of
faithfulness; a document that two people marked counts twice. Whole document sets are resampled, so that both sides of a set and
all annotators of it stay together. Source: Ri et al. 2025, sections 5.2 and 6.1; docs/papers.md#ri-human and #ri-sides.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from math import inf

from ....number import Number
from ....records import LeftOut, Record
from ....resampling import Bootstrap, cluster_interval
from ....text import n_words
from .annotations.annotation import HumanUnit
from .annotations.scores import RATES, SCORES, human_scores

NO_KEY_POINTS = "document without key points"


class HumanResults(Record):
    """Everything `evenhand human score` says."""

    annotators: tuple[str, ...]
    # of each system, each side first and all sides last: coverage and faithfulness in [0, 1], key points and words a summary, of
    # so many annotated ones; summaries without key points are left out of faithfulness
    numbers: tuple[Number, ...]
    # items that no score rests on, by reason and side
    left_out: tuple[LeftOut, ...]
    level: float
    resamples: int
    seed: int


def human_results(
    units: Sequence[HumanUnit], left_out: Mapping[tuple[str, str], int], bootstrap: Bootstrap
) -> HumanResults:
    """The mean scores of every system.

    Args:
        units: finished ones; those whose document has no key point are left out here, and counted.
        left_out: (reason, side) -> items that were left out before.
        bootstrap: how intervals are drawn.
    """
    counting = [unit for unit in units if unit.annotation.key_points]
    out = Counter(left_out) + Counter((NO_KEY_POINTS, unit.side) for unit in units if not unit.annotation.key_points)
    sides = list(dict.fromkeys(unit.side for unit in counting))
    numbers = list[Number]()
    for system in dict.fromkeys(system for unit in counting for system in unit.summaries):
        system_units = [unit for unit in counting if system in unit.summaries]
        for side in [*sides, None] if len(sides) > 1 else [None]:
            numbers += _numbers(system, side, [unit for unit in system_units if side in (None, unit.side)], bootstrap)
    return HumanResults(
        annotators=tuple(dict.fromkeys(unit.annotator for unit in units)),
        numbers=tuple(numbers),
        left_out=LeftOut.rows(("reason", "side"), out),
        **asdict(bootstrap),
    )


def _numbers(system: str, side: str | None, units: Sequence[HumanUnit], bootstrap: Bootstrap) -> Iterator[Number]:
    """The numbers of one system and side; none without units."""
    scores = [human_scores(unit.annotation, system) for unit in units]
    clusters = [unit.cluster for unit in units]
    values: dict[str, list[float | None]] = {name: [getattr(score, name) for score in scores] for name in SCORES}
    values["length"] = [n_words(unit.summaries[system]) for unit in units]
    for measure, series in values.items() if units else ():
        # shares and counts, of which none is below 0
        mean = cluster_interval(series, clusters, bootstrap, is_rate=measure in RATES, scale=(0.0, inf))
        yield Number(
            measure=measure, system=system, side=side, value=mean.estimate, low=mean.low, high=mean.high, n=mean.n,
            n_sets=mean.n_clusters, left_out=len(units) - mean.n,
        )  # fmt: skip
