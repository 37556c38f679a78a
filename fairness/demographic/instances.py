"""What the entity measures read: one input, the persons in it, and the spans that a recogniser found in its summary.

Source: Steen and Markert 2024, sections 3.2 and 5.2; docs/papers.md#steen-alignment.
"""

from typing import Annotated

from pydantic import Field, model_validator

from ...records import Record, Text
from ...text import repeated, some_of

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
