"""The texts of sources and labelled summaries, which scores without people need.

A file has entries of three kinds, in any order; what is not there is left out of the scores that need it. The units of a source,
which are posts, or sentences of longer texts:

    {"set_id": "us-1", "units": ["Build the wall!", "Where are his tax returns?"]}

its gold summaries, and an entry for each labelled summary, which is read as every file of summaries is (`corpora.summaries`):

    {"set_id": "us-1", "gold": ["Some want a wall, others his tax returns."]}
    {"set_id": "us-1", "summary_id": "us-1/a", "summary": "Build the wall!"}
"""

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, ValidationError

from ...config import SummaryColumnsSection
from ...corpora.cells import cell_text
from ...corpora.summaries import BY_ORDER, THOUGHTS, Summaries, matched
from ...corpora.summary_columns import USUAL, is_named_text
from ...corpora.summary_entries import Entry, entries_of_file
from ...corpora.summary_ids import ID_KEYS, Targets
from ...errors import DataError
from ...records import Document, DocumentSet, Record, Text
from ...storage import as_given
from ...text import did_you_mean
from ...text.mistakes import explain, listed
from ...text.shown import shortened

log = logging.getLogger(__name__)

Key = tuple[str, str]


class SourceUnits(Record):
    """The units of a source, each of which a summary could take over whole."""

    set_id: Text
    units: Annotated[tuple[Text, ...], Field(min_length=1)]


class GoldSummaries(Record):
    """Reference summaries of a source."""

    set_id: Text
    gold: Annotated[tuple[Text, ...], Field(min_length=1)]


@dataclass(frozen=True)
class OpinionTexts:
    """The texts of a file."""

    # by set
    units: Mapping[str, tuple[str, ...]]
    gold: Mapping[str, tuple[str, ...]]
    # by set and summary
    summaries: Mapping[Key, str]


NO_TEXTS = OpinionTexts({}, {}, {})
_KINDS: dict[str, type[SourceUnits | GoldSummaries]] = {"units": SourceUnits, "gold": GoldSummaries}
TARGETS = Targets("labelled summary", "labelled summaries", "labels", ("summary_id", *ID_KEYS))


@as_given()
def read_opinion_texts(path: Path, labelled: Sequence[Key], columns: SummaryColumnsSection = USUAL) -> OpinionTexts:
    """The texts of a file; .gz is unpacked.

    Args:
        path: of the file.
        labelled: set and summary of everything that people labelled.
        columns: which keys have a summary and its id, where they have other names than usual.

    Raises:
        DataError: the file cannot be read, an entry is of no kind, repeats another, or is about a set or a summary that nobody
            labelled. All mistakes are listed with file and line.
    """
    n_sets = Counter(summary for _, summary in labelled)
    # a summary by its id, and where several sets have it by that of the set as well
    names = {key: key[1] if n_sets[key[1]] == 1 else "/".join(key) for key in labelled}
    targets = {name: DocumentSet(id=name, documents=(Document(id=name, text=name),)) for name in names.values()}
    of_sources: dict[str, dict[str, tuple[str, ...]]] = {kind: {} for kind in _KINDS}
    of_summaries: list[Entry] = []
    mistakes: list[str] = []
    for place, entry in entries_of_file(path, targets, columns, (*TARGETS.keys, *_KINDS)):
        kind = next((kind for kind in _KINDS if isinstance(entry, Mapping) and kind in entry), None)
        try:
            if kind is None:
                of_summaries.append((place, _without_set(entry, names, columns)))
                continue
            record = _KINDS[kind].model_validate(entry)
            _refuse_set(record.set_id, names)
            if record.set_id in of_sources[kind]:
                raise DataError(f"{shortened(record.set_id)} has its {kind!r} already; give it once")
            of_sources[kind][record.set_id] = getattr(record, kind)
        except ValidationError as error:
            mistakes.append(f"{place}: {explain(error)}")
        except DataError as error:
            mistakes.append(f"{place}: {error}")
    texts = Summaries({}, by_order=False)
    try:
        if of_summaries:
            texts = matched(str(path), of_summaries, targets, columns, targets=TARGETS, allow_missing=True)
    except DataError as error:
        mistakes.append(str(error))
    if mistakes:
        raise DataError(listed(mistakes))
    if texts.by_order:
        log.warning("%s: %s", path, BY_ORDER.format(of=TARGETS.many))
    if texts.n_thoughts:
        log.warning("%s: %s", path, THOUGHTS.format(n=texts.n_thoughts))
    summaries = {key: texts[name] for key, name in names.items() if name in texts}
    return OpinionTexts(of_sources["units"], of_sources["gold"], summaries)


def _without_set(entry: Any, names: Mapping[Key, str], columns: SummaryColumnsSection) -> Any:
    """An entry of a summary under its name, without its set's id.

    Raises:
        DataError: it is no entry of a summary, or nobody labelled the summary of that set.
    """
    if not isinstance(entry, Mapping) or "set_id" not in entry:
        return entry
    keys = TARGETS.keys if columns.id is None else (columns.id,)
    id_key = next((key for key in keys if key in entry and key != "set_id"), None)
    if id_key is None and not any(key == columns.text or is_named_text(key) for key in entry):
        keys_in_entry = ", ".join(map(repr, entry))
        raise DataError(
            f"is of no kind: an entry has 'units', 'gold', or a summary and its 'summary_id', not {keys_in_entry}"
        )
    if id_key is None:
        raise DataError("has the id of its set alone; write that of the summary as well, as 'summary_id'")
    set_id, fields = entry["set_id"], {key: value for key, value in entry.items() if key != "set_id"}
    _refuse_set(set_id, names)
    if not isinstance(fields[id_key], str | int | float):
        return fields
    summary = cell_text(fields[id_key])
    owners = [owner for owner, name in names if name == summary]
    if owners and set_id not in owners:
        raise DataError(
            f"nobody labelled summary {shortened(summary)} of set {shortened(set_id)}, but one of {shortened(owners[0])}"
        )
    return fields | {id_key: names.get((set_id, summary), fields[id_key])}


def _refuse_set(set_id: Any, names: Mapping[Key, str]) -> None:
    sets = list(dict.fromkeys(owner for owner, _ in names))
    if set_id not in sets:
        raise DataError(f"nobody labelled summaries of set {shortened(set_id)}{did_you_mean(str(set_id), sets)}")
