"""Summaries of document sets from any file: one text for each set.

| file | how a summary finds its set |
| --- | --- |
| JSON lines with an id key: evenhand's best.jsonl, or anybody's `{"id": ..., "summary": ...}` | by id |
| a table (.csv, .tsv, .parquet, .xlsx) with such columns | by id |
| a JSON object, set id -> text | by id |
| JSON lines without ids, as `{"prediction": ...}` | by order |
| plain text, one summary a line; a blank line is an empty summary | by order |
| a JSON array of such objects or of texts | as lines of them |
| `even-handed`, `praising`: two made-up systems of the bundled reviews | by id |

A file that begins with `{` is JSON, any other is plain text unless it is an array; one whose name ends in .gz is unpacked.
An empty summary is kept as "": a system that wrote nothing is measured like any other. What a model thought before its summary is
taken off and counted.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..config import SummaryColumnsSection
from ..errors import DataError
from ..records import BestSummary, DocumentSet
from ..storage import as_given
from ..text import fold, some_of
from ..text.json_text import NotJsonError
from ..text.mistakes import listed
from ..text.shown import shortened
from ..text.thoughts import without_thoughts
from .bundled import SUMMARIES, file_of
from .summary_columns import NAME_TEXT, USUAL, parts_of, refuse_unknown, text_column, text_of_value
from .summary_entries import Called, Entry, entries_of, entries_of_file
from .summary_ids import SETS, Targets, UnlikeIdError, id_of, known_names, refuse_ids, unlike_ids
from .summary_order import ALL, refuse_disorder
from .table_files import SURPLUS

# key by which some tell systems in one file
SYSTEM = "system"
# names of a column that may have summaries or what was summarised
OF_EITHER = ("text", "content")
# what is to be known of summaries that went by order
BY_ORDER = "without ids, so that summaries were matched with the {of} by their order."
# the same of a number of summaries with thoughts
THOUGHTS = "a train of thought, which is no summary, was taken off of {n} of its summaries."


class Summaries(dict[str, str]):
    """The summary of each set by its id, in the order of the sets, without the thoughts of the model that wrote it."""

    def __init__(self, texts: Mapping[str, str], *, by_order: bool) -> None:
        answers = {name: without_thoughts(text, is_summary=True) for name, text in texts.items()}
        super().__init__({name: answer.text for name, answer in answers.items()})
        # the texts as they stand in the file
        self.raw = dict(texts)
        # the sets whose summaries had any
        self.thoughtful = {name for name, answer in answers.items() if answer.has_thought}
        # whether the file has no ids, so that its first summary went to the first set, and so on
        self.by_order = by_order

    @property
    def n_thoughts(self) -> int:
        """Number of summaries that had thoughts."""
        return len(self.thoughtful)


def read_summaries(
    path: Path,
    sets: Sequence[DocumentSet],
    *,
    allow_missing: bool = False,
    columns: SummaryColumnsSection = USUAL,
) -> Summaries:
    """The summary of each set by its id, in the order of the sets; "" for an empty one.

    Args:
        path: a file as in the module's table. Of evenhand's own, `best.jsonl` with one summary of all documents a set
            (`task.scope: all`); a text that is null there, because no candidate has a reward, is a missing one.
        sets: the sets that are summarised.
        allow_missing: leave sets without a summary out of the result, for the caller to count. A file that goes by order
            needs a line for every set all the same.
        columns: which columns or keys have the summary and the set's id, where they have other names than usual or several could
            have the summary.

    Raises:
        DataError: the file cannot be read, ids are unknown, missing or given twice, a text is not one, several columns may have
            it, the number of lines is not that of the sets, a file without ids carries what is not in the order of the sets, ids
            stand under another key, or summaries are of one side each. All mistakes are listed, with the line where there is one.
    """
    return read_texts(
        path, {documents.id: documents for documents in sets}, allow_missing=allow_missing, columns=columns
    )


@as_given()
def read_texts(
    path: Path,
    sets: Called,
    *,
    targets: Targets = SETS,
    allow_missing: bool = False,
    columns: SummaryColumnsSection = USUAL,
) -> Summaries:
    """As `read_summaries`, by what summaries are called, which of those of one side is SET/SIDE, and of whatever they are."""
    file = file_of(path, SUMMARIES)
    columns = USUAL if file in SUMMARIES.values() else columns
    entries = list(entries_of_file(file, sets, columns, targets.keys))
    return matched(str(path), entries, sets, columns, targets=targets, allow_missing=allow_missing)


def summaries_of(
    summaries: Any,
    sets: Called,
    *,
    targets: Targets = SETS,
    allow_missing: bool = False,
    columns: SummaryColumnsSection = USUAL,
) -> Summaries:
    """The summary of each set by its id: from ids and texts, objects with an id and a text, or texts in the order of the sets.

    Args:
        summaries: what a file of summaries in JSON would hold, or a data frame.
        sets: what summaries are called, and the set of each.
        targets: as of `read_texts`.
        allow_missing: as of `read_summaries`.
        columns: as of `read_summaries`.

    Raises:
        DataError: as of `read_summaries`.
    """
    entries = list(entries_of("summaries", summaries, sets, columns))
    return matched("summaries", entries, sets, columns, targets=targets, allow_missing=allow_missing)


def matched(
    source: str,
    entries: Sequence[Entry],
    sets: Called,
    columns: SummaryColumnsSection,
    *,
    targets: Targets,
    allow_missing: bool,
) -> Summaries:
    """Each entry's text under the id of its set; arguments and errors as of `read_summaries`."""
    records = [entry for _, entry in entries if isinstance(entry, Mapping)]
    is_plain = not records or all(record.keys() >= BestSummary.model_fields.keys() for record in records)
    if is_plain:
        # nothing to name in plain texts, and in what evenhand wrote
        columns = USUAL
    refuse_unknown(source, filter(None, (columns.text, columns.id)), records)
    column = columns.text if columns.text or not records else text_column(source, records)
    if len(records) == len(entries):
        _refuse_systems(source, records)
    if not targets.by_side:
        _refuse_sides(source, records)
    keys = targets.keys if columns.id is None else (columns.id,)
    by_order = not any(key in record for record in records for key in keys)
    if by_order:
        _refuse_order(source, entries, sets, column, targets)
        names = {place: name for (place, _), name in zip(entries, sets, strict=True)}
        placed_texts, mistakes = _placed(source, entries, lambda place, entry: names[place], column, targets)
    else:
        refuse_ids(source, records, sets, keys, targets.one)
        known = known_names(sets, by_topic=columns.id is not None)
        placed_texts, mistakes = _placed(
            source, entries, lambda place, entry: id_of(entry, known, keys, targets), column, targets
        )
    texts = {name: text for name in sets if (text := placed_texts.get(name, (None, ""))[0]) is not None}
    if columns.text is None and not is_plain and "_".join(parts_of(column)) in OF_EITHER:
        _refuse_sources(source, column, texts, sets)
    if not allow_missing and (missing := [shortened(name) for name in sets if name not in texts]):
        mistakes.append(
            f'{source}: has no summary of {some_of(missing)}; add it ("" if it is empty) or take the set out'
        )
    if mistakes:
        raise DataError(listed(mistakes))
    return Summaries(texts, by_order=by_order)


