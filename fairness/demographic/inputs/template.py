"""Templates: for each person of a document, the tokens that must change when the person's name or gender changes.

Source: Steen and Markert 2024, appendix D; docs/papers.md#steen-entities and #steen-templates.
"""

from collections.abc import Iterator, Sequence

from pydantic import ConfigDict, Field

from ....errors import DataError
from ....records import Record, Text
from .document import AnnotatedDocument, Span
from .linking import Layout, Person, Segment, find_persons, lay_out
from .naming import Name, find_name
from .words import GENDERED, MentionClass, class_of, is_honorific, is_title


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
