"""The places by name where processes of a stage run, other than this machine: packages bring them."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from ..doors import Door
from .workers import Launch


@dataclass(frozen=True)
class Executor:
    """Machines elsewhere, on which engines run: what the door of places has by name."""

    # they are, in words: "the Ray cluster"
    where: str
    # their Python, in words, since a recipe's own has no effect there: "what `ray start` ran with"
    python: str
    # GPUs of each machine that has room for a process; raises an EvenhandError where there are no machines
    machines: Callable[[], Sequence[int]]
    # what gives a number of engines of one model their places: how many, GPUs that each is given, and those that it would use
    launches: Callable[[int, int, int], list[Launch]]
    # being in touch with them for a check alone
    joined: Callable[[], AbstractContextManager[None]] = nullcontext


PLACES: Door[Executor] = Door("places", "place", lambda thing: isinstance(thing, Executor))
