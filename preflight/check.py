"""One thing that can be wrong before any work."""

from collections.abc import Callable
from typing import NamedTuple


class Check(NamedTuple):
    """What is looked at, and how."""

    # key of the recipe that a mistake is reported under, unless its text begins with one
    key: str
    # raises an EvenhandError when something is wrong
    run: Callable[[], object]
    # whether it looks at this machine, and not at the recipe and its corpus alone
    is_here: bool = False
