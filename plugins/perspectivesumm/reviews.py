"""The review sets, Amazon and Yelp: one tab-separated file a product or business, all its reviews one set.

Source: Zhang et al. 2024, section 4; docs/papers.md#zhang-data.
"""

import csv
from collections.abc import Callable, Iterable
from io import StringIO
from pathlib import Path
from typing import Any

from ...corpora.entries import BuiltSets
from ...errors import DataError, StorageError
from ...fairness.groups.preparation import Sentiment
from ...records import DocumentSet
from ...storage import read_text
from ...text.mistakes import listed
from ...text.shown import shortened
from .raw import set_of_units

RATINGS = ("1", "2", "3", "4", "5")
SENTIMENTS = ("pos", "neu", "neg")
SEPARATOR = " || "
MOST_FILES = 1500


def read_reviews(
    folder: Path, label: Callable[[str], Sentiment] | None = None, *, limit: int | None = MOST_FILES
) -> BuiltSets:
    """A document set for each .csv or .tsv file of the folder, by name; the published sets had them as the disk listed them.

    Every review has a `rating`, its whole part. Columns are group id, text, rating, category; more are ignored, and so is a
    first row of three columns or more whose rating is not a number. A field may stand in quotation marks, but holds no tab and no
    line break: one that does has swallowed other fields after a stray quotation mark.

    Args:
        folder: the files.
        label: adds the attribute `sentiment`, as `fairness.groups.SentimentLabeller` labelled the Yelp sets.
        limit: the first so many files; None takes all, more are counted as left out. The published sets are 1,500.

    Raises:
        StorageError: the folder or a file cannot be read.
        DataError: there is no file, two would give a set of the same name, or rows are wrong; all are listed.
    """
    if not folder.is_dir():
        raise StorageError(f"{folder}: is not a folder; give the one that holds a file of reviews for each product")
    files = sorted(path for path in folder.iterdir() if path.suffix.lower() in (".csv", ".tsv"))
    if not files:
        raise DataError(f"{folder}: holds no .csv or .tsv file; one a product is expected, separated by tabs")
    paths = files[:limit]
    sets: list[DocumentSet] = []
    first: dict[str, Path] = {}
    mistakes = [
        f"{path}: would give the same set {path.stem!r} as {first[path.stem].name}; rename one or take one out"
        for path in paths
        if first.setdefault(path.stem, path) != path
    ]
    for path in paths:
        rows, wrong = _rows(path)
        mistakes += wrong
        if not wrong:
            sets.append(_document_set(path, rows, label))
    if mistakes:
        raise DataError(listed(mistakes))
    beyond = len(files) - len(paths)
    return BuiltSets(sets, {f"files: beyond the first {limit:,}": beyond} if beyond else {})


def _rows(path: Path) -> tuple[list[list[str]], list[str]]:
    """Rows of a file without its header, and what is wrong with it, with the line."""
    rows, mistakes = [], []
    # strict, so that a stray quotation mark is an error wherever it can be told
    reader = csv.reader(StringIO(read_text(path), newline=""), delimiter="\t", strict=True)
    try:
        for number, row in enumerate(reader):
            # a header has no number where ratings stand
            if not row or (number == 0 and len(row) >= 3 and _number(row[2]) is None):
                continue
            wrong = None
            if any("\t" in field or "\n" in field for field in row):
                wrong = "has a field with a tab or a line break in it; a quotation mark before it may be stray"
            elif len(row) < 3:
                wrong = f"has {len(row)} fields; group id, text and rating are needed, separated by tabs"
            elif not row[1].strip():
                wrong = "has no text"
            elif not 1 <= (_number(row[2]) or 0) < 6:
                wrong = f"rating {shortened(row[2])} is not a number from 1 to 5"
            else:
                rows.append(row)
            if wrong:
                mistakes.append(f"{path}:{reader.line_num}: {wrong}")
    except csv.Error as error:
        mistakes.append(
            f"{path}:{reader.line_num}: is not a row of tab-separated fields ({error}); the rows after it were not read"
        )
    if not rows and not mistakes:
        mistakes.append(f"{path}: has no review; take it out")
    return rows, mistakes


def _number(field: str) -> float | None:
    try:
        return float(field)
    except ValueError:
        return None


def _document_set(path: Path, rows: Iterable[list[str]], label: Callable[[str], Sentiment] | None) -> DocumentSet:
    units = []
    meta: dict[str, Any] = {"type": "reviews", "id": path.name}
    for row in rows:
        meta.setdefault("group_id", row[0])
        if len(row) > 3:
            meta.setdefault("category", row[3])
        attributes = {"rating": str(int(float(row[2])))}
        if label:
            attributes["sentiment"] = label(row[1]).label
        units.append((row[1], attributes))
    values = {"rating": list(RATINGS), **({"sentiment": list(SENTIMENTS)} if label else {})}
    return set_of_units(path.stem, units, {"values": values, "separator": SEPARATOR, "meta": meta})
