"""Judges of the user's own: a function in a file, which runs in a process of its own (`runfolder.python_code`).

The function says a number, or why there is none. Whatever else comes of it leaves the summary unscored with a reason: an
exception, a value that is no finite number or off the range that the recipe names, a call that takes too long, a process that
ends. A function is given the request and the summary alone, so a score is kept under these and the file's digest.
"""

import inspect
import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from ..config.python_code import IN_MEMORY, PythonJudge
from ..config.section import Check
from ..errors import RecipeError
from ..records import Document, DocumentSet, Message, SummaryRequest
from ..runfolder.own_functions import Answer, CallForm, Refused, about, answers, calling
from ..runfolder.python_code import CodeProcess
from ..text.digests import canonical_json
from ..text.mistakes import explain
from ..text.shown import shortened
from .judge import Judge, JudgeInput, Kind, ScoringJudge, Verdict, judge_signature, number_verdict
from .shared import SharedModels

log = logging.getLogger(__name__)

# the ways in which a function can be written, told apart by the name of a parameter: of one summary, of a batch, and as the
# reward function of a trainer of TRL
FORMS = (
    CallForm({"summary": "summary", "sources": "sources", "request": "request"}, is_batch=False),
    CallForm({"summaries": "summary", "sources": "sources", "requests": "request"}, is_batch=True),
    CallForm(
        {"completions": "summary", "prompts": "prompt", "sources": "sources", "requests": "request"}, is_batch=True
    ),
)
VERSION = 1


def request_text(request: SummaryRequest) -> str:
    """All that a function may know of a request, as JSON: the texts that the summary is to represent, and `request`."""
    description = {
        **about(request),
        "prompt": "\n\n".join(message.content for message in request.prompt),
        "key_points": request.document_set.key_points,
        "references": request.document_set.references,
    }
    return canonical_json({"sources": [document.text for document in request.source_documents], "request": description})


def source_text(name: str, topic: str, source: str) -> str:
    """The same of one text that nobody was asked to summarise: with an empty prompt."""
    document = Document(id=name, text=source)
    contract: dict[str, Any] = {"template": "", "prompt": (Message(role="user", content=""),)}
    return request_text(
        SummaryRequest(id=name, document_set=DocumentSet(id=name, topic=topic, documents=(document,)), **contract)
    )


def _rows(inputs: Sequence[JudgeInput]) -> Iterator[dict[str, Any]]:
    for judge_input in inputs:
        reference = json.loads(judge_input.reference)
        yield {"summary": judge_input.text, "prompt": reference["request"]["prompt"], **reference}


def _verdict(answer: Answer, low: float, high: float) -> Verdict:
    """The verdict on one summary."""
    if answer[0] != "score":
        _, reason, detail = answer
        return Verdict(None, reason, detail)
    return number_verdict(answer[1], low, high, "the function returned")


def _span(options: PythonJudge) -> str:
    return "any" if options.range is None else "-".join(f"{bound:g}" for bound in options.range)


class CodeJudge(ScoringJudge):
    """A function in a file as a judge."""

    def __init__(self, name: str, options: PythonJudge) -> None:
        code, (self.low, self.high) = options.code(), options.bounds
        named = judge_signature(options.function, "python", code=code.digest[:16], range=_span(options), v=VERSION)
        super().__init__(name, named, "request")
        self.requests_per_batch = options.requests_per_batch
        self._label = code.label
        self._process = CodeProcess(code, FORMS, f"judge {name!r}")
        self._was_repeated = False

    def score(self, inputs: Sequence[JudgeInput]) -> list[Verdict]:
        """One verdict for each input, in order."""
        rows = list(_rows(inputs))
        alone = None if self._was_repeated else self._process.call(rows[:1])[0]
        found = self._process.call(rows)
        if alone and alone[0] == "score":
            self._was_repeated = True
            self._warn_of_chance(alone, found[0])
        return [_verdict(answer, self.low, self.high) for answer in found]

    def _warn_of_chance(self, alone: Answer, again: Answer) -> None:
        if repr(alone) != repr(again):
            log.warning(
                "judge %s: %s gave %s and then %s for the same summary, so its scores rest on chance, on time, or on what stands "
                "beside a summary in a batch. One score of a summary is kept, and another run may have others",
                self.name, self._label, shortened(alone[1]), shortened(again[1]),
            )  # fmt: skip

    def close(self) -> None:
        """End the process."""
        self._process.stop()


class FunctionJudge(ScoringJudge):
    """A function of this very process as a judge; it has no limit of time, and what it says is not kept in the cache.

    Args:
        name: what the judge is called.
        options: what is said of it.
        function: as a function in a file may be written.

    Raises:
        RecipeError: its parameters are none that it can have.
    """

    def __init__(self, name: str, options: PythonJudge, function: Callable[..., Any]) -> None:
        self.low, self.high = options.bounds
        named = judge_signature(options.function, "python", code="in-memory", range=_span(options), v=VERSION)
        super().__init__(name, named, "request")
        label = f"judge {name!r}:{options.function}"
        try:
            self._calling = calling(function, label, FORMS)
        except Refused as error:
            raise RecipeError(str(error)) from error

    def score(self, inputs: Sequence[JudgeInput]) -> list[Verdict]:
        """One verdict for each input, in order; an attempt that is not counted is none that the cache keeps."""
        answered = answers(self._calling, list(_rows(inputs)))
        verdicts = (_verdict(answer, self.low, self.high) for answer in answered)
        return [Verdict(verdict.score, verdict.unscored, verdict.raw, attempts=0) for verdict in verdicts]


def in_memory(name: str, section: Any) -> tuple[PythonJudge, Callable[..., Any]] | None:
    """The section and the function of a judge that is a function, or keys of a section with one; None for all else.

    Raises:
        RecipeError: the keys are wrong.
    """
    keys = {"function": section} if callable(section) else section
    function = keys.get("function") if isinstance(keys, Mapping) else None
    if not callable(function):
        return None
    called = str(getattr(function, "__name__", ""))
    says = (inspect.getdoc(function) or "").partition("\n")[0] or f"What the function {called or 'of the judge'} says."
    usual = {"kind": "python", "better": "higher", "range": None, "means": says} if keys is not section else {}
    named = {"file": IN_MEMORY, "function": called if called.isidentifier() else "function"}
    try:
        return PythonJudge.model_validate({**usual, **keys, **named}), function
    except ValidationError as error:
        raise RecipeError(f"judge {name!r} is wrong: {explain(error)}") from error


def open_python(name: str, options: PythonJudge, models: SharedModels) -> Judge:
    """The judge of a function in a file, which is read and not run.

    Raises:
        RecipeError: the file cannot be read.
    """
    return CodeJudge(name, options)


def try_python(name: str, options: PythonJudge) -> None:
    """Import the file in a process of its own, and look at the function.

    Raises:
        RecipeError: it cannot be imported, the function is not there or has other parameters, or nobody asked to run it.
        JudgeError: the process ended or did not come to its end.
    """
    process = CodeProcess(options.code(), FORMS, f"judge {name!r}")
    try:
        process.start()
    finally:
        process.stop()


def _checks(name: str, options: PythonJudge) -> Iterator[Check]:
    yield Check("file", lambda: options.code().refuse_unasked(), is_here=True)


PYTHON = Kind(open_python, PythonJudge, checks=_checks, trial=try_python)
