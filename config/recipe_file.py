"""Reading a recipe: its file and those that it extends, then overrides from the command line, then every check without a model.

All mistakes of a recipe are reported together, each with its place, its key, what was found and how to mend it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, Field, ValidationError
from pydantic_core import ErrorDetails

from ..errors import RecipeError
from ..text import did_you_mean
from ..text.mistakes import listed
from ..text.shown import MOST_SHOWN, shortened
from . import CorpusSection, JudgeOptions, Recipe, Section
from .judges import JUDGE_SECTIONS
from .keywords import SECRET, WORD, names_secret, shown, shown_override
from .layers import EXTENDS, WHOLE, Layers, read_layers
from .model import remote_backends
from .plain_yaml import NotYamlError, dump_yaml, parse_yaml
from .python_code import allow, code_sections, is_of_run
from .remote import RemoteSection
from .trainer_keys import OWNED_TRAINER_KEYS, RENAMED_TRAINER_KEYS, TRAINER_KEYS

# what errors call all keys together
RECIPE = "the recipe"

# pydantic's error types -> what a recipe's author should read
SECTION_EXPECTED = ("model_type", "model_attributes_type", "dict_type")
# how to be rid of a key that stands in another file
NULL = "a key of 'trainer' that stands in a recipe that is extended is taken out by null: --set trainer.KEY=null"
# ours, of a truth value where there should be a text
BARE_WORD = "bool_for_text"
WORDINGS = {
    **dict.fromkeys(SECTION_EXPECTED, "is a section and needs keys of its own below it, got {given}"),
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), "needs a whole number, got {given}"),
    **dict.fromkeys(("float_type", "float_parsing"), "needs a number, got {given}"),
    **dict.fromkeys(("bool_type", "bool_parsing"), "needs true or false, got {given}"),
    "finite_number": "needs a finite number, got {given}",
    "missing": "is missing",
    "path_type": "needs a path, got {given}",
    "string_type": "needs a text, got {given}; put a text that looks like a number in quotes",
    BARE_WORD: "needs a text, got {given}; bare yes, no, on and off are read as true and false: put a text in quotes",
    "too_short": "needs at least one entry",
    "tuple_type": "needs a list such as [{entry}], got {given}",
    "union_tag_not_found": "needs a 'kind': one of {kinds}",
}

R = TypeVar("R", bound=Section)


def load_recipe(path: Path, overrides: Sequence[str] = ()) -> Recipe:
    """The checked recipe at `path`, with overrides applied.

    Args:
        path: a YAML file; one that comes with evenhand is found from everywhere, by its name too ("quickstart").
        overrides: "a.b=value" texts; the value is read as YAML.

    Raises:
        RecipeError: the file is not a recipe or cannot be read; all mistakes are listed.
    """
    return load_as(Recipe, path, overrides)


def load_as(model: type[R], path: Path, overrides: Sequence[str] = ()) -> R:
    """The checked recipe of another kind than a study; arguments and errors as of `load_recipe`."""
    layers = read_layers(path)
    recipe = _overridden(layers.values, overrides, model, layers.place, is_extended=layers.extends is not None)
    _allow_own(recipe, layers, overrides)
    return recipe


def recipe_of(values: Mapping[str, Any], overrides: Sequence[str] = ()) -> Recipe:
    """The checked recipe of these sections, as they could stand in a file.

    Raises:
        RecipeError: they are not a recipe; all mistakes are listed.
    """
    return _overridden(dict(values), overrides, Recipe, lambda key: RECIPE)


def _allow_own(recipe: Section, layers: Layers, overrides: Sequence[str] = ()) -> None:
    """Let code run that the user's own files and overrides name: all but what only the recipe of a run folder does."""
    keys = {override.partition("=")[0] for override in overrides}
    allow(
        section
        for key, section in code_sections(recipe).items()
        if f"{key}.file" in keys or not is_of_run(layers.file_of(f"{key}.file"))
    )


def _overridden(
    values: dict[str, Any],
    overrides: Sequence[str],
    model: type[R],
    place: Callable[[str], str],
    *,
    is_extended: bool = False,
) -> R:
    """The checked recipe of these values with overrides applied; `place` says where a key was written."""
    # key -> the override that set it, to say where a wrong value came from
    overridden: dict[str, str] = {}
    refused = []
    for override in overrides:
        try:
            key, override_key = _set(values, override), override.partition("=")[0]
            # what is wrong with a section that it made may be a secret in it, whose value is not shown
            overridden[key] = override if key == override_key else override_key
        except RecipeError as error:
            refused.append(str(error))
    recipe, mistakes = _checked(values, model)
    if recipe is None or refused or mistakes:
        further = [NULL] if is_extended and any("trainer." in text for _, text in mistakes) else []
        texts = (f"{_place(key, place, overridden)}: {text}" for key, text in mistakes)
        raise RecipeError(listed([*refused, *texts, *further]))
    return recipe


class _Judges(Section):
    judges: dict[str, JudgeOptions] = Field(min_length=1)


