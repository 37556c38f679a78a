"""Files of annotations of any kind, recognised by what is in them.

{"format": "evenhand-human-annotations"}     a sheet that our page exported
{"format": "evenhand-human-key"}             the key to a page's letters
[{"highlight_document": ...}]                the authors' marks of one annotator, with
[{"stance": ..., "summaries": ...}]          what was shown to that annotator: the n-th of the one kind with the n-th of the other
[{"data": ..., "annotations": ...}]          Label Studio's export
"""

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .....errors import DataError
from .....storage import as_given, read_json
from .....text import fold
from .....text.mistakes import listed
from .annotation import HumanUnit, read_human
from .label_studio_export import parse_export
from .revisions import newest_states
from .sheet import FORMAT, KEY_FORMAT, AnnotationSheet, PageKey, parse_key, parse_sheet, unblind

log = logging.getLogger(__name__)

KINDS = (
    "a sheet that the annotation page exported, the key of a page (page.key.json), the authors' human_N.json with "
    "human_items_N.json, or Label Studio's JSON export"
)


@dataclass(frozen=True)
class Annotated:
    """Units that can be scored, and what was left out."""

    units: list[HumanUnit]
    # (reason, side) -> items
    left_out: Counter[tuple[str, str]]


@dataclass
class _Files:
    sheets: list[tuple[Path, AnnotationSheet]] = field(default_factory=list)
    # page -> its key
    keys: dict[str, PageKey] = field(default_factory=dict)
    marks: list[Path] = field(default_factory=list)
    shown: list[Path] = field(default_factory=list)
    left_out: Counter[tuple[str, str]] = field(default_factory=Counter)


@as_given()
def read_annotations(paths: Sequence[Path], *, highlights_only: bool = False) -> Annotated:
    """The units in these files; items that are not finished are left out and counted by reason and side.

    Of several states of one sheet the newest counts, and what two files say alike counts once; both is said.

    Args:
        paths: files of any kind, keys among them, in any order.
        highlights_only: only what was highlighted is wanted. Matches need not be decided then; and summaries of a single page
            may be named by their letters, so that it needs no key.

    Raises:
        DataError: a file cannot be read, is of an unknown kind or wrong or given twice, a key is missing, or somebody's marks of
            a summary are there twice and differ.
    """
    files = _sort(paths)
    nameless = [
        f"{path}: does not say whose it is; write a name as 'annotator'"
        for path, sheet in files.sheets
        if not sheet.annotator.strip()
    ]
    files.sheets, notes, mistakes = newest_states(files.sheets)
    if nameless or mistakes:
        raise DataError(listed([*mistakes, *nameless]))
    for note in notes:
        log.warning("%s", note)
    pages = {sheet.page: path for path, sheet in files.sheets}
    # letters tell summaries apart within one page only: with anything beside it, every page needs its key
    if not highlights_only or len(pages) > 1 or files.marks:
        mistakes = [
            f"{path}: its summaries are blind; give the key of page {page} too (the .key.json beside the page)"
            for page, path in pages.items()
            if page not in files.keys
        ]
    if mistakes:
        raise DataError(listed(mistakes))
    left_out = files.left_out
    sources: list[tuple[Path, HumanUnit]] = []
    for path, sheet in files.sheets:
        try:
            unblinded = unblind(sheet, files.keys.get(sheet.page))
        except DataError as error:
            raise DataError(f"{path}: {error}") from error
        for item, unit in unblinded:
            reason = item.unmarked if highlights_only else item.unfinished
            if reason:
                left_out[reason, item.side] += 1
            else:
                sources.append((path, unit))
    for marks, shown in zip(files.marks, files.shown, strict=True):
        sources += [(marks, unit) for unit in read_human(marks, shown, annotator=marks.stem)]
    twice = _twice(sources)
    if twice:
        raise DataError(listed(twice))
    return Annotated([unit for _, unit in sources], left_out)


@as_given()
def read_sheets(path: Path) -> tuple[list[AnnotationSheet], Counter[tuple[str, str]]]:
    """The sheets in one file, ours or Label Studio's, and the items left out.

    Raises:
        DataError: the file cannot be read, has no sheet, or has mistakes, all of which are listed.
    """
    files = _sort([path])
    if not files.sheets and not files.left_out:
        raise DataError(
            f"{path}: has no annotations to convert; give a sheet that the page exported or Label Studio's JSON export"
        )
    return [sheet for _, sheet in files.sheets], files.left_out


def _sort(paths: Sequence[Path]) -> _Files:
    files = _Files()
    real = [path.resolve() for path in paths]
    again = [path for place, path in enumerate(paths) if real[place] in real[:place]]
    mistakes = [f"{path}: is given twice; name each file once" for path in again]
    for path in paths:
        try:
            value = read_json(path)
            kind = value.get("format") if isinstance(value, Mapping) else None
            first = value[0] if isinstance(value, list) and value and isinstance(value[0], Mapping) else {}
            if kind == FORMAT:
                files.sheets.append((path, parse_sheet(path, value)))
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
                mistakes.append(f"{path}: is of an unknown kind; give {KINDS}")
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


def _twice(sources: Sequence[tuple[Path, HumanUnit]]) -> list[str]:
    """Mistakes: one person's marks of a system's summary of a document that are there twice."""
    first: dict[tuple[str, ...], Path] = {}
    mistakes = []
    for path, unit in sources:
        keys = [(unit.annotator, unit.set_id, unit.side, fold(unit.document), system) for system in unit.summaries]
        earlier = next((first[key] for key in keys if key in first), None)
        if earlier:
            mistakes.append(
                f"{path}: {unit.annotator!r} has marked the document of entry {unit.number} ({unit.topic}, {unit.side}) with "
                f"the same system in {earlier}, too; it would count twice, so give one of the two"
            )
        first.update(dict.fromkeys(keys, path))
    return mistakes
