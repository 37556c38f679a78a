"""What the columns of a file of ratings are called, and the ratings in its rows, each with the line that it stands in.

A file has a row for each score (a column `score`, optionally `dimension`), or a row for each rated summary (a column for each
dimension, which have to be named), and then perhaps a column `score` beside them.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ....config import SummaryColumnsSection
from ....corpora.cells import cell_text
from ....corpora.summary_columns import TEXTS, parts_of
from ....corpora.summary_entries import entries_of_file
from ....corpora.summary_ids import ID_KEYS
from ....errors import DataError
from ....storage import as_given
from ....text import did_you_mean, some_of
from ....text.json_text import NotJsonError
from ....text.mistakes import listed
from ....text.shown import shortened

# what a rating has -> names that its column may have; the first that is there counts
USUAL: Mapping[str, tuple[str, ...]] = {
    "id": ID_KEYS,
    "text": TEXTS,
    "system": ("system", "candidate", "candidate_id", "summary_id", "model", "method"),
    "score": ("score", "rating", "grade", "value"),
    "rater": ("rater", "rater_id", "annotator", "annotator_id", "worker", "worker_id", "user", "person", "participant"),
    "dimension": ("dimension", "criterion", "aspect", "quality"),
    "group": ("group", "rater_group"),
    "side": ("side", "perspective"),
    "documents": ("documents", "document", "source", "article", "reviews"),
}
# the dimension of a file that names none
OVERALL = "score"

# where a row stands, "ratings.csv:7", and its cells
RatedRow = tuple[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Rating:
    """One person's score of one summary on one dimension, as the file has it."""

    # file and line
    place: str
    # as the file names it, and how an error shows its row
    row: Mapping[str, Any]
    # name of the system, or the text where there is none
    candidate: str
    # None where a file of summaries has it
    text: str | None
    side: str
    # "" where nobody is named
    rater: str
    dimension: str
    group: str
    # None where the cell is empty: not rated
    score: float | None
    # the texts that were summarised; () where a file of documents has them
    documents: tuple[str, ...]


@as_given()
def read_rows(path: Path) -> list[RatedRow]:
    """The rows of CSV, TSV, Parquet, .xlsx, JSON lines or a JSON array.

    Raises:
        DataError: the file cannot be read, has no row, or a row is none; all mistakes are listed.
    """
    # by the column of the score the separator of a table is told
    entries = list(entries_of_file(path, {}, SummaryColumnsSection(text="score")))
    mistakes = [
        f"{place}: {entry if isinstance(entry, NotJsonError) else f'{shortened(entry)} is no row of named cells'}"
        for place, entry in entries
        if not isinstance(entry, Mapping)
    ]
    mistakes += [
        f"{place}: has more cells than there are columns; put cells with commas in quotes"
        for place, entry in entries
        if isinstance(entry, Mapping) and None in entry
    ]
    if mistakes:
        raise DataError(listed(mistakes))
    if not entries:
        raise DataError(f"{path}: has no ratings; write a row for each, with an id, a summary or a system, and a score")
    return [(place, entry) for place, entry in entries if isinstance(entry, Mapping)]


def ratings_of(path: Path, rows: Sequence[RatedRow], dimensions: Sequence[str] = ()) -> list[Rating]:
    """The ratings of a file's rows, those without a score among them.

    Args:
        path: of the file, for errors.
        rows: as `read_rows` gives them.
        dimensions: those that are taken, () for all; of a file without a column of scores, the columns that have them.

    Raises:
        DataError: a column is missing, a dimension is none of the file, or cells are wrong; all mistakes are listed.
    """
    rows = _with_usual_names(rows, dimensions)
    known = list(dict.fromkeys(str(name) for _, row in rows for name in row))
    columns = {part: next((name for name in names if name in known), None) for part, names in USUAL.items()}
    are_columns = bool(dimensions) and not columns["dimension"] and set(dimensions) <= set(known)
    is_wide = columns["score"] is None or are_columns
    _refuse_absent(path, rows, known, columns, dimensions)
    if not is_wide:
        names = dict.fromkeys(_dimension(row, columns["dimension"]) for _, row in rows)
        _refuse_unknown(path, dimensions, [name for name in names if name])
    ratings, mistakes = list[Rating](), defaultdict[str, list[str]](list)
    for place, row in rows:
        scores = (
            {name: name for name in dimensions}
            if is_wide
            else {_dimension(row, columns["dimension"]): columns["score"]}
        )
        for dimension, column in scores.items():
            if dimensions and dimension not in dimensions and dimension:
                continue
            try:
                ratings.append(_rating(place, row, columns, dimension, column or OVERALL))
            except DataError as error:
                mistakes[str(error)].append(place)
    scored = [rating for rating in ratings if rating.score is not None]
    nameless = [rating.place for rating in scored if not rating.rater]
    if len(nameless) < len(scored):
        mistakes[f"column {columns['rater']!r} is empty, and other rows name a rater"] += nameless
    refuse([placed(text, places) for text, places in mistakes.items() if places])
    return ratings


def refuse(mistakes: Sequence[str]) -> None:
    """Refuse a file of which something is wrong.

    Raises:
        DataError: there are mistakes; all are listed.
    """
    if mistakes:
        raise DataError(listed(mistakes))


def placed(text: str, places: Iterable[str]) -> str:
    """A mistake where it stands first, and in how many rows more."""
    first, *others = dict.fromkeys(places)
    more = f"; the same in {others[0]}" if len(others) == 1 else f"; the same in {len(others):,} more rows"
    return f"{first}: {text}{more if others else ''}"


