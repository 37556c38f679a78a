"""What a replica is told when it is started: its stage, and the name of its journal. Parent and child have it from here."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, Self, TypeVar
from uuid import uuid4

from pydantic import BaseModel

from ..config import Recipe
from ..config.model import LOCAL
from ..errors import StorageError
from .journal import Journal
from .phases import Phase, hold_run, resolved_recipe
from .processes import failure_path
from .shards import Shard, read_shard
from .stages import Stage
from .workers import Command

# seconds that a network disk may keep what it knows of a folder, and between looks
PATIENCE_SECONDS, POLL_SECONDS = 120.0, 2.0

R = TypeVar("R", bound=BaseModel)


class Assignment(NamedTuple):
    """What the process works at."""

    # file of the resolved recipe
    recipe: Path
    phase: str
    stage: str
    # of the stage, which must be that of the recipe
    key: str
    shard: Shard
    # name of the process
    part: str

    @classmethod
    def read(cls, arguments: Sequence[str]) -> tuple[Self, list[str]]:
        """The assignment that a command line holds, and the options that follow it there."""
        recipe, phase, stage, key, shard, part, *options = arguments
        return cls(Path(recipe), phase, stage, key, read_shard(shard), part), options

    @property
    def failure(self) -> Path:
        """Where the process leaves what it refused, also when the recipe cannot be read any more."""
        return failure_path(self.recipe.parent / self.phase, f"{self.stage}.{self.part}")

    @contextmanager
    def held(self, recipe: Recipe) -> Iterator[None]:
        """Work in the run folder of the command that started the process.

        Raises:
            StorageError: no command is at work in it, so it is another folder of that name.
        """
        with hold_run(recipe, self.shard) as is_child:
            if not is_child:
                raise StorageError(
                    f"{recipe.output.absolute()}: on the machine {os.uname().nodename} this is not the folder that the command "
                    "works in, but one of its own; put the run folder on a disk that all machines share"
                )
            yield

    def journal(self, stage: Stage, line: type[R]) -> Journal[R]:
        """The journal of the process.

        Raises:
            StorageError: the stage is another by now.
        """
        if stage.key != self.key:
            raise StorageError(
                f"{stage.folder}: the recipe, what it reads, or a model changed while the stage was running; the same "
                f"command starts over"
            )
        return Journal(stage.journal_path(self.shard.part(self.part)), line)


def commands(phase: Phase, stage: Stage, shard: Shard, module: str, *options: str) -> Callable[[str], Command]:
    """What makes the command of a replica, by its name.

    Args:
        phase: of the stage.
        stage: that it works at.
        shard: of the stage.
        module: that it runs.
        options: what the module is told besides.

    Raises:
        StorageError: the resolved recipe is not in the run folder.
    """
    recipe = resolved_recipe(phase.recipe, "replicas", shard)
    # a machine that cannot be reached may still be at work for an earlier command
    suffix = f".{uuid4().hex[:8]}" if phase.recipe.executor != LOCAL else ""

    def command(name: str) -> Command:
        assignment = Assignment(recipe, phase.name, stage.name, stage.key, shard, name + suffix)
        return Command(("-m", module, *map(str, assignment), *options), assignment.failure)

    return command


def refuse_unseen(n_unseen: Callable[[], int], folder: Path, patience: float = PATIENCE_SECONDS) -> None:
    """Refuse to go on without what processes elsewhere have done; a network disk shows it late.

    Args:
        n_unseen: how many of the requests that they have done are in no journal that can be read here.
        folder: of the stage.
        patience: seconds that they have to be seen.

    Raises:
        StorageError: they are not seen.
    """
    until = time.monotonic() + patience
    while n := n_unseen():
        if time.monotonic() > until:
            raise StorageError(
                f"{folder / 'receipts'}: of {n} requests that processes on other machines have done, no journal is there; is the "
                "run folder on a disk that all machines share? The same command does them again"
            )
        time.sleep(POLL_SECONDS)
