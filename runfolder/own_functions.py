"""How a function of the user's own is called, by the names of its parameters, and what its values say."""

import inspect
import os
import traceback
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import suppress
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple

from ..records import SummaryRequest
from ..text import some_of
from ..text.json_text import HALF
from ..text.shown import shortened

# characters of a text that is handed on
MOST_TEXT = 2000


class CallForm(NamedTuple):
    """A way in which a function can be called: by the names of its parameters."""

    # name of a parameter -> what of a row it gets; a function without the first one has another form
    parameters: Mapping[str, str]
    # whether each gets a list with an item for each row, and the function returns such a list
    is_batch: bool
    # whether the function is a generator of prompts, which gets their replies, and not one that returns a number
    has_steps: bool = False
    # whether the function returns a dict of numbers by name, and not one number
    by_name: bool = False


class Calling(NamedTuple):
    """A function, and how it is called."""

    function: Callable[..., Any]
    form: CallForm
    # those of the form's parameters that it takes, and what of a row each gets
    parameters: Mapping[str, str]


class Refused(Exception):
    """What is wrong with a function."""


def calling(function: Any, label: str, forms: Sequence[CallForm]) -> Calling:
    """How a function is called, by the names of its parameters.

    Raises:
        Refused: it has none of the forms.
    """
    ways = " or ".join(f"({', '.join(form.parameters)})" for form in forms)
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError) as error:
        raise Refused(f"{label} is {shortened(function)} and no function whose parameters are known") from error
    named = {
        parameter.name: parameter
        for parameter in parameters
        if parameter.kind in {parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY}
    }
    takes_any = any(parameter.kind == parameter.VAR_KEYWORD for parameter in parameters)
    form = next((form for form in forms if next(iter(form.parameters)) in named), None)
    if form is None:
        raise Refused(
            f"{label} has the parameters ({', '.join(parameter.name for parameter in parameters)}), which are known by "
            f"their names; write {ways}, of which all but the first may be left out"
        )
    unknown = [
        name
        for name, parameter in named.items()
        if name not in form.parameters and parameter.default is parameter.empty
    ]
    unknown += [
        parameter.name
        for parameter in parameters
        if parameter.kind == parameter.POSITIONAL_ONLY and parameter.default is parameter.empty
    ]
    if unknown:
        raise Refused(
            f"{label} needs {some_of(unknown)}, which nothing fills; its parameters can be {', '.join(form.parameters)}"
        )
    return Calling(function, form, {name: key for name, key in form.parameters.items() if takes_any or name in named})


def about(request: SummaryRequest) -> dict[str, Any]:
    """What a function is told of a request, as JSON."""
    document_set = request.document_set
    return {
        "id": request.id,
        "set": document_set.id,
        "topic": document_set.topic,
        # None where all sides are asked for
        "side": request.perspective.value if request.perspective else None,
        "documents": [
            {"id": document.id, "text": document.text, "attributes": document.attributes}
            for document in document_set.documents
        ],
    }


# what came of a call for one summary, as JSON: a number; or a kind of something else with words about it
Answer = list[Any]


def answers(call: Calling, rows: Sequence[dict[str, Any]]) -> list[Answer]:
    """What a function says of each row, as its parameters need it: never a number that it did not give."""
    if not call.form.is_batch:
        return [
            _writable(answer)
            for row in rows
            for answer in _called(
                call, {name: row[key] for name, key in call.parameters.items()}, None, row.get("replies", ())
            )
        ]
    batch = {name: [row[key] for row in rows] for name, key in call.parameters.items()}
    return list(map(_writable, _called(call, batch, len(rows))))


def _writable(answer: Answer) -> Answer:
    """The answer without half characters, which no file can hold; a summary or a prompt with one is none."""
    if answer[0] in ("ask", "done") and answer[1] is not None and HALF.search(answer[1]):
        return ["fault", "the function gave a text with half a character (a lone surrogate)", shortened(answer[1])]
    return [HALF.sub("\ufffd", part) if isinstance(part, str) else part for part in answer]


def _called(call: Calling, arguments: dict[str, Any], n: int | None, replies: Sequence[str] = ()) -> list[Answer]:
    """The answers of one call, of a batch of `n`; or what a generator asks after the replies that it had."""
    process = os.getpid()
    try:
        value = call.function(**arguments)
        if call.form.has_steps:
            return [_step(value, replies)]
        if n is None:
            return [_by_name(value) if call.form.by_name else _plain(value)]
        return _plain_batch(value, n)
    except (Exception, SystemExit) as error:
        name = "called sys.exit" if isinstance(error, SystemExit) else f"raised {type(error).__name__}"
        where = traceback.extract_tb(error.__traceback__)[-1]
        message = f"{Path(where.filename).name}:{where.lineno}: {str(error) or type(error).__name__}"
        return [["fault", f"the function {name}", message[:MOST_TEXT]]] * (1 if n is None else n)
    finally:
        # a process that the function has forked must not answer as well
        if os.getpid() != process:
            os._exit(0)


def _plain_batch(value: Any, n: int) -> list[Answer]:
    if isinstance(value, str | bytes | dict) or not hasattr(value, "__len__") or not hasattr(value, "__getitem__"):
        return [["fault", f"the function returned {_kind(value)} and no list", shortened(value)]] * n
    if len(value) != n:
        return [["fault", f"the function returned {len(value):,} scores for a batch of {n:,}", None]] * n
    return [_plain(value[place]) for place in range(n)]


def _step(steps: Any, replies: Sequence[str]) -> Answer:
    """What a generator asks for next, or what it returns in the end."""
    if not inspect.isgenerator(steps):
        return ["fault", f"the function returned {_kind(steps)}; let it ask: reply = yield prompt", None]
    asking: Generator[Any, Any, Any] = steps
    try:
        value = next(asking)
        for reply in replies:
            value = asking.send(reply)
    except StopIteration as end:
        if end.value is None or isinstance(end.value, str):
            return ["done", end.value]
        return ["fault", f"the function returned {_kind(end.value)} and no text", shortened(end.value)]
    if not isinstance(value, str) or not value.strip():
        return ["fault", f"the function asks with {_kind(value)} and no prompt", shortened(value)]
    return ["ask", value]


def _plain(value: Any) -> Answer:
    if value is None:
        return ["none", "the function gave no score", None]
    if isinstance(value, str):
        with suppress(ValueError):
            float(value)
            return ["fault", "the function returned a text and no number", shortened(value)]
        text = " ".join(value.split())
        return ["none", text[:100] or "the function gave no score", value[:MOST_TEXT] if len(text) > 100 else None]
    if isinstance(value, bool) or not isinstance(value, Real):
        return ["fault", f"the function returned {_kind(value)} and no number", shortened(value)]
    try:
        return ["score", float(value)]
    except OverflowError:
        return ["fault", "the function returned a number beyond all floats", None]


def _by_name(value: Any) -> Answer:
    if not isinstance(value, Mapping):
        if value is None or isinstance(value, str):
            return _plain(value)
        return ["fault", f"the function returned {_kind(value)} and no dict", shortened(value)]
    numbers = {str(name): _plain(number) for name, number in value.items()}
    fault = next((answer for answer in numbers.values() if answer[0] == "fault"), None)
    # a name without a number is as one that is not there
    return fault or ["numbers", {name: answer[1] for name, answer in numbers.items() if answer[0] == "score"}]


def _kind(value: Any) -> str:
    return f"a value of type {type(value).__name__}"