def _with_usual_names(rows: Sequence[RatedRow], dimensions: Sequence[str]) -> list[RatedRow]:
    """The rows with the usual names of columns as they are written here: a spreadsheet's "Rater ID" is `rater_id`."""
    usual = {name for names in USUAL.values() for name in names}
    names = {str(name): str(name) for _, row in rows for name in row}
    for name in [name for name in names if name not in {*usual, *dimensions}]:
        plain = "_".join(parts_of(name))
        if plain in usual and plain not in names.values():
            names[name] = plain
    return [(place, {names[str(name)]: cell for name, cell in row.items()}) for place, row in rows]


def _refuse_absent(
    path: Path,
    rows: Sequence[RatedRow],
    known: Sequence[str],
    columns: Mapping[str, str | None],
    dimensions: Sequence[str],
) -> None:
    """Refuse a file without ids, without summaries, or without scores."""
    mistakes = []
    if not columns["id"]:
        mistakes.append(f"has no column with the id of what was summarised; call it {' or '.join(ID_KEYS)}")
    if not columns["text"] and not columns["system"]:
        names = ", ".join(("summary", *USUAL["system"]))
        mistakes.append(
            f"does not say which summary was rated; call the column of its text or its system one of {names}"
        )
    if not columns["score"] and not dimensions:
        numeric = [name for name in known if _is_numeric(rows, name) and name not in columns.values()]
        near = f"; {some_of(list(map(repr, numeric)))} could be: --dimension {numeric[0]!r}" if numeric else ""
        if len(numeric) > 1 and not columns["rater"]:
            near += ". Where these are raters, write a row for each score, with who gave it in a column 'rater'"
        mistakes.append(
            f"has no column of scores; call it {' or '.join(USUAL['score'])}, or name the column of each dimension{near}"
        )
    if not columns["score"]:
        mistakes += [
            f"has no column {shortened(name)}{did_you_mean(name, known)}" for name in dimensions if name not in known
        ]
    if mistakes:
        raise DataError(
            listed([f"{path}: {text}" for text in mistakes] + [f"its columns are {', '.join(map(shortened, known))}"])
        )


def _refuse_unknown(path: Path, dimensions: Sequence[str], known: Sequence[str]) -> None:
    """Refuse dimensions that no row has."""
    if unknown := [name for name in dimensions if name not in known]:
        raise DataError(
            listed(
                [f"--dimension {name!r}: {path} has no such dimension{did_you_mean(name, known)}" for name in unknown]
                + [f"its dimensions are {', '.join(map(shortened, known))}"]
            )
        )


def _is_numeric(rows: Sequence[RatedRow], name: str) -> bool:
    cells = [row.get(name) for _, row in rows[:100]]
    numbers = [cell for cell in cells if as_number(cell) is not None]
    return bool(numbers) and 2 * len(numbers) > len(cells)


def as_number(cell: Any) -> float | None:
    """A cell as a number; None where it is none."""
    if isinstance(cell, bool):
        return None
    try:
        value = float(cell_text(cell).strip())
    except (TypeError, ValueError):
        return None
    return value if math.isfinite(value) else None


def _dimension(row: Mapping[str, Any], column: str | None) -> str:
    return _text(row, column) if column else OVERALL


def _text(row: Mapping[str, Any], column: str | None) -> str:
    """A cell's text without blanks around it; "" of an absent column."""
    if column is None:
        return ""
    try:
        return cell_text(row.get(column)).strip()
    except TypeError as error:
        raise DataError(f"column {column!r} holds {error}, which is not a text or a number") from error


def _rating(
    place: str, row: Mapping[str, Any], columns: Mapping[str, str | None], dimension: str, column: str
) -> Rating:
    if not dimension:
        raise DataError(f"column {columns['dimension']!r} is empty; say what was scored, or take the row out")
    cell = row.get(column)
    score = as_number(cell)
    text = row.get(columns["text"]) if columns["text"] else None
    if score is None and (isinstance(cell, bool) or _text(row, column)):
        remedy = "write a decimal point" if "," in str(cell) else "write one, or leave it empty if it is not rated"
        raise DataError(f"the score of {dimension!r} is {shortened(cell)}, which is no number; {remedy}")
    if text is not None and not isinstance(text, str):
        raise DataError(f"column {columns['text']!r} holds {shortened(text)}, which is not a text")
    candidate = _text(row, columns["system"]) or (text or "").strip()
    if not candidate:
        raise DataError("does not say which summary was rated: neither its text nor a system")
    return Rating(
        place=place,
        row=row,
        candidate=candidate,
        text=text.strip() or None if text is not None else None,
        side=_text(row, columns["side"]),
        rater=_text(row, columns["rater"]),
        dimension=dimension,
        group=_text(row, columns["group"]),
        score=score,
        documents=tuple(document_texts(row, columns["documents"])),
    )


def document_texts(row: Mapping[str, Any], column: str | None) -> Iterator[str]:
    """The texts in the column's cell: one, or a list of them; none of an absent column.

    Raises:
        DataError: it holds something else.
    """
    cell = row.get(column) if column else None
    if cell is None or isinstance(cell, str):
        yield from filter(None, [(cell or "").strip()])
        return
    texts = (
        [text.get("text") if isinstance(text, Mapping) else text for text in cell] if isinstance(cell, list) else None
    )
    if texts is None or not all(isinstance(text, str) for text in texts):
        raise DataError(f"column {column!r} holds {shortened(cell)}; a text or a list of texts is expected")
    yield from (text.strip() for text in texts if isinstance(text, str) and text.strip())
