"""A recipe's values from its file and those that it extends.

`extends: FILE` names another recipe, by its path from the file that says so or by its shipped name. What the file says is laid
over what the other comes to: mappings are merged key by key, everything else is replaced. Three things are replaced as wholes:
lists, the sampling plans, and a mapping of another `kind`, whose keys would not fit. `null` in place of a mapping takes it out,
and so it does a key of `trainer` that evenhand refuses; plans of which all are `null` are taken out of those of the other.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import RecipeError, StorageError
from ..text import did_you_mean, some_of
from .keywords import shown
from .plain_yaml import read_yaml_lines
from .shipped import find_recipe, recipe_names

EXTENDS = "extends"
# how a place ends
LINE = re.compile(r":\d+$")
# recipes that extend each other in one line
MOST_LAYERS = 50
# in a run folder, the recipe of the run
RESOLVED = "recipe.yaml"
# mappings that are replaced as wholes: each plan adds candidates, so that those of two files would add up
WHOLE = ("generate.plans", "evaluation.plans")


@dataclass(frozen=True)
class Layers:
    """What a recipe and all that it extends say together."""

    path: Path
    values: dict[str, Any]
    # dotted key -> "file:line" of the layer that wrote it
    places: dict[str, str]
    # the file that this one extends
    extends: Path | None = None

    def place(self, key: str) -> str:
        """Where a key was written, or what it would stand in; the recipe's own file where that is nowhere."""
        while key and key not in self.places:
            key = key.rpartition(".")[0]
        return self.places.get(key, str(self.path))

    def file_of(self, key: str) -> Path:
        """The file in which a key was written."""
        return Path(LINE.sub("", self.place(key)))


def read_layers(path: Path, section: str | None = None) -> Layers:
    """A recipe with all that it extends, or the keys of the named section from a file of its own.

    Raises:
        RecipeError: a file cannot be read or is not a mapping, or a recipe extends itself.
    """
    try:
        return _read(find_recipe(path), section)
    except StorageError as error:
        remedy = f"{did_you_mean(str(path), recipe_names())} `evenhand recipes` lists those that come with evenhand"
        if isinstance(error.__cause__, IsADirectoryError):
            remedy = _of_run(path)
        if section:
            remedy = f"; name a file with the keys of a recipe's section {section!r}"
        raise RecipeError(f"{error}{remedy}") from error


def _of_run(folder: Path) -> str:
    """How an error about a folder in place of a recipe goes on: a run folder has its recipe in a file, and is perhaps near."""
    above = [path for parent in (folder, *folder.parents) if (path := parent / RESOLVED).is_file()]
    meant = [str(path) for path in above[:1] or sorted(folder.glob(f"*/{RESOLVED}"))]
    nearest = f"did you mean {some_of(meant)}?" if meant else f"{folder} has none."
    return f": name a file. A run folder, where `evenhand loop` keeps what a run made, has its recipe in {RESOLVED}; {nearest}"


def _read(path: Path, section: str | None = None, above: tuple[Path, ...] = ()) -> Layers:
    """The layers from `path` downwards; `above` are the files that led here."""
    values, lines = read_yaml_lines(path)
    if not isinstance(values, dict):
        content = "is empty" if values is None else f"holds a {'list' if isinstance(values, list) else 'single value'}"
        expected = "a recipe is a mapping of sections; the folder recipes/ has examples"
        if section:
            expected = f"section {section!r} is a mapping; write its keys at the top of the file"
        raise RecipeError(f"{path}: {content}, but {expected}")
    places = {key: f"{path}:{line}" for key, line in lines.items()}
    if EXTENDS not in values:
        return Layers(path, values, places)
    base, where = values.pop(EXTENDS), places.pop(EXTENDS)
    if not isinstance(base, str) or not base:
        raise RecipeError(f"{where}: key 'extends' needs the path or the name of a recipe, got {shown(base, EXTENDS)}")
    chain = (*above, path.resolve())
    if len(chain) > MOST_LAYERS:
        raise RecipeError(
            f"{where}: key 'extends': more than {MOST_LAYERS} recipes extend each other, from {chain[0]} on; put some into one"
        )
    below_path = find_recipe(Path(base), path.parent)
    if below_path.resolve() in chain:
        circle = [*chain[chain.index(below_path.resolve()) :], below_path.resolve()]
        raise RecipeError(
            f"{where}: key 'extends' leads back to a recipe that extends this one: {' -> '.join(map(str, circle))}"
        )
    try:
        below = _read(below_path, section, chain)
    except StorageError as error:
        neighbours = (neighbour.name for neighbour in path.parent.glob("*.yaml") if neighbour != path)
        near = did_you_mean(base, (*neighbours, *recipe_names()))
        raise RecipeError(f"{where}: key 'extends': {error}{near} A path counts from this file's folder") from error
    replaced: list[str] = []
    merged = _merged(below.values, values, replaced)
    gone = set(replaced)
    base_places = {key: place for key, place in below.places.items() if gone.isdisjoint(_with_those_above(key))}
    return Layers(path, merged, base_places | places, extends=below_path)


def _with_those_above(key: str) -> Iterator[str]:
    """ "a.b.c", "a.b", "a"."""
    while key:
        yield key
        key = key.rpartition(".")[0]


def _merged(base: dict[str, Any], top: dict[str, Any], replaced: list[str], within: str = "") -> dict[str, Any]:
    """`top` laid over `base`; the dotted keys whose value in `base` is gone are added to `replaced`."""
    values = dict(base)
    for name, value in top.items():
        key, old = f"{within}{name}", base.get(name)
        if isinstance(old, dict) and isinstance(value, dict) and key not in WHOLE and _is_of_one_kind(old, value):
            values[name] = _merged(old, value, replaced, f"{key}.")
            continue
        if isinstance(old, dict) and key in WHOLE and _takes_out(old, value):
            replaced += [f"{key}.{plan_name}" for plan_name in value]
            values[name] = {plan_name: plan for plan_name, plan in old.items() if plan_name not in value}
            continue
        replaced.append(key)
        if isinstance(old, dict) and value is None:
            del values[name]
        elif isinstance(old, dict) and key in WHOLE and isinstance(value, dict):
            values[name] = {
                plan_name: plan for plan_name, plan in value.items() if plan is not None or plan_name not in old
            }
        else:
            values[name] = value
    return values


def _takes_out(old: dict[str, Any], new: Any) -> bool:
    """Whether all that is said of these plans is that some of them are to go."""
    return (
        isinstance(new, dict)
        and bool(new)
        and all(value is None for value in new.values())
        and new.keys() <= old.keys()
    )


def _is_of_one_kind(old: dict[str, Any], new: dict[str, Any]) -> bool:
    return "kind" not in new or old.get("kind") == new["kind"]
