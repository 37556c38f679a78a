"""Matcher and entailer as the command line names them: by name and model, or by a file with all of a recipe's keys."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar, get_args

from pydantic import ValidationError

from ...config.fairness import EntailerSection, MatcherSection
from ...config.recipe_file import load_section
from ...errors import DataError
from ...text import did_you_mean

MATCHERS = get_args(MatcherSection.model_fields["kind"].annotation)
ENTAILERS = get_args(EntailerSection.model_fields["kind"].annotation)
DEFAULT_ENTAILER = "words"
# those that have no model are not asked for one
WITHOUT_MODEL = ("ngram", "words")

S = TypeVar("S", MatcherSection, EntailerSection)


@dataclass(frozen=True)
class Named:
    """What was written for the matcher or the entailer."""

    # of the option and of --model: "matcher" or "entailer"
    part: str
    # a name or a file
    text: str
    names: tuple[str, ...]

    @property
    def is_file(self) -> bool:
        """Whether it names a file of options."""
        return self.text not in self.names

    @property
    def takes_model(self) -> bool:
        """Whether --model may name its model."""
        return not self.is_file and self.text not in WITHOUT_MODEL


def read_sections(
    measures: Sequence[str], matcher: str | None, entailer: str | None, models: Sequence[str]
) -> tuple[MatcherSection | None, EntailerSection]:
    """Matcher and entailer with their models; a model belongs to the one that has models, unless it says which.

    Args:
        measures: that are asked for.
        matcher: a name, or a YAML file with the keys of a recipe's `matcher`; None takes the best that runs without a model.
        entailer: a name, or a YAML file with the keys of a recipe's `entailer`; None takes "words".
        models: NAME, "matcher=NAME" or "entailer=NAME".

    Raises:
        DataError: a name is not known, an option is wrong or would have no effect.
        RecipeError: a file cannot be read or its keys are wrong; all mistakes are listed.
    """
    first = None if matcher is None else Named("matcher", matcher, MATCHERS)
    second = Named("entailer", entailer or DEFAULT_ENTAILER, ENTAILERS)
    for named, measure, is_given in ((first, "value-shares", True), (second, "coverage", entailer is not None)):
        if named and is_given and measure not in measures:
            raise DataError(f"--{named.part} has no effect without measure {measure!r}; add it to --measures")
    found = _models(models, [each for each in (first, second) if each is not None and each.takes_model])
    return (
        None if first is None else _section(first, MatcherSection, found.get("matcher")),
        _section(second, EntailerSection, found.get("entailer")),
    )


def _models(given: Sequence[str], able: Sequence[Named]) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in given:
        part, equals, name = text.partition("=")
        is_named = bool(equals) and part in ("matcher", "entailer")
        fitting = [each.part for each in able if each.part == part or not is_named]
        if len(fitting) != 1:
            raise DataError(
                f"--model {text!r}: write --model matcher=NAME with --matcher bertscore or bartscore, --model entailer=NAME "
                "with --entailer encoder or nli; other matchers and entailers have no model, and a file names its own"
            )
        found[fitting[0]] = name if is_named else text
    return found


def _section(named: Named, model: type[S], model_name: str | None) -> S:
    option = f"--{named.part} {named.text}"
    if named.is_file:
        path = Path(named.text).expanduser()
        if path.suffix not in (".yaml", ".yml"):
            raise DataError(
                f"{option}: is not known{did_you_mean(named.text, named.names)} Take {', '.join(named.names)}, or a .yaml file "
                f"with the keys of a recipe's section {named.part}"
            )
        return load_section(path, model, named.part)
    try:
        return model.model_validate({"kind": named.text} | ({} if model_name is None else {"model": model_name}))
    except ValidationError as error:
        raise DataError(
            f"{option}{f' --model {model_name}' if model_name else ''}: {_said(error)}; options besides the model stand in a "
            f"file: --{named.part} FILE.yaml"
        ) from error


def _said(error: ValidationError) -> str:
    return "; ".join(problem["msg"].removeprefix("Value error, ") for problem in error.errors())
