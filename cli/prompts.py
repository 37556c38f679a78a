"""`evenhand prompts`: the prompts that come with evenhand and its plug-ins, listed and shown."""

from typing import Annotated

import typer

from ..errors import DataError
from ..prompts import load_template, shipped_prompts
from ..text import did_you_mean
from . import completion
from .terminal import plain_table, say, show
from .verbs import Verbs

app = Verbs(
    help="The prompts that come with evenhand and its plug-ins, and what each asks for.\n\n"
    "A recipe names one as [bold]task.template[/bold], [bold]task.fairness[/bold] or "
    "[bold]judges.NAME.template[/bold], by the last part of its name, or a file of yours; methods and other judges have theirs.",
    epilog="Example: evenhand prompts show generate/perspective > mine.txt",
    rich_markup_mode="rich",
)

FIELDS = "what is filled in"


@app.callback(invoke_without_command=True)
def prompts(context: typer.Context) -> None:
    """List all prompts, unless a verb follows."""
    if context.invoked_subcommand is None:
        rows = (
            (name, ", ".join(sorted(load_template(path.stem, path.parent).fields)))
            for name, path in shipped_prompts().items()
        )
        show(plain_table(("prompt", FIELDS), rows, words=(FIELDS,)))
        show("\nevenhand prompts show NAME prints one")


@app.command(name="show", epilog="Example: evenhand prompts show generate/perspective > mine.txt")
def show_prompt(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="As `evenhand prompts` lists it, or its last part where that is enough.",
            autocompletion=completion.prompts,
        ),
    ],
) -> None:
    """Print a prompt, which a file of your own may begin with."""
    known = shipped_prompts()
    matches = [name] if name in known else [prompt for prompt in known if prompt.endswith(f"/{name}")]
    if not matches:
        near = did_you_mean(name, [*known, *(path.stem for path in known.values())])
        raise DataError(f"prompt {name!r} is not known{near} `evenhand prompts` lists all")
    if len(matches) > 1:
        raise DataError(f"prompt {name!r} may be {' or '.join(matches)}; write one of these")
    path = known[matches[0]]
    say(load_template(path.stem, path.parent).text)
