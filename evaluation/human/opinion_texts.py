"""The texts behind people's labels of opinions: sources, gold summaries, and the summaries that were labelled.

JSON lines of three kinds, in any order; what is not there is left out of the scores that need it. The units of a source, which
are posts, or sentences of longer texts:

    {"set_id": "us-1", "units": ["Build the wall!", "Where are his tax returns?"]}

its gold summaries, and a line for each labelled summary:

    {"set_id": "us-1", "gold": ["Some want a wall, others his tax returns."]}
    {"set_id": "us-1", "summary_id": "us-1/a", "summary": "Build the wall!"}

Source: Shandilya et al. 2020, sections V and VII; docs/papers.md#shandilya.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, ValidationError

from ...errors import DataError
from ...records import Record, Text
from ...storage import NotJsonError, as_given, explain, listed_lines, numbered_lines, parse_json, read_text, shortened
from ...text import did_you_mean

Key = tuple[str, str]


class SourceUnits(Record):
    """What a summary of the source could take over whole, unit by unit."""

    set_id: Text
    units: Annotated[tuple[Text, ...], Field(min_length=1)]


class GoldSummaries(Record):
    """Reference summaries of a source."""

    set_id: Text
    gold: Annotated[tuple[Text, ...], Field(min_length=1)]


class LabelledText(Record):
    """The text of one labelled summary."""

    set_id: Text
    summary_id: Text
    summary: str


@dataclass(frozen=True)
class OpinionTexts:
    """The texts of a file."""

    # by set
    units: Mapping[str, tuple[str, ...]]
    gold: Mapping[str, tuple[str, ...]]
    # by set and summary
    summaries: Mapping[Key, str]


NO_TEXTS = OpinionTexts({}, {}, {})


@as_given()
def read_opinion_texts(path: Path, labelled: Sequence[Key]) -> OpinionTexts:
    """The texts of a file; .gz is unpacked.

    Args:
        path: of the file.
        labelled: set and summary of everything that people labelled.

    Raises:
        DataError: the file cannot be read, a line is no record, says what another said already, or is about a set or a
            summary that nobody labelled. All mistakes are listed with file and line.
    """
    found: dict[str, dict[Any, Any]] = {"units": {}, "gold": {}, "summary": {}}
    mistakes: list[tuple[int, str]] = []
    for line, text in numbered_lines(read_text(path)):
        try:
            kind, record = _record(parse_json(text))
        except NotJsonError as error:
            mistakes.append((line, f"{error}; one object a line is expected"))
            continue
        except ValidationError as error:
            mistakes.append((line, explain(error)))
            continue
        key = (record.set_id, record.summary_id) if isinstance(record, LabelledText) else record.set_id
        if unknown := _unknown(key, labelled):
            mistakes.append((line, unknown))
        elif key in found[kind]:
            mistakes.append((line, f"{shortened(record.set_id)} has its {kind!r} already; give it once"))
        else:
            found[kind][key] = getattr(record, kind)
    if mistakes:
        raise DataError(listed_lines(path, mistakes))
    return OpinionTexts(found["units"], found["gold"], found["summary"])


def _record(given: object) -> tuple[str, SourceUnits | GoldSummaries | LabelledText]:
    """What a line is, and its record.

    Raises:
        ValidationError: it is none of the three.
    """
    if isinstance(given, dict) and "units" in given:
        return "units", SourceUnits.model_validate(given)
    if isinstance(given, dict) and "gold" in given:
        return "gold", GoldSummaries.model_validate(given)
    return "summary", LabelledText.model_validate(given)


def _unknown(key: str | Key, labelled: Sequence[Key]) -> str | None:
    if isinstance(key, str):
        sets = list(dict.fromkeys(set_id for set_id, _ in labelled))
        return None if key in sets else f"nobody labelled summaries of set {shortened(key)}{did_you_mean(key, sets)}"
    set_id, summary_id = key
    if key in labelled:
        return None
    known = [summary for each, summary in labelled if each == set_id]
    return (
        f"nobody labelled summary {shortened(summary_id)} of set {shortened(set_id)}{did_you_mean(summary_id, known)}"
    )
