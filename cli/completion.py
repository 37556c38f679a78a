"""What the shell completes: names that come with evenhand or with packages. Where none of them fits, it completes files.

Everything here is listed without an import of what the names stand for.
"""

import io
import re
import types
from collections.abc import Iterable, Iterator, MutableMapping
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

import typer
from pydantic import BaseModel

from ..config import Recipe
from ..config.fairness import EntailerSection, MatcherSection
from ..config.generate import METHOD_SECTIONS
from ..config.judges import JUDGE_SECTIONS
from ..config.model import BACKEND_TRAITS, EXECUTORS
from ..config.pair_modes import PAIR_RULES
from ..config.shipped import recipe_names

# variables by which a shell asks
COMPLETE, WORDS, CURSOR = "_EVENHAND_COMPLETE", "COMP_WORDS", "COMP_CWORD"
# at which bash breaks words, although they are parts of ours
BREAKS = ("=", ":")
# keys whose values are names of what comes in by doors
DOORS: dict[str, Iterable[str]] = {
    "generate.method": METHOD_SECTIONS,
    "generate.backend": BACKEND_TRAITS,
    "executor": EXECUTORS,
    "pairs.mode": PAIR_RULES,
}
KIND_OF_JUDGE = re.compile(r"judges\.[^.=]+\.kind")


def recipes(incomplete: str) -> list[str]:
    """Shipped recipes, and YAML files beside the one that is being written."""
    files = [str(path) for path in Path().glob(f"{_literal(incomplete)}*.yaml")] if incomplete else []
    return _fitting((*recipe_names(), *sorted(files)), incomplete)


def prompts(incomplete: str) -> list[str]:
    """Prompts of evenhand and its plug-ins."""
    from ..prompts import shipped_prompts

    return _fitting(shipped_prompts(), incomplete)


def documents(incomplete: str) -> list[str]:
    """Bundled corpora, and those of packages."""
    from ..corpora.bundled import document_names

    return _fitting(document_names(), incomplete)


def summaries(incomplete: str) -> list[str]:
    """Summaries of the bundled reviews."""
    from ..corpora.bundled import SUMMARIES

    return _fitting(SUMMARIES, incomplete)


def controlled_sets(incomplete: str) -> list[str]:
    """Bundled sets of summaries of known quality."""
    from ..corpora.bundled import CONTROLLED

    return _fitting(CONTROLLED, incomplete)


def labels(incomplete: str) -> list[str]:
    """Data sets whose label order is known."""
    from ..corpora.coverage import LABELS

    return _fitting(LABELS, incomplete)


def measures(incomplete: str) -> list[str]:
    """Families of measures of an audit, of which several may be named with commas between them."""
    from ..evaluation.audit.families import MEASURES

    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in _fitting(MEASURES, last) if name not in before.split(",")]


def matchers(incomplete: str) -> list[str]:
    """Kinds of matchers."""
    return _fitting(_values(MatcherSection.model_fields["kind"].annotation), incomplete)


def entailers(incomplete: str) -> list[str]:
    """Kinds of entailers."""
    return _fitting(_values(EntailerSection.model_fields["kind"].annotation), incomplete)


def embedded_models(incomplete: str) -> list[str]:
    """Models that packages carry, and NLTK's data."""
    from ..models.embedded import EMBEDDED_MODELS

    return _fitting((*EMBEDDED_MODELS, "nltk"), incomplete)


def writing_models(incomplete: str) -> list[str]:
    """Models that packages carry, as a recipe names them."""
    from ..models.embedded import EMBEDDED, EMBEDDED_MODELS

    return _fitting((f"{EMBEDDED}{name}" for name in EMBEDDED_MODELS), incomplete)


def accelerate_configs(incomplete: str) -> list[str]:
    """Accelerate configurations that come with evenhand."""
    from ..train.launch import SHIPPED

    return _fitting(sorted(path.stem for path in SHIPPED.glob("*.yaml")), incomplete)


def phases(context: typer.Context, incomplete: str) -> list[str]:
    """Phases of the recipe that stands before, of one round where it cannot be read."""
    from ..config.recipe_file import load_recipe
    from ..errors import EvenhandError
    from ..runfolder.phases import phases as phases_of

    try:
        names = [phase.name for phase in phases_of(load_recipe(Path(context.params["recipe"])))]
    except (EvenhandError, KeyError, TypeError):
        names = ["round-00", "evaluation/base", "evaluation/round-00"]
    return _fitting(names, incomplete)


def settings(incomplete: str) -> list[str]:
    """Keys of a recipe, KEY=, and after the equals sign the values of those that have few."""
    key, equals, _ = incomplete.partition("=")
    if not equals:
        return _fitting((f"{name}=" for name in _keys(Recipe)), incomplete)
    names: Iterable[str] = (
        JUDGE_SECTIONS if KIND_OF_JUDGE.fullmatch(key) else DOORS.get(key) or _keys(Recipe).get(key, ())
    )
    return _fitting((f"{key}={value}" for value in names), incomplete)


def _fitting(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def _literal(text: str) -> str:
    """A text in which no character stands for others."""
    return re.sub(r"([*?\[])", r"[\1]", text)


def _keys(section: type[BaseModel], within: str = "") -> dict[str, tuple[str, ...]]:
    """Dotted keys of a section, and the values of those that have few."""
    keys: dict[str, tuple[str, ...]] = {}
    for name, field in section.model_fields.items():
        below = next(
            (part for part in _parts(field.annotation) if isinstance(part, type) and issubclass(part, BaseModel)), None
        )
        if below is None:
            keys[f"{within}{name}"] = _values(field.annotation)
        else:
            keys |= _keys(below, f"{within}{name}.")
    return keys


def _parts(annotation: Any) -> Iterator[Any]:
    """The alternatives of a type."""
    if get_origin(annotation) in {Union, types.UnionType}:
        for part in get_args(annotation):
            yield from _parts(part)
    else:
        yield annotation


def _values(annotation: Any) -> tuple[str, ...]:
    """The few values that a type has; none where it has many."""
    names: list[str] = []
    for part in _parts(annotation):
        if get_origin(part) is Literal:
            names += map(str, get_args(part))
        elif part is bool:
            names += ["true", "false"]
    return tuple(names)


@contextmanager
def bash_words(environ: MutableMapping[str, str]) -> Iterator[None]:
    """Put together what bash breaks at "=" and ":"; what stands behind the last break answers it."""
    if environ.get(COMPLETE) != "complete_bash":
        yield
        return
    prefix, answer = _join_words(environ), io.StringIO()
    try:
        with redirect_stdout(answer):
            yield
    finally:
        for line in answer.getvalue().splitlines():
            print(line.removeprefix(prefix))


def _join_words(environ: MutableMapping[str, str]) -> str:
    """Join the words that bash asks about; what the last has up to its last break, which bash keeps as it is."""
    asked, joined, is_open = int(environ[CURSOR]), list[str](), False
    for word in environ[WORDS].split("\n")[: asked + 1]:
        is_break = word in BREAKS
        if joined and (is_break or is_open):
            joined[-1] += word
        else:
            joined.append(word)
        is_open = is_break
    environ[WORDS], environ[CURSOR] = "\n".join(joined), str(len(joined) - 1)
    return joined[-1][: max(map(joined[-1].rfind, BREAKS)) + 1]
