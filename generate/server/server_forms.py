"""Forms of what servers send beside answers: lists of models, files, batches and their lines."""

from typing import Annotated, Any

from pydantic import Field

from .responses import Count, Dispensable, Form


class ServedModel(Form):
    """A model of a server."""

    id: str
    owned_by: Annotated[str | None, Dispensable] = None


class ModelList(Form):
    """The models of a server; what is in the list and no model is None."""

    data: list[Annotated[ServedModel | None, Dispensable]] | None

    @property
    def models(self) -> list[ServedModel]:
        """Those that are."""
        return [each for each in self.data or () if each is not None]


class Identified(Form):
    """What a server has made and named: a file."""

    id: Annotated[str, Field(min_length=1)]


class RequestCounts(Form):
    """How many requests of a batch are done."""

    completed: Count = 0
    failed: Count = 0
    total: Count = 0


class Batch(Identified):
    """A batch of requests."""

    status: str
    output_file_id: str | None = None
    error_file_id: str | None = None
    request_counts: Annotated[RequestCounts | None, Dispensable] = None
    metadata: Annotated[dict[str, Any] | None, Dispensable] = None
    errors: Any = None

    @property
    def faults(self) -> Any:
        """What went wrong with all of it."""
        return self.errors.get("data") if isinstance(self.errors, dict) else self.errors


class BatchList(Form):
    """The batches of a server."""

    data: list[Batch] | None


class BatchResponse(Form):
    """What became of a request of a batch."""

    # some write it as a text
    status_code: Annotated[int, Field(strict=False)] = 0
    body: Any = None


class BatchLine(Form):
    """A line of a batch's file of answers; without a response where the request was not answered."""

    custom_id: str
    response: BatchResponse | None = None
