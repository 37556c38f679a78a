"""Rows of tables in memory: of pandas, polars, pyarrow and datasets, none of which is imported here."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from ..errors import DataError
from ..text import repeated, some_of

FrameRow = dict[str, Any]


def frame_rows(source: Any) -> list[FrameRow] | None:
    """The rows of a data frame, an Arrow table or a data set; None of anything else.

    An index that is more than a count of the rows is a column. Labels of a data set are their names, not their numbers.

    Raises:
        DataError: two columns have one name, or it is a data set of several splits.
    """
    if hasattr(source, "to_dict") and hasattr(source, "notna"):
        return _pandas_rows(source)
    if hasattr(source, "to_dicts"):
        return list(source.to_dicts())
    if hasattr(source, "to_pylist") and hasattr(source, "schema"):
        return arrow_rows(source)
    if isinstance(source, Mapping) and hasattr(source, "column_names"):
        raise DataError(f"is a data set of several splits ({some_of(list(map(str, source)))}); give one of them")
    features = getattr(source, "features", None)
    if isinstance(features, Mapping) and isinstance(source, Iterable):
        names = {name: feature.names for name, feature in features.items() if hasattr(feature, "int2str")}
        return _named(map(dict, source), names)
    return None


def arrow_rows(table: Any) -> list[FrameRow]:
    """The rows of an Arrow table; labels of a data set that it was written from are their names."""
    described = json.loads((table.schema.metadata or {}).get(b"huggingface", b"{}"))
    features = described.get("info", {}).get("features", {})
    names = {
        name: feature["names"] for name, feature in features.items() if isinstance(feature, dict) and "names" in feature
    }
    return _named(table.to_pylist(), names)


def _pandas_rows(frame: Any) -> list[FrameRow]:
    if not hasattr(frame, "columns"):
        frame = frame.to_frame(frame.name or "text")
    if twice := repeated(map(str, frame.columns)):
        raise DataError(f"column names occur more than once: {some_of(twice)}; rename them")
    index = frame.index
    is_count = len(index.names) == 1 and index.name is None and list(index) == list(range(len(index)))
    if not is_count and not {*map(str, index.names)} & {*map(str, frame.columns)}:
        frame = frame.reset_index()
    # empty cells are of many kinds
    rows: list[FrameRow] = frame.astype(object).where(frame.notna(), None).to_dict("records")
    return rows


def _named(rows: Iterable[FrameRow], names: Mapping[str, list[str]]) -> list[FrameRow]:
    """The rows with the names of labels that are numbers; a number below 0 stands for no label."""
    return [row | {key: _name(row[key], known) for key, known in names.items() if key in row} for row in rows]


def _name(label: Any, names: list[str]) -> Any:
    if not isinstance(label, int) or isinstance(label, bool):
        return label
    return names[label] if 0 <= label < len(names) else None
