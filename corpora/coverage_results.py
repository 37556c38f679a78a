"""Results of coverage-based fairness as somebody computed them: a JSON object, `entity_id` -> a list in one of two layouts.

    [EC, differences, counts, overall]
    [EC, [differences, counts]]

The second, older one is what FairPO's scripts read. One record has both.

Source: docs/papers.md#li-data.
"""

import math
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..errors import DataError
from ..records import Text
from ..storage import explain, listed, read_json, shortened

# strict, so that `true` is no number
Share = Annotated[float, Field(strict=True, ge=0, le=1)]
Difference = Annotated[float, Field(strict=True, ge=-1, le=1)]
Count = Annotated[int, Field(strict=True, ge=0)]


class CoverageResult(BaseModel):
    """Coverage fairness of one set, as somebody computed it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    set_id: Text
    # Equal Coverage; None when undefined
    ec: Share | None
    # coverage of each value less the overall one; None for a value without documents
    difference: tuple[Difference | None, ...]
    # documents of each value
    counts: tuple[Count, ...]
    # mean coverage of all documents; None when the layout has none
    overall: Share | None


def read_results(path: Path) -> list[CoverageResult]:
    """The results of a file in either layout, in order.

    Layouts: `[EC, differences, counts, overall]`, and the older `[EC, [differences, counts]]`, which has no overall coverage.
    Numbers that are not finite are undefined and become None, and so does the difference of a value without documents.

    Raises:
        StorageError: the file cannot be read.
        DataError: the file is no object, an id occurs twice, or an entry has neither layout or a number out of its range; wrong
            entries are listed.
    """
    results, mistakes = [], []
    for name, entry in _object(path).items():
        try:
            results.append(_result(name, entry))
        except ValidationError as error:
            mistakes.append(f"{path}: {name!r}: {explain(error)}")
        except DataError as error:
            mistakes.append(f"{path}: {name!r}: {error}")
    if mistakes:
        raise DataError(listed(mistakes))
    return results


def _result(name: str, entry: Any) -> CoverageResult:
    match entry:
        case [ec, list(difference), list(counts), overall]:
            pass
        case [ec, [list(difference), list(counts)]]:
            overall = None
        case _:
            raise DataError(
                f"{shortened(entry)} has neither layout: [EC, differences, counts, overall] or "
                "[EC, [differences, counts]]"
            )
    if len(difference) != len(counts):
        raise DataError(f"has {len(difference)} differences and {len(counts)} counts; each value needs both")
    kept = [_finite(value) if count else None for value, count in zip(difference, counts, strict=True)]
    return CoverageResult(
        set_id=name, ec=_finite(ec), difference=tuple(kept), counts=tuple(counts), overall=_finite(overall)
    )


def _finite(value: Any) -> Any:
    """The value, None for a number that is not finite; what is no number is left to the record's own check."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _object(path: Path) -> dict[str, Any]:
    # undefined values are written as NaN
    found = read_json(path, allow_nan=True)
    if not isinstance(found, dict) or not found:
        raise DataError(f"{path}: holds no JSON object of results by entity_id")
    return found
