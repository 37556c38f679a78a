"""The formats of coverage-based fairness (Li et al. 2025, arXiv:2412.08795), all JSON; the pickled lists are never opened.

| file | content | reader |
| --- | --- | --- |
| documents | a line a set: `{"entity_id", "reviews": [{"sentences", "label", "review_id"?}], "claim"?}` | `read_coverage_sets` |
| summaries | an object, `entity_id` -> text | `corpora.summaries.read_summaries` |
| units | an object, `entity_id` -> single facts of its summary | `read_units` |
| results | an object, `entity_id` -> a list in one of two layouts | `read_results` |

Labels in the documents are numbers; what they mean depends on the data set and is looked up in `LABELS`.

Source: specification of group fairness, section 19.
"""

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..errors import DataError
from ..records import Document, DocumentSet, Text
from ..storage import explain, listed, listed_lines, read_json, read_numbered
from ..text import did_you_mean, fold

# the attribute when nobody says what the labels mean; its values are the numbers
UNNAMED = "label"


@dataclass(frozen=True)
class Labels:
    """What the label numbers of a data set mean."""

    attribute: str
    # value of label 0, 1, ...
    values: tuple[str, ...]


LABELS: dict[str, Labels] = {
    "amazon": Labels("sentiment", ("negative", "neutral", "positive")),
    "mitweet": Labels("ideology", ("left", "center", "right")),
    "semeval": Labels("stance", ("support", "against")),
    "article-bias": Labels("ideology", ("left", "center", "right")),
    "news-stance": Labels("stance", ("support", "against")),
}


class _Review(BaseModel):
    model_config = ConfigDict(extra="forbid")

    sentences: Annotated[list[str], Field(min_length=1)]
    label: Annotated[int, Field(ge=0, strict=True)]
    review_id: Annotated[str, Field(coerce_numbers_to_str=True)] | None = None


class _Entity(BaseModel):
    model_config = ConfigDict(extra="forbid")

    entity_id: Annotated[str, Field(coerce_numbers_to_str=True, min_length=1)]
    reviews: Annotated[list[_Review], Field(min_length=1)]
    claim: Text | None = None


