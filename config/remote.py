"""A model that another program runs: what a recipe has to know of whoever is asked."""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from ..records import Sampling
from .section import Section

# a model of a server, as commands are told it: its name there, and the address
SERVED = re.compile(r"(?P<name>.+?)@(?P<address>https?://.+)")


class RemoteSection(Section, ABC):
    """Where another program is asked that runs a model: the keys of `server`, which the kind of backend brings."""

    # keys that say where, how fast and at what price, and nothing of what comes back
    only_where: ClassVar[frozenset[str]] = frozenset()
    # how `server` is written at its shortest, in errors
    example: ClassVar[str] = "{...}"

    @property
    @abstractmethod
    def address(self) -> str:
        """Where it is asked."""

    @property
    @abstractmethod
    def sends_tokens(self) -> bool:
        """Whether it is sent token ids, which the model's own tokenizer makes on this machine, and not messages."""

    @property
    def choice_tokens(self) -> int:
        """Most tokens of an answer that is one of some choices."""
        return 1

    @property
    def is_deferred(self) -> bool:
        """Whether its answers come when the command has ended, and the same command takes them in."""
        return False

    @abstractmethod
    def cost(self, n_input: int, n_output: int) -> float | None:
        """What so many tokens of prompts and answers cost at most; None where no price is known."""

    @abstractmethod
    def refuse_drawing(self, drawing: Sampling) -> None:
        """Refuse what it cannot be asked for: silently another distribution would be drawn from.

        Raises:
            ValueError: it cannot.
        """

    @abstractmethod
    def refuse_unreachable(self, model: str) -> None:
        """Refuse, before any work, one that does not answer or lacks the model.

        Raises:
            ModelError: it does.
        """


def refuse_unpriced(key: str, limit: float | None, servers: Mapping[str, RemoteSection], remark: str = "") -> None:
    """Refuse a limit of what servers may be paid where a server's prices are not known.

    Args:
        key: the limit's.
        limit: None for none.
        servers: by the key of their backend.
        remark: what more to say.

    Raises:
        ValueError: prices are missing; all of them are named.
    """
    without = [name for name, server in servers.items() if server.cost(0, 0) is None]
    if limit is not None and without:
        raise ValueError(
            f"{key} needs to know what tokens cost: write {', '.join(f'{name}.server.price' for name in without)}: {{input: ..., "
            f"output: ...}}, for a million tokens each{remark}"
        )
