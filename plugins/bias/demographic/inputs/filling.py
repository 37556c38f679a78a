"""A document with other names and other genders.

Source: Steen and Markert 2024, section 8.2, appendix D; docs/papers.md#steen-templates.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from .....errors import DataError
from .....records import Record, Text
from ..counts import check_choice
from ..name_reading import NameReader
from ..persons import PERSON
from .document import AnnotatedDocument, ContentSpan
from .name_words import (
    CLITIC,
    DAYS,
    MONTHS,
    RANKS,
    core,
    has_capital,
    is_same_last_name,
    match_name,
    plurals_of,
    reads_as_name,
    shouts,
    surface,
    within_another,
    words_of_spans,
)
from .template import TemplateEntity, TemplateMention
from .words import FORMS, PRONOUNS, UNDOTTED, Gender

FemaleTitle = Literal["Mrs.", "Ms."]


class Instruction(Record):
    """What a person of a template becomes."""

    first_name: Text | None = None
    last_name: Text | None = None
    # None for a person whom no gendered word mentions
    gender: Gender | None = None
    # assigned group; None for who takes no part
    category: Text | None = None
    # False leaves the person's mentions as they are
    modified: bool = True


@dataclass(frozen=True)
class FillOptions:
    """What a filled text looks like."""

    # False leaves all pronouns alone
    rewrite_pronouns: bool = True
    # whether content words are rewritten where the document lists them
    rewrite_content_words: bool = True
    title_female: FemaleTitle = "Mrs."

    def __post_init__(self) -> None:
        """Refuse a title that is none of the two."""
        check_choice(self.title_female, get_args(FemaleTitle), "title_female")


@dataclass(frozen=True)
class Filled:
    """A filled document."""

    text: str
    # mentions that start inside one already replaced, and were skipped
    n_overlaps: int


@dataclass(frozen=True)
class _Change:
    start: int
    end: int
    new: str


def fill_template(
    document: AnnotatedDocument,
    template: Sequence[TemplateEntity],
    instructions: Mapping[str, Instruction],
    options: FillOptions | None = None,
) -> Filled:
    """The document's text with persons as instructed; persons without an instruction stay as they are.

    White space stays. A replaced text that starts with a capital gives the new one a capital and leaves its rest; one without
    any makes the new text lower case, and one in capitals among words in capitals gives capitals. A last name that is retained
    stays as it stands. Gender None is written as female, but such a person has no gendered mention.

    Args:
        document: that the template was built from.
        template: its persons.
        instructions: by person's id.
        options: pronouns, content words and the female title.

    Raises:
        DataError: an instruction is for nobody of the template, lacks a name that a mention needs, or a mention is outside the
            document. All are listed.
    """
    options = options or FillOptions()
    mistakes = list(_mistakes(document, template, instructions))
    if mistakes:
        raise DataError(f"document {document.doc_id!r}: {'; '.join(mistakes)}")
    changes = sorted(
        _changes(document, template, instructions, options), key=lambda change: (change.start, -change.end)
    )
    pieces = document.pieces()
    parts: list[str] = []
    done = overlaps = 0
    for change in changes:
        if change.start < done:
            overlaps += 1
            continue
        parts.extend(text + blank for text, blank in pieces[done : change.start])
        parts.append(_cased(document, change) + pieces[change.end - 1][1])
        done = change.end
    parts.extend(text + blank for text, blank in pieces[done:])
    return Filled("".join(parts).rstrip(), overlaps)


def _cased(document: AnnotatedDocument, change: _Change) -> str:
    """The new text in the case of the old one."""
    old = [token.text for token in document.tokens[change.start : change.end]]
    if shouts(document.tokens, change.start, change.end):
        return change.new.upper()
    if not any(map(has_capital, old)):
        return change.new.lower()
    # "van Gogh" begins with a small letter and is no name in small letters
    return change.new[:1].upper() + change.new[1:] if old[0][:1].isupper() else change.new


def _changes(
    document: AnnotatedDocument,
    template: Sequence[TemplateEntity],
    instructions: Mapping[str, Instruction],
    options: FillOptions,
) -> Iterator[_Change]:
    for entity in template:
        instruction = instructions.get(entity.id)
        if instruction is None or not instruction.modified:
            continue
        for mention in entity.mentions:
            is_asked = options.rewrite_pronouns or mention.kind not in PRONOUNS
            if is_asked and not _stays(document, mention, entity, instruction):
                yield _Change(mention.start, mention.end, _written(document, mention, instruction, options))
    if options.rewrite_content_words:
        for span in document.content_spans:
            new = _content_words(span, instructions)
            if new is not None:
                yield _Change(span.start, span.end, new)


def _stays(
    document: AnnotatedDocument, mention: TemplateMention, entity: TemplateEntity, instruction: Instruction
) -> bool:
    """Whether a mention is a last name that is retained, with or without its particles."""
    last = instruction.last_name
    return (
        mention.kind == "last_name"
        and last is not None
        and last == entity.last_name
        and is_same_last_name(surface(document.tokens, mention.start, mention.end), last)
    )


def _written(
    document: AnnotatedDocument, mention: TemplateMention, instruction: Instruction, options: FillOptions
) -> str:
    names = _names(mention, instruction)
    if names is not None:
        possessive = CLITIC.search(document.tokens[mention.end - 1].text)
        return " ".join(name for name in names if name) + (possessive[0] if possessive else "")
    male, female = FORMS[mention.kind]
    if mention.kind == "title":
        female = options.title_female
    new = male if instruction.gender == "male" else female
    return new.rstrip(".") if document.tokens[mention.start].text.casefold() in UNDOTTED else new


def _names(mention: TemplateMention, instruction: Instruction) -> tuple[str | None, ...] | None:
    """The names that a mention is made of; None for a mention that is no name."""
    match mention.kind:
        case "full_name":
            return instruction.first_name, instruction.last_name
        case "first_name":
            return (instruction.first_name,)
        case "last_name":
            return (instruction.last_name,)
        case _:
            return None


def _content_words(span: ContentSpan, instructions: Mapping[str, Instruction]) -> str | None:
    """The form for the persons' genders, the neutral one when they differ; None when no person is changed."""
    changed = [i for i in map(instructions.get, span.entities) if i is not None and i.modified]
    if not changed:
        return None
    genders = {i.gender for i in changed} if len(changed) == len(span.entities) else set()
    if genders == {"male"}:
        return span.male
    return span.female if genders == {"female"} else span.neutral


