"""Answers that are errors, in the form of OpenAI's protocol.

Error texts may quote documents: they go to the client, and into the log only where the command was started with -v. Why a server
refuses key, model or address is logged in any case: it lasts until somebody who reads the log mends it.
"""

import logging
import traceback
from typing import NamedTuple

from starlette.responses import JSONResponse

from ...errors import DataError, EvenhandError, JudgeError, ModelError, RecipeError, UnfitModelError
from ...extras import verbosity
from ...text.secrets import redacted
from .pool import BusyError
from .work import NoSummaryError

log = logging.getLogger(__name__)

# seconds after which a client that was sent away may come again
RETRY_AFTER = 2
# what a client is told of a fault that is not its own
UPSTREAM = "the model's server or a judge does not answer; try again later"
UNFIT = (
    "the model's server or a judge's has not what evenhand asks it for (model, address), or refuses the key, and whoever runs "
    "evenhand must mend that; its log says what"
)
FAULT = "evenhand could not answer; its log says more"


class Refusal(Exception):
    """An answer that is an error."""

    def __init__(self, status: int, code: str, message: str, parameter: str | None = None) -> None:
        super().__init__(message)
        self.status, self.code, self.said, self.parameter = status, code, message, parameter


class ErrorRule(NamedTuple):
    """What becomes of an error."""

    kind: type[BaseException]
    status: int
    code: str
    # what is said in place of its text
    said: str | None = None


# the first that fits
RULES = (
    ErrorRule(BusyError, 429, "busy"),
    ErrorRule(NoSummaryError, 422, "no_summary"),
    ErrorRule(DataError, 422, "invalid_request"),
    ErrorRule(RecipeError, 422, "invalid_request"),
    ErrorRule(UnfitModelError, 503, "upstream_unfit", UNFIT),
    ErrorRule(ModelError, 503, "upstream_unavailable", UPSTREAM),
    ErrorRule(JudgeError, 503, "upstream_unavailable", UPSTREAM),
    ErrorRule(TimeoutError, 504, "deadline_exceeded", "there was no answer in time; raise --deadline, or ask again: what was "
         "drawn and judged is kept"),
)  # fmt: skip


def refusal_of(error: Exception) -> Refusal:
    """The answer to a request that ended with this error; its text is kept back where it is not about the request."""
    for rule in RULES:
        if isinstance(error, rule.kind):
            return Refusal(rule.status, rule.code, str(error) if rule.said is None else rule.said)
    return Refusal(500, "internal_error", FAULT)


def logged(error: Exception) -> Refusal:
    """The refusal, after a line in the log where the fault is not the client's: the error's kind.

    Its text is there only with -v, with the errors that caused it, or where a server is to be mended; keys are nowhere.
    """
    refused = refusal_of(error)
    if refused.status >= 500:
        lines = [type(error).__name__]
        if isinstance(error, UnfitModelError) or verbosity() == "verbose":
            lines[0] += f": {error}"
        if verbosity() == "verbose":
            lines += traceback.format_exception(error)
        log.warning("%s", redacted("\n".join(lines).rstrip()))
    elif not isinstance(error, EvenhandError):
        log.warning("%s", type(error).__name__)
    return refused


def error_response(refused: Refusal) -> JSONResponse:
    """An error as OpenAI's servers write it."""
    kind = "invalid_request_error" if refused.status < 500 else "server_error"
    headers = {"Retry-After": str(RETRY_AFTER)} if refused.status == 429 else None
    error = {"message": refused.said, "type": kind, "param": refused.parameter, "code": refused.code}
    return JSONResponse({"error": error}, refused.status, headers)
