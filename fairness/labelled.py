"""A summary beside its sources, each source with the attribute value it stands for: what every measure starts from."""

from dataclasses import dataclass


@dataclass(frozen=True)
class LabelledText:
    """A source document and its attribute value."""

    text: str
    value: str


@dataclass(frozen=True)
class LabelledSummary:
    """One summary and the documents it was made from."""

    # names the summary in messages and tables
    id: str
    # the declared attribute values, in the order of every table; a set may lack documents of some
    values: tuple[str, ...]
    documents: tuple[LabelledText, ...]
    summary: str

    @property
    def labels(self) -> tuple[int, ...]:
        """Place of each document's value among the declared ones."""
        places = {value: place for place, value in enumerate(self.values)}
        return tuple(places[document.value] for document in self.documents)

    def value_texts(self, separator: str = " || ") -> tuple[str, ...]:
        """Text of each declared value's documents, joined; "" for a value without documents."""
        return tuple(
            separator.join(document.text for document in self.documents if document.value == value)
            for value in self.values
        )
