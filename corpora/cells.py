"""Cells of tables as texts, and ids whose last digits a spreadsheet or a float has lost."""

import math
import re
from collections.abc import Iterable
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any
from uuid import UUID

from ..text import some_of
from ..text.shown import shortened

# what pandas puts into an empty cell of its own types
MISSING = ("NAType", "NaTType")
# from here on a float has no room for the last digit of a whole number
MOST_EXACT = 2**53
# significant digits that a spreadsheet keeps
SPREADSHEET_DIGITS = 15
# zeros behind those digits, over all ids, that are no chance: one in a thousand
LEAST_ZEROS = 3
SCIENTIFIC = re.compile(r"[+-]?(?:\d[.,]\d+[eE]\+?\d+|\d[eE]\+\d+)")
WHOLE = re.compile(r"\d+")
WHOLE_FLOAT = re.compile(r"(\d+)\.0+")
REMEDY = "; export the ids as text from where they come"


def cell_text(value: Any) -> str:
    """A cell as text, "" for an empty one; a whole number has no decimals, and a day no time.

    Raises:
        TypeError: it is something else than a text, a number, a truth value or a date, as the message says.
    """
    if value is None or type(value).__name__ in MISSING or (isinstance(value, float | Decimal) and math.isnan(value)):
        return ""
    if isinstance(value, float | Decimal) and math.isfinite(value) and value == int(value):
        # whole numbers become floats where a column has empty cells
        return str(int(value))
    match value:
        case Decimal():
            return format(value.normalize(), "f")
        case datetime():
            is_day = value.time() == time() and value.tzinfo is None
            return value.date().isoformat() if is_day else value.isoformat(sep=" ")
        case str() | int() | float() | UUID() | date():
            # of a day its ISO form
            return str(value)
    scalar = _scalar(value)
    if scalar is value:
        raise TypeError(f"{type(value).__name__} {shortened(value)}")
    return cell_text(scalar)


def _scalar(value: Any) -> Any:
    """The Python value of a numpy scalar; anything else as it is."""
    if getattr(value, "ndim", None) != 0 or not hasattr(value, "item"):
        return value
    # nanoseconds would become a number
    return (value.astype("datetime64[us]") if type(value).__name__ == "datetime64" else value).item()


def lost_digits(ids: Iterable[Any]) -> str:
    """What is wrong with ids of which several may have become one, and how to mend it; "" where nothing is.

    They are texts in scientific notation ("1.23E+17") or floats that are too large to be exact, whole numbers of which all have
    zeros from the 16th digit on, as spreadsheets leave them, or some whole numbers with and some without decimals.
    """
    distinct = list(dict.fromkeys(raw_id for raw_id in ids if isinstance(raw_id, str | int | float)))
    texts = [raw_id.strip() if isinstance(raw_id, str) else str(raw_id) for raw_id in distinct]
    if scientific := [text for raw_id, text in zip(distinct, texts, strict=True) if _is_inexact(raw_id, text)]:
        return (
            f"numbers in scientific notation or too large for a float ({some_of(scientific)}), as spreadsheets and data frames "
            f"leave long ids: their last digits are lost, and different ids may have become one{REMEDY}"
        )
    long = [text for text in texts if WHOLE.fullmatch(text) and len(text.lstrip("0")) > SPREADSHEET_DIGITS]
    tails = [text.lstrip("0")[SPREADSHEET_DIGITS:] for text in long]
    # of times in microseconds and the like the digit before them is 0 as well
    is_cut = any(text.lstrip("0")[SPREADSHEET_DIGITS - 1] != "0" for text in long)
    if is_cut and sum(map(len, tails)) >= LEAST_ZEROS and not "".join(tails).strip("0"):
        return (
            f"numbers of more than {SPREADSHEET_DIGITS} digits that all end in zeros ({some_of(long)}), as spreadsheets round "
            f"them: different ids may have become one{REMEDY}"
        )
    with_decimals = [text for text in texts if WHOLE_FLOAT.fullmatch(text)]
    without = [text for text in texts if WHOLE.fullmatch(text)]
    if with_decimals and without and len(with_decimals) + len(without) == len(texts):
        return (
            f"whole numbers with decimals in some rows ({some_of(with_decimals)}) and without in others ({some_of(without)}), "
            f"which would be different ids{REMEDY}"
        )
    return ""


def _is_inexact(value: Any, text: str) -> bool:
    if isinstance(value, float):
        return math.isfinite(value) and abs(value) >= MOST_EXACT
    match = WHOLE_FLOAT.fullmatch(text)
    return bool(SCIENTIFIC.fullmatch(text)) or (match is not None and int(match[1]) >= MOST_EXACT)
