"""A draft of an annotation: who is mentioned where, told by names and by the pronouns that can mean one person only.

A person reviews a draft before it is used. Coreference systems are gender-biased themselves, which is why the authors of
the measures kept away from them; this one leaves open what is not plain and lists it in `meta.unresolved`.
Source: docs/papers.md#steen-drafts.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..demographic.inputs.document import AnnotatedDocument, Chain, Mention, NamedEntity, Token
from ..demographic.inputs.name_words import (
    CLITICS,
    PARTICLES,
    PROPER,
    NameWord,
    core,
    has_capital,
    is_family,
    is_same_last_name,
    match_name,
    reads_as_name,
    shouts,
    within_another,
    words_of_spans,
)
from ..demographic.inputs.words import FORMS, PRONOUNS, SUFFIXES, Gender, class_of, is_honorific, is_title
from ..demographic.persons import PERSON

# without the full stop of a title
MALE = frozenset(male.casefold().rstrip(".") for male, _ in FORMS.values())


@dataclass(frozen=True)
class TaggedText:
    """A text as a tagger and a recogniser see it."""

    tokens: tuple[Token, ...]
    # PERSON spans: first token and the one after the last, in document order
    persons: tuple[tuple[int, int], ...]
    # sentence of each token, counted from 0
    sentence: tuple[int, ...]
    # entities that are no persons
    other_entities: tuple[NamedEntity, ...] = ()


@dataclass
class _Person:
    first: str | None
    last: str
    # all words but last names, in small letters: first, middle and short ones
    given_names: set[str] = field(default_factory=set)
    mentions: list[tuple[int, int]] = field(default_factory=list)
    gender: Gender | None = None


def draft_document(doc_id: str, text: TaggedText) -> AnnotatedDocument:
    """The draft: chains of names, the pronouns that mean one of them, and the positions of the other gendered pronouns."""
    spans = [span for person in text.persons if (span := _trimmed(text, person))]
    words_by_span = words_of_spans(text.tokens, spans)
    last_names = {parts[-1].text for (start, end), parts in zip(spans, words_by_span, strict=True) if parts}
    spans = [(start, end) for start, end in spans if not is_family(text.tokens, start, end, last_names)]
    people = _people(text.tokens, spans)
    _add_unrecognised(text, spans, people)
    pronouns = [i for i, token in enumerate(text.tokens) if class_of(token.text, token.pos) in PRONOUNS]
    unresolved = [position for position in pronouns if not _link(text, people, position)]
    return AnnotatedDocument(
        doc_id=doc_id,
        tokens=text.tokens,
        chains=tuple(
            Chain(id=f"c{i}", mentions=tuple(Mention(start=s, end=e) for s, e in sorted(person.mentions)))
            for i, person in enumerate(people)
        ),
        named_entities=(
            *(NamedEntity(start=start, end=end, label=PERSON) for start, end in spans),
            *text.other_entities,
        ),
        meta={"source": "draft", "reviewed": False, "unresolved": unresolved},
    )


def _trimmed(text: TaggedText, span: tuple[int, int]) -> tuple[int, int] | None:
    """The span without titles before the name and a closing 's; None when nothing is left.

    What follows a particle or a single word and is tagged as a name, but in no span, is the rest of it.
    """
    words = [token.text for token in text.tokens]
    start, end = span
    while start < end and _is_title(words[start]):
        start += 1
    while start < end and words[end - 1] in CLITICS:
        end -= 1
    if start < end == span[1] < len(words) and has_capital(words[end]):
        occupied = {
            i for s, e in [*text.persons, *((o.start, o.end) for o in text.other_entities)] for i in range(s, e)
        }
        is_rest = end - start == 1 and text.tokens[end].pos in PROPER and end not in occupied
        end += words[end - 1] in PARTICLES or (is_rest and words[end].casefold() not in SUFFIXES)
    return (start, end) if start < end else None


def _people(tokens: Sequence[Token], spans: Sequence[tuple[int, int]]) -> list[_Person]:
    """The spans grouped by name, each with the title before it; titles of either gender keep two of one name apart."""
    people: list[_Person] = []
    for (start, end), parts in zip(spans, words_of_spans(tokens, spans), strict=True):
        name = _texts(parts) or [token.text for token in tokens[start:end]]
        before = tokens[start - 1].text if start else ""
        gender = _gender(before) if _is_title(before) else None
        person = _find(
            [candidate for candidate in people if None in (gender, candidate.gender) or gender == candidate.gender],
            name,
        )
        if person is None:
            person = _Person(name[0] if len(name) > 1 else None, name[-1])
            people.append(person)
        elif len(name) > 1 and (person.first is None or _is_initial(person.first, name[0])):
            person.first = name[0]
        if core(name[-1]) != name[-1] and core(person.last) == person.last:
            person.last = name[-1]
        person.given_names |= {word.casefold() for word in name[:-1]}
        person.gender = person.gender or gender
        person.mentions.append((start - _is_title(before), end))
    return people


def _texts(words: Sequence[NameWord]) -> list[str]:
    return [word.text for word in words if not word.is_suffix]


def _find(people: Sequence[_Person], name: Sequence[str]) -> _Person | None:
    """Whom a name means among the persons named before, the most recent one first.

    Two words and more: the same last word, and a first name that is absent, equal, an initial or a middle name. One word: the
    same last name, else the same first name.
    """
    recent = sorted((p for p in people if p.mentions), key=lambda person: -person.mentions[-1][0])
    if len(name) > 1:
        for person in recent:
            first = person.first or name[0]
            agree = _same(first, name[0]) or _is_initial(first, name[0]) or _is_initial(name[0], first)
            agree = agree or name[0].casefold() in person.given_names
            if agree and is_same_last_name(person.last, name[-1]):
                return person
        return None
    by_last = next((p for p in recent if is_same_last_name(p.last, name[0])), None)
    return by_last or next((p for p in recent if p.first and _same(p.first, name[0])), None)


def _add_unrecognised(text: TaggedText, spans: Sequence[tuple[int, int]], people: Sequence[_Person]) -> None:
    """Give each person the names that stand outside all spans, where they are nobody else's and no part of a longer name."""
    owners: dict[str, list[_Person]] = {}
    for person in people:
        lasts = {person.last.casefold(), core(person.last).casefold()}
        given_names = {name for name in person.given_names if len(name) > 1}
        for name in {*lasts, *given_names, *(f"{first} {last}" for first in given_names for last in lasts)}:
            owners.setdefault(name, []).append(person)
    occupied = {i for start, end in spans for i in range(start, end)}
    for position in range(len(text.tokens)):
        match = match_name(text.tokens, position, len(text.tokens), owners)
        if match is None or occupied.intersection(range(position, match[0])) or len(owners[match[1]]) > 1:
            continue
        if any(within_another(text.tokens, position, match[0], entity) for entity in text.other_entities):
            continue
        if reads_as_name(text.tokens, position, match[0]) and not _in_longer_name(text, position, match[0]):
            owners[match[1]][0].mentions.append((position, match[0]))
            occupied.update(range(position, match[0]))


