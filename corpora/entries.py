"""Records from files that somebody else wrote, one a line or in a JSON list; all mistakes of a file are reported at once."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from ..errors import DataError
from ..records import DocumentSet
from ..storage import read_json, read_numbered
from ..text.mistakes import explain, listed, listed_lines

R = TypeVar("R", bound=BaseModel)


@dataclass(frozen=True)
class BuiltSets:
    """Document sets, and what of the data that they were made from is in none of them."""

    sets: list[DocumentSet]
    # reason -> how many
    left_out: dict[str, int]


def read_lines(
    path: Path, model: type[R], key: str, wrong: Callable[[int, R], Iterable[str]] = lambda line, record: ()
) -> list[R]:
    """The records of a JSON-lines file, in order, each with a `key` of its own.

    Args:
        path: one record a line; blank lines are skipped.
        model: of the records.
        key: the field of the record's id.
        wrong: what else is wrong with a record, by its line and itself.

    Raises:
        StorageError: the file cannot be read.
        DataError: it has no record, an id occurs twice, or records are wrong; all are listed with their lines.
    """
    numbered, mistakes = read_numbered(path, model)
    first_line: dict[str, int] = {}
    for line, record in numbered:
        mistakes += [(line, text) for text in wrong(line, record)]
        name = getattr(record, key)
        earlier = first_line.setdefault(name, line)
        if earlier != line:
            mistakes.append((line, f"{key} {name!r} occurs in line {earlier} already; rename one or take one out"))
    if mistakes:
        raise DataError(listed_lines(path, mistakes))
    if not numbered:
        raise DataError(
            f"{path}: is empty; one JSON object a line is expected, with {', '.join(map(repr, _needed(model)))}"
        )
    return [record for _, record in numbered]


def read_list(path: Path, model: type[R], *, records: Any = None) -> tuple[list[tuple[int, R]], list[tuple[int, str]]]:
    """The good records of a JSON list, and what is wrong with the others, each with its number from 1.

    Args:
        path: the file.
        model: of the records.
        records: content of the file, if it was read already.

    Raises:
        StorageError: the file cannot be read.
        DataError: it is not a list, or an empty one.
    """
    records = read_json(path) if records is None else records
    if not isinstance(records, list) or not records:
        raise DataError(
            f"{path}: is not a JSON list, as its authors released it, of objects with {', '.join(map(repr, _needed(model)))}"
        )
    entries, mistakes = [], []
    for number, record in enumerate(records, start=1):
        try:
            entries.append((number, model.model_validate(record)))
        except ValidationError as error:
            mistakes.append((number, explain(error)))
    return entries, mistakes


def refuse_entries(path: Path, unit: str, mistakes: Iterable[tuple[int, str]], further: Iterable[str] = ()) -> None:
    """Raise a DataError that lists the mistakes of a JSON list, if there are any, in the order of its elements.

    Args:
        path: the file.
        unit: what an element is called.
        mistakes: number of an element, and what is wrong with it.
        further: mistakes of another file, as they are listed.
    """
    if messages := [*placed(path, unit, mistakes), *further]:
        raise DataError(listed(messages))


def placed(path: Path, unit: str, mistakes: Iterable[tuple[int, str]]) -> list[str]:
    """The mistakes of a JSON list with their places, in the order of its elements; arguments as of `refuse_entries`."""
    return [f"{path}: {unit} {number}: {text}" for number, text in sorted(mistakes)]


def _needed(model: type[BaseModel]) -> list[str]:
    return [name for name, field in model.model_fields.items() if field.is_required()]
