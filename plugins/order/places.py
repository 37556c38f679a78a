"""The same document sets in another order: summaries of both tell what follows a document's place from what follows it."""

from collections.abc import Sequence
from dataclasses import replace
from operator import itemgetter
from pathlib import Path

from ...config import ColumnsSection
from ...corpora.reader import read_any
from ...errors import DataError
from ...evaluation.audit.input import AuditedSystem, AuditFiles, changed_systems
from ...records import DocumentSet
from ...text import some_of


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


def with_places(
    systems: Sequence[AuditedSystem],
    files: Sequence[tuple[str, Path]],
    wanted: AuditFiles,
    sets: Sequence[DocumentSet],
    mistakes: list[str],
) -> list[AuditedSystem]:
    """The systems with the orders in which they read the documents; the first read them as they stand."""
    file_of = dict(files)
    labels = [label for label, _ in wanted.summaries[1:]]
    if set(file_of) != set(labels) or len(file_of) < len(files) or wanted.references:
        mistakes.append(
            f"--order is given for {', '.join(file_of)}: the first of --summaries is of the documents in their own "
            f"order, and each of "
            "the others, made by the same summarizer, needs one, --order LABEL=FILE; there are no --references then"
        )
        return list(systems)

    def placed(system: AuditedSystem) -> AuditedSystem:
        path = file_of.get(system.label)
        places = None if path is None else read_places(path, sets, wanted.attribute, wanted.columns)
        if places and all(list(order) == sorted(order) for order in places.values()):
            raise DataError(
                f"--order {system.label}={path}: has the documents in the same order as {wanted.documents}; name the file that "
                f"{system.label} was made from, or leave both out"
            )
        return replace(system, places=places)

    return changed_systems(systems, placed, mistakes)
