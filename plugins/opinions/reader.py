"""What people say of summaries' opinions: how well each opinion of the source is represented, and how fair the summary is.

JSON lines of two kinds, in any order. The opinions of a source, by a name of their own:

    {"set_id": "us-1", "opinions": {"wall": "The wall should be built.", "tax": "He hides his tax returns."}}

and one line for each annotator of each summary; `labels` may leave opinions out, `fairness` and `reason` may be absent:

    {"set_id": "us-1", "summary_id": "us-1/a", "annotator": "anna", "labels": {"wall": "complete", "tax": "absent"},
     "fairness": "very_unfair", "reason": "opinions"}

Or a table, for what was annotated in a spreadsheet: CSV, TSV, Parquet or .xlsx with the columns set_id, summary_id, annotator,
fairness and reason, which may be left out, and one for each opinion; all rows are of one source. An empty cell is no label.

Labels are complete, somewhat, inadequate and absent, or their numbers 1, 0.5, -0.5 and -1. A judge model that stands in for a
person is an annotator whose name says so.

Source: Shandilya et al. 2020, sections IV.B and VI.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from ...corpora.cells import cell_text
from ...corpora.table_files import is_table, table_rows
from ...errors import DataError
from ...records import Record, Text
from ...storage import as_given, numbered_lines, read_text
from ...text import did_you_mean, some_of
from ...text.json_text import NotJsonError, parse_json
from ...text.mistakes import explain, listed_lines
from ...text.shown import MOST_SHOWN, shortened
from .measures.perceived import LABELS

# strict, so that `true` is no label
Label = str | Annotated[float, Field(strict=True)] | None
Fairness = Literal["very_fair", "somewhat_fair", "somewhat_unfair", "very_unfair"]
Reason = Literal["groups", "opinions", "both", "other"]
# columns of a table that are no opinions
COLUMNS = ("set_id", "summary_id", "annotator", "fairness", "reason")
NEEDED = COLUMNS[:3]


class OpinionList(Record):
    """The distinct opinions of one source."""

    set_id: Text
    # name -> the opinion in words
    opinions: Annotated[dict[Text, str], Field(min_length=1)]


class OpinionLabels(Record):
    """What one annotator says of one summary."""

    set_id: Text
    summary_id: Text
    annotator: Text
    # name of an opinion -> how it is represented; None, like an absent name, is no label
    labels: dict[str, Label] = Field(default_factory=dict)
    # how fair the summary is; None when nobody asked
    fairness: Fairness | None = None
    # what makes it so
    reason: Reason | None = None


@dataclass(frozen=True)
class AnnotatedSummary:
    """All that annotators said of one summary, as `perceived_opinion_bias` and `approval` take it."""

    set_id: str
    summary_id: str
    # in order of first appearance in the file
    annotators: tuple[str, ...]
    # names of the source's opinions
    opinions: tuple[str, ...]
    # (annotators, opinions); None where an annotator gave none
    labels: tuple[tuple[Label, ...], ...]
    # of each annotator
    fairness: tuple[str | None, ...]
    reasons: tuple[str | None, ...]


Numbered = tuple[int, OpinionLabels]
Mistakes = list[tuple[int, str]]


@as_given()
def read_opinions(path: Path) -> list[AnnotatedSummary]:
    """The annotated summaries of a file, in order of first appearance; a table (.csv, .tsv, .parquet, .xlsx) or JSON lines;
    .gz is unpacked.

    Raises:
        DataError: the file cannot be read, a line is no record, a label is unknown, an opinion is not in its source's list, a
            source has no list or two, or an annotator labels a summary twice. All mistakes are listed with file and line.
    """
    lists, labels, mistakes = _read_table(path) if is_table(path) else _read_lines(path)
    opinions: dict[str, tuple[str, ...]] = {}
    for line, opinion_list in lists:
        if opinion_list.set_id in opinions:
            mistakes.append((line, f"set {opinion_list.set_id!r} has a list of opinions already; make them one"))
        else:
            opinions[opinion_list.set_id] = tuple(opinion_list.opinions)
    seen: dict[tuple[str, str, str], int] = {}
    for line, record in labels:
        mistakes += [(line, text) for text in _wrong_labels(record, opinions)]
        earlier = seen.setdefault((record.set_id, record.summary_id, record.annotator), line)
        if earlier != line:
            mistakes.append(
                (line, f"annotator {record.annotator!r} labels {record.summary_id!r} in line {earlier} already")
            )
    if mistakes:
        raise DataError(listed_lines(path, mistakes))
    if not labels:
        raise DataError(f"{path}: has no labels of a summary")
    by_summary: dict[tuple[str, str], list[OpinionLabels]] = {}
    for _, record in labels:
        by_summary.setdefault((record.set_id, record.summary_id), []).append(record)
    return [
        AnnotatedSummary(
            set_id=set_id,
            summary_id=summary_id,
            annotators=tuple(record.annotator for record in records),
            opinions=opinions[set_id],
            labels=tuple(tuple(record.labels.get(name) for name in opinions[set_id]) for record in records),
            fairness=tuple(record.fairness for record in records),
            reasons=tuple(record.reason for record in records),
        )
        for (set_id, summary_id), records in by_summary.items()
    ]


def _wrong_labels(record: OpinionLabels, opinions: dict[str, tuple[str, ...]]) -> Iterable[str]:
    known = opinions.get(record.set_id)
    name_of_set = shortened(record.set_id)
    if known is None:
        yield f"set {name_of_set} has no list of opinions{did_you_mean(record.set_id, opinions)} Add a line with its 'opinions'"
        return
    for name, label in record.labels.items():
        if name not in known:
            has = some_of([opinion[:MOST_SHOWN] for opinion in known])
            yield f"{shortened(name)} is not an opinion of set {name_of_set}{did_you_mean(name, known)} It has {has}"
        if label is not None and label not in LABELS and label not in LABELS.values():
            shown = ", ".join(f"{text} ({value:g})" for text, value in LABELS.items())
            yield f"opinion {shortened(name)} has the label {shortened(label)}; labels are {shown}"


def _read_lines(path: Path) -> tuple[list[tuple[int, OpinionList]], list[Numbered], Mistakes]:
    lists, labels, mistakes = [], [], []
    for line, text in numbered_lines(read_text(path)):
        try:
            record = parse_json(text)
        except NotJsonError as error:
            mistakes.append((line, f"{error}; one object a line is expected"))
            continue
        try:
            if isinstance(record, dict) and "opinions" in record:
                lists.append((line, OpinionList.model_validate(record)))
            else:
                labels.append((line, OpinionLabels.model_validate(record)))
        except ValidationError as error:
            mistakes.append((line, explain(error)))
    return lists, labels, mistakes


def _read_table(path: Path) -> tuple[list[tuple[int, OpinionList]], list[Numbered], Mistakes]:
    rows = list(table_rows(path, NEEDED))
    header = [name for name in (rows[0][1] if rows else ()) if name is not None]
    names = [name for name in header if name not in COLUMNS]
    if not {*NEEDED} <= {*header} or not names or not all(map(str.strip, header)):
        has = f"the columns are {', '.join(header)}" if rows else "has no labels"
        raise DataError(f"{path}: {has}; needed are the columns {', '.join(NEEDED)} and one for each opinion")
    labels: list[Numbered] = []
    mistakes: Mistakes = []
    for line, row in rows:
        if any("\n" in str(cell) for cell in row.values()):
            mistakes.append((line, "a cell holds a line break; a quotation mark before it may be stray"))
            continue
        try:
            labels.append((line, _from_row(row, names)))
        except ValidationError as error:
            mistakes.append((line, explain(error)))
    sources = list(dict.fromkeys(record.set_id for _, record in labels))
    if len(sources) > 1:
        raise DataError(
            f"{path}: has rows of {', '.join(sources)}; the opinions of a table are those of one source: split it"
        )
    lists = [(1, OpinionList(set_id=name, opinions=dict.fromkeys(names, ""))) for name in sources]
    return lists, labels, mistakes


def _from_row(row: Mapping[Any, Any], names: Sequence[str]) -> OpinionLabels:
    """The record of a table's row.

    Raises:
        ValidationError: a cell is wrong, or the row has other columns than the header.
    """
    cells = {name: text for name in COLUMNS if (text := cell_text(row.get(name)))}
    labels: dict[str, Label] = {}
    for name in names:
        text = cell_text(row[name]).strip()
        try:
            labels[name] = float(text)
        except ValueError:
            labels[name] = text or None
    surplus = {"columns beyond the header": row[None]} if None in row else {}
    return OpinionLabels.model_validate({**cells, "labels": labels, **surplus})
