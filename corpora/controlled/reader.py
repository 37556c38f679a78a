"""Controlled sets from a file: evenhand's JSON lines, or the JSON list that the authors of PoliSum's test set released.

The released file says how many points of each kind a summary was made of, and its coverage and faithfulness beside it. Both
are checked against each other; what is used later is computed from the counts. Source: docs/papers.md#ri-data.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, Field, NonNegativeInt, ValidationError, model_validator

from ...errors import DataError
from ...records import Record, Text
from ...storage import as_given, digest, explain, listed, listed_lines, read_json, read_numbered, read_text
from ...text import repeated, some_of
from .ground_truth import GroundTruth, ground_truth

# released ratios may have been rounded
ROUNDING = 1e-6


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
        most = max(summary.relevant for summary in self.summaries)
        if most > self.n_key_points:
            raise ValueError(f"a summary has {most} relevant points, but the article only {self.n_key_points}")
        return self

    @property
    def source(self) -> str:
        """The passages joined by line breaks: what judges compare a summary with."""
        return "\n".join(self.passages)

    @property
    def truths(self) -> list[GroundTruth]:
        """Coverage and faithfulness of each summary, in order."""
        return [ground_truth(self.n_key_points, s.relevant, s.opposite, s.adversarial) for s in self.summaries]


class _Counts(BaseModel):
    relevant: NonNegativeInt
    opposite: NonNegativeInt
    adversarial: NonNegativeInt


class _ReleasedSummary(BaseModel):
    summary: Text
    coverage: float
    faithfulness: float
    evidence_counts: _Counts


class _ReleasedSet(BaseModel):
    source: Annotated[tuple[Text, ...], Field(min_length=1)]
    summaries: Annotated[tuple[_ReleasedSummary, ...], Field(min_length=1)]


class _Points(BaseModel):
    relevant: tuple[Text, ...]


class _Evidence(BaseModel):
    topic: Text
    source: tuple[Text, ...]
    evidence: _Points


@as_given()
def read_controlled(path: Path, evidence: Path | None = None) -> list[ControlledSet]:
    """The controlled sets of a file, in order.

    Args:
        path: JSON lines of `ControlledSet`, or the authors' JSON list.
        evidence: for the authors' list, their evidence file of the same articles in the same order, which adds topics and key
            points.

    Raises:
        DataError: a file cannot be read, or entries are wrong, contradict themselves or the evidence file; all are listed.
    """
    if read_text(path).lstrip().startswith("["):
        return _read_released(path, evidence)
    if evidence is not None:
        raise DataError(
            f"{path}: JSON lines hold topics and key points themselves; leave the evidence file {evidence} out"
        )
    numbered, mistakes = read_numbered(path, ControlledSet)
    if mistakes:
        raise DataError(listed_lines(path, mistakes))
    sets = [each for _, each in numbered]
    twice = repeated(each.id for each in sets)
    if twice or not sets:
        problem = f"set ids occur more than once: {some_of(twice)}" if twice else "holds no controlled set"
        raise DataError(f"{path}: {problem}")
    return sets


def _read_released(path: Path, evidence: Path | None) -> list[ControlledSet]:
    released, mistakes = _validated(path, _ReleasedSet)
    known, more = _validated(evidence, _Evidence) if evidence else ([], [])
    mistakes += more
    if evidence and not mistakes and len(known) != len(released):
        mistakes.append(f"{evidence}: has {len(known)} entries, but {path} has {len(released)}")
    if not mistakes:
        sets, mistakes = _sets(path, released, known)
    if mistakes:
        raise DataError(listed(mistakes))
    return sets


def _validated(path: Path, model: type[Any]) -> tuple[list[Any], list[str]]:
    """The entries of a JSON list, and what is wrong with the others."""
    entries = read_json(path)
    if not isinstance(entries, list) or not entries:
        raise DataError(f"{path}: holds no list of entries; the authors' released file is expected")
    found, mistakes = [], []
    for number, entry in enumerate(entries, start=1):
        try:
            found.append(model.model_validate(entry))
        except ValidationError as error:
            mistakes.append(f"{path}: entry {number}: {explain(error)}")
    return found, mistakes


def _sets(
    path: Path, released: Sequence[_ReleasedSet], known: Sequence[_Evidence]
) -> tuple[list[ControlledSet], list[str]]:
    sets, mistakes = [], []
    for number, entry in enumerate(released, start=1):
        evidence = known[number - 1] if known else None
        try:
            sets.append(_set(number, entry, evidence))
        except DataError as error:
            mistakes.append(f"{path}: entry {number}: {error}")
    return sets, mistakes


def _set(number: int, entry: _ReleasedSet, evidence: _Evidence | None) -> ControlledSet:
    key_points = evidence.evidence.relevant if evidence else ()
    n_key_points = len(key_points) if evidence else _n_key_points(entry)
    if evidence and evidence.source != entry.source:
        raise DataError("its passages are not those of the same entry of the evidence file")
    for place, summary in enumerate(entry.summaries, start=1):
        counts = summary.evidence_counts
        truth = ground_truth(n_key_points, counts.relevant, counts.opposite, counts.adversarial)
        for name in ("coverage", "faithfulness"):
            said, computed = getattr(summary, name), getattr(truth, name)
            if computed is None or abs(said - computed) > ROUNDING:
                raise DataError(f"summary {place}: {name} is {said}, but its counts give {computed}")
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


def _n_key_points(entry: _ReleasedSet) -> int:
    """Key points of the article, told by the summary that has all of them."""
    full = {s.evidence_counts.relevant for s in entry.summaries if s.coverage == 1}
    if len(full) != 1:
        raise DataError(
            f"summaries of coverage 1 have {sorted(full)} relevant points, so the number of the article's key points cannot be "
            "told; give the evidence file, too"
        )
    return full.pop()
