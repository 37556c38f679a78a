"""The command line's verbs, all of which take `-q` and `-v`."""

import inspect
import os
from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from ..errors import DataError
from ..extras import VERBOSITY, start_logging
from ..storage import listed, no_disk

F = TypeVar("F", bound=Callable[..., Any])


def _refuse_addresses(given: Iterable[Any]) -> None:
    """Refuse an address in the place of a file or folder, which would be one of that name here."""
    mistakes = [
        f"{each}: {mistake}"
        for value in given
        for each in (value if isinstance(value, list) else [value])
        if isinstance(each, Path) and (mistake := no_disk(each))
    ]
    if mistakes:
        raise DataError(listed(mistakes))


def _set(how: str) -> Callable[[bool], bool]:
    def say(asked: bool) -> bool:
        if asked:
            # children read it, too
            os.environ[VERBOSITY] = how
            start_logging()
        return asked

    return say


Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", callback=_set("quiet"), help="Print errors and the result alone.")
]
Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose",
        "-v",
        callback=_set("verbose"),
        help="Print what libraries and the steps' processes log, too; of an audit, the whole page.",
    ),
]
# the last options of every verb
OPTIONS = [
    inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=False, annotation=annotation)
    for name, annotation in (("quiet", Quiet), ("verbose", Verbose))
]


class Verbs(typer.Typer):
    """Verbs with -q and -v, which their functions need not know."""

    def command(self, name: str | None = None, **options: Any) -> Callable[[F], F]:
        """Register a function as a verb; see `typer.Typer.command`."""
        register = super().command(name, **options)

        def add(function: F) -> F:
            @wraps(function)
            def verb(**given: Any) -> Any:
                _refuse_addresses(given.values())
                return function(**{name: value for name, value in given.items() if name not in {"quiet", "verbose"}})

            signature = inspect.signature(function)
            verb.__signature__ = signature.replace(  # type: ignore[attr-defined]
                parameters=[*signature.parameters.values(), *OPTIONS]
            )
            verb.__annotations__ = function.__annotations__ | {each.name: each.annotation for each in OPTIONS}
            register(verb)
            return function

        return add
