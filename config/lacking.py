"""What a recipe that comes with evenhand needs of plug-ins that were deleted."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..doors import absent_names
from .layers import read_layers
from .shipped import RECIPES, comment_lines, recipe_names

# keys whose values are names of what comes in by doors
NAMED = ("kind", "method", "mode", "backend", "executor", "path")


def usable_names() -> list[str]:
    """Names of the shipped recipes that lack nothing."""
    return [name for name in recipe_names() if not lacking(name)]


def lacking(name: str) -> set[str]:
    """Plug-ins that a shipped recipe needs and that are not there."""
    absent = absent_names()
    if not absent:
        return set()
    _, verb, below, *_ = comment_lines(RECIPES / f"{name}.yaml")[0].split()
    return {
        absent[word] for word in (verb, f"{verb}.{below}", *_names_in(read_layers(Path(name)).values)) if word in absent
    }


def _names_in(value: Any, key: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for below, each in value.items():
            yield from _names_in(each, below)
    elif isinstance(value, str) and key in NAMED:
        yield value
