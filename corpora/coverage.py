"""The formats of coverage-based fairness (Li et al. 2025, arXiv:2412.08795), all JSON; the pickled lists are never opened.

| file | content | reader |
| --- | --- | --- |
| documents | a line a set: `{"entity_id", "reviews": [{"sentences", "label", "review_id"?}], "claim"?}` | `read_coverage_sets` |
| summaries | an object, `entity_id` -> text | `corpora.summaries.read_summaries` |
| units | an object, `entity_id` -> list of texts, as somebody split the summaries | `read_units` |

Labels in the documents are numbers; what they mean depends on the data set and is looked up in `LABELS`.

Source: Li et al. 2025, appendix A.1; docs/papers.md#li-units and #li-data.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from ..errors import DataError
from ..records import Document, DocumentSet, Text, not_blank
from ..storage import as_given, read_json
from ..text import did_you_mean, fold, repeated, some_of
from ..text.mistakes import listed
from ..text.shown import shortened
from .entries import read_lines

# the attribute when nobody says what the labels mean; its values are the numbers
UNNAMED = "label"
# highest label when nobody says; a greater number is a mistake
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

    @property
    def ids(self) -> list[str]:
        """The ids of the reviews."""
        return [review.review_id or f"{self.entity_id}/{number}" for number, review in enumerate(self.reviews, start=1)]


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
    named = LABELS[labels] if labels else None
    entities = read_lines(path, _Entity, "entity_id", lambda _, entity: _mistakes(entity, named))
    highest = max(review.label for entity in entities for review in entity.reviews)
    order = named or Labels(UNNAMED, tuple(map(str, range(highest + 1))))
    return [
        DocumentSet(
            id=entity.entity_id,
            topic=entity.claim or "",
            documents=tuple(
                Document(
                    id=name,
                    text="\n".join(folded for sentence in review.sentences if (folded := fold(sentence))),
                    attributes={order.attribute: order.values[review.label]},
                )
                for name, review in zip(entity.ids, entity.reviews, strict=True)
            ),
            split=split,
            notes={
                "values": {order.attribute: list(order.values)},
                "sentences": "lines",
                **({"claim": entity.claim} if entity.claim else {}),
            },
        )
        for entity in entities
    ]


def _mistakes(entity: _Entity, order: Labels | None) -> Iterable[str]:
    for number, review in enumerate(entity.reviews, start=1):
        if order is None and review.label > HIGHEST:
            yield f"review {number} has label {shortened(review.label)}; labels are numbers from 0, at most {HIGHEST}"
        elif order is not None and review.label >= len(order.values):
            known = ", ".join(f"{place} ({value})" for place, value in enumerate(order.values))
            yield f"review {number} has label {shortened(review.label)}; labels of this data set are {known}"
        if not "".join(review.sentences).strip():
            yield f"review {number} has no text; take it out"
    if twice := repeated(entity.ids):
        yield f"review ids occur more than once: {some_of(twice)}; rename them"


@as_given()
def read_units(path: Path, ids: Collection[str]) -> dict[str, tuple[str, ...]]:
    """The units of the sets that have any, by id and in the order of the ids; white space in a unit is folded.

    A set that the file lacks is left out, and so is one that is not asked for, as the published code skips both; a unit
    without any text is dropped.

    Args:
        path: the object.
        ids: of the document sets.

    Raises:
        DataError: the file cannot be read or is not an object, an id occurs twice, an entry is not a list of texts, or no id is
            known; wrong entries are listed.
    """
    units: Any = read_json(path)
    if not isinstance(units, dict):
        raise DataError(f"{path}: is not a JSON object of units by entity_id")
    if mistakes := [
        f"{path}: {name!r}: {shortened(entry)} is not a list of texts"
        for name, entry in units.items()
        if not isinstance(entry, list) or not all(isinstance(unit, str) for unit in entry)
    ]:
        raise DataError(listed(mistakes))
    if not units.keys() & set(ids):
        first = next(iter(units), "")
        raise DataError(f"{path}: has units of none of the document sets, but of {first!r}{did_you_mean(first, ids)}")
    return {name: tuple(text for unit in units[name] if (text := fold(unit))) for name in ids if name in units}
