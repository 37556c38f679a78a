"""What a request must say: the documents with their attributes, as a recipe's corpus has them, and whose summary is wanted."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple, TypeVar

from pydantic import Field

from ..api.documents import load_documents
from ..config import Recipe
from ..errors import DataError
from ..generate.requests import build_requests
from ..records import Document, DocumentSet, Record, SummaryRequest, Text
from ..storage import digest, explained, shortened
from ..text.chat_marks import without_end_marks

R = TypeVar("R", bound=Record)

# half of a pair that stands for one character
HALF = re.compile("[\ud800-\udfff]")


class GivenDocument(Record):
    """One source text; without an id it has its place's."""

    id: Text | None = None
    text: Text
    # social attributes, for example {"stance": "left"}
    attributes: dict[str, Text] = Field(default_factory=dict)


class Asked(Record):
    """Documents to be summarised together, and for whom."""

    documents: Annotated[tuple[GivenDocument, ...], Field(min_length=1)]
    # of the document set: part of every seed. None: it follows from the documents
    id: Text | None = None
    # as of a document set
    topic: str = ""
    key_points: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    notes: dict[str, Any] = Field(default_factory=dict)
    # attribute value, where the recipe's task.scope is "side"
    side: Text | None = None

    def document_set(self) -> DocumentSet:
        """The documents as a set."""
        documents = tuple(
            Document(id=each.id or f"document {place}", text=each.text, attributes=each.attributes)
            for place, each in enumerate(self.documents, start=1)
        )
        said = self.model_dump(mode="json", exclude={"id", "side"})
        return DocumentSet(
            id=self.id or digest(said),
            topic=self.topic,
            documents=documents,
            key_points=self.key_points,
            notes=self.notes,
        )


class Item(Asked):
    """A summary made elsewhere, with its documents."""

    summary: str


class Messages(Record):
    """What an OpenAI client sends besides; all else that the protocol knows would be passed over, so it is refused."""

    model: str
    # read by nobody: the recipe's template writes the prompt
    messages: tuple[dict[str, Any], ...] = ()
    n: Annotated[int, Field(ge=1, le=1)] | None = None
    stream: bool | None = None
    user: str | None = None


class Chat(Messages, Asked):
    """The body of /v1/chat/completions."""


class Items(Record):
    """The body of /v1/score in evenhand's own form."""

    items: Annotated[tuple[Item, ...], Field(min_length=1)]


class Queries(Record):
    """The body of /v1/score as OpenRLHF sends it."""

    # prompt and answer, decoded with the marks of turns
    query: Annotated[tuple[str, ...], Field(min_length=1)]
    prompts: tuple[str, ...]
    # documents and side, as JSON or as its text
    labels: tuple[Any, ...]


class Scored(NamedTuple):
    """A summary and what it is a summary of."""

    request: SummaryRequest
    summary: str


def read(kind: type[R], body: Any, what: str = "the body") -> R:
    """The body as a record of that kind.

    Raises:
        DataError: it is none, or holds half a character; what is wrong is said by key.
    """
    _refuse_halves(body, what)
    with explained(what):
        return kind.model_validate(body)


def _refuse_halves(body: Any, what: str) -> None:
    """Refuse lone surrogates, which JSON can write and no text can hold."""
    left = [("", body)]
    while left:
        place, value = left.pop()
        if isinstance(value, Mapping):
            left += [(f"{place}.{key}", each) for key, each in [*value.items(), *((key, key) for key in value)]]
        elif isinstance(value, list | tuple):
            left += [(f"{place}.{key}", each) for key, each in enumerate(value)]
        elif isinstance(value, str) and (half := HALF.search(value)):
            where = shortened(place.removeprefix(".") or "record")
            raise DataError(
                f"{what}: {where}: holds half a character, {half[0]!r}, which no text can hold; take it out"
            )


def request_of(asked: Asked, recipe: Recipe, *, name: str | None = None) -> SummaryRequest:
    """What the recipe asks its model about these documents.

    Args:
        asked: its side must be given where the recipe summarises each side, and only there.
        recipe: has the attribute, the sides and the template.
        name: of the set, in place of its own.

    Raises:
        DataError: the documents do not fit the recipe, or the side is missing or unknown.
    """
    with explained("documents"):
        given = asked.document_set()
    if name is not None:
        given = given.model_copy(update={"id": name})
    requests = build_requests(load_documents([given], recipe.corpus.attribute).records, recipe.corpus, recipe.task)
    sides = [each.side for each in requests]
    if recipe.task.scope == "all":
        if asked.side is not None:
            raise DataError(f"side {asked.side!r}: this recipe makes one summary of all sides; leave side out")
        return requests[0]
    found = next((each for each in requests if each.side == asked.side), None)
    if found is None:
        what = "is missing" if asked.side is None else f"{asked.side!r} is not one of them"
        raise DataError(f"side: {what}; this recipe summarises one side at a time: {', '.join(sides)}")
    return found


def items_of(body: Any, recipe: Recipe) -> list[Scored]:
    """The summaries of a body in either form, each with its request; equal documents and sides are one request.

    Raises:
        DataError: something is wrong with one of them, which is named by its place.
    """
    if isinstance(body, Mapping) and "query" in body:
        return [_scored(*pair, recipe) for pair in enumerate(_of_queries(read(Queries, body)))]
    return [_scored(*pair, recipe) for pair in enumerate(read(Items, body).items)]


def _scored(place: int, item: Item, recipe: Recipe) -> Scored:
    name = digest(item.model_dump(mode="json", exclude={"summary", "side"}))
    try:
        return Scored(request_of(item, recipe, name=name), item.summary)
    except DataError as error:
        raise DataError(f"summary {place}: {error}") from error


def _of_queries(body: Queries) -> list[Item]:
    """OpenRLHF's queries as items.

    Raises:
        DataError: the lists are not of one length, a query does not begin with its prompt, or a label has no documents.
    """
    if not len(body.query) == len(body.prompts) == len(body.labels):
        raise DataError(
            f"{len(body.query)} queries, {len(body.prompts)} prompts and {len(body.labels)} labels; each query needs both: name "
            "the data set's column with documents by --data.label_key (--label_key in earlier versions)"
        )
    return [
        _of_query(place, *each) for place, each in enumerate(zip(body.query, body.prompts, body.labels, strict=True))
    ]


def _of_query(place: int, query: str, prompt: str, label: Any) -> Item:
    if not query.startswith(prompt):
        raise DataError(f"query {place} does not begin with its prompt, so where its answer begins is not known")
    try:
        said = json.loads(label) if isinstance(label, str) else label
    except ValueError as error:
        raise DataError(f'label {place} is not JSON; it needs the documents: {{"documents": [...]}}') from error
    if not isinstance(said, Mapping):
        raise DataError(f'label {place} is not an object; it needs the documents: {{"documents": [...]}}')
    return read(Item, {**said, "summary": without_end_marks(query[len(prompt) :])}, f"label {place}")


def described(reasons: Sequence[str]) -> str:
    """Reasons in one line, each once."""
    return "; ".join(dict.fromkeys(reasons))
