"""Pages of the documentation that are made from the code: recipe keys, the command reference, and what stands elsewhere.

mkdocs runs `on_files` as a hook before each build; `python docs/generated.py keys.md` prints a page. Meanings of keys are the
comments above the fields of the recipe's sections.
"""

import ast
import inspect
import json
import os
import pprint
import re
import sys
import textwrap
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import typer
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from evenhand.cli.app import VERBS, app
from evenhand.config import Recipe, Section
from evenhand.config.judges import JUDGE_SECTIONS
from evenhand.config.model import remote_backends
from evenhand.config.needs import JudgeSection
from evenhand.config.remote import RemoteSection

ROOT = Path(__file__).parents[1]
# what each kind of recipe is for: its command -> its type
RECIPES: dict[str, type[BaseModel]] = {
    "loop": Recipe,
    **{name: verb.recipe for name, verb in VERBS.items() if verb.recipe},
}
# what one wants to do -> the top keys of a run's recipe that do it, and pages about it
GOALS: dict[str, tuple[tuple[str, ...], str]] = {
    "Choose documents, and what is asked of them": (("corpus", "task"), "[Your own documents](documents.md)"),
    "Choose the model": (("model",), "[Models without a hub](models.md)"),
    "Make candidates": (("generate", "executor", "keep_engines"), "[Methods](methods.md), [Servers](servers.md)"),
    "Judge them": (("judges", "calibration"), "[Judges](judges.md), [Your own judge](own-judge.md)"),
    "Choose the best, and make pairs": (("reward", "pairs"), "[Training](training.md#rewards)"),
    "Train": (("lora", "train", "trainer", "rounds"), "[Training](training.md), [FairPO](fairpo.md)"),
    "Report": (("evaluation", "wandb"), "[Run folder](run-folder.md)"),
    "Hold a run to limits": (("limits",), "[Audit of judges](judge-audit.md), [Servers](servers.md#cost)"),
}
# of every run
OTHER_KEYS = ("name", "seed", "output")


def recipe_keys() -> str:
    """The page of all recipe keys by what one wants to do: a table for each section, sections of sections after it."""
    lines = [
        "# Recipe keys",
        "",
        "Every key that a recipe can have, made from the types that check it. An unknown key is refused, with the nearest known "
        "one. `evenhand validate RECIPE` checks a recipe, and the run folder's `recipe.yaml` has every default spelled out.",
        "",
        "Keys without a default are required. `trainer` takes the arguments of `trl.DPOConfig`, and `engine` those of "
        "`vllm.LLM`.",
        "",
        "`extends: FILE` builds on another recipe, named by its path from the file that says so or by its shipped name, such as "
        "`quickstart`. Mappings are merged key by key. Lists, sampling plans, and a section of another `kind` are replaced as "
        "wholes. `null` instead of a section takes it out.",
    ]
    lines += ["", "| you want to | keys | more in |", "| --- | --- | --- |"]
    places = _places(Recipe)
    named = {found[0] for found in places.values()}
    for goal, (keys, pages) in GOALS.items():
        links = ", ".join(f"[`{key}`](#{key if key in named else _anchor(goal)})" for key in keys)
        lines.append(f"| [{goal.lower()}](#{_anchor(goal)}) | {links} | {pages} |")
    for goal, (keys, _) in {**GOALS, "Name the run": (OTHER_KEYS, "")}.items():
        lines += ["", f"## {goal}", *_table(Recipe, keys)]
        for section, found in places.items():
            if found[0].split(".")[0] in keys:
                lines += _heading(section, found) + _table(section)
    for command, root in RECIPES.items():
        if root is not Recipe:
            lines += ["", f"## Recipes of `evenhand {command}`"]
            for section, found in _places(root).items():
                if section in places:
                    lines += [
                        "",
                        f"`{'`, `'.join(found)}`: the keys of [`{places[section][0]}`](#{_slug(section, places)}).",
                    ]
                else:
                    lines += _heading(section, found) + _table(section)
    return "\n".join(lines) + "\n"


