"""Shards of a stage: every n-th batch of it, for schedulers that start processes themselves.

A shard writes journals of its own beside those of the stage and nothing else there. When all shards are done, the stage runs as
ever: it finds every batch in the journals, and leaves what one process would have left.
"""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from ..config.model import BackendSection
from ..errors import RecipeError

WRITTEN = re.compile(r"(\d{1,6})/(\d{1,6})")
# folder of the shards' locks and recipes in the run folder
SHARDS = "shards"


class Shard(NamedTuple):
    """Batches of a stage: those whose number, counted from 0, leaves `number` when it is divided by `of`."""

    number: int = 0
    of: int = 1

    @property
    def name(self) -> str:
        """The shard in names of files; "" for the whole stage."""
        return f"shard-{self.number}-of-{self.of}" if self.of > 1 else ""

    def has(self, batch: int) -> bool:
        """Whether a batch is of it."""
        return batch % self.of == self.number

    def part(self, name: str = "") -> str:
        """The part of the stage that a process of the shard is, see `Stage.journal_path`."""
        return ".".join(filter(None, (self.name, name)))

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


WHOLE = Shard()


def read_shard(text: str) -> Shard:
    """The shard that is written so: "0/4".

    Raises:
        RecipeError: there is no such shard.
    """
    match = WRITTEN.fullmatch(text)
    number, of = map(int, match.groups()) if match else (0, 0)
    if number >= of:
        last = f", here 0/{of} to {of - 1}/{of}" if of else ""
        raise RecipeError(f"--shard {text!r}: a shard is a number from 0 and how many there are, as 0/4 to 3/4{last}")
    return Shard(number, of)


def shard_folder(output: Path, shard: Shard) -> Path:
    """The folder that processes of a shard hold, one of its own in the run folder; that itself for the whole."""
    return output / SHARDS / f"{shard.number}-of-{shard.of}" if shard.name else output


def refuse_servers(backends: Iterable[BackendSection]) -> None:
    """Refuse shards of what servers answer: one process alone keeps the account of what they cost.

    Raises:
        RecipeError: one of these asks a server.
    """
    if any(backend.server for backend in backends):
        raise RecipeError(
            "--shard: the recipe asks a server, and one process alone keeps the account of what servers cost; leave --shard out, "
            "and raise server.concurrency instead"
        )
