"""What shards have left that does not go with a stage's work: journals of another recipe, other batches, other numbers of shards.

The names of the journals tell it, and the recipe that each shard keeps in its own folder: that of the work which it began last.
"""

import logging
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from ..config.model import ONLY_WAYS
from ..config.recipe_file import dump_recipe
from ..errors import RecipeError
from ..storage import write_text
from ..text import some_of
from .phases import RESOLVED, Phase, changed_keys
from .shards import Shard, shard_folder
from .stages import Stage

log = logging.getLogger(__name__)

JOURNAL = re.compile(r".+\.(?P<key>[0-9a-f]{16})\.shard-(?P<number>\d+)-of-(?P<of>\d+)\.(.+\.)?partial\.jsonl")
# says how many requests are a batch, in the section of each engine
SIZE = "requests_per_batch"


def begin_shard(phase: Phase, stage: Stage, shard: Shard, *, sections: Sequence[str], has_others: bool) -> None:
    """Keep the recipe by which a shard works from now on; say what other shards have left that it cannot use.

    Args:
        phase: of the stage.
        stage: it is not done.
        shard: of the stage; it is held.
        sections: keys whose `requests_per_batch` cut the stage's batches, or above those.
        has_others: whether the shard's own journals have requests that are now other shards'.

    Raises:
        RecipeError: journals of the stage are cut into other batches, so that shards would overlap and leave gaps.
        StorageError: the recipe cannot be written.
    """
    left = _left(stage)
    mine = {each: paths for (key, each), paths in left.items() if key == stage.key}
    for other, paths in mine.items():
        # of a shard that has worked by several recipes, the one that it keeps may not be that of these journals
        is_known = sum(each == other for _, each in left) == 1
        sizes = [
            key
            for key in (changed_keys(phase.recipe, other) if is_known else [])
            if key.endswith(f".{SIZE}") and key.startswith(tuple(f"{section}." for section in sections))
        ]
        if sizes or (other == shard and has_others):
            whose = "it" if other == shard else f"shard {other}"
            number = f", which is {some_of(sizes)} of {_recipe_path(phase, other)}" if sizes else ""
            raise RecipeError(
                f"{phase.name} {stage.name} shard {shard}: what {whose} has done is cut into batches of another size ({SIZE}). "
                "Shards share out batches: of different sizes some requests are done twice and others by none. Write the same "
                f"number{number}; or, when no shard is at work, run `evenhand {stage.name}` without --shard, which does what is "
                f"left by any number; or delete {_names(paths)} in {stage.receipt_path.parent}, and that is done again"
            )
    say_strays(phase, stage)
    if others := [each for each in mine if each.of != shard.of]:
        log.warning(
            "%s %s shard %s: there are journals of another number of shards, %s, and what they have is made again; not so with "
            "their number, or by `evenhand %s` without --shard",
            phase.name, stage.name, shard, some_of(list(map(str, others))), stage.name,
        )  # fmt: skip
    write_text(_recipe_path(phase, shard), dump_recipe(phase.recipe))


def say_strays(phase: Phase, stage: Stage) -> None:
    """Say what shards of other recipes have left, since it is not used."""
    if found := of_other_recipes(phase, stage):
        log.warning("%s %s: %s", phase.name, stage.name, found)


def of_other_recipes(phase: Phase, stage: Stage) -> str:
    """What shards of other recipes have left of an unfinished stage, in words; "" for nothing."""
    found = []
    for (key, shard), paths in _left(stage).items():
        if key != stage.key:
            keys = [key for key in changed_keys(phase.recipe, shard) if key.rpartition(".")[2] not in ONLY_WAYS]
            found.append(f"{shard} ({_names(paths)}{f'; its recipe differs in {some_of(keys)}' if keys else ''})")
    if not found:
        return ""
    return (
        f"{stage.receipt_path.parent} has unfinished work by another recipe, or of other documents or models, which is not used: "
        f"shard {some_of(found)}. All shards need the same recipe; if it was changed on purpose, delete these files"
    )


def shards_there(stage: Stage) -> list[Shard]:
    """The shards that have left journals of this very stage."""
    return [shard for key, shard in _left(stage) if key == stage.key]


def _left(stage: Stage) -> dict[tuple[str, Shard], list[Path]]:
    """Key of a stage of that name, and shard -> its journals; in order."""
    found: dict[tuple[str, Shard], list[Path]] = {}
    for path in sorted(stage.receipt_path.parent.glob(f"{stage.name}.*.shard-*partial.jsonl")):
        if name := JOURNAL.fullmatch(path.name):
            shard = Shard(int(name["number"]), int(name["of"]))
            found.setdefault((name["key"], shard), []).append(path)
    return dict(sorted(found.items()))


def _recipe_path(phase: Phase, shard: Shard) -> Path:
    return shard_folder(phase.recipe.output, shard) / RESOLVED


def _names(paths: Iterable[Path]) -> str:
    return some_of([path.name for path in paths])
