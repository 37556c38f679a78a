"""Which column or key of a file of summaries has the text: a single one that can be it, or the one that is named.

A file often has more texts than one, as a reference beside the prediction or the source beside the output. None of them is taken
by its place in a list of names: a reference that is audited under a system's name is a wrong result without a word.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from ..config import SummaryColumnsSection
from ..errors import DataError
from ..text import did_you_mean, some_of
from ..text.mistakes import explain
from ..text.shown import shortened

JsonObject = Mapping[Any, Any]

# names that a text has by itself, and names that may also be those of labels ("answer": "yes")
TEXTS = ("summary", "prediction", "text")
OTHER_TEXTS = (
    "output", "generation", "response", "completion", "summary_text", "generated_text", "generated_summary", "generated",
    "model_output", "model_response", "hypothesis", "candidate", "answer", "reference", "target", "highlights", "content",
    "pred", "predicted", "predicted_summary", "result", "system_output", "system_summary",
)  # fmt: skip
# parts of names of what a system reads, and of what is said of a summary or of its making: no summaries, however long
NO_SUMMARIES = frozenset(
    """
    source sources document documents doc docs article articles input inputs passage passages dialogue dialog transcript post
    posts review reviews context prompt prompts instruction instructions question query messages title topic headline url link
    name label model system reasoning thinking thought thoughts rationale explanation comment comments note notes feedback error
    meta metadata raw unscored id
""".split()
)
# letters of a value that a message shows, and of a text in a script without spaces; words of a running text, and of a label
MOST_SHOWN, LEAST_LETTERS, LEAST_WORDS, MOST_LABEL_WORDS = 40, 12, 4, 2
NAME_TEXT = '--summary-columns text=COLUMN (in Python summary_columns={"text": "COLUMN"})'
NAME_ID = '--summary-columns id=COLUMN (in Python summary_columns={"id": "COLUMN"})'
USUAL = SummaryColumnsSection()


def columns_of(columns: Any) -> SummaryColumnsSection:
    """The columns that an argument names.

    Raises:
        DataError: it is no dict of "text", "id" and columns.
    """
    if columns is None or isinstance(columns, SummaryColumnsSection):
        return columns or USUAL
    try:
        return SummaryColumnsSection.model_validate(columns)
    except ValidationError as error:
        raise DataError(f"summary_columns: {explain(error)}; columns that can be named are text, id") from error


def parts_of(name: Any) -> tuple[str, ...]:
    """The words of a column's name in small letters: "customId", "custom_id" and "Custom ID" are the same."""
    return tuple(part.lower() for part in re.findall(r"[A-Z]?[^\W_A-Z]+|[A-Z]+(?![^\W_A-Z])", str(name)))


def is_named_text(name: Any) -> bool:
    """Whether a column has one of the names that summaries usually have."""
    return "_".join(parts_of(name)) in (*TEXTS, *OTHER_TEXTS)


def text_of_value(value: Any) -> Any:
    """What may be a text: released predictions may be objects with a text of their own."""
    return value["text"] if isinstance(value, Mapping) and "text" in value else value


def refuse_unknown(source: str, names: Iterable[str], records: Sequence[JsonObject]) -> None:
    """Refuse named columns that no record has.

    Raises:
        DataError: none has them; all are listed.
    """
    known = [str(key) for key in _values(records)]
    if unknown := [f"{shortened(name)}{did_you_mean(name, known)}" for name in names if name not in known]:
        raise DataError(
            f"{source}: has no column {' No column '.join(unknown)} Its columns are "
            f"{some_of([shortened(key) for key in known]) or 'none'}"
        )


def text_column(source: str, records: Sequence[JsonObject]) -> Any:
    """The column that has the summaries.

    Raises:
        DataError: several can be it, or none is known to be.
    """
    values = _values(records)
    usual = [name for name in values if is_named_text(name)]
    texts = [name for name in usual if _competes(name, values[name])]
    unknown = [name for name in values if name not in usual and _is_running(name, values[name])]
    if not usual:
        near = f"; it may be {some_of([_shown(name, values[name]) for name in unknown])}" if unknown else ""
        raise DataError(
            f"{source}: has no text; name it by one of {', '.join(TEXTS)}, or say which column it is: {NAME_TEXT}{near} (what is "
            f"there is called {some_of([shortened(str(name)) for name in values])})"
        )
    if len(several := [*texts, *unknown]) > 1 or (not texts and len(usual) > 1):
        raise DataError(
            f"{source}: has several texts: {some_of([_shown(name, values[name]) for name in several or usual])}; say which are "
            f"the system's summaries: {NAME_TEXT}, or leave the others out"
        )
    return (texts or usual)[0]


def _values(records: Sequence[JsonObject]) -> dict[Any, list[Any]]:
    """By column, in order of first appearance, what records have there."""
    values: dict[Any, list[Any]] = {}
    for record in records:
        for name, value in record.items():
            if name is not None:
                values.setdefault(name, []).append(text_of_value(value))
    return values


def _competes(name: Any, values: Iterable[Any]) -> bool:
    """Whether values under a usual name may be the summaries: texts, and no labels."""
    texts = [value for value in values if isinstance(value, str)]
    full = [text for text in texts if text.strip()]
    is_label = bool(full) and all(len(text.split()) <= MOST_LABEL_WORDS and not _is_long(text) for text in full)
    return bool(texts) and ("_".join(parts_of(name)) in TEXTS or not is_label)


def _is_running(name: Any, values: Sequence[Any]) -> bool:
    """Whether a column of another name has texts of several words that differ from record to record."""
    if not NO_SUMMARIES.isdisjoint(parts_of(name)):
        return False
    running = [v for v in values if isinstance(v, str) and (len(v.split()) >= LEAST_WORDS or _is_long(v))]
    return 2 * len(running) > len(values) and 2 * len({*running}) > len(running)


def _is_long(text: str) -> bool:
    """Whether a text in a script without spaces is more than a name."""
    return sum(letter > "\u0e00" and letter.isalpha() for letter in text) >= LEAST_LETTERS


def _shown(name: Any, values: Sequence[Any]) -> str:
    """A column with the beginning of a value."""
    text = next((value for value in values if isinstance(value, str) and value.strip()), "")
    return f"{shortened(str(name))} ({shortened(text[:MOST_SHOWN])}{' ...' if len(text) > MOST_SHOWN else ''})"
