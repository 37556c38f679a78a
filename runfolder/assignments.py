"""What a replica is told when it is started: its stage, and the name of its journal. Parent and child have it from here."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple, Self, TypeVar

from pydantic import BaseModel

from ..errors import StorageError
from .journal import Journal
from .phases import Phase, resolved_recipe
from .processes import failure_path
from .shards import Shard, read_shard
from .stages import Stage
from .workers import Command

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
        """That of a command line, and what follows it there."""
        recipe, phase, stage, key, shard, part, *others = arguments
        return cls(Path(recipe), phase, stage, key, read_shard(shard), part), others

    @property
    def failure(self) -> Path:
        """Where the process leaves what it refused, also when the recipe cannot be read any more."""
        return failure_path(self.recipe.parent / self.phase, f"{self.stage}.{self.part}")

    def journal(self, stage: Stage, line: type[R]) -> Journal[R]:
        """The journal of the process.

        Raises:
            StorageError: the stage is another by now.
        """
        if stage.key != self.key:
            raise StorageError(
                f"{stage.folder}: the recipe, what it reads, or a model changed while the stage was at work; the same command "
                "begins anew"
            )
        return Journal(stage.journal_path(self.shard.part(self.part)), line)


def commands(phase: Phase, stage: Stage, shard: Shard, module: str, *others: str) -> Callable[[str], Command]:
    """What makes the command of a replica, by its name.

    Args:
        phase: of the stage.
        stage: that it works at.
        shard: of the stage.
        module: that it runs.
        others: what the module is told besides.

    Raises:
        StorageError: the resolved recipe is not in the run folder.
    """
    return partial(
        _command, (resolved_recipe(phase.recipe, "replicas", shard), phase.name, stage, shard), module, others
    )


def _command(where: tuple[Path, str, Stage, Shard], module: str, others: Sequence[str], part: str) -> Command:
    recipe, phase, stage, shard = where
    mine = Assignment(recipe, phase, stage.name, stage.key, shard, part)
    return Command(("-m", module, *map(str, mine), *others), mine.failure)
