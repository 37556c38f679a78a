"""What a request must say: the documents with their attributes, as a recipe's corpus has them, and whose summary is wanted."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple, TypeVar

from pydantic import Field

from ...api.documents import load_documents
from ...config import Recipe
from ...errors import DataError
from ...generate.requests import build_requests
from ...records import Document, DocumentSet, Record, SummaryRequest, Text
from ...text.chat_marks import without_end_marks
from ...text.digests import digest
from ...text.json_text import NotJsonError, parse_json
from ...text.mistakes import explained
from .decoded import answer_in

R = TypeVar("R", bound=Record)

# bytes of a body for each value that it may have: those of documents are longer
BYTES_OF_VALUE = 40
# letters of a summary: a model that writes as many without an end writes none
MOST_LETTERS = 200_000
# what clients of OpenAI's protocol may send, and why it changes nothing here
SAMPLING = (
    "temperature top_p seed max_tokens max_completion_tokens stop presence_penalty frequency_penalty logit_bias top_k min_p "
    "repetition_penalty best_of"
)
OTHERS = (
    "logprobs top_logprobs tools tool_choice parallel_tool_calls functions function_call response_format reasoning_effort "
    "reasoning metadata store service_tier modalities audio prediction verbosity web_search_options stream_options "
    "prompt_cache_key prompt_cache_retention safety_identifier extra_body extra_headers"
)
PARAMETERS = dict.fromkeys(
    SAMPLING.split(), "is set by the recipe (generate.plans), so that equal requests get equal summaries"
)
PARAMETERS |= dict.fromkeys(
    OTHERS.split(), "has no meaning here: the answer is one whole summary, of the recipe's model and prompt"
)


class GivenDocument(Record):
    """One source text; without an id it has its place's."""

    id: Text | None = None
    text: Text
    # social attributes, for example {"stance": "left"}
    attributes: dict[str, Text] = Field(default_factory=dict)


class DocumentsRequest(Record):
    """Documents to be summarised together, and for whom."""

    documents: Annotated[tuple[GivenDocument, ...], Field(min_length=1, fail_fast=True)]
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
            Document(id=document.id or f"document {place}", text=document.text, attributes=document.attributes)
            for place, document in enumerate(self.documents, start=1)
        )
        # without what a chat or a summary has besides
        content = self.model_dump(mode="json", include=DocumentsRequest.model_fields.keys() - {"id", "side"})
        return DocumentSet(
            id=self.id or digest(content),
            topic=self.topic,
            documents=documents,
            key_points=self.key_points,
            notes=self.notes,
        )


class Item(DocumentsRequest):
    """A summary made elsewhere, with its documents."""

    summary: Annotated[str, Field(max_length=MOST_LETTERS)]


class Chat(DocumentsRequest):
    """The body of /v1/chat/completions; all else that the protocol knows would be passed over, so it is refused."""

    model: str
    # read by nobody: the recipe's template writes the prompt
    messages: tuple[dict[str, Any], ...] = ()
    n: Annotated[int, Field(ge=1, le=1)] | None = None
    stream: bool | None = None
    user: str | None = None


class ScoreRequest(Record):
    """The body of /v1/score in evenhand's own form."""

    items: Annotated[tuple[Item, ...], Field(min_length=1, fail_fast=True)]


class Queries(Record):
    """The body of /v1/score as OpenRLHF sends it."""

    # prompt and answer, decoded with the marks of turns
    query: Annotated[tuple[str, ...], Field(min_length=1, fail_fast=True)]
    prompts: tuple[str, ...]
    # documents and side, as JSON or as its text
    labels: tuple[Any, ...]


class ScoredSummary(NamedTuple):
    """A summary and what it is a summary of."""

    request: SummaryRequest
    summary: str


