"""The recipes that come with evenhand: their names, and what the head of each says.

A head is the comment that a recipe opens with:

    # evenhand loop recipes/quickstart.yaml
    #
    # task: what it does, in one line
    # data: the documents, and how to get them
    # needs: processors, memory and extras of evenhand
    # time: measured, or "not measured" or "not run by us", with what `evenhand run estimate` says and its options
    # expected: numbers to compare with, or "not known" or "not measured" and why
    #
    # anything else
"""

from dataclasses import dataclass
from pathlib import Path

from ..errors import RecipeError
from ..storage import read_text

PACKAGE = Path(__file__).parents[1]
RECIPES = PACKAGE / "recipes"
# what recipes extend, which cannot be run
BASE = "base"
FIELDS = ("task", "data", "needs", "time", "expected")


@dataclass(frozen=True)
class Head:
    """What a recipe says of itself."""

    command: str
    task: str
    data: str
    needs: str
    time: str
    expected: str


def recipe_names() -> list[str]:
    """Names of the shipped recipes that can be run: "quickstart", "methods/debate"."""
    paths = (path.relative_to(RECIPES).with_suffix("") for path in RECIPES.rglob("*.yaml"))
    return sorted(
        (path.as_posix() for path in paths if path.parts[0] != BASE), key=lambda name: (name.count("/"), name)
    )


def find_recipe(recipe: Path, folder: Path = Path()) -> Path:
    """The file of a recipe: the one at this path from the folder, else the shipped one of this name or path ("quickstart").

    Where there is neither, the path that there might be one at.
    """
    path = folder / recipe
    try:
        if path.exists() and not path.is_dir():
            return path
        shipped = (RECIPES / f"{recipe}.yaml", PACKAGE / recipe)
        return next((file for file in shipped if file.is_file()), path)
    except OSError:
        # a name longer than a file's can be; whoever reads it says so
        return path


def comment_lines(path: Path) -> list[str]:
    """The comment that a file opens with, line by line, without its marks.

    Raises:
        StorageError: the file cannot be read.
    """
    lines = []
    for line in read_text(path).splitlines():
        if not line.startswith("#"):
            break
        lines.append(line[1:].removeprefix(" ").rstrip())
    return lines


def read_head(path: Path) -> Head:
    """The head of a recipe.

    Raises:
        StorageError: the file cannot be read.
        RecipeError: the head is not of its form.
    """
    command, *lines = comment_lines(path) or [""]
    fields: dict[str, str] = {}
    last = ""
    for line in lines[1:]:
        if not line:
            break
        name, colon, text = line.partition(": ")
        if colon and name in FIELDS:
            last, fields[name] = name, text
        elif last and line.startswith("  "):
            fields[last] += f" {line.strip()}"
    missing = [name for name in FIELDS if not fields.get(name)]
    if missing or not command:
        raise RecipeError(f"{path}: its head lacks {', '.join(missing) or 'the command'}; see recipes/quickstart.yaml")
    return Head(command, **fields)
