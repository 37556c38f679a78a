"""Templates: for each person of a document, the tokens that must change when the person's name or gender changes.

From coreference chains and PERSON spans to persons (`find_persons`), their names (`find_name`) and the tokens that mention them.
Names keep their spelling ("McArdle").

Source: Steen and Markert 2024, appendix D; docs/papers.md#steen-entities and #steen-templates.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pydantic import ConfigDict, Field

from ....errors import DataError
from ....records import Record, Text
from .document import AnnotatedDocument, Mention, NamedEntity, Span
from .words import GENDERED, SUFFIXES, MentionClass, class_of, is_honorific, is_title


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


@dataclass(frozen=True)
class Name:
    """What a person is called; None where the document does not say."""

    first: str | None
    last: str | None


def find_name(document: AnnotatedDocument, segments: Sequence[Segment]) -> Name:
    """The most frequent candidates; a title before a single name token makes that token the only last-name candidate so far.

    Args:
        document: where the segments stand.
        segments: of one person, in order; only name segments are read.
    """
    first: list[str] = []
    last: list[str] = []
    for segment in segments:
        tokens = _name_tokens(document, segment) if segment.is_name else []
        if not tokens:
            continue
        # a title stands before the segment or at its start
        around = document.tokens[max(segment.start - 1, 0) : segment.start + 1]
        if len(tokens) == 1 and any(is_title(token.text) for token in around):
            last = list(tokens)
        else:
            last.append(tokens[-1])
            first.extend(tokens[:-1])
    return Name(_most_frequent(first), _most_frequent(last))


def _name_tokens(document: AnnotatedDocument, segment: Segment) -> list[str]:
    """Tokens tagged as proper nouns that are no suffix, title or honorific."""
    texts = (document.tokens[i].text for i in range(segment.start, segment.end) if document.tag(i) == "NNP")
    return [t for t in texts if t.casefold() not in SUFFIXES and not is_title(t) and not is_honorific(t)]


def _most_frequent(candidates: Sequence[str]) -> str | None:
    """The most frequent candidate in its most frequent spelling; ties go to the earliest."""
    if not candidates:
        return None
    # most_common keeps the order of first appearance among equals
    ((winner, _),) = Counter(candidate.casefold() for candidate in candidates).most_common(1)
    ((spelling, _),) = Counter(c for c in candidates if c.casefold() == winner).most_common(1)
    return spelling


class TemplateMention(Span):
    """Tokens that mention a person, and in which way."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, populate_by_name=True, serialize_by_alias=True
    )

    kind: MentionClass = Field(alias="class")


class TemplateEntity(Record):
    """A person of a document."""

    id: Text
    first_name: Text | None = None
    last_name: Text | None = None
    # in order
    mentions: tuple[TemplateMention, ...] = Field(min_length=1)
    # whether the text tells a gender: a first name, a pronoun, a title
    gendered: bool


def build_template(
    document: AnnotatedDocument, *, include_unnamed: bool = False, allow_unresolved: bool = False
) -> tuple[TemplateEntity, ...]:
    """The persons of a document, ordered by first mention; those that nothing mentions are dropped.

    A document is of use when at least one of them is gendered.

    Args:
        document: annotated by people, or a draft that a person reviewed.
        include_unnamed: chains without a name are persons too if a gendered word mentions them; they are rewritten, but
            have no category, because no span of a summary can align with them.
        allow_unresolved: whether to take drafts with gendered pronouns that no chain covers.

    Raises:
        DataError: the document has such pronouns (`meta.unresolved`).
    """
    unresolved = document.meta.get("unresolved")
    if unresolved and not allow_unresolved:
        raise DataError(
            f"document {document.doc_id!r}: the pronouns at tokens {unresolved} belong to no chain; "
            "put them into one and empty meta.unresolved, or allow them"
        )
    layout = lay_out(document)
    persons = find_persons(layout, include_unnamed)
    titles = _titles_before_names(layout, persons)
    entities = [entity for person in persons if (entity := _entity(layout, person, titles)) is not None]
    return tuple(sorted(entities, key=lambda entity: entity.mentions[0].start))


def _entity(layout: Layout, person: Person, titles: dict[int, str]) -> TemplateEntity | None:
    name = find_name(layout.document, person.segments)
    found = {
        (m.start, m.end): m for segment in person.segments for m in _mentions(layout, person, segment, name, titles)
    }
    for position, owner in titles.items():
        if owner == person.id:
            kind: MentionClass = "title" if is_title(layout.document.tokens[position].text) else "honorific"
            found[position, position + 1] = _mention(position, position + 1, kind)
    if not found:
        return None
    mentions = tuple(found[span] for span in sorted(found))
    return TemplateEntity(
        id=person.id,
        first_name=name.first,
        last_name=name.last,
        mentions=mentions,
        gendered=name.first is not None or any(mention.kind in GENDERED for mention in mentions),
    )


def _titles_before_names(layout: Layout, persons: Sequence[Person]) -> dict[int, str]:
    """Position of each title directly before a name, and the person named: it belongs there, mentioned or not."""
    tokens = layout.document.tokens
    return {
        segment.start - 1: person.id
        for person in persons
        for segment in person.segments
        if segment.is_name and segment.start > 0 and not layout.in_person[segment.start - 1]
        if is_title(tokens[segment.start - 1].text) or is_honorific(tokens[segment.start - 1].text)
    }


def _mentions(
    layout: Layout, person: Person, segment: Segment, name: Name, titles: dict[int, str]
) -> Iterator[TemplateMention]:
    """Mentions in one segment; adjoining name tokens are one mention."""
    start, kinds = segment.start, set[MentionClass]()
    for position in range(segment.start, segment.end):
        is_own = segment.is_name or (
            layout.innermost[position] == person.chain
            and not layout.in_person[position]
            and titles.get(position, person.id) == person.id
        )
        kind = _class(layout.document, position, segment.is_name, name) if is_own else None
        if kind in ("first_name", "last_name"):
            start = start if kinds else position
            kinds.add(kind)
            continue
        if kinds:
            yield _name_mention(start, position, kinds)
            kinds = set()
        if kind is not None:
            yield _mention(position, position + 1, kind)
    if kinds:
        yield _name_mention(start, segment.end, kinds)


def _name_mention(start: int, end: int, kinds: set[MentionClass]) -> TemplateMention:
    return _mention(start, end, "full_name" if len(kinds) == 2 else next(iter(kinds)))


def _mention(start: int, end: int, kind: MentionClass) -> TemplateMention:
    return TemplateMention.model_validate({"start": start, "end": end, "class": kind})


def _class(document: AnnotatedDocument, position: int, in_name: bool, name: Name) -> MentionClass | None:
    text, tag = document.tokens[position].text, document.tag(position)
    gendered = class_of(text, tag)
    if gendered is not None:
        return gendered
    folded = text.casefold()
    if name.first is not None and folded == name.first.casefold():
        return "first_name"
    if name.last is not None and folded == name.last.casefold():
        return "last_name"
    if in_name and tag == "NNP":
        # middle initials and suffixes go with the name
        return "last_name" if name.first is None else "first_name"
    return None
