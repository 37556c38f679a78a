"""Ratings that people gave in Label Studio, from its JSON export: each `Rating`, `Number` or numeric choice is a score.

A task is one summary. Its data name the id of what was summarised, the summary's text, the documents and, where there is one, the
system, under the usual names of a file of ratings; controls of the labelling configuration are the dimensions.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from ....corpora.cells import cell_text
from ....errors import DataError
from ....records import Document, DocumentSet
from ....storage import as_given, read_json
from ....text.digests import digest
from ....text.mistakes import explain, listed
from ....text.shown import shortened
from .columns import USUAL, as_number, document_texts
from .rows import RatedSets, RatingRow


class _ScoredTask(BaseModel):
    class ScoredAnnotation(BaseModel):
        # a user's number, or a record with one
        completed_by: int | dict[str, Any] | None = None
        was_cancelled: bool = False
        result: list[dict[str, Any]] = Field(default_factory=list)

    data: dict[str, Any]
    annotations: list[ScoredAnnotation] = Field(default_factory=list)


@as_given()
def read_label_studio_ratings(path: Path) -> RatedSets:
    """The summaries that people rated, and the document sets that the tasks hold.

    Raises:
        DataError: the file cannot be read, is no export of tasks, or tasks lack an id, a summary or documents, or have different
            documents for one id; all mistakes are listed by task, from 1.
    """
    tasks = read_json(path)
    if not isinstance(tasks, list) or not tasks:
        raise DataError(f"{path}: is no export of Label Studio; export the project as JSON")
    sets: dict[str, DocumentSet] = {}
    rows, mistakes, left_out = list[RatingRow](), list[str](), Counter[str]()
    for number, raw in enumerate(tasks, start=1):
        try:
            task = _ScoredTask.model_validate(raw)
            documents, row = _summary(task.data)
            if sets.setdefault(documents.id, documents) != documents:
                raise DataError(f"id {shortened(documents.id)} has other documents than in an earlier task")
            rows += _scores(task, row, left_out)
        except ValidationError as error:
            mistakes.append(f"{path}: task {number}: {explain(error)}")
        except DataError as error:
            mistakes.append(f"{path}: task {number}: {error}")
    if mistakes:
        raise DataError(listed(mistakes))
    if not rows:
        raise DataError(f"{path}: has no ratings; {dict(left_out) or 'no task was annotated'}")
    return RatedSets(list(sets.values()), rows, dict(left_out))


def _summary(data: Mapping[str, Any]) -> tuple[DocumentSet, Mapping[str, str]]:
    """The documents of a task, and what a row of ratings says of its summary."""
    columns = {part: next((name for name in names if name in data), None) for part, names in USUAL.items()}
    if columns["text"] is None or not isinstance(data[columns["text"]], str) or not data[columns["text"]].strip():
        raise DataError(f"its data have no text of a summary, under {' or '.join(USUAL['text'])}")
    texts = list(document_texts(data, columns["documents"]))
    if not texts:
        raise DataError(f"its data have no documents, under {' or '.join(USUAL['documents'])}")
    # tasks of the same documents are of one set
    set_id = cell_text(data[columns["id"]]).strip() if columns["id"] else digest(texts, 8)
    documents = tuple(Document(id=f"{set_id}/{number}", text=text) for number, text in enumerate(texts, start=1))
    system = cell_text(data[columns["system"]]).strip() if columns["system"] else ""
    return DocumentSet(id=set_id, documents=documents), {
        "set_id": set_id,
        "system": system,
        "summary": data[columns["text"]].strip(),
    }


def _scores(task: _ScoredTask, row: Mapping[str, str], left_out: Counter[str]) -> Iterator[RatingRow]:
    """The scores of a task; what is none is counted."""
    if not task.annotations:
        left_out["tasks that nobody annotated"] += 1
    for annotation in task.annotations:
        if annotation.was_cancelled:
            left_out["annotations that were skipped"] += 1
            continue
        person = annotation.completed_by
        rater = person.get("id") if isinstance(person, dict) else person
        for region in annotation.result:
            score = _score(region.get("value"))
            if score is None:
                left_out["answers without a number"] += 1
            else:
                name = "" if rater is None else f"person {rater}"
                yield RatingRow(**row, rater=name, dimension=str(region.get("from_name") or "score"), score=score)


def _score(value: Any) -> float | None:
    """The number of a control's answer; None where it is none."""
    if not isinstance(value, Mapping):
        return None
    choices = value.get("choices")
    chosen = choices[0] if isinstance(choices, Sequence) and len(choices) == 1 else None
    numbers = (as_number(cell) for cell in (value.get("rating"), value.get("number"), chosen) if cell is not None)
    return next((number for number in numbers if number is not None), None)
