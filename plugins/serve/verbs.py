"""`evenhand serve`: a recipe in front of any OpenAI-compatible server."""

from pathlib import Path
from typing import Annotated

import typer

from ...cli import completion
from ...cli.door import RUNS, Verb
from ...cli.inputs import Overrides
from ...cli.terminal import note, say
from ...config.recipe_file import load_recipe

FEATURE = "evenhand serve"
EXAMPLE = 'Example: evenhand serve server/serve --fail-if "worst_side(shares) < 0.5" --port 8080'


def _help(values: list[str] | None) -> list[str] | None:
    if "help" in (values or ()):
        from .guard import HELP

        say(HELP)
        raise typer.Exit
    return values


def serve(  # noqa: PLR0913, PLR0917 (a verb has as many parameters as it has options)
    recipe: Annotated[
        Path,
        typer.Argument(
            metavar="RECIPE",
            help="A recipe with generate.backend: openai, or the name of a shipped one.",
            autocompletion=completion.recipes,
        ),
    ],
    set_: Overrides = None,
    phase: Annotated[
        str | None, typer.Option(help="evaluation/base or evaluation/round-NN: whose adapter is served. Default: base.")
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen at; 0.0.0.0 for other machines.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 8080,
    workers: Annotated[int, typer.Option(min=1, help="Requests that are worked at together.")] = 4,
    most_waiting: Annotated[
        int,
        typer.Option(
            "--most-waiting", min=0, help="Requests that may wait; the next for a summary is answered with 429."
        ),
    ] = 16,
    deadline: Annotated[
        float, typer.Option(min=0.1, help="Seconds until a request is answered: by the best so far, or with 504.")
    ] = 120.0,
    most_bytes: Annotated[int, typer.Option("--most-bytes", min=1, help="Bytes of a request.")] = 2_000_000,
    fail_if: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-if",
            metavar="LIMIT",
            callback=_help,
            is_eager=True,
            help='What a served summary must not be: "worst_side(JUDGE) < 0.5", "score(JUDGE) < 0.2". Repeatable; help lists '
            "the names.",
        ),
    ] = None,
    api_key_env: Annotated[
        str | None,
        typer.Option(
            "--api-key-env", metavar="NAME", help="Variable with the keys that clients must send, parted by commas."
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-host", metavar="NAME", help="Name of this server besides localhost, where no key is asked for."
        ),
    ] = None,
) -> None:
    """Serve a recipe over HTTP: the best of a server's judged candidates, and rewards.

    The candidates are those of an OpenAI-compatible server's model.
    """
    loaded = load_recipe(recipe, set_ or [])
    from ...extras import need

    for library in ("starlette", "uvicorn", "prometheus_client"):
        need(library, FEATURE)
    from ...models.dates import dated
    from ...runfolder.dates import run_date
    from ...runfolder.phases import BASE, open_phase
    from .app import Limits
    from .guard import read_guard
    from .listen import (
        address,
        keys_from,
        leave_what_hangs,
        open_socket,
        served_phase,
        server_of,
        warn_of_strangers,
    )

    limits = Limits(workers, most_waiting, deadline, most_bytes, keys_from(api_key_env), (host, *(allow_host or ())))
    # mistakes of the command line first: a server is asked whether it is there
    guard = read_guard(fail_if or [], open_phase(loaded, phase or BASE))
    chosen = served_phase(loaded, phase)
    with dated(run_date(loaded.output)), open_socket(host, port) as listening:
        server = server_of(chosen, limits, guard)
        warn_of_strangers(listening.getsockname()[0], limits)
        place = address(host, listening.getsockname()[1])
        note(f"{loaded.name}: {chosen.name} at http://{place}/v1; stop it with Ctrl-C")
        try:
            server.run(sockets=[listening])
        finally:
            leave_what_hangs(server)


SERVE = Verb(serve, RUNS, EXAMPLE)
