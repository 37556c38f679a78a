"""Files of annotations of any kind, told apart by what is in them.

{"format": "evenhand-human-annotations"}     a sheet that our page exported
{"format": "evenhand-human-key"}             the key to a page's letters
[{"highlight_document": ...}]                the authors' marks of one annotator, with
[{"stance": ..., "summaries": ...}]          what was shown to that annotator: the n-th of the one kind with the n-th of the other
[{"data": ..., "annotations": ...}]          Label Studio's export
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...errors import DataError
from ...storage import listed, read_json
from .key import FORMAT as KEY_FORMAT
from .key import PageKey, parse_key, unblind
from .label_studio_export import parse_export
from .released import HumanUnit, read_human
from .sheet import FORMAT, AnnotationSheet, parse_sheet

KINDS = (
    "a sheet that the annotation page exported, the key of a page (page.key.json), the authors' human_N.json with "
    "human_items_N.json, or Label Studio's JSON export"
)


@dataclass
class Annotated:
    """Units that can be scored, and what was left out."""

    units: list[HumanUnit] = field(default_factory=list)
    # (reason, side) -> items
    left_out: Counter[tuple[str, str]] = field(default_factory=Counter)


@dataclass
class _Files:
    sheets: list[tuple[Path, AnnotationSheet]] = field(default_factory=list)
    keys: dict[str, PageKey] = field(default_factory=dict)
    marks: list[Path] = field(default_factory=list)
    shown: list[Path] = field(default_factory=list)
    left_out: Counter[tuple[str, str]] = field(default_factory=Counter)


def read_annotations(paths: Sequence[Path], *, blind: bool = False) -> Annotated:
    """The units in these files; items that are not finished are left out and counted by reason and side.

    Args:
        paths: files of any kind, keys among them, in any order.
        blind: name summaries by their letters where no key is given, which is enough to compare annotators of one page.

    Raises:
        StorageError: a file cannot be read.
        DataError: a file is of no known kind or wrong, a key is missing, or somebody's marks of an item are there twice.
    """
    files = _sort(paths)
    mistakes = _not_one_persons(files.sheets)
    if mistakes:
        raise DataError(listed(mistakes))
    found = Annotated(left_out=files.left_out)
    for path, sheet in files.sheets:
        key = files.keys.get(sheet.page)
        if key is None and not blind:
            raise DataError(
                f"{path}: its summaries are blind; give the key of page {sheet.page} too (the .key.json beside the page)"
            )
        for item, unit in unblind(sheet, key):
            if item.unfinished:
                found.left_out[item.unfinished, item.side] += 1
            else:
                found.units.append(unit)
    for marks, shown in zip(files.marks, files.shown, strict=True):
        found.units += read_human(marks, shown, annotator=marks.stem)
    return found


def read_sheets(path: Path) -> tuple[list[AnnotationSheet], Counter[tuple[str, str]]]:
    """The sheets in one file, ours or Label Studio's, and the items left out.

    Raises:
        StorageError: the file cannot be read.
        DataError: it holds no sheet, or mistakes, all of which are listed.
    """
    files = _sort([path])
    if not files.sheets and not files.left_out:
        raise DataError(f"{path}: holds no annotations to convert; give a sheet of ours or Label Studio's JSON export")
    return [sheet for _, sheet in files.sheets], files.left_out


def _sort(paths: Sequence[Path]) -> _Files:
    files, mistakes = _Files(), list[str]()
    for path in paths:
        try:
            _add(files, path, read_json(path))
        except DataError as error:
            mistakes.append(str(error))
    if len(files.marks) != len(files.shown):
        mistakes.append(
            f"{len(files.marks)} files of the authors' marks (human_N.json), but {len(files.shown)} of what was shown "
            "(human_items_N.json); give both of each annotator"
        )
    if mistakes:
        raise DataError(listed(mistakes))
    return files


def _add(files: _Files, path: Path, value: Any) -> None:
    kind = value.get("format") if isinstance(value, Mapping) else None
    first = value[0] if isinstance(value, list) and value and isinstance(value[0], Mapping) else {}
    if kind == FORMAT:
        sheet = parse_sheet(path, value)
        files.sheets.append((path, sheet))
    elif kind == KEY_FORMAT:
        key = parse_key(path, value)
        files.keys[key.page] = key
    elif "highlight_document" in first:
        files.marks.append(path)
    elif "summaries" in first and "stance" in first:
        files.shown.append(path)
    elif "data" in first:
        sheets, left_out = parse_export(path, value)
        files.sheets += [(path, sheet) for sheet in sheets]
        files.left_out += left_out
    else:
        raise DataError(f"{path}: is of no known kind; known are {KINDS}")


def _not_one_persons(sheets: Sequence[tuple[Path, AnnotationSheet]]) -> list[str]:
    """Mistakes: sheets without a name, and items that one person's sheets hold twice."""
    first: dict[tuple[str, str, str], Path] = {}
    mistakes = []
    for path, sheet in sheets:
        if not sheet.annotator.strip():
            mistakes.append(f"{path}: does not say whose it is; write a name as 'annotator'")
        twice = [item.id for item in sheet.items if (sheet.annotator, sheet.page, item.id) in first]
        if twice:
            where = first[sheet.annotator, sheet.page, twice[0]]
            mistakes.append(
                f"{path}: {sheet.annotator!r} has marked item {twice[0]!r} in {where}, too; give one of the two"
            )
        first.update({(sheet.annotator, sheet.page, item.id): path for item in sheet.items})
    return mistakes
