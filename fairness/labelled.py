"""A summary beside its sources, each source with the attribute value it stands for: what every measure starts from."""

from dataclasses import dataclass

from ..records import SEPARATOR
from ..text.digests import canonical_json


@dataclass(frozen=True)
class LabelledSource:
    """A source document and its attribute value."""

    text: str
    value: str
    # where the corpus says which they are; None where they have to be found
    sentences: tuple[str, ...] | None = None


@dataclass(frozen=True)
class LabelledDocuments:
    """What a summary is judged against."""

    # those of the set that have a value, in their order
    documents: tuple[LabelledSource, ...] = ()
    # declared values, in the corpus's order
    values: tuple[str, ...] = ()
    # the value that the summary is to represent; None for all
    side: str | None = None
    # joins the texts of one value
    separator: str = SEPARATOR

    @property
    def text(self) -> str:
        """All of it as one text, which tells judgements apart; "" without documents."""
        if not self.documents:
            return ""
        # what most corpora do not have is left out, so that their texts stay as they were before it
        extras = {} if self.separator == SEPARATOR else {"separator": self.separator}
        if any(document.sentences for document in self.documents):
            extras["sentences"] = "given"
        parts = [self.values, self.side, [[document.value, document.text] for document in self.documents]]
        return canonical_json([*parts, extras] if extras else parts)


@dataclass(frozen=True)
class LabelledSummary:
    """One summary and the documents it was made from."""

    # names the summary in messages and tables
    id: str
    # the declared attribute values, in the order of every table; a set may lack documents of some
    values: tuple[str, ...]
    documents: tuple[LabelledSource, ...]
    summary: str
    # joins the texts of one value
    separator: str = SEPARATOR
    # single facts of the summary as somebody split it; None where they have to be found
    units: tuple[str, ...] | None = None
    # where each document stood, from 0, when the summary was made; None: as they stand here
    places: tuple[int, ...] | None = None

    @property
    def labels(self) -> tuple[int, ...]:
        """Place of each document's value among the declared ones."""
        places = {value: place for place, value in enumerate(self.values)}
        return tuple(places[document.value] for document in self.documents)

    def value_texts(self) -> tuple[str, ...]:
        """Text of each declared value's documents, joined; "" for a value without documents."""
        return tuple(
            self.separator.join(document.text for document in self.documents if document.value == value)
            for value in self.values
        )