def body_of(content: bytes | bytearray, most_bytes: int) -> dict[str, Any]:
    """A body as JSON, bounded in depth, number of values and length of keys before any is made.

    Raises:
        NotJsonError: it is no JSON (`is_syntax`), or beyond a bound.
        DataError: it holds half a character.
    """
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise NotJsonError("is not UTF-8", is_syntax=True) from error
    if text.lstrip()[:1] != "{":
        raise NotJsonError("is not a JSON object", is_syntax=True)
    body: dict[str, Any] = parse_json(text, most_values=most_bytes // BYTES_OF_VALUE)
    return body


def read(kind: type[R], body: Any, subject: str = "the body") -> R:
    """The body as a record of that kind.

    Raises:
        DataError: it is none; what is wrong is said by key.
    """
    with explained(subject):
        return kind.model_validate(body)


def unset(body: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """A chat without what the protocol knows and a recipe decides, and why of what of it was set: null sets nothing."""
    mistakes = {key: PARAMETERS[key] for key, value in body.items() if key in PARAMETERS and value is not None}
    return {key: value for key, value in body.items() if key not in PARAMETERS}, mistakes


def request_of(body: DocumentsRequest, recipe: Recipe, *, name: str | None = None) -> SummaryRequest:
    """What the recipe asks its model about these documents.

    Args:
        body: its side must be given where the recipe summarises each side, and only there.
        recipe: has the attribute, the sides and the template.
        name: of the set, in place of its own.

    Raises:
        DataError: the documents do not fit the recipe, or the side is missing or unknown.
    """
    with explained("documents"):
        document_set = body.document_set()
    if name is not None:
        document_set = document_set.model_copy(update={"id": name})
    requests = build_requests(
        load_documents([document_set], recipe.corpus.attribute).records, recipe.corpus, recipe.task
    )
    sides = [request.side for request in requests]
    if recipe.task.scope == "all":
        if body.side is not None:
            raise DataError(f"side {body.side!r}: this recipe makes one summary of all sides; leave side out")
        return requests[0]
    summary_request = next((request for request in requests if request.side == body.side), None)
    if summary_request is None:
        problem = "is missing" if body.side is None else f"{body.side!r} is not one of them"
        raise DataError(f"side: {problem}; this recipe summarises one side at a time: {', '.join(sides)}")
    return summary_request


def items_of(body: Mapping[str, Any], recipe: Recipe) -> list[ScoredSummary]:
    """The summaries of a body in either form, each with its request; equal documents and sides are one request.

    Raises:
        DataError: something is wrong with one of them, which is named by its place.
    """
    if "query" in body:
        return [_scored(*pair, recipe) for pair in enumerate(_of_queries(read(Queries, body)))]
    return [_scored(*pair, recipe) for pair in enumerate(read(ScoreRequest, body).items)]


def _scored(place: int, item: Item, recipe: Recipe) -> ScoredSummary:
    name = digest(item.model_dump(mode="json", exclude={"summary", "side"}))
    try:
        return ScoredSummary(request_of(item, recipe, name=name), without_end_marks(item.summary))
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
        _of_query(place, *fields)
        for place, fields in enumerate(zip(body.query, body.prompts, body.labels, strict=True))
    ]


def _of_query(place: int, query: str, prompt: str, label: Any) -> Item:
    if (answer := answer_in(query, prompt)) is None:
        raise DataError(f"query {place} does not begin with its prompt, so where its answer begins is not known")
    subject = f"label {place}"
    if len(answer) > MOST_LETTERS:
        raise DataError(f"query {place}: its answer has {len(answer):,} letters; {MOST_LETTERS:,} are read at most")
    try:
        # the body had its bound of bytes; this one has keys that are bounded, too
        content = parse_json(label, most_values=len(label) + 1) if isinstance(label, str) else label
    except NotJsonError as error:
        raise DataError(f'{subject} {error}; it needs the documents: {{"documents": [...]}}') from error
    if not isinstance(content, Mapping):
        raise DataError(f'{subject} is not an object; it needs the documents: {{"documents": [...]}}')
    return read(Item, {**content, "summary": answer}, subject)


def described(reasons: Sequence[str]) -> str:
    """Reasons in one line, each once."""
    return "; ".join(dict.fromkeys(reasons))
