"""Which spans of a summary name which persons of its input.

Source: Steen and Markert 2024, section 5.2; docs/papers.md#steen-alignment. A span aligns with a person when it holds the last
name, or is the first name alone, and holds no other word but that person's names and titles.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .instances import PERSON, InputEntity, SummaryEntity

TITLES = frozenset({"Mr.", "Mrs.", "Ms.", "Sir", "Mr", "Mrs", "Ms", "Lady"})
# of the released program; tokens with a full stop are never checked, so only Sir has an effect
RELEASED_TITLES = frozenset({"Mr.", "Mrs.", "Ms.", "Sir"})


@dataclass(frozen=True)
class Alignment:
    """Both directions; whoever has no partner has an empty tuple."""

    # person's id -> positions of the spans, ascending
    by_entity: dict[str, tuple[int, ...]]
    # position of a PERSON span -> ids of the persons, in their order
    by_span: dict[int, tuple[str, ...]]


def align(spans: Sequence[SummaryEntity], entities: Sequence[InputEntity], titles: Iterable[str] = TITLES) -> Alignment:
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
    return Alignment(by_entity, by_span)


def _aligns(span: SummaryEntity, entity: InputEntity, titles: frozenset[str]) -> bool:
    first, last = ((name or "").casefold() for name in (entity.first_name, entity.last_name))
    text = span.text.casefold()
    anchored = (last and last in text) or (len(span.tokens) == 1 and first and first in text)
    if not anchored:
        return False
    # "J.", "'s", "-": a token with a non-letter is not checked
    words = (token.casefold() for token in span.tokens if token.isalpha())
    return all(word in (first, last) or word in titles for word in words)
