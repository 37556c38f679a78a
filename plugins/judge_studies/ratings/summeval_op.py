"""SummEval-OP's form (Siledar et al. 2024, arXiv:2402.11683): reviews of a product, summaries, and scores of seven dimensions.

Lines of the detailed file have a list of scores, one of each rater, for each summary under the two letters of a dimension;
those of the other have the means of the raters by the systems' names.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field, ValidationError, model_validator

from ....errors import DataError
from ....records import Document, DocumentSet, Text
from ....storage import as_given, numbered_lines, read_text
from ....text.digests import digest
from ....text.json_text import NotJsonError, parse_json
from ....text.mistakes import explain, listed_lines
from .rows import RatedSets, RatingRow

DIMENSIONS = {
    "fl": "fluency",
    "co": "coherence",
    "re": "relevance",
    "fa": "faithfulness",
    "ac": "aspect coverage",
    "sc": "sentiment consistency",
    "sp": "specificity",
}
Score = Annotated[float, Field(ge=1, le=5)]
Scores = tuple[tuple[Score, ...], ...]


class _Detailed(BaseModel):
    """A product with the scores of each rater: dimension -> summary -> rater."""

    reviews: Annotated[tuple[Text, ...], Field(min_length=1)]
    summaries: Annotated[tuple[Text, ...], Field(min_length=1)]
    fl: Scores
    co: Scores
    re: Scores
    fa: Scores
    ac: Scores
    sc: Scores
    sp: Scores

    @model_validator(mode="after")
    def _lists_agree(self) -> "_Detailed":
        for letters in DIMENSIONS:
            if (n := len(getattr(self, letters))) != len(self.summaries):
                raise ValueError(f"{letters!r} has scores of {n} summaries, and there are {len(self.summaries)}")
        return self

    def ratings(self, set_id: str) -> Iterator[RatingRow]:
        """What the raters said, a score a row."""
        for place, text in enumerate(self.summaries):
            for letters, dimension in DIMENSIONS.items():
                for rater, score in enumerate(getattr(self, letters)[place], start=1):
                    yield RatingRow(
                        set_id=set_id, system=f"system {place + 1}", summary=text, rater=f"rater {rater}",
                        dimension=dimension, score=score,
                    )  # fmt: skip


class _AveragedSummary(BaseModel):
    summary: Text
    dimensions: Annotated[dict[Text, Score], Field(min_length=1)]


class _Averaged(BaseModel):
    """A product with the mean scores of named systems."""

    reviews: Annotated[dict[str, Text], Field(min_length=1)]
    summaries: Annotated[dict[Text, _AveragedSummary], Field(min_length=1)]

    def ratings(self, set_id: str) -> Iterator[RatingRow]:
        """The means, a score a row; nobody is named, for a mean is nobody's score."""
        for system, entry in self.summaries.items():
            for name, score in entry.dimensions.items():
                yield RatingRow(
                    set_id=set_id, system=system, summary=entry.summary, dimension=name.lower(), score=score
                )


@as_given()
def read_summeval_op(path: Path) -> RatedSets:
    """The products of either file of SummEval-OP.

    Raises:
        DataError: the file cannot be read, is empty, or a line is no product of either form; all mistakes are listed.
    """
    sets, rows, mistakes = list[DocumentSet](), list[RatingRow](), list[tuple[int, str]]()
    for line, text in numbered_lines(read_text(path)):
        try:
            product = _product(parse_json(text))
        except (NotJsonError, DataError) as error:
            mistakes.append((line, str(error)))
            continue
        reviews = tuple(product.reviews.values() if isinstance(product, _Averaged) else product.reviews)
        # of both files a product has the same id
        set_id = f"p{len(sets) + 1:02d}-{digest(list(reviews), 6)}"
        documents = (Document(id=f"{set_id}/{n}", text=review) for n, review in enumerate(reviews, start=1))
        sets.append(DocumentSet(id=set_id, documents=tuple(documents)))
        rows += product.ratings(set_id)
    if mistakes:
        raise DataError(listed_lines(path, mistakes))
    if not sets:
        raise DataError(f"{path}: is empty; a JSON object a product is expected, with 'reviews' and 'summaries'")
    return RatedSets(sets, rows)


def _product(record: object) -> _Detailed | _Averaged:
    """The product of a line.

    Raises:
        DataError: it is none.
    """
    is_averaged = isinstance(record, Mapping) and isinstance(record.get("summaries"), Mapping)
    try:
        return (_Averaged if is_averaged else _Detailed).model_validate(record)
    except ValidationError as error:
        raise DataError(explain(error)) from error
