"""Means of people's scores for each method.

A unit is one annotator's marks on one document. Units whose document has no key point are left out of every mean, also of
faithfulness; a document that two people marked counts twice. Source: docs/papers.md#ri-human.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from .annotation import Annotation
from .scores import human_scores


@dataclass(frozen=True)
class HumanMeans:
    """Means over the units that count; None without such units."""

    # units that count
    n: int
    coverage: float | None
    faithfulness: float | None
    included: float | None
    omitted: float | None
    hallucinated: float | None
    # units left out because their document has no key point
    left_out: int
    # units that count but whose summary has no key point, so that they are missing from the mean faithfulness
    without_faithfulness: int


def aggregate(annotations: Sequence[Annotation], methods: Sequence[str]) -> dict[str, HumanMeans]:
    """The means of each method.

    Raises:
        DataError: an annotator has not marked the summary of a method.
    """
    counting = [annotation for annotation in annotations if annotation.key_points]
    return {method: _means(counting, method, len(annotations) - len(counting)) for method in methods}


def _means(annotations: Sequence[Annotation], method: str, left_out: int) -> HumanMeans:
    scores = [human_scores(annotation, method) for annotation in annotations]
    faithfulness = [each.faithfulness for each in scores if each.faithfulness is not None]
    return HumanMeans(
        n=len(scores),
        coverage=_mean([each.coverage for each in scores if each.coverage is not None]),
        faithfulness=_mean(faithfulness),
        included=_mean([each.included for each in scores]),
        omitted=_mean([each.omitted for each in scores]),
        hallucinated=_mean([each.hallucinated for each in scores]),
        left_out=left_out,
        without_faithfulness=len(scores) - len(faithfulness),
    )


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None
