"""The formats of coverage-based fairness (Li et al. 2025, arXiv:2412.08795), all JSON; the pickled lists are never opened.

| file | content | reader |
| --- | --- | --- |
| documents | a line a set: `{"entity_id", "reviews": [{"sentences", "label", "review_id"?}], "claim"?}` | `read_coverage_sets` |
| summaries | an object, `entity_id` -> text | `corpora.summaries.read_summaries` |
| units | an object, `entity_id` -> list of texts | `coverage_units.read_units` |
| results | an object, `entity_id` -> a list in one of two layouts | `coverage_results.read_results` |

Labels in the documents are numbers; what they mean depends on the data set and is looked up in `LABELS`.

Source: docs/papers.md#li-data.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from ..errors import DataError
from ..records import Document, DocumentSet, Text, not_blank
from ..storage import listed_lines, read_numbered, shortened
from ..text import did_you_mean, fold, repeated, some_of

# the attribute when nobody says what the labels mean; its values are the numbers
UNNAMED = "label"
# highest label when nobody says; a greater number is no label but a mistake
HIGHEST = 99


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


# a text that is not blank, or a number
Name = Annotated[str, Field(coerce_numbers_to_str=True), AfterValidator(not_blank)]


class _Review(BaseModel):
    model_config = ConfigDict(extra="forbid")

    sentences: Annotated[list[str], Field(min_length=1)]
    label: Annotated[int, Field(ge=0, strict=True)]
    review_id: Name | None = None


class _Entity(BaseModel):
    model_config = ConfigDict(extra="forbid")

    entity_id: Name
    reviews: Annotated[list[_Review], Field(min_length=1)]
    claim: Text | None = None


def read_coverage_sets(path: Path, labels: str | None = None, *, split: str | None = None) -> list[DocumentSet]:
    """The document sets of a documents file, in order; a document has one sentence a line, which notes["sentences"] says.

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
    order = LABELS[labels] if labels else _numbers([entity for _, entity in numbered])
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


def _numbers(entities: Iterable[_Entity]) -> Labels:
    """0 to the highest label of the file, as they are."""
    highest = max((review.label for entity in entities for review in entity.reviews), default=0)
    return Labels(UNNAMED, tuple(str(number) for number in range(min(highest, HIGHEST) + 1)))


def _mistakes(entity: _Entity, order: Labels) -> Iterable[str]:
    for number, review in enumerate(entity.reviews, start=1):
        if order.attribute == UNNAMED and review.label > HIGHEST:
            yield f"review {number} has label {shortened(review.label)}; labels are numbers from 0, at most {HIGHEST}"
        elif review.label >= len(order.values):
            known = ", ".join(f"{place} ({value})" for place, value in enumerate(order.values))
            yield f"review {number} has label {shortened(review.label)}; labels of this data set are {known}"
        if not "".join(review.sentences).strip():
            yield f"review {number} has no text; take it out"
    if twice := repeated(_ids(entity)):
        yield f"review ids occur more than once: {some_of(twice)}; rename them"


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
        notes={
            "values": {order.attribute: list(order.values)},
            "sentences": "lines",
            **({"claim": entity.claim} if entity.claim else {}),
        },
    )
