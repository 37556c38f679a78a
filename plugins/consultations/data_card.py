"""A card of a consultation's data: who said and voted what, what was left out, and what cannot be concluded from it."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from ...evaluation.pages.blocks import Block, Facts, Heading, Prose
from ...evaluation.pages.cells import Column, Text
from ...evaluation.pages.markdown import fragment, plain
from ...evaluation.pages.tables import count, row, table
from ...evaluation.pages.words import MOST_NAMED, NOTHING_LEFT_OUT, counted, joined
from ...records import DocumentSet
from ...storage import file_digest
from .approval import LEAST_VOTERS
from .votes import Consultation, StatementVote

NO_GROUP = "no group"
VOTE_HEADS = ("voters", "agree", "disagree", "pass", "votes of a voter on average")
LIMITS = (
    "Who took part chose to, and nobody saw everything: this says nothing of other people, and votes little of what few "
    "voted on. Names of authors and voters are not here, but what people write can give them away: look through the texts "
    "before you publish them, and ask whose consent there is."
)


def data_card(consultation: Consultation, attribute: str, files: Sequence[Path]) -> str:
    """The card as Markdown.

    Args:
        consultation: as it was imported.
        attribute: whose values the groups of authors are.
        files: that were written of it.
    """
    title = f"The data of {joined([documents.id for documents in consultation.sets], MOST_NAMED)}"
    return f"# {plain(title)}\n\n{fragment(_blocks(consultation, attribute, files))}\n"


def _blocks(consultation: Consultation, attribute: str, files: Sequence[Path]) -> Iterator[Block]:
    n_texts = sum(len(documents.documents) for documents in consultation.sets)
    voters = {(vote.set_id, vote.voter) for vote in consultation.votes}
    cast = f", {counted(len(consultation.votes), 'vote')} of {counted(len(voters), 'voter')}" if voters else ""
    sets = counted(len(consultation.sets), "document set")
    yield Prose(f"{counted(n_texts, 'text')} in {sets}{cast}. {consultation.about}")
    digests = [(path.name, Text(file_digest(path), style="code")) for path in files]
    yield Facts((("licence", Text("unknown", "as whoever held the consultation says")), *digests))
    by_set = defaultdict(list)
    for vote in consultation.votes:
        by_set[vote.set_id].append(vote)
    heads = (attribute, "texts by its authors", *(VOTE_HEADS if voters else ()))
    for documents in consultation.sets:
        yield Heading(documents.topic or documents.id, 3, note=documents.id if documents.topic else "")
        yield table(f"groups of {documents.id}", heads, _groups(documents, attribute, by_set[documents.id]))
    yield Heading("What was left out")
    if consultation.left_out:
        rows = (row(reason, count(n)) for reason, n in sorted(consultation.left_out.items()))
        yield table("left out", (Column("what", "long"), "how many"), rows)
    else:
        yield Prose(NOTHING_LEFT_OUT)
    yield Heading("What to know")
    yield Prose(LIMITS)
    if voters:
        yield Prose(
            f"Approval is told of groups of at least {LEAST_VOTERS} voters; the votes of smaller ones do not count."
        )


def _groups(documents: DocumentSet, attribute: str, votes: Sequence[StatementVote]) -> Iterator[tuple[Text, ...]]:
    authors = Counter(document.attributes.get(attribute, NO_GROUP) for document in documents.documents)
    cast = Counter((vote.group or NO_GROUP, vote.vote) for vote in votes)
    voters: dict[str, set[str]] = defaultdict(set)
    for vote in votes:
        voters[vote.group or NO_GROUP].add(vote.voter)
    for name in sorted(authors.keys() | voters.keys()):
        counts = [authors[name]]
        if votes:
            counts += [len(voters[name]), *(cast[name, choice] for choice in (1, -1, 0))]
        mean = [Text(f"{sum(counts[2:]) / len(voters[name]):.1f}" if voters[name] else "")] if votes else []
        yield (Text(name), *(Text(f"{n:,}") for n in counts), *mean)