class CoverageResult(BaseModel):
    """Coverage fairness of one set, as somebody computed it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    set_id: str
    # Equal Coverage in [0, 1); None when undefined
    ec: float | None
    # coverage of each value less the overall one; None for a value without documents
    difference: tuple[float | None, ...]
    # documents of each value
    counts: tuple[int, ...]
    # mean coverage of all documents in [0, 1]; None when the layout has none
    overall: float | None


def read_coverage_sets(path: Path, labels: str | None = None, *, split: str | None = None) -> list[DocumentSet]:
    """The document sets of a documents file, in order; a document has one sentence a line, so that their borders stay.

    White space inside a sentence is folded. A claim becomes the topic. Declared values are in notes["values"].

    Args:
        path: JSON lines.
        labels: the data set whose label order applies, a key of `LABELS`; None leaves numbers as values of "label".
        split: the split that the sets are given; None gives none.

    Raises:
        StorageError: the file cannot be read.
        DataError: the data set's name is unknown, or lines are wrong; all are listed with file and line.
    """
    if labels is not None and labels not in LABELS:
        raise DataError(
            f"the label order of {labels!r} is not known{did_you_mean(labels, LABELS)} Known are {', '.join(LABELS)}"
        )
    numbered, mistakes = read_numbered(path, _Entity)
    highest = max((review.label for _, entity in numbered for review in entity.reviews), default=0)
    order = LABELS[labels] if labels else Labels(UNNAMED, tuple(str(number) for number in range(highest + 1)))
    first_line: dict[str, int] = {}
    sets = []
    for line, entity in numbered:
        wrong = list(_mistakes(entity, order))
        earlier = first_line.setdefault(entity.entity_id, line)
        if earlier != line:
            wrong.append(f"entity_id {entity.entity_id!r} occurs in line {earlier} already; rename one or take one out")
        mistakes += [(line, each) for each in wrong]
        if not wrong:
            sets.append(_document_set(entity, order, split))
    if mistakes:
        raise DataError(listed_lines(path, mistakes))
    if not sets:
        raise DataError(f"{path}: holds no set; one JSON object a line with 'entity_id' and 'reviews' is expected")
    return sets


def _mistakes(entity: _Entity, order: Labels) -> Iterable[str]:
    for number, review in enumerate(entity.reviews, start=1):
        if review.label >= len(order.values):
            known = ", ".join(f"{place} ({value})" for place, value in enumerate(order.values))
            yield f"review {number} has label {review.label}; labels of this data set are {known}"
        if not "".join(review.sentences).strip():
            yield f"review {number} has no text; take it out"
    ids = _ids(entity)
    twice = sorted({name for name in ids if ids.count(name) > 1})
    if twice:
        yield f"review ids occur more than once: {', '.join(twice)}; rename them"


def _ids(entity: _Entity) -> list[str]:
    return [review.review_id or f"{entity.entity_id}/{number}" for number, review in enumerate(entity.reviews, start=1)]


def _document_set(entity: _Entity, order: Labels, split: str | None) -> DocumentSet:
    documents = tuple(
        Document(
            id=name,
            text="\n".join(folded for sentence in review.sentences if (folded := fold(sentence))),
            attributes={order.attribute: order.values[review.label]},
        )
        for name, review in zip(_ids(entity), entity.reviews, strict=True)
    )
    return DocumentSet(
        id=entity.entity_id,
        topic=entity.claim or "",
        documents=documents,
        split=split,
        notes={"values": {order.attribute: list(order.values)}, **({"claim": entity.claim} if entity.claim else {})},
    )


def read_units(path: Path) -> dict[str, tuple[str, ...]]:
    """The units of each set's summary; sets that the file lacks are not scored.

    Raises:
        StorageError: the file cannot be read.
        DataError: the file is no object, or an entry is no list of texts; all are listed.
    """
    entries = _object(path, "lists of units")
    mistakes = [
        f"{path}: {name!r}: {units!r:.80} is no list of texts"
        for name, units in entries.items()
        if not isinstance(units, list) or not all(isinstance(unit, str) for unit in units)
    ]
    if mistakes:
        raise DataError(listed(mistakes))
    return {name: tuple(units) for name, units in entries.items()}


def read_results(path: Path) -> list[CoverageResult]:
    """The results of a file in either layout, in order.

    Layouts: `[EC, differences, counts, overall]`, and the older `[EC, [differences, counts]]`, which has no overall coverage.
    Numbers that are not finite are undefined and become None, and so does the difference of a value without documents.

    Raises:
        StorageError: the file cannot be read.
        DataError: the file is no object, or an entry has neither layout; all are listed.
    """
    results, mistakes = [], []
    for name, entry in _object(path, "results").items():
        try:
            results.append(_result(name, entry))
        except ValidationError as error:
            mistakes.append(f"{path}: {name!r}: {explain(error)}")
        except DataError as error:
            mistakes.append(f"{path}: {name!r}: {error}")
    if mistakes:
        raise DataError(listed(mistakes))
    return results


def _result(name: str, entry: Any) -> CoverageResult:
    match entry:
        case [ec, list(difference), list(counts), overall]:
            pass
        case [ec, [list(difference), list(counts)]]:
            overall = None
        case _:
            raise DataError(
                f"{json.dumps(entry)[:80]} has neither layout: [EC, differences, counts, overall] or "
                "[EC, [differences, counts]]"
            )
    if len(difference) != len(counts):
        raise DataError(f"has {len(difference)} differences and {len(counts)} counts; each value needs both")
    kept = [_finite(value) if count else None for value, count in zip(difference, counts, strict=True)]
    return CoverageResult(
        set_id=name, ec=_finite(ec), difference=tuple(kept), counts=tuple(counts), overall=_finite(overall)
    )


def _finite(value: Any) -> Any:
    """The value, None for a number that is not finite; what is no number is left to the record's own check."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _object(path: Path, content: str) -> dict[str, Any]:
    found = read_json(path)
    if not isinstance(found, dict) or not found:
        raise DataError(f"{path}: holds no JSON object of {content} by entity_id")
    return found
