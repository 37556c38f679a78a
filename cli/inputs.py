"""What several verbs read."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from ..config import ColumnsSection, Recipe, SummaryColumnsSection
from ..config.command_line import repeated_keys
from ..config.layers import read_layers
from ..config.recipe_file import load_recipe
from ..errors import DataError, RecipeError
from ..storage import local_path
from ..text import did_you_mean
from ..text.mistakes import listed
from . import completion

if TYPE_CHECKING:
    from ..evaluation.report.people.ratings import RatingsFile

V = TypeVar("V", bound=str)


def single_keys(option: str) -> Callable[[list[str] | None], list[str] | None]:
    """What looks at an option that is given once for each of several keys, and refuses a key that has two values."""

    def check(entries: list[str] | None) -> list[str] | None:
        if mistakes := repeated_keys(option, entries or ()):
            raise DataError(mistakes)
        return entries

    return check


def named_values(option: str, entries: Sequence[str] | None, values: Sequence[V]) -> dict[str, V]:
    """Entries of an option "NAME=VALUE", of which there are few values.

    Raises:
        RecipeError: one has another form; all are listed.
    """
    split = {entry: entry.rpartition("=")[::2] for entry in entries or ()}
    form = " or ".join(f"NAME={value}" for value in values)
    if mistakes := [
        f"{option} {entry!r}: write {form}" for entry, (name, x) in split.items() if not name or x not in values
    ]:
        raise RecipeError(listed(mistakes))
    return {name: next(value for value in values if value == x) for name, x in split.values()}


def overrides_option(about: str, complete: Callable[[str], list[str]] | None = None) -> Any:
    """The option `--set`, whose keys and values a shell completes by `complete`."""
    return typer.Option(
        "--set", metavar="KEY=VALUE", callback=single_keys("--set"), help=about, autocompletion=complete
    )


RecipePath = Annotated[
    Path,
    typer.Argument(
        metavar="RECIPE",
        help="A file, or the name of a shipped recipe, for example quickstart.",
        autocompletion=completion.recipes,
    ),
]
Overrides = Annotated[
    list[str] | None,
    overrides_option("Change a key of the recipe: --set generate.max_model_len=2048. Repeatable.", completion.settings),
]
Evidence = Annotated[
    Path | None,
    typer.Option(exists=True, dir_okay=False, help="The authors' evidence file, which adds topics and key points."),
]


def refuse_unknown_judges(names: Sequence[str], judges: Collection[str]) -> None:
    """What --judge names must be among the judges.

    Raises:
        RecipeError: something else is named.
    """
    if unknown := [name for name in names if name not in judges]:
        mistakes = [f"--judge {name}: no such judge{did_you_mean(name, judges)}" for name in unknown]
        raise RecipeError(listed([*mistakes, f"the judges are {', '.join(judges)}"]))


def _columns(text: str) -> ColumnsSection:
    """ "set=thread,text=body" to name the columns; a column's name may contain a comma."""
    return ColumnsSection(**_named(text, list(ColumnsSection.model_fields), "set=COLUMN,text=COLUMN"))


def _summary_columns(text: str) -> SummaryColumnsSection:
    return SummaryColumnsSection(**_named(text, list(SummaryColumnsSection.model_fields), "text=COLUMN,id=COLUMN"))


def _named(text: str, keys: Sequence[str], form: str) -> dict[str, str]:
    columns: dict[str, str] = {}
    for key, _, name in (part.partition("=") for part in re.split(r",(?=\w+=)", text)):
        if key in columns:
            raise typer.BadParameter(f"{key!r} is named twice ({columns[key]!r}, {name!r}); name one column.")
        if key not in keys or not name:
            near = did_you_mean(key, keys) if key not in keys else "."
            raise typer.BadParameter(
                f"{key!r} names no column{near} Write {form}; what can be named is {', '.join(keys)}."
            )
        columns[key] = name
    return columns


def columns_option(panel: str | None = None) -> Any:
    """The option `--columns`, shown under the name of this panel."""
    return typer.Option(
        parser=_columns,
        metavar="set=COLUMN,text=COLUMN",
        help="Of a table of documents, what its columns are called; topic, id and split can be named too. Default: set and text.",
        rich_help_panel=panel,
    )


def summary_columns_option(panel: str | None = None) -> Any:
    """The option `--summary-columns`, shown under the name of this panel."""
    return typer.Option(
        parser=_summary_columns,
        metavar="text=COLUMN,id=COLUMN",
        help="Of files of summaries, which column or key has the summary and which the set's id. Default: a usual name (summary, "
        "prediction, text, ...) if only one column can be it; id.",
        rich_help_panel=panel,
    )