def load_judges(path: Path) -> dict[str, JudgeOptions]:
    """The judges of a recipe, or of a YAML file with a section `judges`; its other sections are not looked at.

    Raises:
        RecipeError: the file cannot be read, or its judges are wrong; all mistakes are listed.
    """
    layers = read_layers(path)
    try:
        section = _Judges.model_validate({"judges": layers.values.get("judges")})
    except ValidationError as error:
        mistakes = _schema_mistakes(error, Recipe)
        raise RecipeError(listed([f"{layers.place(key)}: {text}" for key, text in mistakes])) from error
    _allow_own(section, layers)
    return section.judges


def corpus_of(path: Path) -> CorpusSection | None:
    """The section `corpus` of a recipe; None where it writes none. Its other sections are not looked at.

    Raises:
        RecipeError: the file cannot be read, or the section is wrong; all mistakes are listed.
    """
    layers = read_layers(path)
    if layers.values.get("corpus") is None:
        return None
    section, mistakes = _checked(layers.values["corpus"], CorpusSection, "section 'corpus'")
    if section is None:
        raise RecipeError(listed([f"{layers.place(f'corpus.{key}')}: {text}" for key, text in mistakes]))
    return section


def load_section(path: Path, model: type[R], name: str) -> R:
    """One section of a recipe that stands alone in a YAML file.

    Args:
        path: the file.
        model: of the section.
        name: of the section in a recipe, for errors.

    Raises:
        RecipeError: the file cannot be read, or its keys are wrong; all mistakes are listed.
    """
    layers = read_layers(path, section=name)
    section, mistakes = _checked(layers.values, model, f"section {name!r}")
    if section is None:
        raise RecipeError(listed([f"{layers.place(key)}: {text}" for key, text in mistakes]))
    return section


def has_section(path: Path, key: str) -> bool:
    """Whether the recipe at `path`, or one that it extends, writes the section that a dotted key stands in.

    Raises:
        RecipeError: the file cannot be read.
    """
    place: Any = read_layers(path).values
    for step in key.split(".")[:-1]:
        place = place.get(step) if isinstance(place, dict) else None
    return isinstance(place, dict)


def _checked(values: dict[str, Any], model: type[R], root_name: str = RECIPE) -> tuple[R | None, list[tuple[str, str]]]:
    """The recipe, None when its schema is broken; and every mistake as key and text, the values together called `root_name`."""
    trainer_mistakes = list(_trainer_mistakes(values.get("trainer"))) if "trainer" in model.model_fields else []
    try:
        return model.model_validate(values), trainer_mistakes
    except ValidationError as error:
        return None, [*_schema_mistakes(error, model, root_name), *trainer_mistakes]


def _place(key: str, place: Callable[[str], str], overridden: Mapping[str, str]) -> str:
    """Where a key was written: the override that set it, or its place in the file."""
    within = [prefix for prefix in overridden if key == prefix or key.startswith(f"{prefix}.")]
    return f"--set {shown_override(overridden[max(within, key=len)])}" if within else place(key)


def dump_recipe(recipe: Section) -> str:
    """The recipe as YAML, every default spelled out; what loaded it reads it back as it is."""
    return dump_yaml(recipe.model_dump(mode="json"))


def differing_keys(first: Section, second: Section) -> list[str]:
    """Dotted keys that stand in one of two recipes alone, or have another value in the other."""
    return list(_differing(first.model_dump(mode="json"), second.model_dump(mode="json")))


def _differing(first: dict[str, Any], second: dict[str, Any], within: str = "") -> Iterable[str]:
    for name in first | second:
        key, first_value, second_value = f"{within}{name}", first.get(name), second.get(name)
        if isinstance(first_value, dict) and isinstance(second_value, dict):
            yield from _differing(first_value, second_value, f"{key}.")
        elif first_value != second_value:
            yield key


def _set(values: dict[str, Any], override: str) -> str:
    """Set one value; the key that was set, or the first section above it that was not there before."""
    key, equals, text = override.partition("=")
    # of "hf_token: ab=" the secret would be a part of the key, which mistakes name
    holds_more = names_secret(key) and not WORD.fullmatch(key)
    if not equals or not all(key.split(".")) or holds_more:
        raise RecipeError(f"--set {shown_override(override)}: write KEY=VALUE, for example generate.max_model_len=2048")
    try:
        value = parse_yaml(text)
    except NotYamlError as error:
        raise RecipeError(f"--set {shown_override(override)}: the value {error}") from error
    *parents, last = key.split(".")
    if key == EXTENDS:
        raise RecipeError(f"--set {shown_override(override)}: extends can only be written in the recipe's file")
    place, new = values, key
    for depth, step in enumerate(parents, start=1):
        within = place.get(step)
        if within is None:
            within, new = {}, min(new, ".".join(parents[:depth]), key=len)
        if not isinstance(within, dict):
            raise RecipeError(f"--set {shown_override(override)}: {shortened(step)} is a value, not a section")
        # a copy: what an alias of YAML stands for is one object in several places
        place[step] = place = dict(within)
    section = ".".join(parents)
    if value is None and last not in place and section in ("judges", *WHOLE):
        raise RecipeError(
            f"--set {shown_override(override)}: {section} has no {shortened(last)} to take out{did_you_mean(last, place)}"
        )
    if value is None and isinstance(place.get(last), dict):
        # as null in a recipe that extends another
        del place[last]
    else:
        place[last] = value
    return new


