"""Attribute values that people write in two ways, and sets without two values to compare.

What differs by capitals or as a number is written is no side of its own.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..errors import DataError
from ..records import DocumentSet
from ..storage import listed
from ..text import look_alike, some_of, spelling_key, value_key
from ..text.shown import shortened


def alike_mistakes(sets: Sequence[DocumentSet], attributes: Iterable[str] = ()) -> list[str]:
    """A mistake for each group of spellings of one value (capitals, numbers, truth values), with the documents of each.

    Args:
        sets: the document sets; other differences that nobody sees are gone from their values.
        attributes: those that the sets are grouped by; without any, the only one that they have.
    """
    return [text for name, counts in _counts(sets, attributes).items() for text in _alike(name, counts)]


def refuse_alike(sets: Sequence[DocumentSet], attributes: Iterable[str] = (), place: str = "") -> None:
    """Refuse what `alike_mistakes` finds; `place` is where the sets are from, to begin each mistake with: "docs.csv: ".

    Raises:
        DataError: values are spellings of one; all are listed.
    """
    if mistakes := alike_mistakes(sets, attributes):
        raise DataError(listed([f"{place}{text}" for text in mistakes]))


def single_valued(sets: Sequence[DocumentSet], attribute: str) -> str:
    """Why no set has documents of two values, "all documents have stance 'left'"; "" where one has, and without any set."""
    if not sets or any(len(documents.values(attribute)) > 1 for documents in sets):
        return ""
    if all(len(documents.documents) < 2 for documents in sets):
        return "every set has a single document, and a set holds all documents that are summarised together"
    values = {value for documents in sets for value in documents.values(attribute)}
    if len(values) == 1:
        return f"all documents have {attribute} {shortened(values.pop())}"
    return f"every set has documents of one {attribute} only"


def _counts(sets: Sequence[DocumentSet], attributes: Iterable[str]) -> Mapping[str, Counter[str]]:
    """By attribute, the documents of each value."""
    named = list(attributes)
    if not named:
        known = dict.fromkeys(
            name for documents in sets for document in documents.documents for name in document.attributes
        )
        named = list(known) if len(known) == 1 else []
    return {
        name: Counter(d.attributes[name] for documents in sets for d in documents.documents if name in d.attributes)
        for name in named
    }


def _alike(attribute: str, counts: Counter[str]) -> Iterator[str]:
    for spellings in look_alike(counts, value_key):
        documents = [f"{counts[value]:,}" for value in spellings]
        documents[0] += " document" if documents[0] == "1" else " documents"
        shown = some_of([f"{shortened(value)} ({n})" for value, n in zip(spellings, documents, strict=True)])
        if len({*map(spelling_key, spellings)}) == 1:
            yield f"values of {attribute!r} differ only by capitals: {shown}; write one of them"
            continue
        yield (
            f"values of {attribute!r} differ only in how a number or truth value is written: {shown}; write one of them, or, "
            f"where they are no numbers (versions, codes), put a letter before each: {'v' + spellings[0]!r}"
        )
