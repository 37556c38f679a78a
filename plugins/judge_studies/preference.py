"""Whether a judge prefers its own writing: summaries of several systems that people scored, one system being the judge's model.

A judge that agrees with people only in part would seem to prefer whatever people like less, if its scores were simply compared
with theirs. So its scores are regressed on people's and on who wrote a summary, among the summaries of one document.

People err, too. Where the judge's own model writes better than the others, scores that go with quality seem to prefer it beyond
what people's noisy scores explain. Regressed the other way round, people's scores on the judge's, it is the judge's noise that
counts, and the fault goes the other way: the preference lies between the two (Klepper and Leamer 1984). What both say is sure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...config.needs import Purpose
from ...corpora.controlled import ControlledSet, ControlledSummary
from ...errors import DataError
from ...judges.benchmark import ATTRIBUTES
from ...resampling import Floats
from ...text import did_you_mean
from .figures import NOTHING, TestedQuantity, slopes, spread
from .people.annotations.annotation import HumanUnit
from .people.annotations.scores import human_scores


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
    scores: Mapping[str, Floats]
    # documents that are not finished
    left_out: int = 0


def peoples_scores(units: Sequence[HumanUnit], own_system: str, left_out: int = 0) -> PeoplesScores:
    """People's scores as a table, each annotator's document a row.

    Args:
        units: finished ones.
        own_system: the system that the judges' model wrote.
        left_out: how many are not finished.

    Raises:
        DataError: no summary of that system was scored, or none of another.
    """
    systems = tuple(dict.fromkeys(system for unit in units for system in unit.summaries))
    if own_system not in systems or len(systems) < 2:
        raise DataError(
            f"--own {own_system!r}: people scored summaries of {', '.join(systems) or 'nobody'}"
            f"{did_you_mean(own_system, systems)} Name the one that the judges' model wrote; at least one other is needed"
        )
    rows = [
        [human_scores(unit.annotation, system) if system in unit.summaries else None for system in systems]
        for unit in units
    ]
    scores: dict[str, Floats] = {
        name: np.array([[getattr(cell, name, None) for cell in row] for row in rows], dtype=float)
        for name in ATTRIBUTES
    }
    documents = tuple(_document(unit, systems) for unit in units)
    return PeoplesScores(systems, own_system, documents, tuple(unit.cluster for unit in units), scores, left_out)


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


def preference(people: PeoplesScores, scores: Floats, purpose: Purpose) -> TestedQuantity:
    """How much more, at least, the judge gives its own writing than people's scores explain, in spreads of its scores.

    Nothing where its scores do not clearly go with people's: then no score of theirs explains one of its.

    Args:
        people: what people said.
        scores: the judge's, (documents, systems).
        purpose: the attribute that both are to score.
    """
    people_scores = people.scores[purpose]
    judge_scores = np.where(np.isnan(people_scores), np.nan, scores)
    size = spread(judge_scores)
    if not size:
        return NOTHING
    judge_scores = judge_scores / size
    is_own = np.broadcast_to([system == people.own for system in people.systems], people_scores.shape).astype(float)
    by_people = slopes(judge_scores, [is_own, people_scores], people.topics)[0]
    goes_with = slopes(people_scores, [is_own, judge_scores], people.topics)[1].number
    if by_people.number.value is None or (goes_with.low is not None and goes_with.low <= 0):
        return NOTHING
    by_judge = slopes(people_scores, [is_own, judge_scores], people.topics, of=_implied)[0]
    return _least(by_people, by_judge)


def _implied(slopes_of_people: Floats) -> Floats:
    """The judge's bonus for its own writing by a line of people's scores on who wrote and on the judge's score."""
    own_slope, ours = slopes_of_people[..., :1], slopes_of_people[..., 1:]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.concatenate([-own_slope / ours, ours], axis=-1)


def _least(first: TestedQuantity, second: TestedQuantity) -> TestedQuantity:
    """The smaller of the two, as sure as the one that is less sure where both are above 0."""
    small, large = sorted((first, second), key=lambda quantity: quantity.number.value or 0.0)
    value, p, p_of_large = small.number.value or 0.0, small.number.p_value, large.number.p_value
    if value <= 0 or p is None or p_of_large is None or p_of_large <= p or large.added is None:
        return small
    as_small = np.column_stack([large.added[:, 0] * value / (large.number.value or 1.0), large.added[:, 1]])
    return TestedQuantity(small.number.model_copy(update={"p_value": p_of_large}), as_small)
