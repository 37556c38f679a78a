"""Methods of the user's own: a generator function in a file, which runs in a process of its own (`runfolder.python_code`).

It yields a prompt and is given the reply, as often as it likes; what it returns is the summary, or the last reply where it
returns nothing. All candidates of a batch go forward together, a call of the backend for each round. A step is a call of the
function from its beginning with the replies that there were: nothing of it must be kept, and a run can be resumed.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from ..config.python_code import PythonMethodSection
from ..errors import ModelError
from ..records import Message
from ..runfolder.own_functions import Answer, CallForm, about
from ..runfolder.python_code import CodeProcess
from .backend import Reply
from .method import Job, Method
from .reply_text import answer_of
from .threads import Call, Thread, ask_round, candidates, going, open_threads

FORMS = (CallForm({"prompt": "prompt", "sources": "sources", "request": "request"}, is_batch=False, has_steps=True),)
# prompts that a function may ask for one candidate
MOST_STEPS = 50


def summarise(job: Job) -> list[list[Reply]]:
    """Replies of each request, one for each draw, each with its turns."""
    options = job.recipe.generate.options_as(PythonMethodSection)
    threads = open_threads(job)
    # what each thread was told
    replies: dict[Thread, list[str]] = {thread: [] for thread in going(threads)}
    with _process(options) as process:
        open_ = list(replies)
        for number in range(MOST_STEPS + 1):
            answers = process.call([_row(thread, replies[thread]) for thread in open_])
            calls = [
                call for thread, answer in zip(open_, answers, strict=True) if (call := _call(thread, answer, number))
            ]
            for call, reply in zip(calls, ask_round(job.backend, number, calls), strict=True):
                replies[call.thread].append(answer_of(reply.text).text)
            open_ = [call.thread for call in calls if not call.thread.has_failed]
            if not open_:
                break
        for each in open_:
            _fail(each, f"the function asked more than {MOST_STEPS} times", "")
    return candidates(threads)


def _row(thread: Thread, replies: Sequence[str]) -> dict[str, Any]:
    request = thread.request
    entry = {"prompt": request.prompt[-1].content, "request": about(request), "replies": list(replies)}
    return {**entry, "sources": [document.text for document in request.source_documents]}


def _call(thread: Thread, answer: Answer, number: int) -> Call | None:
    """What is asked next; None where the thread has come to its end."""
    kind, content, *rest = answer
    if kind == "ask":
        prompt = (*thread.request.prompt[:-1], Message(role="user", content=content))
        return Call(thread, f"step-{number + 1}", prompt, thread.sampling, is_first=number == 0)
    if kind != "done":
        _fail(thread, content, str(rest[0] if rest and rest[0] else content))
    elif thread.result is None:
        _fail(thread, "the function asked nothing", "a method asks the model: reply = yield prompt")
    elif content is not None and content != answer_of(thread.result.text).text:
        # no model has written it as it stands
        thread.result = replace(thread.result, text=content, token_ids=(), logps=None, finish_reason="stop")
    return None


def _fail(thread: Thread, reason: str, error: str) -> None:
    thread.result = Reply(text="", finish_reason="failed", reason=reason, error=error or reason)


@contextmanager
def _process(options: PythonMethodSection) -> Iterator[CodeProcess]:
    process = CodeProcess(options.code(), FORMS, "method python", ModelError)
    try:
        yield process
    finally:
        process.stop()


def try_method(options: PythonMethodSection) -> None:
    """Import the file in a process of its own, and look at the function.

    Raises:
        RecipeError: it cannot be imported, the function is not there or has other parameters, or nobody asked to run it.
        ModelError: the process ended or did not come to its end.
    """
    with _process(options) as process:
        process.start()


PYTHON = Method(summarise, PythonMethodSection)