def group_option(panel: str | None = None) -> Any:
    """The option `--group`, shown under the name of this panel."""
    return typer.Option(
        metavar="NAME=V,V;NAME=V",
        help="Groups in place of the attribute's values: 'critical=1,2; mixed=3; praising=4,5', 'home=US; abroad=*' (* is the "
        "rest), 'critical=1,2; praising=4,5; -=3' (documents of 3 are left out), 'young=..17; grown=18..59; old=60..'. Of one "
        "attribute among several: 'stars: critical=1,2; praising=*'.",
        rich_help_panel=panel,
    )


def skip_empty_option(panel: str | None = None) -> Any:
    """The option `--skip-empty`, shown under the name of this panel."""
    return typer.Option(
        "--skip-empty",
        help="Leave rows of a table of documents out that have an empty cell in a column that is needed, counted.",
        rich_help_panel=panel,
    )


SkipEmpty = Annotated[bool, skip_empty_option()]
Group = Annotated[list[str] | None, group_option()]
Columns = Annotated[ColumnsSection | None, columns_option()]
SummaryColumns = Annotated[SummaryColumnsSection | None, summary_columns_option()]


def labelled(text: str, option: str) -> tuple[str, Path]:
    """ "base=out.jsonl" as label and file; a file alone is called by its name without endings."""
    label, equals, path = text.partition("=")
    if not (path if equals else text).strip():
        raise DataError(f"{option} {text!r}: names no file; write FILE or LABEL=FILE")
    if equals and label.strip() and path.strip() and not Path(text).exists():
        return label.strip(), local_path(path.strip())
    name = Path(text).name
    return name.lstrip(".").partition(".")[0] or name, local_path(text)


def open_recipe(path: Path, overrides: Sequence[str] | None) -> Recipe:
    """The recipe of a loop.

    Raises:
        RecipeError: it is wrong, or it is one of another verb, which is named.
    """
    try:
        return load_recipe(path, overrides or [])
    except RecipeError as error:
        if verb := _verb_of(path):
            raise RecipeError(
                f"{path}: is a recipe of `evenhand {verb}`, which has other keys than one of rounds and an evaluation; "
                f"check it with: evenhand {verb} {path} --dry-run"
            ) from error
        raise


def _verb_of(path: Path) -> str | None:
    """The verb whose kind of recipe has all keys of the file, where that is none of a loop."""
    from .door import read_verbs, spelled

    try:
        keys = read_layers(path).values.keys()
    except RecipeError:
        return None
    if keys <= Recipe.model_fields.keys():
        return None
    own = ((name, verb.recipe) for name, verb in read_verbs({}).items() if verb.recipe)
    return next((spelled(name) for name, recipe in own if keys <= recipe.model_fields.keys()), None)


# what these options are shown under
PANEL_OF_RATINGS = "People's ratings"
Ratings = Annotated[
    Path | None,
    typer.Option(
        exists=True,
        dir_okay=False,
        rich_help_panel=PANEL_OF_RATINGS,
        help="What people said of summaries: a table (CSV, TSV, Parquet, .xlsx) or JSON lines with the columns id, summary or "
        "system, and score; optionally rater, dimension, side, group of the rater and documents.",
    ),
]
Dimensions = Annotated[
    list[str] | None,
    typer.Option(
        "--dimension",
        rich_help_panel=PANEL_OF_RATINGS,
        help="Only this dimension; in a file without a column 'score' the column that has its scores. Repeatable.",
    ),
]
Scales = Annotated[
    list[str] | None,
    typer.Option(
        "--scale",
        metavar="[DIMENSION=]WORST..BEST",
        rich_help_panel=PANEL_OF_RATINGS,
        help="Scale of the scores, such as 1..5, or 5..1 where 1 is best. Repeatable. Default: higher is better.",
    ),
]


def useless_without_ratings(options: Mapping[str, Any]) -> list[str]:
    """What is wrong with options of people's ratings where there are none."""
    return [
        f"{name} is of people's ratings and does nothing without --ratings" for name, value in options.items() if value
    ]


def ratings_file(
    ratings: Path | None, dimensions: Sequence[str] | None, scales: Sequence[str] | None
) -> "RatingsFile | None":
    """The file of ratings that a page is to be set beside; None without one.

    Raises:
        RecipeError: options of ratings are given without them.
    """
    if ratings is None:
        if stray := useless_without_ratings({"--dimension": dimensions, "--scale": scales}):
            raise RecipeError(listed(stray))
        return None
    from ..evaluation.report.people.ratings import RatingsFile

    return RatingsFile(ratings, tuple(dimensions or ()), tuple(scales or ()))