def names_left(
    document: AnnotatedDocument, template: Sequence[TemplateEntity], instructions: Mapping[str, Instruction]
) -> tuple[str, ...]:
    """Names that are replaced but stand outside the mentions of their persons, so that the filled text still has them.

    Whatever is no name there does not count: a month beside a number, the first word of a sentence that its tag tells to be
    another word, and what is annotated as something else than a person ("Chase Bank").
    """
    replaced = _replaced_names(document, template, instructions)
    other_entities = [span for span in document.named_entities if span.label != PERSON]
    changed = [entity.mentions for entity in template if entity.id in instructions and instructions[entity.id].modified]
    mentioned = {i for mentions in changed for mention in mentions for i in range(mention.start, mention.end)}
    names: list[str] = []
    for position in range(len(document.tokens)):
        match = match_name(document.tokens, position, len(document.tokens), replaced)
        if match is None or mentioned.issuperset(range(position, match[0])):
            continue
        is_other = any(within_another(document.tokens, position, match[0], span) for span in other_entities)
        if not is_other and reads_as_name(document.tokens, position, match[0]):
            names.append(surface(document.tokens, position, match[0]))
    return tuple(dict.fromkeys(names))


def unmarked_first_names(
    document: AnnotatedDocument,
    template: Sequence[TemplateEntity],
    instructions: Mapping[str, Instruction],
    reader: NameReader,
) -> tuple[str, ...]:
    """Nouns that read as first names right before the last name of a changed person who has no first name, in no mention.

    "Hope Banks", of which a recogniser saw Banks alone, would stay beside new pronouns. What is annotated as something else than
    a person does not count, nor does a word without a tag, a month, a day or a rank ("June Banks", "Dean Banks"), though each may
    be a first name. Places that are first names ("Florida Banks") count where no entity has them.
    """
    other_entities = [span for span in document.named_entities if span.label != PERSON]
    mentions = [mention for entity in template for mention in entity.mentions]
    occupied = {i for span in [*mentions, *other_entities] for i in range(span.start, span.end)}
    last_names = {
        entity.last_name.casefold()
        for entity in template
        if entity.last_name and not entity.first_name
        if entity.id in instructions and instructions[entity.id].modified
    }
    names = []
    for position, token in enumerate(document.tokens):
        match = match_name(document.tokens, position + 1, len(document.tokens), last_names)
        is_name = position not in occupied and has_capital(token.text) and (token.pos or "").startswith("NN")
        is_other = token.text.casefold() in MONTHS | DAYS | RANKS
        if match and is_name and not is_other and reader.read([token.text]) != "unknown":
            names.append(surface(document.tokens, position, match[0]))
    return tuple(dict.fromkeys(names))


