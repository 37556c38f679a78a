"""Remesh's dialogues in the form of "polarized issues": people with their leanings, texts on open questions, votes on these.

A folder has `people.csv` (person, leaning), `texts.csv` (text_id, question_id, question, person, text) and `votes.csv`
(question_id, person, text_id, vote: Agree or Disagree). The texts on a question are a document set; the attribute `leaning` is
their authors'.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path

from ...corpora.table_files import rows_of_form
from ...errors import DataError
from ...records import Document, DocumentSet
from ...storage import as_given
from ...text.mistakes import listed_lines
from ...text.shown import shortened
from .votes import Choice, Consultation, StatementVote, one_each

ATTRIBUTE = "leaning"
PEOPLE, TEXTS, VOTES = "people.csv", "texts.csv", "votes.csv"
ABOUT = "A text has the leaning of its author, who took part in a dialogue held with Remesh."
CHOICES: Mapping[str, Choice] = {"agree": 1, "disagree": -1}


@as_given()
def read_remesh(folder: Path) -> Consultation:
    """The questions of a folder, in the order of their first texts.

    Raises:
        StorageError: a file cannot be read.
        DataError: columns are missing or rows are wrong; all mistakes of a file are listed.
    """
    if not (folder / TEXTS).is_file():
        raise DataError(f"{folder}: has no {TEXTS}; give the folder with {PEOPLE}, {TEXTS} and {VOTES}")
    left_out: Counter[str] = Counter()
    leanings = _leanings(folder / PEOPLE)
    sets = _questions(folder / TEXTS, leanings, left_out)
    if not sets:
        raise DataError(f"{folder}: no text is by a person whose leaning is known")
    question_of = {document.id: documents.id for documents in sets for document in documents.documents}
    votes = _votes(folder / VOTES, question_of, leanings, left_out)
    return Consultation(sets, one_each(votes, left_out), +left_out, ABOUT)


def _leanings(path: Path) -> dict[str, str]:
    """Person -> leaning; people without one are absent."""
    rows, mistakes = rows_of_form(path, ("person", "leaning"))
    leanings: dict[str, str] = {}
    for line, (person, leaning) in rows:
        # a person may have taken part in several dialogues
        if leaning and leanings.setdefault(person, leaning) != leaning:
            mistakes.append((line, f"{shortened(person)} is {leanings[person]!r} elsewhere and {leaning!r} here"))
    if mistakes:
        raise DataError(listed_lines(path, mistakes))
    return leanings


def _questions(path: Path, leanings: Mapping[str, str], left_out: Counter[str]) -> list[DocumentSet]:
    rows, mistakes = rows_of_form(path, ("text_id", "question_id", "question", "person", "text"))
    texts: dict[str, list[Document]] = defaultdict(list)
    topics, first_line = dict[str, str](), dict[str, int]()
    for line, (text_id, question_id, question, person, text) in rows:
        if (earlier := first_line.setdefault(text_id, line)) != line:
            mistakes.append((line, f"text_id {shortened(text_id)} stands in line {earlier} already; take one out"))
        elif not text:
            left_out["texts without a word"] += 1
        elif person not in leanings:
            left_out["texts whose author has no leaning"] += 1
        else:
            topics.setdefault(question_id, question)
            texts[question_id].append(Document(id=text_id, text=text, attributes={ATTRIBUTE: leanings[person]}))
    if mistakes:
        raise DataError(listed_lines(path, mistakes))
    return [DocumentSet(id=name, topic=topics[name], documents=tuple(documents)) for name, documents in texts.items()]


def _votes(
    path: Path, question_of: Mapping[str, str], leanings: Mapping[str, str], left_out: Counter[str]
) -> list[StatementVote]:
    rows, mistakes = rows_of_form(path, ("question_id", "person", "text_id", "vote"))
    votes = []
    for line, (question_id, person, text_id, choice) in rows:
        if choice.casefold() not in CHOICES:
            mistakes.append((line, f"the vote is {shortened(choice)}; votes are Agree and Disagree"))
        elif text_id not in question_of:
            left_out["votes on texts that are not there, or left out"] += 1
        elif question_of[text_id] != question_id:
            left_out["votes under another question than their text's"] += 1
        else:
            group, vote = leanings.get(person), CHOICES[choice.casefold()]
            votes.append(StatementVote(set_id=question_id, document=text_id, voter=person, group=group, vote=vote))
    if mistakes:
        raise DataError(listed_lines(path, mistakes))
    return votes
