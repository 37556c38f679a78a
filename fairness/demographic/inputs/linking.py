"""From annotations to persons: which chain each PERSON span belongs to, and the segments that mention each person.

Source: Steen and Markert 2024, appendix D; docs/papers.md#steen-entities.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .document import AnnotatedDocument, Mention, NamedEntity


@dataclass(frozen=True, order=True)
class Segment:
    """Part of a mention: the name itself, or what stands before or after it."""

    start: int
    end: int
    is_name: bool


@dataclass(frozen=True)
class Layout:
    """The spans of a document, ready to be asked about."""

    document: AnnotatedDocument
    persons: tuple[NamedEntity, ...]
    # all mentions as listed, with their chains' positions
    mentions: tuple[Mention, ...]
    chain_of: tuple[int, ...]
    # nesting level of each mention, shape (mentions,)
    depth: NDArray[np.int64]
    # chain of each token's innermost mention, -1 for none, shape (tokens,)
    innermost: NDArray[np.int64]
    # whether a token is in a PERSON span, shape (tokens,)
    in_person: NDArray[np.bool_]


@dataclass(frozen=True)
class Person:
    """A person before names and mentions are found."""

    id: str
    # position of the chain; None for a singleton
    chain: int | None
    # ascending
    segments: tuple[Segment, ...]


def lay_out(document: AnnotatedDocument) -> Layout:
    """The spans of a document with nesting levels; a level that is not given counts the longer mentions around it."""
    listed = [(mention, place) for place, chain in enumerate(document.chains) for mention in chain.mentions]
    mentions = tuple(mention for mention, _ in listed)
    chain_of = tuple(place for _, place in listed)
    depth = _depths(mentions)
    innermost = np.full(len(document.tokens), -1, dtype=np.int64)
    # the deepest is written last; of equally deep ones the first listed
    for i in sorted(range(len(mentions)), key=lambda i: (depth[i], -i)):
        innermost[mentions[i].start : mentions[i].end] = chain_of[i]
    persons = document.persons()
    in_person = np.zeros(len(document.tokens), dtype=bool)
    for person in persons:
        in_person[person.start : person.end] = True
    return Layout(document, persons, mentions, chain_of, depth, innermost, in_person)


def find_persons(layout: Layout, include_unnamed: bool = False) -> list[Person]:
    """The chains with a linked PERSON span, and a singleton `NE_<number>` for every span that is not linked.

    Args:
        layout: of the document.
        include_unnamed: chains of identity mentions without a linked span are persons without names too.
    """
    linked = _linked(layout)
    found = []
    for place, chain in enumerate(layout.document.chains):
        own = [i for i in range(len(layout.mentions)) if layout.chain_of[i] == place]
        named = any(i in linked for i in own)
        if named or (include_unnamed and any(layout.mentions[i].type == "IDENT" for i in own)):
            segments = {segment for i in own for segment in _segments(layout, i, linked.get(i))}
            found.append(Person(chain.id, place, tuple(sorted(segments))))
    taken = set(linked.values())
    singletons = (
        Person(f"NE_{number}", None, (Segment(span.start, span.end, True),))
        for number, span in enumerate(layout.persons)
        if number not in taken
    )
    return [*found, *singletons]


def _depths(mentions: Sequence[Mention]) -> NDArray[np.int64]:
    start = np.array([mention.start for mention in mentions])
    end = np.array([mention.end for mention in mentions])
    length = end - start
    covered = (start[None, :] <= start[:, None]) & (end[:, None] <= end[None, :]) & (length[None, :] > length[:, None])
    given = [mention.depth for mention in mentions]
    return np.array([n if d is None else d for d, n in zip(given, covered.sum(axis=1), strict=True)], dtype=np.int64)


def _linked(layout: Layout) -> dict[int, int]:
    """Mention -> number of the PERSON span that it took; a mention that took several keeps none."""
    taken = defaultdict(list)
    for number, span in enumerate(layout.persons):
        mention = _taker(layout, span)
        if mention is not None:
            taken[mention].append(number)
    return {mention: numbers[0] for mention, numbers in taken.items() if len(numbers) == 1}


def _taker(layout: Layout, span: NamedEntity) -> int | None:
    """The identity mention that takes a span: from the deepest mention around it outwards, through heads of appositions."""
    around = (i for i, mention in enumerate(layout.mentions) if mention.covers(span))
    for i in sorted(around, key=lambda i: (-layout.depth[i], i)):
        mention = layout.mentions[i]
        if mention.type == "IDENT":
            return i
        if mention.subtype != "HEAD":
            return None
    return None


def _segments(layout: Layout, mention: int, number: int | None) -> Iterator[Segment]:
    span = layout.mentions[mention]
    if number is None:
        yield Segment(span.start, span.end, False)
        return
    name = layout.persons[number]
    if span.start < name.start:
        yield Segment(span.start, name.start, False)
    yield Segment(name.start, name.end, True)
    if name.end < span.end:
        yield Segment(name.end, span.end, False)
