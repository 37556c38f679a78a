"""The dialogue sets, IQ2 debates and the Supreme Court: turns of speakers, cut into segments, a set for each.

A document is a turn, `speaker : text`, its value the speaker's name; the name is part of the text and counts as words.

Source: Zhang et al. 2024, section 4; docs/papers.md#zhang-dialogue.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field, TypeAdapter

from ...errors import DataError
from ...fairness.groups.preparation import SpokenTurn, segment_dialogue
from ...records import DocumentSet, Text
from ...storage import read_json
from ...text.mistakes import explained, listed, listed_lines
from ...text.shown import shortened
from .raw import decoded_lines, set_of_units

COURT_FIELD_END = "+++$+++"
ATTRIBUTE = "speaker"
# most word tokens of a segment, and most transcripts, in the published sets
DEBATE_TOKENS = 1500
COURT_TOKENS = 2000
COURT_CASES = 100


@dataclass(frozen=True)
class Transcripts:
    """What was read, and what was left out of it."""

    # id -> turns
    dialogues: dict[str, tuple[SpokenTurn, ...]]
    # what and why -> how many
    left_out: dict[str, int]


class _DebateTurn(BaseModel):
    speaker: str
    paragraphs: list[str]


class _Transcript(BaseModel):
    transcript: Annotated[list[_DebateTurn], Field(min_length=1)]


def read_debates(path: Path, *, limit: int | None = None) -> Transcripts:
    """The debates of the IQ2 release: a JSON object, id -> `{"transcript": [{"speaker", "paragraphs"}]}`; more is ignored.

    A turn without any text is left out and counted.

    Args:
        path: the object.
        limit: the first so many debates; None takes all, as the published sets do.

    Raises:
        StorageError: the file cannot be read.
        DataError: the file is no such object, an id occurs twice, a turn has no speaker, or no turn has text; all mistakes are
            listed.
    """
    with explained(str(path)):
        debates = TypeAdapter(dict[Text, _Transcript]).validate_python(read_json(path))
    nameless = [
        f"{path}: {shortened(name)}: turn {number} has no speaker before its first colon; name one"
        for name, debate in debates.items()
        for number, turn in enumerate(debate.transcript, start=1)
        if not speaker_of(turn.speaker)
    ]
    if nameless:
        raise DataError(listed(nameless))
    turns = {
        name: [SpokenTurn(turn.speaker, tuple(turn.paragraphs)) for turn in debate.transcript]
        for name, debate in debates.items()
    }
    return _transcripts(path, turns, limit, "debates")


def read_court(path: Path, *, limit: int | None = COURT_CASES) -> Transcripts:
    """The first cases of a court transcript, `case +++$+++ ... +++$+++ ... +++$+++ speaker +++$+++ ... +++$+++ text` a line.

    A turn without any text is left out and counted.

    Args:
        path: the conversations of the Supreme Court dialogs corpus, UTF-8 or Latin-1; one named .gz is unpacked.
        limit: so many cases, in order of their first turn; None takes all. The published sets are those of 100.

    Raises:
        StorageError: the file cannot be read.
        DataError: lines have too few fields, no case or no speaker, or no line has text; all are listed.
    """
    cases: dict[str, list[SpokenTurn]] = {}
    mistakes = []
    for number, line in decoded_lines(path):
        fields = [field.strip() for field in line.split(COURT_FIELD_END)]
        if len(fields) < 5:
            mistakes.append((number, f"has {len(fields)} fields between {COURT_FIELD_END}; at least 5 are needed"))
        elif not fields[0]:
            mistakes.append((number, "has no case in its first field; name one"))
        elif not speaker_of(fields[3]):
            mistakes.append((number, "has no speaker in its fourth field; name one"))
        else:
            cases.setdefault(fields[0], []).append(SpokenTurn(fields[3], (fields[-1],)))
    if mistakes:
        raise DataError(listed_lines(path, mistakes))
    return _transcripts(path, cases, limit, "cases")


def _transcripts(path: Path, turns: Mapping[str, Sequence[SpokenTurn]], limit: int | None, unit: str) -> Transcripts:
    """The first dialogues without their empty turns.

    Raises:
        DataError: no turn of them has text.
    """
    left_out: Counter[str] = Counter()
    if limit is not None and len(turns) > limit:
        left_out[f"{unit}: beyond the first {limit:,}"] = len(turns) - limit
    dialogues = {}
    for name in list(turns)[:limit]:
        dialogues[name] = tuple(t for t in turns[name] if any(paragraph.strip() for paragraph in t.paragraphs))
        left_out["turns: no text"] += len(turns[name]) - len(dialogues[name])
    if not any(dialogues.values()):
        raise DataError(f"{path}: holds no turn with text, so there is nothing to make sets of")
    return Transcripts(dialogues, dict(+left_out))


def speaker_of(text: str) -> str:
    """The name that a turn begins with: what stands before the first colon, stripped."""
    return text.partition(":")[0].strip()


def build_dialogues(
    dialogues: Mapping[str, Sequence[SpokenTurn]],
    most_tokens: int | None,
    count: Callable[[str], int],
    *,
    exact: bool = False,
) -> list[DocumentSet]:
    """A document set for each segment that is not empty, named after its dialogue and its number from 1.

    Args:
        dialogues: id -> turns of each transcript, in order.
        most_tokens: of a segment; None takes each dialogue whole.
        count: word tokens of a text; the published sets count NLTK's, see `fairness.groups.preparation.word_counter`.
        exact: charge a turn to the segment that it opens, as the released rule does not.

    Raises:
        DataError: the limit is below 1.
    """
    sets = []
    for name, spoken in dialogues.items():
        if most_tokens is None:
            segments = [[turn.text for turn in spoken]]
        else:
            segments = segment_dialogue(spoken, most_tokens, count, exact=exact)
        for number, turns in enumerate(filter(None, segments), start=1):
            set_id = f"{name}-{number:02d}"
            speakers = list(map(speaker_of, turns))
            notes = {
                "values": {ATTRIBUTE: list(dict.fromkeys(speakers))},
                "separator": "\n",
                "meta": {"type": "dialogue", "dialogue": name, "segment": number},
            }
            units = [(turn, {ATTRIBUTE: speaker}) for turn, speaker in zip(turns, speakers, strict=True)]
            sets.append(set_of_units(set_id, units, notes))
    return sets
