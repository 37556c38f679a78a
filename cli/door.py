"""The door of verbs: what adds a command to the command line, evenhand's own plug-ins among them.

A verb is an entry point of the group `evenhand.verbs` whose name is the command: `card = "evenhand.plugins.cards.verbs:CARD"`.
One whose name has a dot goes below a group: `import.tweets` is `evenhand import tweets`.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated

import typer
from pydantic import BaseModel
from rich.markup import escape

from ..doors import Door, absent_names
from ..errors import PluginError
from .verbs import FurtherOptions, Verbs

# panels of --help, in their order
SUMMARIES, RUNS = "Summaries that are there", "Recipes and their runs"
JUDGES, HERE, OTHERS = "What judges are worth", "Data and this machine", "Of other packages"
PANELS = (SUMMARIES, RUNS, JUDGES, HERE, OTHERS)


@dataclass(frozen=True)
class Verb:
    """A command, or a group of further commands."""

    # a function with the options that its annotations tell typer
    run: Callable[..., None] | Verbs
    # of --help
    panel: str = OTHERS
    # the last lines of its own --help; a group brings its own
    epilog: str | None = None
    # whether it writes at its end alone, and starts over after an interruption; all others keep what they have finished
    at_end: bool = False
    # options that plug-ins bring
    further: FurtherOptions | None = None
    # what it reads, where that is a kind of recipe of its own
    recipe: type[BaseModel] | None = None


class RefusedVerb(Verb):
    """A verb that cannot be run, whatever stands behind it."""


def read_verbs(core: Mapping[str, Verb]) -> dict[str, Verb]:
    """All verbs by name; one that cannot be had is there and says why."""
    # what a verb raises may be how it ends
    door: Door[Verb] = Door(
        "verbs", "verb", lambda thing: isinstance(thing, Verb), core, guard=lambda verb, label: verb
    )
    verbs: dict[str, Verb] = {}
    for name in door:
        try:
            verbs[name] = door[name]
        except PluginError as error:
            verbs[name] = refusal(error)
    return verbs


def in_order(verbs: Mapping[str, Verb], core: Mapping[str, Verb]) -> dict[str, Verb]:
    """The verbs as --help has them, panel by panel: those of the core in their order, then the others in that of their names."""
    panels = {panel: place for place, panel in enumerate(PANELS)}
    names = [*core, *sorted(verbs.keys() - core.keys())]
    return {name: verbs[name] for name in sorted(names, key=lambda name: panels.get(verbs[name].panel, len(panels)))}


def refusal(error: PluginError) -> RefusedVerb:
    """A verb that cannot be run, and whose help and refusal is the error."""

    def refuse(
        arguments: Annotated[list[str] | None, typer.Argument(hidden=True)] = None,
    ) -> None:
        raise error

    # what stands in brackets would be taken for a style, and what stands between colons for a picture
    refuse.__doc__ = "Cannot be run: " + escape(str(error)).replace(":", ":[none][/none]")
    return RefusedVerb(refuse)


def add_verbs(app: Verbs, verbs: Mapping[str, Verb]) -> None:
    """Register verbs, and those with a dot in their names below their groups."""
    for name, verb in verbs.items():
        group, _, below = name.rpartition(".")
        if not group:
            _add(app, name, verb, verb.panel)
        elif group not in verbs and group in absent_names():
            # what stands below a group goes with it
            continue
        elif (above := verbs.get(group)) is None or not isinstance(above.run, Verbs):
            error = PluginError(f"verb {name!r}: there is no group {group!r} below which it goes")
            _add(app, name, refusal(error), OTHERS)
        elif below in _names(above.run):
            error = PluginError(f"verb {name!r}: {group!r} has a verb {below!r} of its own")
            _add(above.run, below, refusal(error), None)
        else:
            _add(above.run, below, verb, None)


def _add(app: Verbs, name: str, verb: Verb, panel: str | None) -> None:
    if isinstance(verb.run, Verbs):
        app.add_typer(verb.run, name=name, rich_help_panel=panel)
    else:
        settings = {"ignore_unknown_options": isinstance(verb, RefusedVerb)}
        app.command(name, further=verb.further, epilog=verb.epilog, rich_help_panel=panel, context_settings=settings)(
            verb.run
        )


def _names(group: Verbs) -> Iterator[str]:
    for command in group.registered_commands:
        yield command.name or getattr(command.callback, "__name__", "").replace("_", "-")