def _trainer_mistakes(trainer: Any) -> Iterable[tuple[str, str]]:
    """What is wrong with the keys that go to trl.DPOConfig: key and text."""
    if not isinstance(trainer, dict):
        return
    for key, value in trainer.items():
        where = f"key {shortened(f'trainer.{key}')}"
        if key in RENAMED_TRAINER_KEYS and value is not None:
            yield f"trainer.{key}", f"{where} no longer exists in TRL: {RENAMED_TRAINER_KEYS[key]}"
        elif key in OWNED_TRAINER_KEYS and value is not None:
            yield f"trainer.{key}", f"{where} is set by evenhand: {OWNED_TRAINER_KEYS[key]}"
        elif key not in TRAINER_KEYS | RENAMED_TRAINER_KEYS.keys():
            yield f"trainer.{key}", f"{where} is not a key of trl.DPOConfig{did_you_mean(str(key), TRAINER_KEYS)}"


def _schema_mistakes(error: ValidationError, root: type[BaseModel], root_name: str = RECIPE) -> list[tuple[str, str]]:
    """What pydantic found, as key and text; what it says of several alternatives of one key becomes one mistake."""
    texts: dict[str, list[str]] = {}
    for problem in error.errors():
        key = ".".join(str(step) for step in _recipe_place(problem["loc"]))
        texts.setdefault(key, []).append(_wording(problem, key, root, root_name))
    return [
        (key, (f"key {shortened(key)} " if key else "") + "; or ".join(alternatives))
        for key, alternatives in texts.items()
    ]


def _recipe_place(place: tuple[int | str, ...]) -> tuple[int | str, ...]:
    """Pydantic's place without what is no key of a recipe: the kind of a judge, the alternatives of a type."""
    if len(place) > 2 and place[0] == "judges" and place[2] in JUDGE_SECTIONS:
        place = place[:2] + place[3:]
    return tuple(
        step for step in place if not (isinstance(step, str) and ("[" in step or step.startswith("constrained-")))
    )


def _wording(problem: ErrorDetails, key: str, root: type[BaseModel], root_name: str) -> str:
    """What is wrong with a key, in the words of a recipe and not of the library that checks it."""
    kind, value = problem["type"], problem["input"]
    if kind == "extra_forbidden":
        known = _keys_at(problem["loc"][:-1], root)
        section = f"'{key.rpartition('.')[0]}'" if "." in key else root_name
        if section == RECIPE:
            known.append(EXTENDS)
        nearest = did_you_mean(str(problem["loc"][-1]), known)
        return f"is not known{nearest} Keys of {section} are {', '.join(known)}."
    if kind == "union_tag_invalid":
        tag = str(value["kind"])
        return f"has the unknown kind {shortened(tag)}{did_you_mean(tag, JUDGE_SECTIONS)} Kinds are {', '.join(JUDGE_SECTIONS)}."
    if kind == "value_error":
        message = problem["msg"].removeprefix("Value error, ")
        return f"is wrong: {message}" if key else message
    if value is None and kind in SECTION_EXPECTED:
        return "is empty; write its keys below it, or take it out"
    if kind == "string_type" and isinstance(value, bool):
        kind = BARE_WORD
    if kind in WORDINGS:
        entry = value if isinstance(value, str) and len(value) <= MOST_SHOWN and not SECRET.search(key) else "..."
        return WORDINGS[kind].format(given=shown(value, key), entry=entry, kinds=", ".join(JUDGE_SECTIONS))
    message = problem["msg"].removeprefix("Input ")
    return f"{message[:1].lower()}{message[1:]}, got {shown(value, key)}"


def _keys_at(place: Sequence[int | str], root: type[BaseModel]) -> list[str]:
    """The keys that the section at this place of a recipe of that type may have."""
    model, remote = root, remote_backends().values()
    for depth, step in enumerate(place):
        if model is RemoteSection:
            model = next((section for section in remote if step in section.model_fields), model)
        if depth == 2 and place[0] == "judges":
            model = JUDGE_SECTIONS[str(step)]
        elif step in model.model_fields:
            model = next(iter(_sections(model.model_fields[str(step)].annotation)), model)
        elif step in (further := _further(model)):
            model = further[str(step)]
        # any other step is a name that the user gave to a judge or a plan
    if model is RemoteSection:
        return [*dict.fromkeys(key for section in remote for key in section.model_fields)]
    return [*model.model_fields, *_further(model)]


def _further(model: type[BaseModel]) -> Mapping[str, type[Section]]:
    return model.further_sections() if issubclass(model, Section) else {}


def _sections(annotation: Any) -> Iterable[type[BaseModel]]:
    """The section types that an annotation such as dict[str, A | B] mentions, in order."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _sections(inner)
