"""The methods by name: those of the core, and what packages bring."""

from collections.abc import Iterator
from dataclasses import replace

from ..doors import Door, guarded_fields
from ..errors import PluginError
from . import python_method, zero_shot
from .backend import Reply, reply_mistake
from .method import Job, Method

CORE: dict[str, Method] = {
    "zero-shot": zero_shot.ZERO_SHOT,
    "python": python_method.PYTHON,
}


def _guarded_method(method: Method, label: str) -> Method:
    """A method of another package, which gives a reply for each draw of each request, or an error."""
    method = guarded_fields(method, label)

    def summarise(job: Job) -> list[list[Reply]]:
        replies = method.summarise(job)
        if mistake := next(_mistakes(job, replies), None):
            raise PluginError(f"{label} {mistake}")
        return replies

    return replace(method, summarise=summarise)


def _mistakes(job: Job, replies: object) -> Iterator[str]:
    """What is wrong with what a method gave."""
    if not isinstance(replies, list | tuple) or len(replies) != len(job.requests):
        amount = f"{len(replies)} rows" if isinstance(replies, list | tuple) else type(replies).__name__
        yield f"gave {amount} for {len(job.requests)} requests; return a list with a row for each, in their order"
        return
    for request, row in zip(job.requests, replies, strict=True):
        if not isinstance(row, list | tuple) or len(row) != len(job.draws):
            amount = f"{len(row)} replies" if isinstance(row, list | tuple) else type(row).__name__
            yield (
                f"gave {amount} for {len(job.draws)} draws of request {request.id!r}; return a reply for each draw, and one with "
                "finish_reason 'failed', a reason and an error where there is no summary"
            )
            return
        for reply in row:
            if mistake := reply_mistake(reply):
                yield f"gave {mistake} for request {request.id!r}"


METHODS: Door[Method] = Door("methods", "method", lambda thing: isinstance(thing, Method), CORE, guard=_guarded_method)
