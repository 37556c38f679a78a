"""Tries of a request: another one where that may mend what went wrong, as long after as the server asks.

The library's own retries are off: they know no clock around a whole answer, and nobody counts what they cost.
"""

import asyncio
import math
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from email.utils import parsedate_to_datetime
from typing import TypeVar

from .faults import LongWaitError, ResponseError

T = TypeVar("T")

# seconds to the second try, and between two tries at most, where the server does not say it
FIRST_WAIT, LONGEST_WAIT = 0.5, 8.0
# seconds that a server may ask to wait for
MOST_WAIT = 120.0


async def first_whole(retries: int, ask: Callable[[], Awaitable[T]]) -> T:
    """What comes of the first try that nothing goes wrong with.

    Args:
        retries: how often it is tried again.
        ask: makes a try, by `client.within`; it raises BrokenAnswerError for what is no response of its kind.

    Raises:
        ResponseError: no try was whole, or none would be.
    """
    n = 0
    while True:
        try:
            return await ask()
        except ResponseError as error:
            error.n_retries = n
            if not error.is_passing:
                raise
            wait = asked_wait(error.headers)
            if wait is not None and wait > MOST_WAIT:
                said = "ever" if math.isinf(wait) else f"{wait:.0f} seconds"
                raise LongWaitError(
                    f"asks to be left alone for {said} (Retry-After), and no more than {MOST_WAIT:g} seconds are waited: {error}"
                ) from error
            if n == retries:
                raise
        await asyncio.sleep(_own_wait(n) if wait is None else wait)
        n += 1


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


def _own_wait(n: int) -> float:
    """Seconds to the next try after n others: twice as long each time, and not the same for all that failed together."""
    return min(FIRST_WAIT * 2.0 ** min(n, 10), LONGEST_WAIT) * (1 - random.random() / 4)  # noqa: S311