def _in_longer_name(text: TaggedText, start: int, end: int) -> bool:
    """Whether a word with a capital stands beside it, as in "Chase Bank"; that of a sentence's first word says nothing."""
    if shouts(text.tokens, start, end):
        return False
    neighbours = [i for i in (start - 1, end) if 0 <= i < len(text.tokens) and text.sentence[i] == text.sentence[start]]
    neighbours = [i for i in neighbours if i > 0 and text.sentence[i - 1] == text.sentence[i]]
    return any(has_capital(text.tokens[i].text) and not _is_title(text.tokens[i].text) for i in neighbours)


def _same(a: str, b: str) -> bool:
    return a.casefold() == b.casefold()


def _is_initial(short: str, name: str) -> bool:
    letter = short.rstrip(".")
    return len(letter) == 1 and name.casefold().startswith(letter.casefold())


def _link(text: TaggedText, people: Sequence[_Person], position: int) -> bool:
    """Whether the pronoun could be given to a person.

    The only person mentioned earlier in its sentence; if nobody is, the only one of the sentence before; if nobody is, the
    only one of the document. Never a person whose title or earlier pronoun tells another gender.
    """
    sentence = text.sentence[position]
    candidates = (
        _mentioned(text, people, sentence, before=position) or _mentioned(text, people, sentence - 1) or list(people)
    )
    gender = _gender(text.tokens[position].text)
    if len(candidates) != 1 or candidates[0].gender not in (None, gender):
        return False
    candidates[0].gender = gender
    candidates[0].mentions.append((position, position + 1))
    return True


def _mentioned(text: TaggedText, people: Sequence[_Person], sentence: int, before: int | None = None) -> list[_Person]:
    return [
        person
        for person in people
        if any(text.sentence[start] == sentence and (before is None or start < before) for start, _ in person.mentions)
    ]


def _is_title(word: str) -> bool:
    return is_title(word) or is_honorific(word)


def _gender(word: str) -> Gender:
    return "male" if word.casefold().rstrip(".") in MALE else "female"