def _anchor(heading: str) -> str:
    """The anchor that a heading gets."""
    return re.sub(r"\s+", "-", re.sub(r"[^\w\s-]", "", heading.lower()).strip())


def _slug(section: type[BaseModel], places: Mapping[type[BaseModel], list[str]]) -> str:
    return _anchor(_heading(section, places[section])[1].removeprefix("### "))


def _places(root: type[BaseModel]) -> dict[type[BaseModel], list[str]]:
    """Each section under `root`, itself first, and all places in which it stands."""
    places: dict[type[BaseModel], list[str]] = {}

    def walk(place: str, section: type[BaseModel]) -> None:
        places.setdefault(section, []).append(place)
        if len(places[section]) == 1:
            for key, field in section.model_fields.items():
                for below, each in _sections_in(field.annotation):
                    walk(f"{place}.{key}{below}".lstrip("."), each)
            for key, each in _further(section).items():
                walk(f"{place}.{key}", each)

    walk("", root)
    return places


def _heading(section: type[BaseModel], places: list[str]) -> list[str]:
    """A section's first place, what it is, and its other places; of a whole recipe what it is."""
    lines = []
    if places != [""]:
        # what tells this section from others in its place: the kinds that it is for
        field = section.model_fields.get("kind")
        kinds = get_args(field.annotation) if field and field.is_required() else ()
        of_kind = f" of kind {' or '.join(f'`{kind}`' for kind in kinds)}" if kinds else ""
        lines += ["", f"### `{places[0]}`{of_kind}"]
    lines += ["", _first_paragraph(section)]
    if others := sorted({*places} - {places[0]}):
        lines += ["", f"The same keys: {', '.join(f'`{place}`' for place in others)}."]
    return lines


def _table(section: type[BaseModel], keys: Iterable[str] | None = None) -> list[str]:
    """A table of a section's keys, or of some of them."""
    meanings = key_meanings(section)
    return [
        "", "| key | type | default | meaning |", "| --- | --- | --- | --- |",
        *(_key_row(key, section.model_fields[key], meanings[key]) for key in keys or section.model_fields),
        *(f"| `{key}` | section or null | `null` | {_first_paragraph(each)} |" for key, each in _further(section).items()),
    ]  # fmt: skip


def _further(section: type[BaseModel]) -> dict[str, type[Section]]:
    """Key -> section of what packages bring."""
    return section.further_sections() if issubclass(section, Section) else {}


def _key_row(key: str, field: FieldInfo, meaning: str) -> str:
    bounds = [
        f"{words} {getattr(mark, name)}"
        for mark in field.metadata
        for name, words in (("ge", "at least"), ("gt", "above"), ("le", "at most"), ("lt", "below"))
        if getattr(mark, name, None) is not None
    ]
    if field.default is PydanticUndefined:
        default = "required" if field.default_factory is None else "`{}`"
    elif isinstance(field.default, BaseModel):
        default = "its defaults"
    else:
        plain = list(field.default) if isinstance(field.default, tuple) else field.default
        default = f"`{plain if isinstance(plain, str) else json.dumps(plain)}`"
    kind = ", ".join([_words(field.annotation), *bounds])
    return f"| `{key}` | {kind} | {default} | {meaning.replace('|', '&#124;')} |"


def _sections_in(annotation: Any) -> Iterator[tuple[str, type[BaseModel]]]:
    """What follows the key, and the section; of judges all kinds that there are."""
    if annotation is JudgeSection:
        yield from (("", section) for section in dict.fromkeys(JUDGE_SECTIONS.values()))
    elif annotation is RemoteSection:
        yield from (("", section) for section in remote_backends().values())
    elif isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield "", annotation
    elif get_origin(annotation) is dict:
        for below, section in _sections_in(get_args(annotation)[1]):
            yield f".NAME{below}", section
    else:
        for inner in get_args(annotation):
            yield from _sections_in(inner)


