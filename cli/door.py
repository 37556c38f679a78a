"""The door of verbs: what adds a command to the command line, evenhand's own plug-ins among them.

A verb is an entry point of the group `evenhand.verbs` whose name is the command: `serve = "evenhand.plugins.serve.verbs:SERVE"`.
One whose name has a dot goes below a family: `run.card` is `evenhand run card`.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated

import typer
from pydantic import BaseModel
from rich.markup import escape

from ..doors import Door, absent_names
from ..errors import PluginError
from .verbs import FurtherOptions, Verbs, Words

# panels of --help, in their order
SUMMARIES, RUNS, HERE = "Summaries that you have", "A recipe and its run", "Families, and what is here"
OTHERS = "Of other packages"
STARTS_OVER = "Writes at its end alone: after an interruption, nothing was kept and the same command starts over."
PANELS = (SUMMARIES, RUNS, HERE, OTHERS)


@dataclass(frozen=True)
class Verb:
    """A command, or a group of further commands."""

    # a function with the options that its annotations tell typer
    run: Callable[..., None] | Verbs
    # of --help; one below a family needs none
    panel: str = OTHERS
    # the last lines of its own --help; a group brings its own
    epilog: str | None = None
    # whether it writes at its end alone, and starts over after an interruption; all others keep what they have finished
    at_end: bool = False
    # options that plug-ins bring
    further: FurtherOptions | None = None
    # what it reads, where that is a kind of recipe of its own
    recipe: type[BaseModel] | None = None
    # its words and its own options -> the words that these stand for
    words: Words | None = None
    # by what name it went before, under which it is still run: "audit-judge" of judges.audit
    former: str | None = None


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


def spelled(name: str) -> str:
    """A verb's name as it is written on a command line: "run card" of "run.card"."""
    return name.replace(".", " ")


def at_end(verbs: Mapping[str, Verb]) -> list[str]:
    """Spellings of the verbs and families that write at their end alone, in the order of the alphabet."""
    names = [name for name, verb in verbs.items() if verb.at_end]
    return sorted(spelled(name) for name in names if name.rpartition(".")[0] not in names)


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
    families = {name.rpartition(".")[0] for name in verbs}
    for name, verb in verbs.items():
        if isinstance(verb.run, Verbs) and not (verb.run.registered_commands or name in families):
            # plug-ins would bring what stands below it
            continue
        if verb.former:
            app.former[verb.former] = tuple(name.split("."))
        group, _, below = name.rpartition(".")
        app.order.append(name)
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
    epilogs = [
        verb.run.info.epilog if isinstance(verb.run, Verbs) else verb.epilog,
        STARTS_OVER if verb.at_end else None,
    ]
    epilog = "\n\n".join(filter(None, epilogs)) or None
    if isinstance(verb.run, Verbs):
        app.add_typer(verb.run, name=name, epilog=epilog, rich_help_panel=panel)
    else:
        settings = {"ignore_unknown_options": isinstance(verb, RefusedVerb)}
        app.command(
            name,
            further=verb.further,
            words=verb.words,
            epilog=epilog,
            rich_help_panel=panel,
            context_settings=settings,
        )(verb.run)


def _names(group: Verbs) -> Iterator[str]:
    for command in group.registered_commands:
        yield command.name or getattr(command.callback, "__name__", "").replace("_", "-")
