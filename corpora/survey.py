"""What the documents of a file can be grouped by, told before anybody has chosen an attribute."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..config import ColumnsSection
from ..errors import DataError
from ..records import DocumentSet
from ..storage import as_given, local_path, read_text
from ..text import one_spelling
from .bundled import DOCUMENTS, document_names, refuse_near
from .cells import cell_text
from .importers import head_of, recognised
from .packaged import packaged_corpus, read_packaged
from .reader import read_document_sets
from .table_files import Row, is_table, refuse_office
from .tables import read_table, rows_of_file

# different cells of a column that can be an attribute's: more of them are names, dates or texts
MOST_VALUES = 20


@dataclass(frozen=True)
class Survey:
    """What a file of documents offers to a recipe."""

    # attribute -> value -> number of documents; of a table the columns of few values
    attributes: Mapping[str, Mapping[str, int]]
    # what the columns of a table are called, usual ones that it has among them; None of document sets
    columns: ColumnsSection | None = None


@as_given()
def survey(source: str, columns: ColumnsSection | None = None) -> Survey:
    """The attributes that documents have, or that a table's columns could be.

    Args:
        source: what a recipe calls corpus.path.
        columns: what the columns of a table are called; None where it is none, or they have the usual names.

    Raises:
        DataError: the file cannot be read, or no recipe reads its format as it is.
    """
    if source in DOCUMENTS:
        return Survey(_attributes(read_document_sets(DOCUMENTS[source])))
    if packaged_corpus(source):
        return Survey(_attributes(read_packaged(source)))
    path = local_path(source)
    refuse_near(path, document_names)
    refuse_office(path)
    if columns is None and not is_table(path):
        head = head_of(path, read_text(path))
        if importer := None if "documents" in head.keys and not head.is_array else recognised(head):
            raise DataError(
                f"{path}: is {importer[1].form}; make document sets of it first, `evenhand import {importer[0]} {path} --out "
                "docs.jsonl`, and name these"
            )
        if "reviews" in head.keys:
            raise DataError(
                f"{path}: has the form of coverage fairness, whose labels are numbers; make document sets of it first, `evenhand "
                f"import coverage {path} --labels NAME --out docs.jsonl`, and name these"
            )
        if "text" not in head.keys:
            return Survey(_attributes(read_document_sets(path)))
    rows, _ = rows_of_file(path, columns or ColumnsSection())
    return _of_table(list(rows), columns or ColumnsSection(), source)


def _attributes(sets: Iterable[DocumentSet]) -> dict[str, Counter[str]]:
    counts: dict[str, Counter[str]] = {}
    for documents in sets:
        for document in documents.documents:
            for name, value in document.attributes.items():
                counts.setdefault(name, Counter())[value] += 1
    return counts


def _of_table(rows: list[Row], columns: ColumnsSection, source: str) -> Survey:
    names = list(dict.fromkeys(name for _, row in rows for name in row if name is not None))
    if not {columns.set, columns.text} <= {*names}:
        # which says what is missing
        read_table(local_path(source), columns, (columns.set,))
    # prompts want a topic, and the name of the set is one where nothing else is
    usual = {"topic": "topic" if "topic" in names else columns.set, "id": "id", "split": "split"}
    columns = columns.model_copy(
        update={key: name for key, name in usual.items() if name in names and getattr(columns, key) is None}
    )
    others = [name for name in names if name not in columns.model_dump().values()]
    counts = {name: Counter(_spelled(row.get(name)) for _, row in rows) for name in others}
    return Survey({name: values for name, values in counts.items() if _groups(values, len(rows))}, columns)


def _spelled(cell: object) -> str:
    try:
        return one_spelling(cell_text(cell))
    except TypeError:
        return ""


def _groups(values: Mapping[str, int], n_rows: int) -> bool:
    """Whether a column's cells group documents: few, none of them empty, and some in several rows."""
    return 1 < len(values) <= min(MOST_VALUES, n_rows - 1) and "" not in values
