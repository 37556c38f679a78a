"""What varies between the inputs of a study, and the names that are drawn for it."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Literal

from ...config import BiasRecipe
from ...errors import DataError, StorageError
from ...fairness.demographic.inputs.setting import (
    NameInventory,
    Setting,
    common_inventory,
    gender_setting,
    race_setting,
    read_inventory,
    read_vocabulary,
)
from ...storage import read_json, read_text


def make_setting(recipe: BiasRecipe) -> Setting:
    """What varies between the inputs; a category of one gender of two bears it in its name: "black female"."""
    section = recipe.inputs
    if section.setting == "gender":
        return gender_setting(section.replace_last_names)
    by_race = race_setting(**{category: tuple(genders) for category, genders in (section.genders or {}).items()})
    label = {
        category: category if len(genders) > 1 else f"{category} {genders[0]}"
        for category, genders in by_race.genders.items()
    }
    return replace(
        by_race,
        categories=tuple(label[category] for category in by_race.categories),
        genders={label[category]: genders for category, genders in by_race.genders.items()},
        sources={label[category]: sources for category, sources in by_race.sources.items()},
    )


def read_names(recipe: BiasRecipe) -> NameInventory:
    """The name lists: those of the recipe's file, and for setting gender the census where the file has no first names.

    Raises:
        DataError: the file cannot be read, or a list that the setting draws from is missing; all such are named.
    """
    given = _read_file(recipe.inputs.names) if recipe.inputs.names else NameInventory({})
    if recipe.inputs.setting == "gender":
        census = common_inventory()
        given = NameInventory({**census.first, **{s: g for s, g in given.first.items() if g}}, given.last)
    setting = make_setting(recipe)
    lacking = [
        *(f"{s}.{g}" for s, g in _needed(setting) if not given.first.get(s, {}).get(g)),
        *(f"{s}.last" for s in _sources(setting) if setting.replace_last_names and not given.last.get(s)),
    ]
    if lacking:
        raise DataError(f"{recipe.inputs.names}: name lists {', '.join(dict.fromkeys(lacking))} are missing; add them")
    return given


def _needed(setting: Setting) -> Iterator[tuple[str, Literal["male", "female"]]]:
    for category in setting.categories:
        for source in setting.sources[category]:
            yield from ((source, gender) for gender in setting.genders[category])


def _sources(setting: Setting) -> list[str]:
    return list(dict.fromkeys(source for category in setting.categories for source in setting.sources[category]))


def _read_file(path: Path) -> NameInventory:
    try:
        return read_vocabulary(read_text(path)) if path.suffix.casefold() == ".csv" else _read_lists(path)
    except StorageError as error:
        raise DataError(f"key 'inputs.names': {error}") from error
    except DataError as error:
        raise DataError(f"{path}: {error}") from error


def _read_lists(path: Path) -> NameInventory:
    lists = read_json(path)
    is_lists = isinstance(lists, dict) and all(
        isinstance(by_kind, dict)
        and all(
            isinstance(names, list) and all(isinstance(n, str) and n.strip() for n in names)
            for names in by_kind.values()
        )
        for by_kind in lists.values()
    )
    if not is_lists:
        raise DataError(
            'holds no name lists; write {"black": {"female": ["...", ...], "male": [...], "last": [...]}, ...}'
        )
    return read_inventory(lists)
