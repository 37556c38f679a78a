"""Controlled sets, whose summaries are made of known key points, so that their coverage and faithfulness are known.

They come from a file: evenhand's JSON lines, or the JSON list that the authors of PoliSum's test set released.

The released file says how many points of each kind a summary was made of, and its coverage and faithfulness beside it. Both
are checked against each other; what is used later is computed from the counts. Source: docs/papers.md#ri-data.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field, NonNegativeInt, model_validator

from ..errors import DataError
from ..records import Record, Text
from ..storage import as_given, read_text
from ..text.digests import digest
from .annotated import AnnotatedArticle, article_marks, topic_marks
from .bundled import CONTROLLED, file_of
from .entries import placed, read_lines, read_list, refuse_entries
from .splits import joined

# released ratios may have been rounded
ROUNDING = 1e-6


@dataclass(frozen=True)
class GroundTruth:
    """Coverage and faithfulness by construction, each in [0, 1]."""

    # share of the article's key points that the summary has; None when the article has none
    coverage: float | None
    # share of the summary's points that are key points of the article; None when the summary has no point
    faithfulness: float | None


def ground_truth(n_key_points: int, relevant: int, opposite: int, adversarial: int) -> GroundTruth:
    """Coverage and faithfulness of a summary made of so many points of each kind.

    Source: Ri et al. 2025, eqs. 1 and 2.

    Args:
        n_key_points: key points of the article.
        relevant: those of them that the summary was made of.
        opposite: points of the article's other side.
        adversarial: key points turned into their contrary.

    Raises:
        DataError: a number is negative, or the summary has more of the article's key points than there are.
    """
    if min(n_key_points, relevant, opposite, adversarial) < 0 or relevant > n_key_points:
        raise DataError(
            f"a summary cannot have {relevant} relevant, {opposite} opposite and {adversarial} adversarial points of an "
            f"article with {n_key_points} key points; counts are at least 0, and relevant is at most the article's"
        )
    n_points = relevant + opposite + adversarial
    return GroundTruth(
        coverage=relevant / n_key_points if n_key_points else None,
        faithfulness=relevant / n_points if n_points else None,
    )


class ControlledSummary(Record):
    """A summary and how many points of each kind it was made of."""

    text: Text
    # key points of the article
    relevant: NonNegativeInt
    # points of the article's other side
    opposite: NonNegativeInt = 0
    # key points turned into their contrary
    adversarial: NonNegativeInt = 0


class ControlledSet(Record):
    """An article and its controlled summaries: a line of a file."""

    id: Text
    # sets of one topic are resampled together
    topic: str = ""
    # the article's side; reports split by it when the sets have one
    side: Text | None = None
    passages: Annotated[tuple[Text, ...], Field(min_length=1)]
    # key points of the article
    n_key_points: NonNegativeInt
    # their texts, when they are known
    key_points: tuple[Text, ...] = ()
    summaries: Annotated[tuple[ControlledSummary, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _counts_agree(self) -> "ControlledSet":
        if self.key_points and len(self.key_points) != self.n_key_points:
            raise ValueError(f"n_key_points is {self.n_key_points}, but {len(self.key_points)} key points are listed")
        most_relevant = max(summary.relevant for summary in self.summaries)
        if most_relevant > self.n_key_points:
            raise ValueError(f"a summary has {most_relevant} relevant points, but the article only {self.n_key_points}")
        return self

    @property
    def source(self) -> str:
        """The passages joined by line breaks: what judges compare a summary with."""
        return "\n".join(self.passages)

    @property
    def marks(self) -> frozenset[str]:
        """Digests of passages, source and topic: who was trained on one of them has seen the article."""
        return article_marks(self.passages, self.topic)

    @property
    def truths(self) -> list[GroundTruth]:
        """Coverage and faithfulness of each summary, in order."""
        return [ground_truth(self.n_key_points, s.relevant, s.opposite, s.adversarial) for s in self.summaries]


class _PointCounts(BaseModel):
    relevant: NonNegativeInt
    opposite: NonNegativeInt
    adversarial: NonNegativeInt


class _ReleasedSummary(BaseModel):
    summary: Text
    coverage: float
    faithfulness: float
    evidence_counts: _PointCounts


class _ReleasedSet(BaseModel):
    source: Annotated[tuple[Text, ...], Field(min_length=1)]
    summaries: Annotated[tuple[_ReleasedSummary, ...], Field(min_length=1)]


class _RelevantPoints(BaseModel):
    relevant: tuple[Text, ...]


class _Evidence(BaseModel):
    topic: Text
    source: tuple[Text, ...]
    evidence: _RelevantPoints


@as_given()
def read_controlled(path: Path, evidence: Path | None = None) -> list[ControlledSet]:
    """The controlled sets of a file, in order.

    Args:
        path: JSON lines of `ControlledSet`, or the authors' JSON list; "sample" is bundled.
        evidence: for the authors' list, their evidence file of the same articles in the same order, which adds topics and key
            points.

    Raises:
        DataError: a file cannot be read, or entries are wrong, contradict themselves or the evidence file; all are listed.
    """
    path = file_of(path, CONTROLLED)
    if not read_text(path).lstrip().startswith("["):
        if evidence is not None:
            raise DataError(
                f"{path}: JSON lines hold topics and key points themselves; leave the evidence file {evidence} out"
            )
        return read_lines(path, ControlledSet, "id")
    released, mistakes = read_list(path, _ReleasedSet)
    known, wrong = [], []
    if evidence:
        entries, evidence_mistakes = read_list(evidence, _Evidence)
        known, wrong = [entry for _, entry in entries], placed(evidence, "entry", evidence_mistakes)
    refuse_entries(path, "entry", mistakes, wrong)
    if evidence and len(known) != len(released):
        raise DataError(f"{evidence}: has {len(known)} entries, but {path} has {len(released)}")
    sets = []
    for number, entry in released:
        try:
            sets.append(_set(number, entry, known[number - 1] if known else None))
        except DataError as error:
            mistakes.append((number, str(error)))
    refuse_entries(path, "entry", mistakes)
    return sets


def _set(number: int, entry: _ReleasedSet, evidence: _Evidence | None) -> ControlledSet:
    key_points = evidence.evidence.relevant if evidence else ()
    if evidence is None:
        # the summary that has all key points tells how many there are
        full = {s.evidence_counts.relevant for s in entry.summaries if s.coverage == 1}
        if len(full) != 1:
            raise DataError(
                f"summaries of coverage 1 have {sorted(full)} relevant points, so the number of the article's key points is "
                "unknown; give the evidence file, too"
            )
        n_key_points = full.pop()
    elif evidence.source != entry.source:
        raise DataError("its passages are not those of the same entry of the evidence file")
    else:
        n_key_points = len(key_points)
    for place, summary in enumerate(entry.summaries, start=1):
        counts = summary.evidence_counts
        truth = ground_truth(n_key_points, counts.relevant, counts.opposite, counts.adversarial)
        for name in ("coverage", "faithfulness"):
            reported, computed = getattr(summary, name), getattr(truth, name)
            if computed is None or abs(reported - computed) > ROUNDING:
                raise DataError(f"summary {place}: {name} is {reported}, but its counts give {computed}")
    return ControlledSet(
        id=f"{number:03d}-{digest(list(entry.source), 8)}",
        topic=evidence.topic if evidence else "",
        passages=entry.source,
        n_key_points=n_key_points,
        key_points=key_points,
        summaries=tuple(
            ControlledSummary(text=summary.summary, **summary.evidence_counts.model_dump())
            for summary in entry.summaries
        ),
    )


def topics_of(articles: Sequence[AnnotatedArticle | ControlledSet]) -> list[str]:
    """For each article, the name of its topic, in the spelling of the first article that is of it.

    Articles are of one topic where they have one title or a passage or a copy of it in common, directly or by way
    of others. An article without a title that shares no passage is a topic of its own, named by its id.
    """
    marks = [topic_marks(article.passages, article.topic) for article in articles]
    names: dict[str, str] = {}
    return [
        names.setdefault(root, article.topic or article.id)
        for root, article in zip(joined(marks), articles, strict=True)
    ]
