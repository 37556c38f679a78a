"""Templates: for each person of a document, the tokens that must change when the person's name or gender changes.

From coreference chains and PERSON spans to persons (`find_persons`), their names (`find_name`) and the tokens that mention them.
Names keep their spelling ("McArdle").

Source: Steen and Markert 2024, appendix D; docs/papers.md#steen-entities and #steen-templates.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pydantic import ConfigDict, Field

from .....errors import DataError
from .....records import Record, Text
from .document import AnnotatedDocument, Mention, NamedEntity, Token, TokenSpan
from .name_words import (
    ENCLOSING,
    PROPER,
    NameWord,
    core,
    has_capital,
    is_family,
    is_same_last_name,
    match_name,
    reads_as_name,
    shouts,
    words_of_spans,
)
from .words import GENDERED, MentionClass, class_of, is_honorific, is_title


@dataclass(frozen=True, order=True)
class MentionSegment:
    """Part of a mention: the name itself, or what stands before or after it."""

    start: int
    end: int
    is_name: bool


@dataclass(frozen=True)
class DocumentSpans:
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
    segments: tuple[MentionSegment, ...]


def lay_out(document: AnnotatedDocument) -> DocumentSpans:
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
    return DocumentSpans(document, persons, mentions, chain_of, depth, innermost, in_person)


def find_persons(layout: DocumentSpans, include_unnamed: bool = False) -> list[Person]:
    """The chains with a linked PERSON span, and a singleton `NE_<number>` for every span that is not linked.

    Args:
        layout: of the document.
        include_unnamed: chains of identity mentions without a linked span are persons without names too.
    """
    linked = _linked(layout)
    persons = []
    for place, chain in enumerate(layout.document.chains):
        indices = [i for i in range(len(layout.mentions)) if layout.chain_of[i] == place]
        is_named = any(i in linked for i in indices)
        if is_named or (include_unnamed and any(layout.mentions[i].type == "IDENT" for i in indices)):
            segments = {segment for i in indices for segment in _segments(layout, i, linked.get(i))}
            persons.append(Person(chain.id, place, tuple(sorted(segments))))
    linked_spans = set(linked.values())
    singletons = (
        Person(f"NE_{number}", None, (MentionSegment(span.start, span.end, True),))
        for number, span in enumerate(layout.persons)
        if number not in linked_spans
    )
    return [*persons, *singletons]


def _depths(mentions: Sequence[Mention]) -> NDArray[np.int64]:
    start = np.array([mention.start for mention in mentions])
    end = np.array([mention.end for mention in mentions])
    length = end - start
    covered = (start[None, :] <= start[:, None]) & (end[:, None] <= end[None, :]) & (length[None, :] > length[:, None])
    depths = [mention.depth for mention in mentions]
    return np.array([n if d is None else d for d, n in zip(depths, covered.sum(axis=1), strict=True)], dtype=np.int64)


def _linked(layout: DocumentSpans) -> dict[int, int]:
    """Mention -> number of the PERSON span that it took; a mention that took several keeps none."""
    spans_by_mention = defaultdict(list)
    for number, span in enumerate(layout.persons):
        mention = _taker(layout, span)
        if mention is not None:
            spans_by_mention[mention].append(number)
    return {mention: numbers[0] for mention, numbers in spans_by_mention.items() if len(numbers) == 1}


def _taker(layout: DocumentSpans, span: NamedEntity) -> int | None:
    """The identity mention that takes a span: from the deepest mention around it outwards, through heads of appositions."""
    around = (i for i, mention in enumerate(layout.mentions) if mention.covers(span))
    for i in sorted(around, key=lambda i: (-layout.depth[i], i)):
        mention = layout.mentions[i]
        if mention.type == "IDENT":
            return i
        if mention.subtype != "HEAD":
            return None
    return None


def _segments(layout: DocumentSpans, mention: int, number: int | None) -> Iterator[MentionSegment]:
    span = layout.mentions[mention]
    if number is None:
        yield MentionSegment(span.start, span.end, False)
        return
    name = layout.persons[number]
    if span.start < name.start:
        yield MentionSegment(span.start, name.start, False)
    yield MentionSegment(name.start, name.end, True)
    if name.end < span.end:
        yield MentionSegment(name.end, span.end, False)


@dataclass(frozen=True)
class Name:
    """What a person is called; None where the document does not say."""

    first: str | None
    last: str | None


def find_name(document: AnnotatedDocument, segments: Sequence[MentionSegment]) -> Name:
    """The most frequent candidates; a title before a single name word makes that word the only last-name candidate so far.

    A single word that stands before another elsewhere is a first name used alone, and no candidate.

    Args:
        document: where the segments stand.
        segments: of one person, in order; only name segments are read.
    """
    return _name(document, _words(document, segments))


def _words(
    document: AnnotatedDocument, segments: Sequence[MentionSegment]
) -> dict[MentionSegment, tuple[NameWord, ...]]:
    names = [segment for segment in segments if segment.is_name]
    return dict(zip(names, words_of_spans(document.tokens, [(s.start, s.end) for s in names]), strict=True))


def _name(document: AnnotatedDocument, words: Mapping[MentionSegment, Sequence[NameWord]]) -> Name:
    first: list[str] = []
    last: list[str] = []
    texts_by_segment = {
        segment: [word.text for word in segment_words if not word.is_suffix] for segment, segment_words in words.items()
    }
    given_names = {text.casefold() for texts in texts_by_segment.values() for text in texts[:-1]}
    for segment, texts in texts_by_segment.items():
        if not texts:
            continue
        # a title stands before the segment or at its start
        around = document.tokens[max(segment.start - 1, 0) : segment.start + 1]
        if len(texts) == 1 and any(is_title(token.text) for token in around):
            last = texts
        elif len(texts) > 1 or texts[0].casefold() not in given_names:
            last.append(texts[-1])
            first.extend(texts[:-1])
    return Name(_most_frequent(first), _most_frequent(last))


def _most_frequent(candidates: Sequence[str]) -> str | None:
    """The most frequent candidate in its most frequent spelling; ties go to the earliest.

    Particles are spelled if they ever are, in small letters if they ever are; capitals throughout only where always so.
    """
    if not candidates:
        return None
    # most_common keeps the order of first appearance among equals
    ((winner, _),) = Counter(core(candidate).casefold() for candidate in candidates).most_common(1)
    spellings = [c for c in candidates if core(c).casefold() == winner]
    spellings = [c for c in spellings if not c.isupper()] or spellings
    if borne := [c for c in spellings if core(c) != c]:
        spellings = [c for c in borne if c[0].islower()] or borne
    ((spelling, _),) = Counter(spellings).most_common(1)
    return spelling


class TemplateMention(TokenSpan):
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
    names = {person.id: find_name(document, person.segments).last for person in persons}
    families = {p.id for p in persons if _is_family(document, p, {n for i, n in names.items() if n and i != p.id})}
    titles = _titles_before_names(layout, persons)
    entities = [_entity(layout, person, titles) for person in persons if person.id not in families]
    return tuple(sorted(filter(None, entities), key=lambda entity: entity.mentions[0].start))


def _is_family(document: AnnotatedDocument, person: Person, last_names: Collection[str]) -> bool:
    """Whether all names of a "person" are a family's: the plural of another person's last name, or "the" and a plural."""
    spans = [segment for segment in person.segments if segment.is_name]
    return bool(spans) and all(is_family(document.tokens, segment.start, segment.end, last_names) for segment in spans)


def _entity(layout: DocumentSpans, person: Person, titles: dict[int, str]) -> TemplateEntity | None:
    words = _words(layout.document, person.segments)
    name = _name(layout.document, words)
    kinds = _kinds(name, words)
    by_span = {
        (m.start, m.end): m
        for segment_words in words.values()
        for m in _name_mentions(layout.document, segment_words, name)
    }
    for segment in person.segments:
        by_span |= {(m.start, m.end): m for m in _mentions(layout, person, segment, kinds, titles)}
    for position, owner in titles.items():
        if owner == person.id:
            kind: MentionClass = "title" if is_title(layout.document.tokens[position].text) else "honorific"
            by_span[position, position + 1] = _mention(position, position + 1, kind)
    if not by_span:
        return None
    mentions = tuple(by_span[span] for span in sorted(by_span))
    return TemplateEntity(
        id=person.id,
        first_name=name.first,
        last_name=name.last,
        mentions=mentions,
        gendered=name.first is not None or any(mention.kind in GENDERED for mention in mentions),
    )


def _titles_before_names(layout: DocumentSpans, persons: Sequence[Person]) -> dict[int, str]:
    """Position of each title directly before a name, and the person named: it belongs there, mentioned or not."""
    tokens = layout.document.tokens
    return {
        segment.start - 1: person.id
        for person in persons
        for segment in person.segments
        if segment.is_name and segment.start > 0 and not layout.in_person[segment.start - 1]
        if is_title(tokens[segment.start - 1].text) or is_honorific(tokens[segment.start - 1].text)
    }


def _kind(word: str, name: Name) -> MentionClass:
    """Class of a word of a name: middle names and initials go with the first name."""
    if name.first is not None and word.casefold() == name.first.casefold():
        return "first_name"
    if name.last is not None and is_same_last_name(word, name.last):
        return "last_name"
    return "last_name" if name.first is None else "first_name"


def _kinds(name: Name, words: Mapping[MentionSegment, Sequence[NameWord]]) -> dict[str, MentionClass]:
    """The names that mentions without a PERSON span may hold, in small letters, with their classes."""
    borne = [
        word.text
        for segment_words in words.values()
        for word in segment_words
        if not (word.is_suffix or word.is_initial)
    ]
    name_parts = [part for part in (name.first, name.last, name.last and core(name.last)) if part]
    return {word.casefold(): _kind(word, name) for word in [*borne, *name_parts]}


def _name_mentions(document: AnnotatedDocument, words: Sequence[NameWord], name: Name) -> Iterator[TemplateMention]:
    """The name of a segment as a whole, with its suffix and whatever encloses a nickname; "and" would part two names."""
    groups: list[list[NameWord]] = []
    for word in words:
        between = document.tokens[groups[-1][-1].end : word.start] if groups else ()
        texts = {token.text for token in between} - ({","} if word.is_suffix else set())
        if groups and texts <= ENCLOSING:
            groups[-1].append(word)
        else:
            groups.append([word])
    for group in groups:
        kinds = {_kind(word.text, name) for word in group if not word.is_suffix}
        if kinds:
            yield _name_mention(group[0].start, group[-1].end, kinds)


def _mentions(
    layout: DocumentSpans,
    person: Person,
    segment: MentionSegment,
    kinds: Mapping[str, MentionClass],
    titles: dict[int, str],
) -> Iterator[TemplateMention]:
    """Gendered words of a segment, and in one without a PERSON span its names; adjoining ones are one mention."""
    position, start, classes = segment.start, segment.start, set[MentionClass]()
    is_whole = _is_all_names(layout.document.tokens, segment, kinds)
    while position < segment.end:
        is_own = segment.is_name or (
            layout.innermost[position] == person.chain
            and not layout.in_person[position]
            and titles.get(position, person.id) == person.id
        )
        token = layout.document.tokens[position]
        gendered = class_of(token.text, layout.document.tag(position)) if is_own else None
        name_match = (
            None
            if segment.is_name or gendered or not is_own
            else _named(layout.document, segment, position, kinds, is_whole)
        )
        if name_match is not None:
            end, kind = name_match
            start = start if classes else position
            classes.add(kind)
            position = end
            continue
        if classes:
            yield _name_mention(start, position, classes)
            classes = set()
        if gendered is not None:
            yield _mention(position, position + 1, gendered)
        position += 1
    if classes:
        yield _name_mention(start, segment.end, classes)


def _is_all_names(tokens: Sequence[Token], segment: MentionSegment, names: Collection[str]) -> bool:
    position: int | None = segment.start
    while position is not None and position < segment.end:
        match = match_name(tokens, position, segment.end, names)
        position = match and match[0]
    return position is not None


def _named(
    document: AnnotatedDocument,
    segment: MentionSegment,
    position: int,
    kinds: Mapping[str, MentionClass],
    is_whole: bool,
) -> tuple[int, MentionClass] | None:
    """Where a name of the person ends that begins here in a mention without a PERSON span, and its class.

    In small letters it is one only where the mention is nothing but names, or as it is tagged ("May Brown, who may quit").
    """
    match = match_name(document.tokens, position, segment.end, kinds)
    if match is None:
        return None
    end, name = match
    tokens = document.tokens[position:end]
    is_name = is_whole or tokens[-1].pos in PROPER or any(has_capital(token.text) for token in tokens)
    if not is_whole and shouts(document.tokens, position, end):
        is_name = reads_as_name(document.tokens, position, end)
    return (end, kinds[name]) if is_name else None


def _name_mention(start: int, end: int, kinds: set[MentionClass]) -> TemplateMention:
    return _mention(start, end, "full_name" if len(kinds) == 2 else next(iter(kinds)))


def _mention(start: int, end: int, kind: MentionClass) -> TemplateMention:
    return TemplateMention.model_validate({"start": start, "end": end, "class": kind})