def _placed(
    source: str, entries: Sequence[Entry], name_of: Callable[[str, Any], str], column: Any, targets: Targets
) -> tuple[dict[str, tuple[str | None, str]], list[str]]:
    """By id of a set its text, None where the file says that there is none, and the entry's place; and what is wrong."""
    placed_texts: dict[str, tuple[str | None, str]] = {}
    mistakes: list[str] = []
    unlike: list[str] = []
    thing = targets.one.removeprefix("document ")
    for place, entry in entries:
        try:
            if isinstance(entry, NotJsonError):
                raise entry
            name = name_of(place, entry)
            if name in placed_texts:
                raise DataError(f"{thing} {name!r} has a summary already, in {placed_texts[name][1]}; keep one of them")
            # should the text be wrong, its set is not missed as well
            placed_texts[name] = ("", place)
            placed_texts[name] = (_text_of(entry, column), place)
        except UnlikeIdError as error:
            unlike.append(str(error))
            placed_texts.setdefault(error.name, ("", place))
        except DataError as error:
            mistakes.append(f"{place}: {error}")
    if unlike:
        mistakes.insert(0, unlike_ids(source, unlike, targets.owners))
    return placed_texts, mistakes


def _refuse_order(source: str, entries: Sequence[Entry], sets: Called, column: Any, targets: Targets) -> None:
    """Refuse to go by order what is not in the order of the sets, or not as many."""
    refuse_disorder(source, [entry for _, entry in entries if not isinstance(entry, NotJsonError)], sets, column)
    if not entries:
        raise DataError(
            f"{source}: has no summaries; write one of each of the {len(sets):,} {targets.many}, with its id"
        )
    if len(entries) != len(sets):
        raise DataError(
            f"{source}: has {len(entries):,} summaries of {len(sets):,} {targets.many}; without ids there must be one for "
            "each, in their order"
        )


def _refuse_systems(source: str, records: Sequence[Mapping[str, Any]]) -> None:
    """Refuse a table of several systems, whose summaries of a set would be called too many."""
    systems = list(dict.fromkeys(str(record.get(SYSTEM)) for record in records))
    if len(systems) > 1:
        raise DataError(
            f"{source}: holds summaries of several systems ({some_of(systems)}, by {SYSTEM!r}); write a file for each of them"
        )


def _refuse_sides(source: str, records: Sequence[Mapping[str, Any]]) -> None:
    sides = list(dict.fromkeys(str(record["side"]) for record in records if record.get("side", ALL) != ALL))
    if sides:
        raise DataError(
            f"{source}: holds summaries of one side each ({some_of(sides)}); what is measured here is one summary of all "
            "documents of a set, so make summaries with `task.scope: all` (side 'all') and give their best.jsonl"
        )


def _refuse_sources(source: str, column: Any, texts: Mapping[str, str], sets: Called) -> None:
    """Refuse a column that nobody named and that holds what was summarised: most texts have all documents of their sets."""
    several = [name for name in texts if len(sets[name].documents) > 1]
    copies = [name for name in several if _has_all(fold(texts[name]), sets[name])]
    if len(copies) > len(several) / 2:
        raise DataError(
            f"{source}: {shortened(str(column))} holds all documents of {len(copies):,} of {len(several):,} sets "
            f"({some_of(list(map(shortened, copies)))}), which is what a system read; say which column has its summaries: "
            f"{NAME_TEXT}"
        )


def _has_all(text: str, documents: DocumentSet) -> bool:
    return all(fold(document.text) in text for document in documents.documents)


def _text_of(entry: Any, column: Any) -> str | None:
    """The text of an entry; None when it is null."""
    text = entry
    if isinstance(entry, Mapping):
        if None in entry:
            raise DataError(SURPLUS)
        if column not in entry:
            raise DataError(f"has no text under {column!r}")
        text = text_of_value(entry[column])
        if text is None:
            return None
    if not isinstance(text, str):
        raise DataError(f"{shortened(text)} is not a text")
    return text
