"""What an audit's options ask for: measures by their names, and tools and measures' own options by name or in files.

A matcher and an entailer are named with their model, or by a file with all of a recipe's keys.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar, get_args

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from ...config.command_line import repeated_keys
from ...config.fairness import EntailerSection, MatcherSection
from ...config.keywords import shown_override
from ...config.plain_yaml import NotYamlError, parse_yaml
from ...config.recipe_file import load_section
from ...config.section import Section
from ...errors import DataError, MissingExtra, PluginError
from ...storage import local_path
from ...text import did_you_mean
from ...text.mistakes import explained, listed
from .families import MEASURES, absent_measures, measure_names, need_all, those_using
from .family import Arrangement, CommandOption, FamilyKind, Tool
from .own_file import PYTHON, MeasureSection
from .plan import AuditPlan
from .supplements import SUPPLEMENTS, Supplement, supplements

PARTS: dict[Tool, type[Section]] = {"matcher": MatcherSection, "entailer": EntailerSection}
# those that have no model are not asked for one
WITHOUT_MODEL = ("ngram", "words")

# endings of what names a function in a file: of FILE.py:FUNCTION, and of a file with its keys
CODE = (".py", ".yaml", ".yml")

S = TypeVar("S", bound=Section)


def read_measures(text: str) -> tuple[str, ...]:
    """The measures of a list with commas, in their own order.

    Raises:
        DataError: one is not known, or there is none.
        PluginError: one is a package's, and cannot be had.
    """
    named, known = [part.strip() for part in text.split(",") if part.strip()], measure_names()
    for name, error in absent_measures().items():
        if name in named:
            raise error
    unknown = [name for name in named if name not in known]
    if unknown or not named:
        name = unknown[0] if unknown else ""
        called = name.lower().replace(" ", "-").replace("_", "-")
        family = next((measure for measure in known if called in MEASURES[measure].other_names), "")
        wrong = "no measure is named." if not unknown else f"measure {name!r} is not known{did_you_mean(name, known)}"
        wrong = f"{name!r} is one of {family!r}." if family else wrong
        raise DataError(f"--measures {text!r}: {wrong} Measures are {', '.join(shown_measures(known))}")
    return tuple(name for name in known if name in named)


def shown_measures(names: Iterable[str]) -> list[str]:
    """The measures as --measures names them."""
    return ["FILE.py:FUNCTION" if name == PYTHON else name for name in names]


def read_code(text: str) -> tuple[str, dict[str, Section]]:
    """A list of measures in which "python" stands for the function in a file that it names, and that function's section.

    Raises:
        DataError: it names several, or one otherwise.
        RecipeError: a YAML file with the keys of the section cannot be read, or is wrong.
    """
    parts = [part.strip() for part in text.split(",")]
    code = [part for part in parts if Path(part.rpartition(":")[0] or part).suffix in CODE]
    if PYTHON in parts:
        raise DataError(f"--measures {text!r}: write FILE.py:FUNCTION in place of {PYTHON!r}")
    if len(code) > 1:
        raise DataError(f"--measures {text!r}: an audit takes one function in a file; take {code[1]} in another audit")
    sections: dict[str, Section] = {PYTHON: _section("measures", code[0], MeasureSection, None)} if code else {}
    return ",".join(PYTHON if part in code else part for part in parts), sections


def usual_measures() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The measures that run here without a model, and a sentence for each that does not."""
    usual, notes = [], []
    for name in measure_names():
        if not MEASURES[name].on_request:
            try:
                need_all(MEASURES[name], name)
                usual.append(name)
            except MissingExtra as error:
                notes.append(f"{name.capitalize()} are not measured: {error}")
    return tuple(usual), tuple(notes)


def read_option_entries(entries: Sequence[str], reserved: Collection[str]) -> dict[str, Any]:
    """Options of measures' own from the command line: NAME=VALUE, the value in YAML.

    Args:
        entries: as they were given.
        reserved: names of the command line's own options.

    Raises:
        DataError: one is written otherwise, is given twice, or has an option of the command line; all are listed.
    """
    mistakes = [text for text in [repeated_keys("--option", entries)] if text]
    options: dict[str, Any] = {}
    for entry in entries:
        name, equals, text = entry.partition("=")
        name = name.strip().replace("-", "_")
        if not equals or not name:
            mistakes.append(f"--option {shown_override(entry)}: write NAME=VALUE, for example depth=3")
        elif name in reserved:
            mistakes.append(
                f"--option {shown_override(entry)}: is no measure's own; write --{name.replace('_', '-')} VALUE"
            )
        else:
            try:
                options[name] = parse_yaml(text)
            except NotYamlError as error:
                mistakes.append(f"--option {shown_override(entry)}: the value {error}")
    if mistakes:
        raise DataError(listed(mistakes))
    return options