def _first_paragraph(section: type[BaseModel]) -> str:
    return " ".join((inspect.getdoc(section) or "").split("\n\n")[0].split())


def key_meanings(section: type[BaseModel]) -> dict[str, str]:
    """Key -> the comment above its field, else the base's, else what its section is, else that of fields right above it."""
    found = dict.fromkeys(section.model_fields, "")
    for base in reversed(section.__mro__):
        if not (isinstance(base, type) and issubclass(base, BaseModel)) or base is BaseModel:
            continue
        lines, shared = textwrap.dedent(inspect.getsource(base)).splitlines(), ""
        for node in ast.parse("\n".join(lines)).body[0].body:  # type: ignore[attr-defined]
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id in found:
                comment: list[str] = []
                above = node.lineno - 2
                while lines[above].strip().startswith("#"):
                    comment.insert(0, lines[above].strip().lstrip("# "))
                    above -= 1
                # a section says what it is
                is_new = not found[node.target.id] and not any(
                    _sections_in(section.model_fields[node.target.id].annotation)
                )
                own = " ".join(comment) or (shared if lines[above].strip() and is_new else "")
                found[node.target.id] = own or found[node.target.id]
                shared = own
    for key, field in section.model_fields.items():
        if key == "kind" and not found[key]:
            found[key] = "what this section is"
        elif not found[key]:
            found[key] = " ".join(_first_paragraph(inner) for _, inner in list(_sections_in(field.annotation))[:1])
    return found


def _words(annotation: Any) -> str:
    """A type as a reader of recipes knows it."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "section"
    if origin is Literal:
        return ", ".join(f"`{each}`" for each in inner)
    if origin is Annotated:
        return _words(inner[0])
    if origin in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(map(_words, inner)))
    if origin in (dict, tuple, list):
        return f"mapping of names to {_words(inner[1])}" if origin is dict else f"list of {_words(inner[0])}"
    plain = {str: "text", int: "whole number", float: "number", bool: "true or false", Path: "path", type(None): "null"}
    return plain.get(annotation, "any")


def command_reference() -> str:
    """The page of all commands with their arguments and options, as `--help` has them."""
    lines = ["# Commands", "", "Made from the command line itself; `evenhand COMMAND --help` says the same.", ""]
    for path, command in _commands(typer.main.get_command(app), ("evenhand",)):
        context = command.make_context(path[-1], [], resilient_parsing=True)
        pieces = " ".join(command.collect_usage_pieces(context)).replace("{", "").replace("}", "")
        lines += [f"## {' '.join(path[1:])}", "", "```text", f"{' '.join(path)} {pieces}", "```", ""]
        lines += [_plain(command.help or ""), ""]
        rows = []
        for parameter in command.params:
            if getattr(parameter, "hidden", False):
                continue
            name = parameter.metavar or parameter.name.upper()
            if parameter.param_type_name == "option":
                name = " ".join(filter(None, (", ".join(parameter.opts), parameter.metavar)))
            default = parameter.get_default(context)
            shown = "" if default is None or default in (False, (), []) or callable(default) else f"`{default}`"
            shown = "required" if parameter.required else shown
            rows.append(f"| `{name}` | {shown} | {_plain(parameter.help or '').replace('|', '&#124;')} |")
        lines += ["| | default | |", "| --- | --- | --- |", *rows, ""] if rows else []
        if command.epilog:
            lines += [re.sub(r"(evenhand .*)", r"`\1`", _plain(command.epilog)), ""]
    return "\n".join(lines)


def _commands(command: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, below in getattr(command, "commands", {}).items():
        if getattr(below, "hidden", False):
            continue
        if getattr(below, "commands", None):
            if below.invoke_without_command:
                yield (*path, name), below
            yield from _commands(below, (*path, name))
        else:
            yield (*path, name), below


def _plain(text: str) -> str:
    """Help without marks of terminals, in one paragraph of Markdown for each of its own."""
    return "\n\n".join(" ".join(part.split()) for part in re.sub(r"\[/?\w+\]", "", text).split("\n\n")).replace(
        "<", "&lt;"
    )


def benchmarks() -> str:
    """The figures that were kept, copied from the benchmarks' folder."""
    text = (ROOT / "benchmarks/RESULTS.md").read_text("utf-8")
    return text.replace("# Results", "# Benchmarks", 1).replace("](../docs/", "](")


