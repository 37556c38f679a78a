"""The same document sets in another order: summaries of both tell what follows a document's place from what follows it."""

from collections.abc import Sequence
from operator import itemgetter
from pathlib import Path

from ..config import ColumnsSection
from ..errors import DataError
from ..records import DocumentSet
from ..text import some_of
from .reader import read_any


def turned(documents: DocumentSet, turn: int, of: int) -> DocumentSet:
    """The set beginning with another document, those before it at the end.

    Args:
        documents: the set.
        turn: which of the turns, from 0, which leaves all in place.
        of: turns that go round the whole set. Of 3 each document stands in each third once, or nearly; as many as there are
            documents put each in each place once.
    """
    places = turned_places(len(documents.documents), turn, of)
    by_place = sorted(zip(places, documents.documents, strict=True), key=itemgetter(0))
    return documents.model_copy(update={"documents": tuple(document for _, document in by_place)})


def turned_places(n: int, turn: int, of: int) -> tuple[int, ...]:
    """Where each of n documents stands then."""
    return tuple((place - turn * n // of) % n for place in range(n))


def read_places(
    path: Path, sets: Sequence[DocumentSet], attribute: str, columns: ColumnsSection | None = None
) -> dict[str, tuple[int, ...]]:
    """By set id, where each document of `sets` stands in a file of the same documents.

    Raises:
        DataError: the file cannot be read, lacks a set, or has other documents in one.
    """
    ids_by_set = {
        documents.id: [d.id for d in documents.documents]
        for documents in read_any(path, columns=columns, attributes=(attribute,))
    }
    wrong = [
        documents.id
        for documents in sets
        if sorted(ids_by_set.get(documents.id, ())) != sorted(d.id for d in documents.documents)
    ]
    if wrong:
        raise DataError(
            f"{path}: set {some_of(wrong)} is not there with the same documents, by their ids; write the file with "
            "evenhand import reordered"
        )
    return {
        documents.id: tuple(map(ids_by_set[documents.id].index, (d.id for d in documents.documents)))
        for documents in sets
    }
