"""Several sheets of one person on one page: those that say the same are one, and of states of one sheet the newest counts.

A state is an earlier one of another when the other says so (`exports`), or when it has fewer changes and all of its marks are
among the other's. Two sheets of which neither is shown to have come of the other are refused, not merged.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from .sheet import AnnotationSheet, ItemSheet, SummarySheet

FiledSheet = tuple[Path, AnnotationSheet]


def newest_states(sheets: Sequence[FiledSheet]) -> tuple[list[FiledSheet], list[str], list[str]]:
    """The sheets that count, in their order, items that another one has alike left out; what to say of that; and mistakes.

    Args:
        sheets: each with its file.
    """
    notes, mistakes = [], list[str]()
    outdated = set[int]()
    for number, (path, sheet) in enumerate(sheets):
        newer = max((entry for entry in sheets if is_earlier(sheet, entry[1])), key=_revision, default=None)
        if newer:
            outdated.add(number)
            notes.append(
                f"{path}: left out, an earlier state (revision {sheet.revision}) of the sheet of {sheet.annotator!r} in "
                f"{newer[0]} (revision {newer[1].revision})"
            )
    counting, first = [], dict[tuple[str, str, str], tuple[Path, ItemSheet]]()
    for path, sheet in (entry for number, entry in enumerate(sheets) if number not in outdated):
        items, alike, conflicts = [], Counter[Path](), dict[Path, str]()
        for item in sheet.items:
            earlier_path, earlier = first.setdefault((sheet.annotator, sheet.page, item.id), (path, item))
            if earlier is item:
                items.append(item)
            elif _marks(item) == _marks(earlier) and item.shown == earlier.shown:
                alike[earlier_path] += 1
            else:
                conflicts.setdefault(earlier_path, item.id)
        notes += [
            f"{path}: the marks of {n:,} {'item' if n == 1 else 'items'} are those of {earlier_path}; they count once"
            for earlier_path, n in alike.items()
        ]
        mistakes += [
            f"{path}: {sheet.annotator!r} has marked item {name!r} in {earlier_path}, too, otherwise, and neither file is "
            "shown to have come of the other; give one of the two, or import both in the page, choose there, and export"
            for earlier_path, name in conflicts.items()
        ]
        if items:
            counting.append((path, sheet.model_copy(update={"items": tuple(items)})))
    return counting, notes, mistakes


def _revision(entry: FiledSheet) -> int:
    return entry[1].revision


def is_earlier(sheet: AnnotationSheet, later: AnnotationSheet) -> bool:
    """Whether `sheet` is an earlier state of `later`."""
    if (sheet.annotator, sheet.page) != (later.annotator, later.page) or sheet.revision >= later.revision:
        return False
    if any((export.revision, export.time) == (sheet.revision, sheet.time) for export in later.exports):
        return True
    items = {item.id: item for item in later.items}
    return sheet.revision > 0 and all(item.id in items and _has_all(items[item.id], item) for item in sheet.items)


def _marks(item: ItemSheet) -> tuple[object, ...]:
    return item.key_points, item.without, {summary.letter: summary for summary in item.summaries}


def _has_all(item: ItemSheet, earlier: ItemSheet) -> bool:
    """Whether an item has all marks and decisions of an earlier one."""
    summaries = {summary.letter: summary for summary in item.summaries}
    return (
        set(earlier.key_points) <= set(item.key_points)
        and set(earlier.without) <= set(item.without)
        and all(_says_all(summaries.get(summary.letter), summary, item, earlier) for summary in earlier.summaries)
    )


def _says_all(summary: SummarySheet | None, earlier: SummarySheet, item: ItemSheet, earlier_item: ItemSheet) -> bool:
    if summary is None or not set(earlier.points) <= set(summary.points) or (earlier.none and not summary.none):
        return False
    omitted = dict(zip(item.key_points, summary.omitted, strict=True))
    hallucinated = dict(zip(summary.points, summary.hallucinated, strict=True))
    decided = [
        *((omitted[point], flag) for point, flag in zip(earlier_item.key_points, earlier.omitted, strict=True)),
        *((hallucinated[point], flag) for point, flag in zip(earlier.points, earlier.hallucinated, strict=True)),
    ]
    return all(flag is None or later_flag == flag for later_flag, flag in decided)
