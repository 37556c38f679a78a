"""The dialogue sets, IQ2 debates and the Supreme Court: turns of speakers, cut into segments, a set for each.

A document is a turn, `speaker : text`, its value the speaker's name; the name is part of the text and counts as words.

Source: specification of group fairness, sections 10.3 and 10.4.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError

from ...errors import DataError
from ...fairness.groups import SpokenTurn, segment_dialogue
from ...records import DocumentSet
from ...storage import explain, listed_lines, read_json
from .decoding import read_lines
from .released import numbered_documents

COURT_FIELD_END = " +++$+++ "
ATTRIBUTE = "speaker"
# most word tokens of a segment, and most transcripts, in the published sets
DEBATE_TOKENS = 1500
COURT_TOKENS = 2000
COURT_CASES = 100


@dataclass(frozen=True)
class Dialogue:
    """A transcript."""

    id: str
    turns: tuple[SpokenTurn, ...]


class _DebateTurn(BaseModel):
    speaker: str
    paragraphs: list[str]


class _Debate(BaseModel):
    transcript: list[_DebateTurn]


def read_debates(path: Path) -> list[Dialogue]:
    """The debates of the IQ2 release: a JSON object, id -> `{"transcript": [{"speaker", "paragraphs"}]}`; more is ignored.

    Raises:
        StorageError: the file cannot be read.
        DataError: the file is no such object, or a turn has no speaker; all mistakes are listed.
    """
    try:
        debates = TypeAdapter(dict[str, _Debate]).validate_python(read_json(path))
    except ValidationError as error:
        raise DataError(f"{path}: {explain(error)}") from error
    nameless = [
        f"{path}: {name!r}: turn {number} has no speaker before its first colon; name one"
        for name, debate in debates.items()
        for number, turn in enumerate(debate.transcript, start=1)
        if not speaker_of(turn.speaker)
    ]
    if nameless:
        raise DataError("\n".join(nameless))
    return [
        Dialogue(name, tuple(SpokenTurn(turn.speaker, tuple(turn.paragraphs)) for turn in debate.transcript))
        for name, debate in debates.items()
    ]


def read_court(path: Path, *, limit: int | None = COURT_CASES) -> list[Dialogue]:
    """The first cases of a court transcript, `case +++$+++ ... +++$+++ ... +++$+++ speaker +++$+++ ... +++$+++ text` a line.

    Args:
        path: the conversations of the Supreme Court dialogs corpus, UTF-8 or Latin-1.
        limit: so many cases, in order of their first turn; None takes all. The published sets are those of 100.

    Raises:
        StorageError: the file cannot be read.
        DataError: lines have too few fields or no speaker; all are listed.
    """
    cases: dict[str, list[SpokenTurn]] = {}
    mistakes = []
    for number, line in read_lines(path):
        fields = [field.strip() for field in line.split(COURT_FIELD_END)]
        if len(fields) < 5:
            mistakes.append((number, f"has {len(fields)} fields between{COURT_FIELD_END}; at least 5 are needed"))
        elif not speaker_of(fields[3]):
            mistakes.append((number, "has no speaker in its fourth field; name one"))
        else:
            cases.setdefault(fields[0], []).append(SpokenTurn(fields[3], (fields[-1],)))
    if mistakes:
        raise DataError(listed_lines(path, mistakes))
    return [Dialogue(name, tuple(turns)) for name, turns in list(cases.items())[:limit]]


def speaker_of(text: str) -> str:
    """The name that a turn begins with: what stands before the first colon, stripped."""
    return text.partition(":")[0].strip()


def build_dialogues(
    dialogues: Sequence[Dialogue], most_tokens: int | None, count: Callable[[str], int], *, exact: bool = False
) -> list[DocumentSet]:
    """A document set for each segment that is not empty, named after its dialogue and its number from 1.

    Args:
        dialogues: the transcripts, in order.
        most_tokens: of a segment; None takes each dialogue whole.
        count: word tokens of a text; the published sets count NLTK's, see `fairness.groups.word_counter`.
        exact: charge a turn to the segment that it opens, as the released rule does not.

    Raises:
        DataError: the limit is below 1.
    """
    sets = []
    for dialogue in dialogues:
        if most_tokens is None:
            segments = [[turn.text for turn in dialogue.turns]]
        else:
            segments = segment_dialogue(dialogue.turns, most_tokens, count, exact=exact)
        full = [segment for segment in segments if segment]
        sets += [_document_set(dialogue.id, number, turns) for number, turns in enumerate(full, start=1)]
    return sets


def _document_set(dialogue: str, number: int, turns: Sequence[str]) -> DocumentSet:
    set_id = f"{dialogue}-{number:02d}"
    units = [(turn, {ATTRIBUTE: speaker_of(turn)}) for turn in turns]
    speakers = list(dict.fromkeys(attributes[ATTRIBUTE] for _, attributes in units))
    notes: dict[str, Any] = {
        "values": {ATTRIBUTE: speakers},
        "separator": "\n",
        "meta": {"type": "dialogue", "dialogue": dialogue, "segment": number},
    }
    return DocumentSet(id=set_id, documents=numbered_documents(set_id, units), notes=notes)
