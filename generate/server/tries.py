"""Tries of a request: one clock and one bound of size for each, and another try where that may mend what went wrong.

The library's own retries are off: they know no clock around a whole answer, and nobody counts what they cost.
"""

import asyncio
import math
import random
import ssl
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

from ...config.server import ServerSection
from ...errors import ModelError
from ...extras import need
from .client import (
    CONTINUES,
    FEATURE,
    NO_PATH,
    PASSING,
    RedirectError,
    refusal,
    tls_fault,
    within,
    words,
)
from .rejections import OWN_FAULTS, rejection_of
from .responses import BrokenAnswerError, ModelList, ResponseError, read

T = TypeVar("T")

# seconds to the second try, and between two tries at most, where the server does not say it
FIRST_WAIT, LONGEST_WAIT = 0.5, 8.0
# seconds that a server may ask to wait for
MOST_WAIT = 120.0
# whose models those of vLLM's server are, as it says itself
VLLM = "vllm"
# statuses of a list of models that is not there, or that not everybody may see who may ask
NO_LIST = NO_PATH | {400, 403}
# what httpx calls that nothing was sent, so that nothing is paid for
UNSENT = frozenset({"ConnectError", "ConnectTimeout", "PoolTimeout", "UnsupportedProtocol"})


@dataclass(frozen=True)
class Tries:
    """The tries of requests to one server, for a model that the recipe calls so."""

    section: ServerSection
    model: str

    async def first_whole(self, ask: Callable[[], Awaitable[T]]) -> T:
        """What comes of the first try that nothing goes wrong with.

        Args:
            ask: makes a try, by `client.within`; it raises BrokenAnswerError for what is no response of its kind.

        Raises:
            openai.APIStatusError: the server refuses what another try would not mend.
            UnfitModelError, ModelError: no try was whole, or none would be.
        """
        openai, n = need("openai", FEATURE), 0
        while True:
            try:
                return await ask()
            except (openai.OpenAIError, ResponseError) as error:
                if not self._is_passing(error):
                    if isinstance(error, openai.APIStatusError):
                        raise
                    raise refusal(error, self.section, self.model) from error
                wait = asked_wait(_headers(error))
                if wait is not None and wait > MOST_WAIT:
                    raise self._late(error, wait) from error
                if n == self.section.retries:
                    raise refusal(error, self.section, self.model, n_retries=n) from error
            await asyncio.sleep(_own_wait(n) if wait is None else wait)
            n += 1

    def _is_passing(self, error: Exception) -> bool:
        """Whether another try may be whole."""
        status = getattr(error, "status_code", None)
        if status is None:
            return not isinstance(error, RedirectError) and not isinstance(
                tls_fault(error), ssl.SSLCertVerificationError
            )
        said = rejection_of(error)
        if said.is_of_length or said.is_of_content or said.is_of_credit:
            return False
        advice = _headers(error).get("x-should-retry")
        return advice == "true" or (advice != "false" and (status in PASSING or status >= OWN_FAULTS))

    def _late(self, error: Exception, wait: float) -> ModelError:
        return ModelError(
            f"{self.section.base_url} asks to be left alone for {_duration(wait)} (Retry-After), and no more than "
            f"{MOST_WAIT:g} seconds are waited: {words(error, self.section)}; {CONTINUES} then"
        )


async def takes_choices(client: Any, tries: Tries) -> bool:
    """Whether an open client's server can hold the answer to a chat to some choices: whether it says that it is vLLM's.

    Raises:
        UnfitModelError, ModelError: it did not say it, and might at another time, so that some grades would be guided and
            others not.
    """
    openai = need("openai", FEATURE)
    try:
        content = await tries.first_whole(lambda: within(tries.section.timeout, client.get("/models", cast_to=bytes)))
        return any(each.owned_by == VLLM for each in read(content, ModelList).models)
    except openai.APIStatusError as error:
        if error.status_code in NO_LIST:
            return False
        raise refusal(error, tries.section, tries.model) from error
    except BrokenAnswerError:
        # vLLM's server has a list, in the form that OpenAI's has
        return False


def was_sent(error: BaseException) -> bool:
    """Whether the server may have got the request of a try that failed so."""
    causes: list[BaseException | None] = [error]
    while causes[-1] is not None:
        causes.append(causes[-1].__cause__)
    return not any(type(each).__name__ in UNSENT for each in causes)


def asked_wait(headers: Mapping[str, str]) -> float | None:
    """Seconds for which a server asks not to be asked again; None where it does not say it, or says what is past."""
    for name, unit in (("retry-after-ms", 1000), ("retry-after", 1)):
        value = headers.get(name, "")
        try:
            seconds = float(value) / unit
        except ValueError:
            try:
                seconds = parsedate_to_datetime(value).timestamp() - time.time()
            except (ValueError, TypeError, OverflowError):
                continue
        if seconds > 0:
            return seconds
    return None


def _headers(error: Exception) -> Mapping[str, str]:
    response: Any = getattr(error, "response", None)
    return {} if response is None else response.headers


def _own_wait(n: int) -> float:
    """Seconds to the next try after n others: twice as long each time, and not the same for all that failed together."""
    return min(FIRST_WAIT * 2.0 ** min(n, 10), LONGEST_WAIT) * (1 - random.random() / 4)  # noqa: S311


def _duration(seconds: float) -> str:
    return "ever" if math.isinf(seconds) else f"{seconds:.0f} seconds"
