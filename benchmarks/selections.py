"""Consultations whose votes are known, and selections of their statements: summaries whose approval can be told.

A selection is drawn at random, or made by the text, by the authors' groups, or by the votes of one half of the voters.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError
from ..fairness.content_tokens import content_tokens
from ..fairness.encoding import encode
from ..fairness.groups.quotas import group_quotas
from ..plugins.consultations import polis, remesh
from ..plugins.consultations.approval import VoteTable, leximin, vote_table
from ..plugins.consultations.votes import Consultation, StatementVote
from ..records import DocumentSet

# agreeing and disagreeing votes of every group that a statement needs, and such statements that a conversation needs
LEAST_VOTES = 2
LEAST_STATEMENTS = 11
RANDOM = "at random"


@dataclass(frozen=True, eq=False)
class Conversation:
    """The statements that every group voted on often enough, with their votes."""

    name: str
    # the form that it was read in
    form: str
    texts: tuple[str, ...]
    # group of each statement's author
    authors: tuple[str, ...]
    table: VoteTable


@dataclass(frozen=True)
class Selection:
    """Statements that stand for a summary."""

    # how they were selected
    how: str
    statements: tuple[int, ...]


def conversations_of(folder: Path, groups: Mapping[str, Sequence[str]], left_out: Counter[str]) -> list[Conversation]:
    """The conversations of a folder in Polis's or Remesh's form, with at least two groups of voters and `LEAST_STATEMENTS`.

    Args:
        folder: of the files.
        groups: names of groups that take the place of several; of others the name stays.
        left_out: by reason, to which is added what is.

    Raises:
        DataError: the folder has neither form, or rows are wrong.
    """
    is_remesh = (folder / remesh.TEXTS).is_file()
    form, attribute = ("Remesh", remesh.ATTRIBUTE) if is_remesh else ("Polis", polis.ATTRIBUTE)
    consultation: Consultation = remesh.read_remesh(folder) if is_remesh else polis.read_polis(folder)
    group_of = {member: group for group, members in groups.items() for member in members}
    votes: dict[str, list[StatementVote]] = defaultdict(list)
    for vote in consultation.votes:
        group = vote.group and group_of.get(vote.group, vote.group)
        votes[vote.set_id].append(vote.model_copy(update={"group": group}))
    conversations = []
    for documents in consultation.sets:
        conversation = _conversation(documents, votes[documents.id], form, attribute, group_of, left_out)
        if conversation is not None:
            conversations.append(conversation)
    if not conversations:
        raise DataError(
            f"{folder}: no conversation has {LEAST_STATEMENTS} statements with {LEAST_VOTES} votes of each of two groups"
        )
    return conversations


def _conversation(
    documents: DocumentSet,
    votes: Sequence[StatementVote],
    form: str,
    attribute: str,
    group_of: Mapping[str, str],
    left_out: Counter[str],
) -> Conversation | None:
    table = vote_table(documents, votes, left_out)
    if table is None or len(table.groups) < 2:
        left_out["conversations without votes of two groups"] += 1
        return None
    n_votes = (table.count(1) + table.count(-1)).min(axis=0)
    statements = np.flatnonzero(n_votes >= LEAST_VOTES)
    left_out["statements with too few votes of a group"] += len(n_votes) - len(statements)
    if len(statements) < LEAST_STATEMENTS:
        left_out[f"conversations with fewer than {LEAST_STATEMENTS} statements left"] += 1
        return None
    chosen = [documents.documents[place] for place in statements]
    authors = [document.attributes[attribute] for document in chosen]
    return Conversation(
        documents.id,
        form,
        tuple(document.text for document in chosen),
        tuple(group_of.get(author, author) for author in authors),
        table.of(statements),
    )


def selections_of(
    conversation: Conversation, choosing: VoteTable, size: int, n_random: int, generator: np.random.Generator
) -> Iterator[Selection]:
    """Random selections, and one of each other kind that the conversation allows.

    Args:
        conversation: has more statements than are selected.
        choosing: the votes of half of the voters, by which selections may be made.
        size: statements of each.
        n_random: how many random ones.
        generator: of all that is drawn.
    """
    n = len(conversation.texts)
    for _ in range(n_random):
        yield Selection(RANDOM, tuple(generator.permutation(n)[:size].tolist()))
    likely = choosing.likely_rates
    by_order: list[tuple[str, NDArray[np.float64]]] = [
        ("most characters", np.array([len(text) for text in conversation.texts], dtype=float)),
        ("nearest the centre", centrality(conversation.texts)),
        ("majority", majority(choosing)),
        ("group-informed consensus", choosing.consensus),
        *(("what one group approves most", rates) for rates in likely),
    ]
    for how, amounts in by_order:
        yield Selection(how, tuple(np.argsort(-amounts, kind="stable")[:size].tolist()))
    yield Selection("leximin", tuple(leximin(likely, size)))
    places: dict[str, list[int]] = defaultdict(list)
    for place in generator.permutation(n).tolist():
        places[conversation.authors[place]].append(place)
    sizes = {group: len(members) for group, members in sorted(places.items())}
    for notion in ("proportional", "equal"):
        quotas = group_quotas(sizes, size, notion)
        yield Selection(f"quota, {notion}", tuple(p for group, k in quotas.items() for p in places[group][:k]))
    for members in places.values():
        if len(members) >= size:
            yield Selection("by one group's authors alone", tuple(members[:size]))


def majority(table: VoteTable) -> NDArray[np.float64]:
    """Approval of each statement by all voters together, (statements,), with one vote more of either kind."""
    agrees, disagrees = (table.count(vote).sum(axis=0) for vote in (1, -1))
    return np.asarray((agrees + 1) / (agrees + disagrees + 2))


def centrality(texts: Sequence[str]) -> NDArray[np.float64]:
    """How near each text is to all: mean cosine of its distinct content words with theirs, (texts,), in [0, 1]."""
    present = (encode([content_tokens(text) for text in texts]).counts() > 0).astype(float)
    lengths = np.sqrt(np.asarray(present.sum(axis=1), dtype=float).reshape(-1))
    directions = np.asarray(present.todense()) / np.where(lengths > 0, lengths, 1.0)[:, None]
    return np.asarray(directions @ directions.mean(axis=0))