def described(plan: AuditPlan) -> dict[str, Any]:
    """The plan as files have it, with all options that are brought among its own."""
    brought = {
        key: value for name, kind in _bringing().items() for key, value in plan.options.get(name, kind.options())
    }
    written: dict[str, Any] = {}
    for key, value in asdict(plan).items():
        written |= brought if key == "options" else {key: value}
    return written


def _bringing() -> dict[str, FamilyKind | Supplement]:
    """What brings options, by name: measures, then supplements.

    Raises:
        PluginError: a supplement has the name of a measure.
    """
    measures = {name: MEASURES[name] for name in measure_names()}
    if taken := sorted(measures.keys() & SUPPLEMENTS.keys()):
        raise PluginError(f"supplement {taken[0]!r} has the name of a measure; have one of them renamed")
    return measures | supplements()


def own_options(core: Collection[str] = ()) -> dict[str, str]:
    """Option -> the measure or supplement whose own it is.

    Args:
        core: options that none of them may have.

    Raises:
        PluginError: one has one of these, or one of another.
    """
    return _owners({name: kind.options.model_fields for name, kind in _bringing().items()}, core)


def _owners(brought: Mapping[str, Iterable[str]], core: Collection[str]) -> dict[str, str]:
    owners: dict[str, str] = {}
    for name, options in brought.items():
        for option in options:
            if option in core or option in owners:
                owner = f"{_noun(owners[option])} {owners[option]!r}" if option in owners else "the audit"
                raise PluginError(f"{_noun(name)} {name!r} has an option {option!r}, as {owner} has; have it renamed")
            owners[option] = name
    return owners


def _noun(name: str) -> str:
    return "supplement" if name in SUPPLEMENTS else "measure"


def read_own_options(options: Mapping[str, Any], measures: Sequence[str]) -> dict[str, Section]:
    """Measure or supplement -> its own options, of those that have any.

    Args:
        options: by their names; one that is a section may be the path of a YAML file with its keys.
        measures: that are asked for.

    Raises:
        DataError: an option is wrong, or would have no effect.
        RecipeError: a file cannot be read or its keys are wrong; all mistakes are listed.
    """
    owners, bringing = own_options(), _bringing()
    read: dict[str, Section] = {}
    for name in dict.fromkeys(owners.values()):
        kind = bringing[name].options
        usual, values = dict(kind()), {}
        for option in (option for option in options if owners[option] == name):
            measure = _measure_of(option, name, bringing[name])
            is_lacking, field = bool(measure) and measure not in measures, kind.model_fields[option]
            # a file is not read for nothing
            is_unread = is_lacking and _file_of(field, options[option])
            values[option] = options[option] if is_unread else _read(option, field, options[option])
            if is_lacking and values[option] != usual[option]:
                raise DataError(
                    f"--{option.replace('_', '-')} has no effect without measure {measure!r}; add it to --measures"
                )
        with explained("audit"):
            read[name] = kind(**values)
    return read


def _measure_of(option: str, owner: str, kind: FamilyKind | Supplement) -> str:
    """The measure without which an option does nothing; "" for none."""
    return kind.effects.get(option, "") if isinstance(kind, Supplement) else owner


def _read(option: str, field: FieldInfo, value: Any) -> Any:
    """The value, or the section that a file holds in its place; one of several kinds may be named, too."""
    if section := _file_of(field, value):
        return load_section(local_path(Path(value)), section, option.replace("_", " "))
    section = _section_of(field)
    return _section(option, str(value), section, None) if section and isinstance(value, str | Path) else value


def _file_of(field: FieldInfo, value: Any) -> type[Section] | None:
    """The section that the named file holds; None where the value is no file's name."""
    section = _section_of(field)
    return section if section and isinstance(value, str | Path) and "kind" not in section.model_fields else None


def _section_of(field: FieldInfo) -> type[Section] | None:
    annotated = get_args(field.annotation) or (field.annotation,)
    return next((kind for kind in annotated if isinstance(kind, type) and issubclass(kind, Section)), None)


def command_options(core: Collection[str]) -> list[CommandOption]:
    """Options of the command line that measures and supplements bring.

    Args:
        core: options that none of them may have.

    Raises:
        PluginError: one has one of these, or one of another.
    """
    brought = {name: kind.command_options for name, kind in _bringing().items()}
    _owners({name: [option.name for option in options] for name, options in brought.items()}, core)
    return [option for options in brought.values() for option in options]


