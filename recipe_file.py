"""Reading a recipe: YAML, then overrides from the command line, then every check that needs no model.

All mistakes of a recipe are reported together, each with its key, what was found and how to mend it.
"""

import difflib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, get_args

import yaml
from pydantic import BaseModel, ValidationError

from .config import JudgeOptions, Recipe
from .errors import RecipeError
from .storage import listed, read_text
from .trainer_keys import OWNED_TRAINER_KEYS, RENAMED_TRAINER_KEYS, TRAINER_KEYS


def load_recipe(path: Path, overrides: Sequence[str] = ()) -> Recipe:
    """The checked recipe at `path`, with overrides applied.

    Args:
        path: a YAML file.
        overrides: "a.b=value" texts; the value is read as YAML.

    Raises:
        RecipeError: the file is no recipe; all mistakes are listed.
        StorageError: the file cannot be read.
    """
    values = _read_yaml(path)
    for override in overrides:
        _set(values, override)
    mistakes = [f"{path}: {m}" for m in _trainer_mistakes(values.get("trainer") or {})]
    recipe = None
    try:
        recipe = Recipe.model_validate(values)
    except ValidationError as error:
        mistakes = [f"{path}: {m}" for m in _schema_mistakes(error)] + mistakes
    if mistakes or recipe is None:
        raise RecipeError(listed(mistakes))
    return recipe


class _UniqueKeys(yaml.SafeLoader):
    """A safe loader that refuses a key written twice; the plain one keeps the last silently."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if key in seen:
                raise yaml.MarkedYAMLError(problem=f"key {key!r} is written twice", problem_mark=key_node.start_mark)
            seen.add(key)
        return super().construct_mapping(node, deep)


def _read_yaml(path: Path) -> dict[str, Any]:
    try:
        values = yaml.load(read_text(path), Loader=_UniqueKeys)  # noqa: S506 (a subclass of SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise RecipeError(f"{path}:{line}: is not YAML: {error.problem}") from error
    if not isinstance(values, dict):
        raise RecipeError(f"{path}: holds {type(values).__name__}, but a recipe is a mapping of sections")
    return values


def _set(values: dict[str, Any], override: str) -> None:
    key, equals, text = override.partition("=")
    if not equals or not key:
        raise RecipeError(f"--set {override!r}: write KEY=VALUE, for example generate.max_model_len=2048")
    *parents, last = key.split(".")
    place = values
    for step in parents:
        place = place.setdefault(step, {})
        if not isinstance(place, dict):
            raise RecipeError(f"--set {override!r}: {step!r} is a value, not a section")
    try:
        place[last] = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise RecipeError(f"--set {override!r}: the value is not YAML: {error}") from error


def _trainer_mistakes(trainer: Any) -> Iterable[str]:
    """What is wrong with the keys that go to trl.DPOConfig."""
    if not isinstance(trainer, dict):
        return
    for key in trainer:
        where = f"key 'trainer.{key}'"
        if key in RENAMED_TRAINER_KEYS:
            yield f"{where} no longer exists in TRL: {RENAMED_TRAINER_KEYS[key]}"
        elif key in OWNED_TRAINER_KEYS:
            yield f"{where} is set by evenhand: {OWNED_TRAINER_KEYS[key]}"
        elif key not in TRAINER_KEYS:
            yield f"{where} is not a key of trl.DPOConfig{_nearest(key, TRAINER_KEYS)}"


def _schema_mistakes(error: ValidationError) -> Iterable[str]:
    for problem in error.errors():
        # pydantic puts the chosen kind of a judge into the path; a recipe has no such key
        place = problem["loc"]
        tagged = len(place) > 2 and place[0] == "judges" and place[2] in JUDGE_KINDS
        key = ".".join(str(step) for step in (place[:2] + place[3:] if tagged else place))
        if problem["type"] == "extra_forbidden":
            known = _keys_at(place[:-1])
            section = key.rpartition(".")[0] or "the recipe"
            nearest = _nearest(str(place[-1]), known)
            yield f"key {key!r} is not known{nearest} Keys of {section!r} are {', '.join(known)}."
        elif problem["type"] == "missing":
            yield f"key {key!r} is missing"
        else:
            message = problem["msg"].removeprefix("Value error, ")
            given = problem["input"]
            shown = f", got {given!r}" if not isinstance(given, dict | BaseModel) else ""
            yield f"key {key!r}: {message[:1].lower()}{message[1:]}{shown}" if key else message


def _keys_at(place: Sequence[Any]) -> list[str]:
    """The keys that the section at this place of the recipe may have."""
    model: type[BaseModel] = Recipe
    for step in place:
        if step in JUDGE_KINDS:
            model = JUDGE_KINDS[step]
        elif step in model.model_fields:
            model = next(iter(_sections(model.model_fields[step].annotation)), model)
        # any other step is a name that the user gave to a judge or a plan
    return list(model.model_fields)


def _sections(annotation: Any) -> Iterable[type[BaseModel]]:
    """The section types that an annotation such as dict[str, A | B] mentions, in order."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _sections(inner)


# kind of a judge -> its section type
JUDGE_KINDS: dict[str, type[BaseModel]] = {
    kind: section
    for section in _sections(JudgeOptions)
    for kind in get_args(section.model_fields["kind"].annotation)
}


def _nearest(key: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(key, list(known), n=1, cutoff=0.6)
    return f"; did you mean {close[0]!r}?" if close else "."
