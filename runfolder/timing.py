"""Where the seconds of a stage go: into loading models, into models, and the rest, which is evenhand's own.

A stage opens an account, and whoever loads or runs a model books its seconds there; nobody in between hands anything on.
Outside of a stage nothing is booked.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal

# "loading": reading weights, starting an engine; "models": waiting for a model to answer or to learn
Part = Literal["loading", "models"]

_account: ContextVar[dict[str, float] | None] = ContextVar("account", default=None)


@contextmanager
def account() -> Iterator[dict[str, float]]:
    """The wall seconds that `booked` blocks take while this block runs, by part; a part without any is absent."""
    seconds: dict[str, float] = {}
    token = _account.set(seconds)
    try:
        yield seconds
    finally:
        _account.reset(token)


@contextmanager
def booked(part: Part) -> Iterator[None]:
    """Book the block's wall seconds on the open account; blocks do not stand inside each other."""
    start = time.perf_counter()
    try:
        yield
    finally:
        book(part, time.perf_counter() - start)


def book(part: Part, seconds: float) -> None:
    """Book seconds on the open account."""
    booked_seconds = _account.get()
    if booked_seconds is not None:
        booked_seconds[part] = booked_seconds.get(part, 0.0) + seconds