def arrangements() -> dict[str, tuple[str, Arrangement]]:
    """Option with a file for each system -> the measure that it is of, and the arrangement of systems."""
    kinds = {name: MEASURES[name].arrangement for name in measure_names()}
    return {arrangement.option: (name, arrangement) for name, arrangement in kinds.items() if arrangement}


def read_sections(
    measures: Sequence[str], matcher: str | None, entailer: str | None, models: Sequence[str]
) -> tuple[MatcherSection | None, EntailerSection | None]:
    """Matcher and entailer with their models; a model belongs to the one that has models, unless it says which.

    Args:
        measures: that are asked for.
        matcher: a name, or a YAML file with the keys of a recipe's `matcher`; None takes the best that runs without a model.
        entailer: a name, or a YAML file with the keys of a recipe's `entailer`; None takes the usual one.
        models: NAME, "matcher=NAME" or "entailer=NAME".

    Raises:
        DataError: a name is not known, an option is wrong or would have no effect.
        RecipeError: a file cannot be read or its keys are wrong; all mistakes are listed.
    """
    with_model = []
    tools: tuple[tuple[Tool, str | None], ...] = (("matcher", matcher), ("entailer", entailer))
    for part, text in tools:
        names, users = _kinds(PARTS[part]), those_using(part)
        if text is not None and not set(users).intersection(measures):
            raise DataError(f"--{part} has no effect without measure {users[0]!r}; add it to --measures")
        if text in names and text not in WITHOUT_MODEL:
            with_model.append(part)
    model_of = _models(models, with_model)
    return (
        None if matcher is None else _section("matcher", matcher, MatcherSection, model_of.get("matcher")),
        None if entailer is None else _section("entailer", entailer, EntailerSection, model_of.get("entailer")),
    )


def for_measures(entries: Sequence[str], matcher: str | None, entailer: str | None) -> tuple[list[str], list[str]]:
    """Entries of `--model` that name a measure's model, and those that name a model to be audited.

    A bare name is a measure's where a matcher or an entailer that has a model is named.
    """
    tools: tuple[tuple[Tool, str | None], ...] = (("matcher", matcher), ("entailer", entailer))
    has_model = any(tool in _kinds(PARTS[part]) and tool not in WITHOUT_MODEL for part, tool in tools)
    parts = [entry.partition("=") for entry in entries]
    are_measures = [part in PARTS if equals else has_model for part, equals, _ in parts]
    of_measures = [entry for entry, is_measure in zip(entries, are_measures, strict=True) if is_measure]
    return of_measures, [entry for entry, is_measure in zip(entries, are_measures, strict=True) if not is_measure]


def _models(entries: Sequence[str], able: Sequence[str]) -> dict[str, str]:
    """Part -> its model, of those parts that may have one."""
    model_of: dict[str, str] = {}
    for text in entries:
        part, equals, name = text.partition("=")
        is_named = bool(equals) and part in PARTS
        fitting = [tool for tool in able if tool == part or not is_named]
        if len(fitting) != 1:
            raise DataError(
                f"--model {text!r}: write --model matcher=NAME with --matcher bertscore or bartscore, --model entailer=NAME "
                "with --entailer encoder or nli; other matchers and entailers have no model, and a file names its own"
            )
        if fitting[0] in model_of:
            raise DataError(f"--model {text!r}: the {fitting[0]} has model {model_of[fitting[0]]!r} already; name one")
        model_of[fitting[0]] = name if is_named else text
    return model_of


def _kinds(section: type[Section]) -> tuple[str, ...]:
    return get_args(section.model_fields["kind"].annotation)


def _section(part: str, text: str, model: type[S], model_name: str | None) -> S:
    """A section by its name, or from the file that is named in place of one."""
    names = _kinds(model)
    option = f"--{part.replace('_', '-')} {text}"
    file, _, function = text.rpartition(":")
    keys = {"kind": text} | ({} if model_name is None else {"model": model_name})
    if "python" in names and file.endswith(".py"):
        keys = {"kind": "python", "file": file, "function": function}
    elif text not in names:
        path = local_path(text)
        if path.suffix not in (".yaml", ".yml"):
            ways = ", ".join("FILE.py:FUNCTION" if name == "python" else name for name in names)
            raise DataError(
                f"{option}: is not known{did_you_mean(text, names)} Take {ways}, or a .yaml file "
                f"with the keys of a recipe's section {part}"
            )
        return load_section(path, model, part)
    try:
        return model.model_validate(keys)
    except ValidationError as error:
        problems = "; ".join(problem["msg"].removeprefix("Value error, ") for problem in error.errors())
        raise DataError(
            f"{option}{f' --model {model_name}' if model_name else ''}: {problems}; write options other than the model in "
            f"a file: --{part} FILE.yaml"
        ) from error
