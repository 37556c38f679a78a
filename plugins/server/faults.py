"""What a request brings that is no answer to it: the one tree of errors that is known behind the client.

The library's errors become these where they arise (`client.within`); what they mean to a user, and how to mend them, is in
`remedies`.
"""

import ssl
from collections.abc import Mapping
from typing import Any

from ...extras import need
from .rejections import Rejection, rejection

FEATURE = "backend 'openai'"
# what TLS raises and takes back within every connection
WAITING = (ssl.SSLWantReadError, ssl.SSLWantWriteError)
# what httpx calls that nothing was sent, so that nothing is paid for
UNSENT = frozenset({"ConnectError", "ConnectTimeout", "PoolTimeout", "UnsupportedProtocol"})


class ResponseError(Exception):
    """What a request brought is no answer to it; what was said, or went wrong, is the text of this."""

    # whether another try may be whole; whether the server may have got the request
    is_passing = is_sent = True
    # how often it was sent again
    n_retries = 0
    headers: Mapping[str, str] = {}


class BrokenAnswerError(ResponseError):
    """It is no response of its kind."""


class LateError(ResponseError):
    """It was not whole within its time."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"no whole answer within {seconds:g} seconds")
        self.seconds = seconds


class LongWaitError(ResponseError):
    """The server asks to be left alone for longer than anybody waits."""


class RedirectError(ResponseError):
    """It sends elsewhere; where, is the text of this."""

    is_passing = False


class LostError(ResponseError):
    """No connection came about, or it was lost.

    Args:
        said: of the first cause.
        tls: the fault of TLS that it was.
    """

    def __init__(self, said: str, tls: ssl.SSLError | None) -> None:
        super().__init__(said)
        self.tls, self.is_passing = tls, not isinstance(tls, ssl.SSLCertVerificationError)


class RejectedError(ResponseError):
    """The server answers by a rejection.

    Args:
        said: what it says.
        response: the library's; None for one that came with the status of an answer, or in a file.
        text: what to show where it says nothing.
    """

    def __init__(self, said: Rejection, response: Any = None, text: str = "") -> None:
        super().__init__(said.words or text)
        self.said, self.response = said, response
        self.headers = {} if response is None else response.headers
        is_of_text = said.is_of_length or said.is_of_content or said.is_of_credit
        advice = self.headers.get("x-should-retry")
        self.is_passing = not is_of_text and (advice == "true" or (advice != "false" and said.may_pass))


def fault_of(error: Any, seconds: float) -> ResponseError:
    """What an error of the library is, of a request that had so many seconds."""
    openai, causes = need("openai", FEATURE), [error]
    while causes[-1].__cause__ is not None:
        causes.append(causes[-1].__cause__)
        # some versions of the library take what its hooks raise for a lost connection
        if isinstance(causes[-1], ResponseError):
            return causes[-1]
    lines = [line.strip() for cause in reversed(causes) for line in str(cause).splitlines() if line.strip()]
    text = lines[0] if lines else type(error).__name__
    if isinstance(error, openai.APIStatusError):
        content = error.response.text
        return RejectedError(
            rejection(error.status_code, content if content.strip() else error.body), error.response, text
        )
    is_late = isinstance(error, openai.APITimeoutError)
    fault: ResponseError = LateError(seconds) if is_late else LostError(text, tls_fault(error))
    fault.is_sent = not any(type(cause).__name__ in UNSENT for cause in causes)
    return fault


def tls_fault(error: BaseException | None) -> ssl.SSLError | None:
    """The fault of TLS that caused the error; a connection that was lost, or is waited for, is none."""
    while error is not None and (not isinstance(error, ssl.SSLError) or isinstance(error, WAITING)):
        error = error.__cause__ or error.__context__
    return None if isinstance(error, ssl.SSLEOFError | ssl.SSLZeroReturnError) else error
