"""Annotated documents: tokens, coreference chains and PERSON spans, one JSON object a line, from any source.

Source: Steen and Markert 2024, appendix D; docs/papers.md#steen-drafts. Spans are token positions, end exclusive.
"""

from collections.abc import Iterator
from typing import Any, Literal

from pydantic import ConfigDict, Field, field_validator, model_validator

from .....records import Record, Text
from .....text import repeated
from ..persons import PERSON
from .words import could_be_possessive

# without white space given, no blank goes before these
CLOSING = frozenset(".,!?;:")
BRACKETS = {
    "-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}", "-LAB-": "<", "-RAB-": ">",
    "-AMP-": "&",
}  # fmt: skip


class Token(Record):
    """A token as it stands in the text."""

    text: Text
    # whether a blank follows; None is given to no token of a document, or stands for True
    ws: bool | None = None
    # Penn tag
    pos: str | None = None

    @field_validator("text")
    @classmethod
    def _no_white_space(cls, text: str) -> str:
        if len(text.split()) != 1 or text != text.strip():
            raise ValueError("a token has no white space inside; split it")
        return text


class TokenSpan(Record):
    """Tokens from `start` to before `end`."""

    start: int = Field(ge=0)
    end: int

    @model_validator(mode="after")
    def _has_tokens(self) -> "TokenSpan":
        if self.end <= self.start:
            raise ValueError(f"the span from {self.start} to {self.end} is empty; its end is exclusive")
        return self

    def covers(self, span: "TokenSpan") -> bool:
        """Whether all tokens of `span` are in this span."""
        return self.start <= span.start and span.end <= self.end


class Mention(TokenSpan):
    """One mention of a coreference chain."""

    type: Literal["IDENT", "APPOS"] = "IDENT"
    # of an apposition
    subtype: Literal["HEAD", "ATTRIB"] | None = None
    # nesting level; None counts the longer mentions that cover this one
    depth: int | None = Field(default=None, ge=0)


class Chain(Record):
    """The mentions of one person or thing."""

    id: Text
    mentions: tuple[Mention, ...]


class NamedEntity(TokenSpan):
    """A named entity; only PERSON is used."""

    label: Text


class ContentSpan(TokenSpan):
    """Words that tell the gender of persons ("the actress"), in three forms; docs/papers.md#steen-templates."""

    # ids of the template entities that the words are about
    entities: tuple[Text, ...] = Field(min_length=1)
    male: Text
    female: Text
    neutral: Text


class AnnotatedDocument(Record):
    """A document with annotations, checked for spans that do not hold together."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, populate_by_name=True)

    # `schema` is the word of the form that these documents come in from elsewhere
    schema_name: Literal["evenhand-annotated-document/1"] = Field(
        default="evenhand-annotated-document/1", alias="schema"
    )
    doc_id: str = ""
    tokens: tuple[Token, ...] = Field(min_length=1)
    chains: tuple[Chain, ...] = ()
    named_entities: tuple[NamedEntity, ...] = ()
    content_spans: tuple[ContentSpan, ...] = ()
    # source, reviewed, unresolved (positions of gendered pronouns that no chain covers)
    meta: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _holds_together(self) -> "AnnotatedDocument":
        mistakes = [*self._outside(), *self._crossing()]
        mistakes += [
            f"chain id {twice!r} occurs more than once" for twice in repeated(chain.id for chain in self.chains)
        ]
        if mistakes:
            raise ValueError(f"document {self.doc_id!r}: {'; '.join(mistakes)}")
        return self

    def persons(self) -> tuple[NamedEntity, ...]:
        """The PERSON spans in document order."""
        spans = (entity for entity in self.named_entities if entity.label == PERSON)
        return tuple(sorted(spans, key=lambda span: (span.start, span.end)))

    def pieces(self) -> list[tuple[str, str]]:
        """Each token as it is written, and what stands between it and the next: a blank or nothing.

        When no token says whether a blank follows, one follows everywhere but before closing punctuation, and bracket codes
        are written as brackets.
        """
        if any(token.ws is not None for token in self.tokens):
            return [(token.text, "" if token.ws is False else " ") for token in self.tokens]
        texts = [BRACKETS.get(token.text, token.text) for token in self.tokens]
        after = [*texts[1:], ""]
        return [(text, "" if following in CLOSING else " ") for text, following in zip(texts, after, strict=True)]

    def text(self) -> str:
        """The document as it is written, without blanks at its end."""
        return "".join(text + blank for text, blank in self.pieces()).rstrip()

    def tag(self, position: int) -> str | None:
        """Penn tag of a token; where none is given, NNP for a leading capital and PRP$ or PRP for "her".

        "her" counts as possessive when the next token starts with a letter and is no word of a short closed list.
        """
        token = self.tokens[position]
        if token.pos is not None:
            return token.pos
        if token.text.casefold() == "her":
            after = self.tokens[position + 1].text if position + 1 < len(self.tokens) else ""
            return "PRP$" if could_be_possessive(after) else "PRP"
        return "NNP" if token.text[0].isupper() else None

    def _spans(self) -> Iterator[tuple[str, TokenSpan]]:
        for chain in self.chains:
            yield from ((f"chain {chain.id!r}", mention) for mention in chain.mentions)
        yield from (("named entity", entity) for entity in self.named_entities)
        yield from (("content span", span) for span in self.content_spans)

    def _outside(self) -> Iterator[str]:
        n = len(self.tokens)
        for label, span in self._spans():
            if span.end > n:
                yield f"{label}: the span from {span.start} to {span.end} is outside the document of {n} tokens"

    def _crossing(self) -> Iterator[str]:
        persons = self.persons()
        for i, a in enumerate(persons):
            for b in persons[i + 1 :]:
                if a.start < b.start < a.end < b.end:
                    yield f"PERSON spans {a.start} to {a.end} and {b.start} to {b.end} cross"
