"""The CSV that evenhand writes: all of its cells, and how their texts are read back.

Spreadsheets run a cell that begins like a formula, and a terminal obeys control characters. So a text that begins so gets an
apostrophe in front, which spreadsheets take for "this is text", and control characters are written as escapes. Both are undone
where evenhand reads such a file itself. Numbers are no formulas: -0.5 stays a number, and so does a text that is nothing but a
number, such as the id "-1", since other tables have it so, too.
"""

import csv
import io
import re
from collections.abc import Iterable, Sequence

from .controls import visible

Value = str | int | float | None

# a beginning that a spreadsheet may run, wide forms included, behind what it passes over: blanks, characters without a sign,
# and apostrophes, since one of them is what this module puts there
FORMULA = re.compile(
    r"['\s\u00ad\u200b-\u200f\u2060-\u2064\ufeff\x00-\x1f]*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20\ufe62\ufe63\ufe66\ufe6b]"
)
NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
# what looks like an escape of this module, and is the text's own
BACKSLASH = re.compile(r"\\(?=x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})")
ESCAPE = re.compile(r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8}))")
# how the table of `evenhand score` begins and ends
SCORES = ("set", "side", "text"), ("unscored", "id")


def csv_text(rows: Iterable[Sequence[Value]]) -> str:
    """Rows as CSV, with no cell that a spreadsheet would run."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows([_cell(value) for value in row] for row in rows)
    return out.getvalue()


def _cell(value: Value) -> str:
    return "" if value is None else written(value) if isinstance(value, str) else repr(value)


def written(text: str) -> str:
    """The cell of a text."""
    shown = visible(BACKSLASH.sub(r"\\x5c", text))
    return f"'{shown}" if _is_guarded(text) else shown


def read(cell: str) -> str:
    """The text of a cell that `written` made."""
    text = ESCAPE.sub(lambda escape: chr(int(escape[1] or escape[2] or escape[3], 16)), cell)
    return text[1:] if text.startswith("'") and _is_guarded(text[1:]) else text


def is_scores(header: Sequence[str]) -> bool:
    """Whether these are the columns of a table of scores, whose cells are to be read by `read`."""
    return (tuple(header[:3]), tuple(header[-2:])) == SCORES


def _is_guarded(text: str) -> bool:
    return FORMULA.match(text) is not None and NUMBER.fullmatch(text) is None
