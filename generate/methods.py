"""The methods by name: those of the core, and what packages bring."""

import traceback
from collections.abc import Iterator

from ..doors import Door
from ..errors import EvenhandError, PluginError
from . import chain_of_thought, shuffled, thinned, zero_shot
from .backend import Reply
from .method import Job, Method

CORE: dict[str, Method] = {
    "zero-shot": zero_shot.ZERO_SHOT,
    "shuffled": shuffled.SHUFFLED,
    "chain-of-thought": chain_of_thought.CHAIN_OF_THOUGHT,
    "thinned": thinned.THINNED,
}
METHODS: Door[Method] = Door("methods", "method", lambda thing: isinstance(thing, Method), CORE)


def drawn_replies(job: Job) -> list[list[Reply]]:
    """The replies of a job's method, one for each draw of each request.

    Raises:
        PluginError: the method is another package's, and raised something or gave anything else.
    """
    summarise, package = METHODS[job.method].summarise, METHODS.package(job.method)
    if package is None:
        return summarise(job)
    whose = f"method {job.method!r} of package {package}"
    try:
        replies = summarise(job)
    except EvenhandError:
        raise
    except Exception as error:
        raise PluginError(f"{whose} raised {type(error).__name__}: {error} ({_place(error)})") from error
    if mistake := next(_mistakes(job, replies), None):
        raise PluginError(f"{whose} {mistake}")
    return replies


def _place(error: Exception) -> str:
    """The last line of the package's own code that ran."""
    lines = list(traceback.walk_tb(error.__traceback__))
    own = [each for each in lines if each[0].f_globals.get("__name__", "").partition(".")[0] != "evenhand"]
    frame, number = (own or lines)[-1]
    return f"{frame.f_code.co_filename}:{number}"


def _mistakes(job: Job, replies: object) -> Iterator[str]:
    """What is wrong with what a method gave."""
    if not isinstance(replies, list | tuple) or len(replies) != len(job.requests):
        got = f"{len(replies)} rows" if isinstance(replies, list | tuple) else type(replies).__name__
        yield f"gave {got} for {len(job.requests)} requests; return a list with a row for each, in their order"
        return
    for request, row in zip(job.requests, replies, strict=True):
        if not isinstance(row, list | tuple) or len(row) != len(job.draws):
            got = f"{len(row)} replies" if isinstance(row, list | tuple) else type(row).__name__
            yield (
                f"gave {got} for {len(job.draws)} draws of request {request.id!r}; return a reply for each draw, and one with "
                "finish_reason 'failed', a reason and an error where there is no summary"
            )
            return
        for reply in row:
            if not isinstance(reply, Reply):
                yield f"gave {type(reply).__name__} and no Reply for request {request.id!r}; Reply(text, 'stop') is one"
            elif not isinstance(reply.text, str):
                yield f"gave a reply whose text is {type(reply.text).__name__} for request {request.id!r}"
            elif reply.finish_reason == "failed" and not reply.reason:
                yield f"gave a failed reply without a reason for request {request.id!r}"
