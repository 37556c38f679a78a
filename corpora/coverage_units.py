"""Units of summaries as somebody split them, of coverage-based fairness: a JSON object, `entity_id` -> list of units.

Source: Li et al. 2025, appendix A.1; docs/papers.md#li-units and #li-data.
"""

from collections.abc import Collection
from pathlib import Path
from typing import Any

from ..errors import DataError
from ..storage import as_given, listed, read_json, shortened
from ..text import did_you_mean, fold


@as_given()
def read_units(path: Path, ids: Collection[str]) -> dict[str, tuple[str, ...]]:
    """The units of the sets that have any, by id and in the order of the ids; white space in a unit is folded.

    A set that the file lacks is left out, and so is one that is not asked for, as the published code skips both; a unit
    without any text is dropped.

    Args:
        path: the object.
        ids: of the document sets.

    Raises:
        DataError: the file cannot be read or is no object, an id occurs twice, an entry is no list of texts, or no id is
            known; wrong entries are listed.
    """
    found = read_json(path)
    if not isinstance(found, dict):
        raise DataError(f"{path}: holds no JSON object of units by entity_id")
    if mistakes := [f"{path}: {name!r}: {wrong}" for name, entry in found.items() if (wrong := _mistake(entry))]:
        raise DataError(listed(mistakes))
    if not found.keys() & set(ids):
        first = next(iter(found), "")
        raise DataError(f"{path}: holds units of none of the document sets, but of {first!r}{did_you_mean(first, ids)}")
    return {name: tuple(text for unit in found[name] if (text := fold(unit))) for name in ids if name in found}


def _mistake(entry: Any) -> str | None:
    if not isinstance(entry, list):
        return f"{shortened(entry)} is no list of units"
    wrong = [shortened(unit) for unit in entry if not isinstance(unit, str)]
    return f"{wrong[0]} is no text of a unit" if wrong else None
