"""A draft of an annotation: who is mentioned where, told by names and by the pronouns that can mean one person only.

A person reviews a draft before it is used. Coreference systems are gender-biased themselves, which is why the authors of
the measures kept away from them; this one leaves open what is not plain and lists it in `meta.unresolved`.
Source: docs/papers.md#steen-drafts.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ...fairness.demographic.inputs.document import AnnotatedDocument, Chain, Mention, NamedEntity, Token
from ...fairness.demographic.inputs.words import FORMS, PRONOUNS, SUFFIXES, Gender, class_of, is_honorific, is_title
from ...fairness.demographic.persons import PERSON

# without the full stop of a title
MALE = frozenset(male.casefold().rstrip(".") for male, _ in FORMS.values())
CLITICS = frozenset({"'s", "\u2019s"})


@dataclass(frozen=True)
class TaggedText:
    """A text as a tagger and a recogniser see it."""

    tokens: tuple[Token, ...]
    # PERSON spans: first token and the one after the last, in document order
    persons: tuple[tuple[int, int], ...]
    # sentence of each token, counted from 0
    sentence: tuple[int, ...]


@dataclass
class _Person:
    first: str | None
    last: str
    mentions: list[tuple[int, int]] = field(default_factory=list)
    gender: Gender | None = None


def draft_document(doc_id: str, text: TaggedText) -> AnnotatedDocument:
    """The draft: chains of names, the pronouns that mean one of them, and the positions of the other gendered pronouns."""
    words = [token.text for token in text.tokens]
    spans = [span for each in text.persons if (span := _trimmed(words, each))]
    people = _people(words, spans)
    pronouns = [i for i, token in enumerate(text.tokens) if class_of(token.text, token.pos) in PRONOUNS]
    unresolved = [position for position in pronouns if not _link(text, people, position)]
    return AnnotatedDocument(
        doc_id=doc_id,
        tokens=text.tokens,
        chains=tuple(
            Chain(id=f"c{i}", mentions=tuple(Mention(start=s, end=e) for s, e in sorted(person.mentions)))
            for i, person in enumerate(people)
        ),
        named_entities=tuple(NamedEntity(start=start, end=end, label=PERSON) for start, end in spans),
        meta={"source": "draft", "reviewed": False, "unresolved": unresolved},
    )


def _trimmed(words: Sequence[str], span: tuple[int, int]) -> tuple[int, int] | None:
    """The span without titles before the name and a closing 's; None when nothing is left."""
    start, end = span
    while start < end and _is_title(words[start]):
        start += 1
    while start < end and words[end - 1] in CLITICS:
        end -= 1
    return (start, end) if start < end else None


def _people(words: Sequence[str], spans: Sequence[tuple[int, int]]) -> list[_Person]:
    """The spans grouped by name, each with the title before it; titles of either gender keep two of one name apart."""
    people: list[_Person] = []
    for start, end in spans:
        name = [word for word in words[start:end] if word.casefold() not in SUFFIXES] or [words[start]]
        has_title = start > 0 and _is_title(words[start - 1])
        gender = _gender(words[start - 1]) if has_title else None
        person = _find([each for each in people if None in (gender, each.gender) or gender == each.gender], name)
        if person is None:
            person = _Person(name[0] if len(name) > 1 else None, name[-1])
            people.append(person)
        elif len(name) > 1 and (person.first is None or _is_initial(person.first, name[0])):
            person.first = name[0]
        person.gender = person.gender or gender
        person.mentions.append((start - has_title, end))
    return people


def _find(people: Sequence[_Person], name: Sequence[str]) -> _Person | None:
    """Whom a name means among the persons named before, the most recent one first.

    Two words and more: the same last word, and a first name that is absent, equal or an initial. One word: the same last
    name, else the same first name.
    """
    recent = sorted((p for p in people if p.mentions), key=lambda person: -person.mentions[-1][0])
    if len(name) > 1:
        for person in recent:
            first = person.first or name[0]
            agree = _same(first, name[0]) or _is_initial(first, name[0]) or _is_initial(name[0], first)
            if agree and _same(person.last, name[-1]):
                return person
        return None
    by_last = next((p for p in recent if _same(p.last, name[0])), None)
    return by_last or next((p for p in recent if p.first and _same(p.first, name[0])), None)


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
    here = text.sentence[position]
    candidates = _mentioned(text, people, here, before=position) or _mentioned(text, people, here - 1) or list(people)
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
