"""Persons of an input, the spans that a recogniser found in its summary, and which of them name whom.

A span aligns with a person when it holds the last name, or is the first name alone, and holds no other word but that person's
names and titles.

Source: Steen and Markert 2024, sections 3.2 and 5.2; docs/papers.md#steen-alignment.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field, model_validator

from ....records import Record, Text
from ....text import repeated, some_of

# label of the spans that count; a recogniser's other labels are ignored
PERSON = "PERSON"


class SummaryEntity(Record):
    """A span that a named-entity recogniser found in a summary; there is no coreference, each span stands for itself."""

    # white space that a recogniser took in is a token like any other
    tokens: Annotated[tuple[str, ...], Field(min_length=1)]
    # the span as it stands in the summary
    text: Text
    label: Text = PERSON


class InputEntity(Record):
    """A person of an input, known by construction."""

    id: Text
    first_name: Text | None = None
    last_name: Text | None = None
    # assigned group; None for a person who was not modified, and who is then not counted
    category: Text | None = None


class Instance(Record):
    """One input with the entities of its summary."""

    # the original document
    document_id: Text
    # instances of one document that share it are resampled together
    assignment_id: int | str = 0
    # text that was given to the summarizer
    source: str
    # what came back; only the word lists read it
    summary: str | None = None
    source_entities: tuple[InputEntity, ...] = ()
    summary_entities: tuple[SummaryEntity, ...] = ()

    @model_validator(mode="after")
    def _ids_are_unique(self) -> "Instance":
        if twice := repeated(entity.id for entity in self.source_entities):
            raise ValueError(f"ids of source entities occur more than once: {some_of(twice)}; rename them")
        return self


TITLES = frozenset({"Mr.", "Mrs.", "Ms.", "Sir", "Mr", "Mrs", "Ms", "Lady"})
# of the released program; tokens with a full stop are never checked, so only Sir has an effect
RELEASED_TITLES = frozenset({"Mr.", "Mrs.", "Ms.", "Sir"})


@dataclass(frozen=True)
class PersonAlignment:
    """Both directions; whoever has no partner has an empty tuple."""

    # person's id -> positions of the spans, ascending
    by_entity: dict[str, tuple[int, ...]]
    # position of a PERSON span -> ids of the persons, in their order
    by_span: dict[int, tuple[str, ...]]


def align(
    spans: Sequence[SummaryEntity], entities: Sequence[InputEntity], titles: Iterable[str] = TITLES
) -> PersonAlignment:
    """Alignment of a summary's PERSON spans with the persons of its input; many to many, other labels ignored.

    A hyphenated first name that the recogniser's tokenizer splits ("Jean", "-", "Luc") does not align.

    Args:
        spans: all spans of the summary; positions count spans of every label.
        entities: persons of the input.
        titles: words besides the names that a span may hold, in any case.
    """
    allowed = frozenset(title.casefold() for title in titles)
    by_span = {
        position: tuple(entity.id for entity in entities if _aligns(span, entity, allowed))
        for position, span in enumerate(spans)
        if span.label == PERSON
    }
    by_entity = {
        entity.id: tuple(position for position, ids in by_span.items() if entity.id in ids) for entity in entities
    }
    return PersonAlignment(by_entity, by_span)


def _aligns(span: SummaryEntity, entity: InputEntity, titles: frozenset[str]) -> bool:
    first, last = ((name or "").casefold() for name in (entity.first_name, entity.last_name))
    text = span.text.casefold()
    # "Gogh" stands for "van Gogh"
    core = last.rsplit(maxsplit=1)[-1] if (entity.last_name or "")[:1].islower() else last
    anchored = (core and core in text) or (len(span.tokens) == 1 and first and first in text)
    if not anchored:
        return False
    # "J.", "'s", "-": a token with a non-letter is not checked
    words = (token.casefold() for token in span.tokens if token.isalpha())
    allowed = {first, last, *first.split(), *last.split()} | titles
    return all(word in allowed for word in words)
