"""Polis's export: statements with their authors, and every participant's votes and opinion group.

A conversation is a folder with `comments.csv` and `participants-votes.csv`; `summary.csv` names its topic. The attribute `group`
of a statement is the opinion group of its author. Statements that a moderator rejected, and those whose author is in no group,
are left out with the votes on them. Of the votes 1 agrees, -1 disagrees, 0 passes, and an empty cell is none.
"""

import csv
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from ...corpora.table_files import csv_rows, rows_of_form
from ...errors import DataError
from ...records import Document, DocumentSet
from ...storage import as_given, read_text
from ...text.mistakes import listed_lines
from ...text.shown import shortened
from .votes import Choice, Consultation, StatementVote, one_each

ATTRIBUTE = "group"
COMMENTS, PARTICIPANTS, SUMMARY = "comments.csv", "participants-votes.csv", "summary.csv"
STATEMENT = ("comment-id", "author-id", "moderated", "comment-body")
PARTICIPANT = ("participant", "group-id")
REJECTED = "-1"
ABOUT = (
    "A text has the opinion group of its author on Polis, which made the groups of the same votes that are counted here: that "
    "they differ is no finding, and groups of two sets share a name alone."
)
CHOICES: Mapping[str, Choice] = {"-1": -1, "0": 0, "1": 1}


@as_given()
def read_polis(folder: Path) -> Consultation:
    """The conversations of a folder: one, or one in each of its folders, by their names.

    Raises:
        StorageError: a file cannot be read.
        DataError: there is no conversation, or rows are wrong; all mistakes of a file are listed.
    """
    is_one = (folder / COMMENTS).is_file()
    folders = [folder] if is_one else sorted(path.parent for path in folder.glob(f"*/{COMMENTS}"))
    if not folders:
        raise DataError(f"{folder}: has no {COMMENTS}, nor has a folder in it; give the folder of a Polis export")
    left_out: Counter[str] = Counter()
    sets, votes = list[DocumentSet](), list[StatementVote]()
    for path in folders:
        groups, cast = _participants(path / PARTICIPANTS)
        documents = _statements(path / COMMENTS, groups, left_out)
        if not documents:
            left_out["conversations without a statement of a group"] += 1
            continue
        name = path.resolve().name
        known = {document.id for document in documents}
        values = sorted({document.attributes[ATTRIBUTE] for document in documents})
        notes = {"values": {ATTRIBUTE: values}}
        sets.append(DocumentSet(id=name, topic=_topic(path / SUMMARY), documents=documents, notes=notes))
        all_votes = [
            StatementVote(set_id=name, document=statement, voter=voter, group=groups[voter], vote=choice)
            for voter, statement, choice in cast
            if statement in known
        ]
        left_out["votes on statements that are left out"] += len(cast) - len(all_votes)
        votes += one_each(all_votes, left_out)
    if not sets:
        raise DataError(
            f"{folder}: no statement is by a participant of an opinion group; {PARTICIPANTS} has the groups that Polis found, in "
            "column group-id, and comments.csv the authors: export the conversation once Polis shows groups"
        )
    return Consultation(sets, votes, +left_out, ABOUT)


def _statements(path: Path, groups: Mapping[str, str | None], left_out: Counter[str]) -> tuple[Document, ...]:
    rows, mistakes = rows_of_form(path, STATEMENT)
    documents, first_line = list[Document](), dict[str, int]()
    for line, (statement, author, moderated, text) in rows:
        if (earlier := first_line.setdefault(statement, line)) != line:
            mistakes.append((line, f"comment-id {shortened(statement)} stands in line {earlier} already; take one out"))
        elif moderated == REJECTED:
            left_out["statements that a moderator rejected"] += 1
        elif not text:
            left_out["statements without a text"] += 1
        elif (group := groups.get(author)) is None:
            left_out["statements whose author is in no opinion group"] += 1
        else:
            documents.append(Document(id=statement, text=text, attributes={ATTRIBUTE: group}))
    if mistakes:
        raise DataError(listed_lines(path, mistakes))
    return tuple(documents)


def _participants(path: Path) -> tuple[dict[str, str | None], list[tuple[str, str, Choice]]]:
    """Participant -> opinion group, None for none; and (participant, statement, vote)."""
    groups: dict[str, str | None] = {}
    cast, mistakes = list[tuple[str, str, Choice]](), list[tuple[int, str]]()
    first_line: dict[str, int] = {}
    rows = list(csv_rows(path, PARTICIPANT))
    statements = [name for name in (rows[0][1] if rows else ()) if name and name.isdecimal()]
    if not rows or any(name not in rows[0][1] for name in PARTICIPANT) or not statements:
        raise DataError(
            f"{path}: is no table of Polis's participants; its columns are participant, group-id, and statements by number"
        )
    for line, row in rows:
        voter = str(row["participant"]).strip()
        if (earlier := first_line.setdefault(voter, line)) != line:
            mistakes.append((line, f"participant {shortened(voter)} stands in line {earlier} already; take one out"))
            continue
        group = str(row["group-id"] or "").strip()
        groups[voter] = f"group {group}" if group else None
        for statement in statements:
            cell = str(row[statement] or "").strip()
            if cell in CHOICES:
                cast.append((voter, statement, CHOICES[cell]))
            elif cell:
                mistakes.append(
                    (line, f"the vote on statement {statement} is {shortened(cell)}; votes are -1, 0 and 1")
                )
    if mistakes:
        raise DataError(listed_lines(path, mistakes))
    return groups, cast


def _topic(path: Path) -> str:
    """What the conversation is about; "" where nothing says so."""
    if not path.is_file():
        return ""
    rows = csv.reader(read_text(path).splitlines())
    return next((row[1].strip() for row in rows if len(row) > 1 and row[0] == "topic"), "")
