"""What an importer of a consultation gives: document sets whose documents are statements, and the votes on these."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ...errors import DataError
from ...records import DocumentSet, Record, Text
from ...storage import read_numbered
from ...text.mistakes import listed_lines
from ...text.shown import shortened

# disagrees, passes, agrees
Choice = Literal[-1, 0, 1]
TWICE = "votes that one person gave twice alike"
CONTRARY = "votes of one person on one text that contradict each other"


class StatementVote(Record):
    """What one person said of one statement."""

    set_id: Text
    # id of the statement among the documents of the set
    document: Text
    voter: Text
    # of the voter; None where it is not known
    group: str | None
    vote: Choice


@dataclass(frozen=True)
class Consultation:
    """Statements as document sets, and the votes on them."""

    sets: list[DocumentSet]
    votes: list[StatementVote]
    # reason -> how many
    left_out: Counter[str]
    # what groups are, and where it all comes from, in sentences
    about: str


def one_each(votes: Iterable[StatementVote], left_out: Counter[str]) -> list[StatementVote]:
    """The votes, one of each person on each statement; what is left out is counted, and of contradicting votes none is kept."""
    first: dict[tuple[str, str, str], StatementVote] = {}
    contrary = set()
    for vote in votes:
        key = vote.set_id, vote.document, vote.voter
        earlier = first.setdefault(key, vote)
        if earlier is vote:
            continue
        left_out[TWICE if earlier.vote == vote.vote else CONTRARY] += 1
        if earlier.vote != vote.vote and key not in contrary:
            contrary.add(key)
            left_out[CONTRARY] += 1
    return [vote for key, vote in first.items() if key not in contrary]


def read_votes(path: Path, left_out: Counter[str]) -> list[StatementVote]:
    """The votes of a file that an importer or anybody else wrote, one of each person on each statement.

    Args:
        path: of JSON lines.
        left_out: by reason, to which is added what is.

    Raises:
        StorageError: the file cannot be read.
        DataError: lines are wrong, a voter has two groups in one set, or there is no vote; all mistakes are listed.
    """
    numbered, mistakes = read_numbered(path, StatementVote)
    first: dict[tuple[str, str], tuple[int, str | None]] = {}
    for line, vote in numbered:
        earlier, group = first.setdefault((vote.set_id, vote.voter), (line, vote.group))
        if group != vote.group:
            mistakes.append(
                (
                    line,
                    f"voter {shortened(vote.voter)} is of {vote.group!r}, and of {group!r} in line {earlier}; take one",
                )
            )
    if mistakes:
        raise DataError(listed_lines(path, mistakes))
    if not numbered:
        raise DataError(f"{path}: has no vote; give the file that evenhand import polis or remesh wrote with --votes")
    return one_each((vote for _, vote in numbered), left_out)