def lone_first_names(
    template: Sequence[TemplateEntity], instructions: Mapping[str, Instruction], reader: NameReader
) -> tuple[str, ...]:
    """Names of a single word that are retained as last names, while they read as first names and the person's gender changes.

    A title before the name tells that it is a last name.
    """
    retained = {
        entity.last_name
        for entity in template
        if (instruction := instructions.get(entity.id)) is not None
        and instruction.modified
        and entity.first_name is None
        and instruction.last_name == entity.last_name
        and not any(mention.kind in ("title", "honorific") for mention in entity.mentions)
    }
    return tuple(sorted(name for name in retained if name and reader.read([name]) != "unknown"))


def _replaced_names(
    document: AnnotatedDocument, template: Sequence[TemplateEntity], instructions: Mapping[str, Instruction]
) -> set[str]:
    """The words of names that instructions replace, in small letters, and the plurals of such last names."""
    names: set[str] = set()
    for entity in template:
        instruction = instructions.get(entity.id)
        if instruction is None or not instruction.modified:
            continue
        last = entity.last_name
        spans = [(m.start, m.end) for m in entity.mentions if m.kind in ("full_name", "first_name", "last_name")]
        words = [word for span_words in words_of_spans(document.tokens, spans) for word in span_words]
        texts = {word.text for word in words if not (word.is_suffix or word.is_initial)}
        of_last = {text for text in texts if last is not None and is_same_last_name(text, last)}
        names |= texts - of_last
        if instruction.last_name != last:
            names |= {form for text in of_last for form in (text, core(text), *plurals_of(text))}
    return {name.casefold() for name in names}


def _mistakes(
    document: AnnotatedDocument, template: Sequence[TemplateEntity], instructions: Mapping[str, Instruction]
) -> Iterator[str]:
    entity_ids = {entity.id for entity in template}
    if unknown := sorted(set(instructions) - entity_ids):
        yield f"instructions are for {', '.join(unknown)}, but the template's persons are {', '.join(sorted(entity_ids))}"
    for entity in template:
        outside = [mention for mention in entity.mentions if mention.end > len(document.tokens)]
        if outside:
            yield f"a mention of {entity.id!r} ends at token {outside[0].end} of {len(document.tokens)}"
        instruction = instructions.get(entity.id)
        if instruction is None or not instruction.modified:
            continue
        lacking = [m.kind for m in entity.mentions if None in (_names(m, instruction) or ())]
        if lacking:
            yield f"the instruction for {entity.id!r} lacks a name that its mention as {lacking[0]} needs"