def run_notebook() -> Iterator[tuple[str, Any]]:
    """The text of each cell of our own notebook, and of code what it shows at its end; of words None."""
    names: dict[str, Any] = {}
    for cell in json.loads((ROOT / "docs/notebook.ipynb").read_text(encoding="utf-8"))["cells"]:
        source, shown = "".join(cell["source"]), None
        if cell["cell_type"] == "code":
            *statements, last = ast.parse(source).body
            if not isinstance(last, ast.Expr):
                raise SystemExit(
                    f"docs/notebook.ipynb: a cell ends with what it shows, and not with {ast.unparse(last)}"
                )
            exec(compile(ast.Module(statements, []), "notebook", "exec"), names)  # noqa: S102
            shown = eval(compile(ast.Expression(last.value), "notebook", "eval"), names)  # noqa: S307
        yield source, shown


def notebook(cells: Iterable[tuple[str, Any]] | None = None) -> str:
    """The notebook as a page: its cells, which are run unless they are given, each with what it shows as text."""
    (heading, _), *others = run_notebook() if cells is None else cells
    lines = [heading, "[The notebook itself](notebook.ipynb)."]
    for source, shown in others:
        if shown is None:
            lines.append(source)
        else:
            lines += [f"```python\n{source}\n```", f"```text\n{pprint.pformat(shown, width=100)}\n```"]
    return "\n\n".join(lines) + "\n"


# of pages that have nearly every word: search finds those first that explain it
LOOKED_UP = ("keys.md", "commands.md", "benchmarks.md")
BEHIND = "---\nsearch:\n  boost: 0.3\n---\n\n"
# page -> what makes it
PAGES: dict[str, Callable[[], str]] = {
    "keys.md": recipe_keys,
    "commands.md": command_reference,
    "benchmarks.md": benchmarks,
    "in-a-notebook.md": notebook,
}


def on_config(config: Any) -> Any:
    """A hook of mkdocs: docstrings are read from the package alone, whose folder is the root and holds much else."""
    source = ROOT / "build/.docs-source/evenhand"
    source.mkdir(parents=True, exist_ok=True)
    for path in ROOT.iterdir():
        link = source / path.name
        if (path.suffix == ".py" or (path / "__init__.py").exists()) and not link.exists():
            link.symlink_to(path)
    config.plugins["mkdocstrings"].config.handlers["python"]["paths"] = [str(source.parent)]
    return config


# before mkdocstrings reads its paths
on_config.mkdocs_priority = 100  # type: ignore[attr-defined]


def on_files(files: Any, config: Any) -> Any:
    """A hook of mkdocs: the generated pages join the written ones."""
    from mkdocs.structure.files import File

    for name, make in PAGES.items():
        files.append(File.generated(config, name, content=(BEHIND if name in LOOKED_UP else "") + make()))
    return files


def main() -> None:
    """Print the page that the command line names."""
    if sys.argv[1:] not in [[name] for name in PAGES]:
        sys.exit(f"usage: python docs/generated.py PAGE, one of {', '.join(PAGES)}")
    try:
        print(PAGES[sys.argv[1]](), flush=True)
    except BrokenPipeError:
        # whoever reads has seen enough; what is left is not flushed once more at the end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    main()
