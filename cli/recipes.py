"""`evenhand recipes` and `evenhand recipes accelerate`: what comes with evenhand, listed, shown and copied."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from ..config.lacking import lacking, usable_names
from ..config.layers import Layers, read_layers
from ..config.plain_yaml import dump_yaml
from ..config.shipped import RECIPES, comment_lines, read_head, recipe_names
from ..errors import DataError
from ..storage import as_given, read_text, write_text
from . import completion
from .terminal import console, plain_table, say, show
from .verbs import Verbs

app = Verbs(
    help="The recipes that come with evenhand: what each is for, needs, and how long it takes.\n\n"
    "Their names can be given wherever a RECIPE is asked for: [bold]evenhand loop quickstart[/bold]",
    epilog="Example: evenhand recipes copy methods/dpo my.yaml",
    rich_markup_mode="rich",
)
# the line of a recipe that names its run folder
OUTPUT = re.compile(r"^output:.*$", re.MULTILINE)
# the folder that a command names
OUT = re.compile(r" --out (\S+)")
# columns of the list, each with what of a head's field stands there: what follows is in the whole head
BEYOND = {
    "data": re.compile(r"[:;,]"),
    "needs": re.compile(r"[;(]"),
    # on what machine, and by which options of `evenhand run estimate`
    "time": re.compile(r",? by evenhand run estimate|, "),
    "expected": re.compile(r"; "),
}
# columns of the narrowest terminals that have room for needs and time, and for data and expected numbers as well
WIDE, WIDEST = 140, 180
Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        help="As `evenhand recipes` lists it, for example methods/dpo.",
        autocompletion=completion.recipes,
    ),
]


@app.callback(invoke_without_command=True)
def recipes(context: typer.Context) -> None:
    """List all recipes, unless a verb follows."""
    if context.invoked_subcommand is None:
        fields = _fields()
        show(plain_table(("recipe", "what for", *fields), _rows(fields), words=("what for", *fields)))
        wider = (
            "" if len(fields) == len(BEYOND) else f"; {WIDEST if fields else WIDE} columns have room for more of each"
        )
        left_out = sorted({plugin for name in recipe_names() for plugin in lacking(name)})
        if left_out:
            show(f"\nnot listed are recipes that need plug-ins which are not here: {', '.join(left_out)}")
        show(
            "\nevenhand recipes show NAME prints one with its data, needs, time, expected numbers and command, "
            f"most often evenhand loop NAME{wider}"
        )


@app.command(name="show", epilog="Example: evenhand recipes show methods/dpo --whole")
def show_recipe(
    name: Name,
    whole: Annotated[bool, typer.Option("--whole", help="Together with the recipes that it extends.")] = False,
) -> None:
    """Print a recipe."""
    layers = read_layers(Path(name))
    say(_renamed(_text(layers, whole), layers, name).rstrip("\n"))


@app.command(name="copy", epilog="Example: evenhand recipes copy methods/dpo my.yaml")
def copy_recipe(
    name: Name,
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="Default: the last part of the name, in this folder.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
) -> None:
    """Write a recipe to a file of your own, together with the recipes that it extends; its run folder is called like the file."""
    layers = read_layers(Path(name))
    target = file or Path(f"{layers.path.stem}.yaml")
    if target.exists() and not force:
        raise DataError(f"{target}: is there already; name another file, or add --force to replace it")
    text = _moved(_renamed(_text(layers, is_whole=True), layers, str(target)), layers, f"runs/{target.stem}")
    write_text(target, text)
    command = text.partition("\n")[0].removeprefix("# ")
    say(f"{target}: a copy of {name}, which writes into runs/{target.stem}\nrun it: {command}")


def accelerate(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME", help="A configuration, for example zero2.", autocompletion=completion.accelerate_configs
        ),
    ] = None,
) -> None:
    """List the accelerate configurations that come with evenhand, or print the path of one.

    A recipe names one in train.accelerate_config, and the loop launches it. To launch the training yourself:
    accelerate launch --config_file $(evenhand recipes accelerate zero2) -m evenhand.train.dpo --config RECIPE
    """
    from ..train.launch import SHIPPED, accelerate_config

    if name is not None:
        say(str(accelerate_config(name, "argument NAME")))
        return
    rows = ((path.stem, " ".join(comment_lines(path)[1:])) for path in sorted(SHIPPED.glob("*.yaml")))
    show(plain_table(("configuration", "what it starts"), rows, words=("what it starts",)))


def _fields() -> tuple[str, ...]:
    """What of the heads the terminal has room for, beside what a recipe is for."""
    width = console().width
    return tuple(BEYOND) if width >= WIDEST else ("needs", "time") if width >= WIDE else ()


def _rows(fields: tuple[str, ...]) -> Iterator[list[str]]:
    """A row for each recipe, and one for each folder of them."""
    folder = ""
    for path in map(Path, usable_names()):
        if path.parent.name and folder != str(path.parent):
            folder = str(path.parent)
            yield [f"\n{folder}/"]
        head = read_head(RECIPES / f"{path}.yaml")
        name = f"  {path.name}" if path.parent.name else path.name
        yield [name, head.task, *(BEYOND[field].split(getattr(head, field))[0].strip() for field in fields)]


def _renamed(text: str, layers: Layers, name: str) -> str:
    """A shipped recipe's text, with what its first line, the command that runs it, calls the recipe."""
    if not layers.path.is_relative_to(RECIPES):
        return text
    command, end, body = text.partition("\n")
    return command.replace(layers.path.relative_to(RECIPES.parent).as_posix(), name) + end + body


def _moved(text: str, layers: Layers, folder: str) -> str:
    """A recipe's text with another folder for what its command writes, also where its head speaks of it."""
    was = str(layers.values.get("output", ""))
    out = OUT.search(text.partition("\n")[0])
    written = out[1] if out else was
    inside = was.removeprefix(written) if was.startswith(f"{written}/") else ""
    line = dump_yaml({"output": f"{folder}{inside}"}).rstrip()
    head, output, body = text.partition("\noutput:")
    if written:
        head = re.sub(rf"\b{re.escape(written)}(?![\w-])", lambda _: folder, head)
    return OUTPUT.sub(lambda _: line, head + output + body, count=1)


def _text(layers: Layers, is_whole: bool) -> str:
    """A recipe as it is written; where it extends others and is to be whole, its head and all keys together."""
    with as_given():
        if layers.extends is None or not is_whole:
            return read_text(layers.path)
        head = "".join(f"# {line}".rstrip() + "\n" for line in comment_lines(layers.path))
    return head + dump_yaml(layers.values, compact=True)
