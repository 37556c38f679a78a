"""Documents from wherever they are: files of any format that evenhand reads, tables, lists of dicts, the Hub."""

import logging
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ..config import ColumnsSection
from ..corpora import read_any
from ..corpora.bundled import DOCUMENTS
from ..corpora.frames import frame_rows
from ..corpora.leftovers import leftover_in_sets
from ..corpora.reader import check_sets
from ..corpora.table_files import is_table
from ..corpora.tables import sets_of_rows
from ..corpora.values import settled
from ..errors import DataError
from ..extras import need
from ..records import DocumentSet
from ..storage import local_path
from ..text.mistakes import explain, explained, listed
from .results import Documents

log = logging.getLogger(__name__)

# letters of a wrong argument that a message shows
MOST_SHOWN = 40
# what is not such a name is a path that is not there
HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+(?<!\.json)(?<!\.jsonl)(?<!\.txt)(?<!\.gz)")


def load_documents(
    source: Any,
    attribute: str | Sequence[str] | None = None,
    *,
    group: Any = None,
    skip_empty: bool = False,
    subset: str = "train",
    **columns: str,
) -> Documents:
    """Document sets from a file, the Hub, or what a notebook has at hand.

    Args:
        source: a file in evenhand's format, PerspectiveSumm's or that of coverage fairness; "sample" or "reviews", the bundled
            corpora; a table (CSV, TSV, Parquet, .xlsx or JSON lines with a row for each document); a data set's name on the Hub
            ("owner/name"); a data frame of pandas or polars, an Arrow table or a data set in memory; or dicts, which are document
            sets (with "documents") or rows of a table.
        attribute: social attribute that the documents are grouped by; of a table its column. Of several names the documents
            have all, and are grouped by the first. None takes the only one there is.
        group: groups that take the place of the attribute's values, as of `--group`: "critical=1,2; mixed=3; praising=4,5", or
            {"critical": [1, 2], "praising": "*"}; of several attributes a list of texts, each with its attribute before it.
        skip_empty: leave rows of a table out that have an empty cell in a column that is needed; they are counted in the log.
        subset: of a data set on the Hub.
        columns: of a table, what its columns are called: `set` and `text` (by default these words), and where there are such
            columns `topic`, `id` and `split`.

    Raises:
        DataError: the source cannot be read, or something in it is wrong; all mistakes are listed.
        MissingExtra: a library that the source needs is not installed.
    """
    if not isinstance(attribute or "", Sequence) or not all(isinstance(name, str) for name in attribute or ()):
        raise DataError(f"attribute is {described(attribute)}; give the name of an attribute, or several")
    attributes = (attribute,) if isinstance(attribute, str) else tuple(attribute or ())
    entries = () if group is None else group if isinstance(group, list | tuple) else (group,)
    if isinstance(source, Documents):
        name = attributes[0] if attributes else source.attribute
        sets = settled(source.records, attributes or filter(None, [name]), entries, "documents: ")
        return Documents(sets, name)
    with explained("columns", f"; columns that can be named are {', '.join(ColumnsSection.model_fields)}"):
        sections = ColumnsSection.model_validate(columns) if columns else None
    read_rows = partial(
        sets_of_rows, columns=sections or ColumnsSection(), attributes=attributes, skip_empty=skip_empty
    )
    name = attributes[0] if attributes else None
    if not isinstance(source, str | Path):
        sets = settled(_from_memory(source, name, sections, read_rows), attributes, entries, "documents: ")
    elif (rows := _hub_rows(str(source), subset)) is not None:
        sets = read_rows(enumerate(rows, start=1), source=str(source))
        sets = settled(sets, attributes, entries, f"{source}: ")
    else:
        path = local_path(str(source))
        sets = read_any(path, name, columns=sections, attributes=attributes, group=entries, skip_empty=skip_empty)
    documents = Documents(sets, attributes[0] if attributes else None)
    if leftover := leftover_in_sets(sets, attributes or filter(None, [documents.attribute])):
        log.warning("documents: %s", leftover)
    return documents


def _hub_rows(source: str, subset: str) -> list[dict[str, Any]] | None:
    """The rows of a data set on the Hub; None where a name is none of it."""
    path = local_path(source)
    if path.exists() or source in DOCUMENTS or not HUB_NAME.fullmatch(source) or is_table(path):
        return None
    datasets = need("datasets", f"documents {source!r} from the Hub")
    try:
        return frame_rows(datasets.load_dataset(source, split=subset)) or []
    except (OSError, ValueError) as error:
        raise DataError(
            f"{source}: is not a file, and cannot be loaded from the Hub: {error}; mend the path, or the name or subset there"
        ) from error


def _from_memory(
    source: Any,
    attribute: str | None,
    columns: ColumnsSection | None,
    read_rows: Callable[..., list[DocumentSet]],
) -> list[DocumentSet]:
    try:
        rows = frame_rows(source)
    except DataError as error:
        raise DataError(f"documents: {error}") from error
    if rows is not None:
        return read_rows(enumerate(rows, start=1), source="documents")
    if not isinstance(source, Iterable) or isinstance(source, Mapping | bytes):
        raise DataError(
            f"documents are a {type(source).__name__}; give a path, a list of dicts (rows, or document sets), or a data frame"
        )
    records = list(source)
    # a table may well have a column "documents"
    may_be_sets = columns is None and any(
        isinstance(record, Mapping) and "documents" in record and "text" not in record for record in records
    )
    if records and all(isinstance(record, Mapping) for record in records) and not may_be_sets:
        return read_rows(enumerate(records, start=1), source="documents")
    sets, mistakes = [], []
    for number, record in enumerate(records, start=1):
        try:
            sets.append(record if isinstance(record, DocumentSet) else DocumentSet.model_validate(record))
        except ValidationError as error:
            mistakes.append(f"documents: set {number}: {explain(error)}")
    mistakes += [
        f"documents: set {number}: {text}" for number, text in check_sets(enumerate(sets, 1), attribute, "set")
    ]
    if mistakes or not sets:
        raise DataError(listed(mistakes) or "documents: there are none")
    return sets


def labelled(argument: Any, name: str, of: str) -> Mapping[str, Any]:
    """The dict of labels that an argument has to be, with at least one.

    Args:
        argument: the argument.
        name: what it is called.
        of: what stands under each label.

    Raises:
        DataError: it is something else, is empty, or a label is no text.
    """
    if not isinstance(argument, Mapping):
        raise DataError(f"{name} are {described(argument)}; give a dict of labels, and under each {of}")
    if not argument or not all(isinstance(label, str) and label for label in argument):
        raise DataError(f"{name} need labels that are text, at least one; got {list(argument)!r}")
    return argument


def described(argument: Any) -> str:
    """What a wrong argument is, for a message: "str 'praising'"."""
    shown = repr(argument)
    return f"{type(argument).__name__} {shown if len(shown) <= MOST_SHOWN else f'{shown[:MOST_SHOWN]}...'}"
