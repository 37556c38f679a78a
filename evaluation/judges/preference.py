"""Whether a judge prefers its own writing: summaries of several systems that people scored, one system being the judge's model.

A judge that agrees with people only in part would seem to prefer whatever people like less, if its scores were simply compared
with theirs. So its scores are regressed on people's and on who wrote a summary, among the summaries of one document.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...config.needs import Purpose
from ...corpora.controlled import ControlledSet, ControlledSummary
from ...errors import DataError
from ...text import did_you_mean
from ..human.annotation import HumanUnit
from ..human.results import human_scores
from .figures import NOTHING, Floats, Tested, slopes, spread


@dataclass(frozen=True)
class PeoplesScores:
    """Summaries of several systems with people's scores of them, documents down, systems across."""

    systems: tuple[str, ...]
    # the system whose writing is the judge's own
    own: str
    documents: tuple[ControlledSet, ...]
    # document set of each
    topics: tuple[str, ...]
    # attribute -> (documents, systems), nan where people said nothing
    scores: Mapping[Purpose, Floats]


def peoples_scores(units: Sequence[HumanUnit], own: str) -> PeoplesScores:
    """What people said, each annotator's document a row.

    Args:
        units: finished ones.
        own: the system that the judges' model wrote.

    Raises:
        DataError: no summary of that system was scored, or none of another.
    """
    systems = tuple(dict.fromkeys(system for unit in units for system in unit.summaries))
    if own not in systems or len(systems) < 2:
        raise DataError(
            f"--own {own!r}: people scored summaries of {', '.join(systems) or 'nobody'}{did_you_mean(own, systems)} Name the "
            "one that the judges' model wrote; another one is needed beside it"
        )
    scores: dict[Purpose, NDArray[np.float64]] = {
        "coverage": np.full((len(units), len(systems)), np.nan),
        "faithfulness": np.full((len(units), len(systems)), np.nan),
    }
    documents = []
    for row, unit in enumerate(units):
        for column, system in enumerate(systems):
            if system in unit.summaries:
                said = human_scores(unit.annotation, system)
                scores["coverage"][row, column] = np.nan if said.coverage is None else said.coverage
                scores["faithfulness"][row, column] = np.nan if said.faithfulness is None else said.faithfulness
        documents.append(_document(unit, systems))
    return PeoplesScores(systems, own, tuple(documents), tuple(unit.cluster for unit in units), scores)


def _document(unit: HumanUnit, systems: Sequence[str]) -> ControlledSet:
    """The document with its summaries as judges are asked about them; how many points they have is not looked at."""
    # a system that wrote nothing for it keeps its column
    texts = [unit.summaries.get(system, "").strip() or unit.document for system in systems]
    return ControlledSet(
        id=f"{unit.annotator}/{unit.number}",
        topic=unit.cluster,
        side=unit.side or None,
        passages=tuple(unit.passages),
        n_key_points=0,
        summaries=tuple(ControlledSummary(text=text, relevant=0) for text in texts),
    )


def preference(people: PeoplesScores, scores: Floats, purpose: Purpose, level: float) -> Tested:
    """How much more the judge gives its own writing than people's scores explain, in spreads of its scores.

    Args:
        people: what people said.
        scores: the judge's, (documents, systems).
        purpose: the attribute that both are to score.
        level: of the interval.
    """
    said = people.scores[purpose]
    ours = np.where(np.isnan(said), np.nan, scores)
    size = spread(ours)
    if not size:
        return NOTHING
    is_own = np.broadcast_to([system == people.own for system in people.systems], said.shape).astype(float)
    return slopes(ours / size, [is_own, said], people.topics, level)[0]
