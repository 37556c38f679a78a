"""What shards have left that does not go with a stage's work: journals of another recipe, other batches, other numbers of shards.

The names of the journals tell it, and the recipe that each shard keeps beside those that it has begun.
"""

import logging
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from ..config.model import ONLY_WAYS
from ..config.recipe_file import dump_recipe
from ..errors import RecipeError
from ..storage import read_text, write_text
from ..text import some_of
from ..text.digests import digest
from .phases import RESOLVED, Phase, changed_keys
from .processes import holder_of
from .shards import Shard, shard_folder
from .stages import Stage

log = logging.getLogger(__name__)

# a journal of a shard, or the recipe that it keeps beside them
LEFT = re.compile(
    r".+\.(?P<key>[0-9a-f]{16})\.shard-(?P<number>\d+)-of-(?P<of>\d+)\.((.+\.)?partial\.jsonl|(?P<recipe>recipe\.yaml))"
)
# says how many requests are a batch, in the section of each engine
SIZE = "requests_per_batch"


def begin_shard(phase: Phase, stage: Stage, shard: Shard, *, sections: Sequence[str], has_others: bool) -> None:
    """Keep the recipe by which a shard works from now on; refuse what shards have left that does not go with it.

    Args:
        phase: of the stage.
        stage: it is not done.
        shard: of the stage; it is held.
        sections: keys whose `requests_per_batch` cut the stage's batches, or above those.
        has_others: whether the shard's own journals have requests that are now other shards'.

    Raises:
        RecipeError: journals of the stage are cut into other batches, so that shards would overlap and leave gaps; or there are
            journals by another recipe, or of other documents or models, with which nothing of this one can be merged.
        StorageError: the recipe cannot be written.
    """
    journals = _left(phase, stage)
    journals_by_shard = {shard: paths for (key, shard), paths in journals.items() if key == stage.key}
    for owner, paths in journals_by_shard.items():
        recipe_path = _recipe_path(stage, stage.key, owner)
        sizes = [
            key
            for key in changed_keys(phase.recipe, recipe_path)
            if key.endswith(f".{SIZE}") and key.startswith(tuple(f"{section}." for section in sections))
        ]
        if sizes or (owner == shard and has_others):
            worker = "it" if owner == shard else f"shard {owner}"
            number = f", which is {some_of(sizes)} of {recipe_path}" if sizes else ""
            raise RecipeError(
                f"{phase.name} {stage.name} shard {shard}: what {worker} has done is cut into batches of another size ({SIZE}). "
                "Shards share out batches: of different sizes some requests are done twice and others by none. Write the same "
                f"number{number}; or, when no shard is at work, run `evenhand {stage.name}` without --shard, which does what is "
                f"left by any number; or delete {_names(paths)} in {stage.receipt_path.parent}, and that is done again"
            )
    if mistake := of_other_recipes(phase, stage):
        raise RecipeError(f"{phase.name} {stage.name} shard {shard}: {mistake}")
    if strays := [owner for owner in journals_by_shard if owner.of != shard.of]:
        log.warning(
            "%s %s shard %s: there are journals of another number of shards, %s, and what they have is made again; not so with "
            "their number, or by `evenhand %s` without --shard",
            phase.name, stage.name, shard, some_of(list(map(str, strays))), stage.name,
        )  # fmt: skip
    # the first is for processes of the shard, and of its last work; the second stays beside the journals
    for path in (shard_folder(phase.recipe.output, shard) / RESOLVED, _recipe_path(stage, stage.key, shard)):
        write_text(path, dump_recipe(phase.recipe))


def say_strays(phase: Phase, stage: Stage) -> None:
    """Say what shards of other recipes have left, since it is not used."""
    if strays := of_other_recipes(phase, stage):
        log.warning("%s %s: %s", phase.name, stage.name, strays)


def of_other_recipes(phase: Phase, stage: Stage, *, reads_anew: bool = False) -> str:
    """What shards of other recipes have left of an unfinished stage, in words; "" for nothing.

    Args:
        phase: of the stage.
        stage: it is not done.
        reads_anew: what the stage reads will be made anew, so that its key says nothing yet; recipes tell then.
    """
    strays = []
    for (key, shard), paths in _left(phase, stage).items():
        if key == stage.key and not reads_anew:
            continue
        known = changed_keys(phase.recipe, _recipe_path(stage, key, shard))
        keys = [key for key in known if key.rpartition(".")[2] not in ONLY_WAYS]
        if key != stage.key or keys:
            strays.append(f"{shard} ({_names(paths)}{f'; its recipe differs in {some_of(keys)}' if keys else ''})")
    if not strays:
        return ""
    return (
        f"{stage.receipt_path.parent} has unfinished work by another recipe, or of other documents or models, which is not used: "
        f"shard {some_of(strays)}. All shards need the same recipe; if it was changed on purpose, delete these files"
    )


def shards_there(phase: Phase, stage: Stage) -> list[Shard]:
    """The shards that have left journals of this very stage, or are at work at it."""
    return [shard for key, shard in _left(phase, stage) if key == stage.key]


def _left(phase: Phase, stage: Stage) -> dict[tuple[str, Shard], list[Path]]:
    """Key of a stage of that name, and shard -> its journals, or its recipe where it is at work at its first batch; in order."""
    journals: dict[tuple[str, Shard], list[Path]] = {}
    recipes: dict[tuple[str, Shard], list[Path]] = {}
    for path in sorted(stage.receipt_path.parent.glob(f"{stage.name}.*.shard-*")):
        if name := LEFT.fullmatch(path.name):
            shard = Shard(int(name["number"]), int(name["of"]))
            (recipes if name["recipe"] else journals).setdefault((name["key"], shard), []).append(path)
    begun = {
        owner: paths
        for owner, paths in recipes.items()
        if owner not in journals and _is_at_work(shard_folder(phase.recipe.output, owner[1]), paths[0])
    }
    return dict(sorted((journals | begun).items()))


def _is_at_work(folder: Path, recipe: Path) -> bool:
    """Whether a process has a shard's folder now and works by this recipe, and not one that was killed has left it."""
    holder = holder_of(folder)
    return holder is not None and holder["recipe"] == digest(read_text(recipe))


def _recipe_path(stage: Stage, key: str, shard: Shard) -> Path:
    return stage.receipt_path.with_name(f"{stage.name}.{key}.{shard.name}.recipe.yaml")


def _names(paths: Iterable[Path]) -> str:
    return some_of([path.name for path in paths])
