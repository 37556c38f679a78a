"""The command line's verbs, all of which take `-q` and `-v`, and an option of one value once."""

import inspect
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from functools import wraps
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

from ..config.command_line import repeated_options
from ..config.python_code import allow_all
from ..config.shipped import recipe_names
from ..errors import DataError
from ..extras import VERBOSITY, start_logging
from ..storage import no_disk
from ..text.controls import visible
from ..text.mistakes import listed
from ..text.shown import shortened
from .terminal import complain

# of the click that typer has within it
UsageError: Any = typer.BadParameter.__base__
F = TypeVar("F", bound=Callable[..., Any])


def _is_path(parameter: Any) -> bool:
    # versions of typer before 0.29 make it a Path when the verb is called
    return getattr(getattr(parameter, "type", None), "name", "") in PATHS


def _refuse_addresses(command: Any, values: Mapping[str, Any]) -> None:
    """Refuse an address in the place of a file or folder, which would be one of that name here."""
    mistakes = [
        f"{entry}: {mistake}"
        for parameter in command.params
        for value in [values.get(parameter.name)]
        for entry in (value if isinstance(value, list | tuple) else [value])
        if (isinstance(entry, Path) or _is_path(parameter)) and entry and (mistake := no_disk(entry))
    ]
    if mistakes:
        raise DataError(listed(mistakes))


def _set(how: str) -> Callable[[bool], bool]:
    def say(is_set: bool) -> bool:
        if is_set:
            # children read it, too
            os.environ[VERBOSITY] = how
            start_logging()
        return is_set

    return say


def _run_code(is_set: bool) -> bool:
    if is_set:
        allow_all()
    return is_set


# parameters of verbs that read a recipe, which have the first of the shared options, too
RECIPES = {"recipe", "recipes", "judges"}
# names of the types of parameters that are files or folders
PATHS = {"path", "file", "directory"}
_template = typer.Typer(add_completion=False)


@_template.command()
def _options(
    run_code: Annotated[
        bool,
        typer.Option(
            "--run-code",
            callback=_run_code,
            expose_value=False,
            help="Run code (kind: python, method: python) that the recipe of a run folder names. Read it first.",
        ),
    ] = False,
    quiet: Annotated[
        bool,
        typer.Option(
            "--quiet", "-q", callback=_set("quiet"), expose_value=False, help="Print errors and the result alone."
        ),
    ] = False,
    verbose: Annotated[
        bool,
        typer.Option(
            "--verbose",
            "-v",
            callback=_set("verbose"),
            expose_value=False,
            help="Print what libraries and the steps' processes log, too; of an audit, the whole page.",
        ),
    ] = False,
) -> None:
    """Last options of every verb, which its function need not know."""


OPTIONS: list[Any] = typer.main.get_command(_template).params


# how alike a name and a command of the same family are, from 0 to 1, so that no other family is looked at
NEAR = 0.75


class _AllValues:
    """Stands for a parser where options are added to it, and has it keep all values of each and not the last one."""

    def __init__(self, parser: Any) -> None:
        self.parser = parser

    def add_option(self, *, action: str, **how: Any) -> None:
        """Add an option to the parser, of which nothing that is stored replaces what was."""
        self.parser.add_option(action=action.replace("store", "append"), **how)

    def add_argument(self, **how: Any) -> None:
        """Add an argument to the parser."""
        self.parser.add_argument(**how)


def refuse_repeated(command: Any, context: Any, arguments: list[str]) -> None:
    """Refuse an option of one value that stands in the arguments twice; a flag may, where it says the same."""
    # a shell that completes what is being written goes on
    if context.resilient_parsing:
        return
    parser = type(command.make_parser(context))(context)
    options = []
    for parameter in command.get_params(context):
        parameter.add_to_parser(_AllValues(parser), context)
        if parameter.param_type_name == "option" and not parameter.multiple and not parameter.count:
            options.append(parameter)
    parsed_values, _, order = parser.parse_args(list(arguments))
    # help is shown whatever else is there
    if any(parameter.is_eager and getattr(parameter, "is_flag", False) for parameter in order):
        return
    option_values = {}
    for option in options:
        names, values = [max(option.opts, key=len), *option.secondary_opts], parsed_values.get(option.name, ())
        if option.is_flag:
            values = [names[0] if value else names[-1] for value in dict.fromkeys(values)]
        option_values["/".join(names)] = [shortened(value) for value in values]
    if mistakes := repeated_options(option_values):
        raise DataError(mistakes)


Words = Callable[[Sequence[str], Collection[str]], list[str]]
# option -> options that stand after it
FurtherOptions = Callable[[], Mapping[str, Sequence[inspect.Parameter]]]


class _Verb(TyperCommand):
    _params: list[Any]
    # words behind the verb and its options -> the words that these stand for
    words: Words | None = None

    def __init__(self, *arguments: Any, params: list[Any], **options: Any) -> None:
        reads_recipe = any(parameter.name in RECIPES for parameter in params)
        super().__init__(*arguments, params=[*params, *OPTIONS[not reads_recipe :]], **options)

    @property
    def params(self) -> list[Any]:
        """Its parameters; those that plug-ins bring are asked for with them, so that a list of verbs imports none."""
        if build := getattr(self.callback, "build", None):
            command = build()
            self.callback, self._params = command.callback, command.params
        parameters: list[Any] = self._params
        return parameters

    @params.setter
    def params(self, params: list[Any]) -> None:
        self._params = params

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if self.words is not None and not ctx.resilient_parsing:
            args = self.words(args, {name for parameter in self.get_params(ctx) for name in parameter.opts})
        with _visible_refusals():
            refuse_repeated(self, ctx, args)
            rest = super().parse_args(ctx, args)
        _refuse_addresses(self, ctx.params)
        return rest


class _Family(TyperGroup):
    # a verb's former name -> the words of its present one: {"audit-judge": ("judges", "audit")}
    former: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    # names in the order of --help; those that are not there come last
    order: Sequence[str] = ()

    def get_params(self, ctx: Any) -> list[Any]:
        parameters: list[Any] = super().get_params(ctx)
        for parameter in parameters:
            # a list of verbs has no lines to spare for --help and what the epilog names
            parameter.hidden = parameter.hidden or parameter.is_eager or not parameter.expose_value
        return parameters

    def list_commands(self, ctx: Any) -> list[str]:
        names = super().list_commands(ctx)
        return sorted(names, key=lambda name: self.order.index(name) if name in self.order else len(self.order))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        with _visible_refusals():
            refuse_repeated(self, ctx, args)
            return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name = args[0]
        if name not in self.commands and (words := self.former.get(name)):
            if not ctx.resilient_parsing:
                complain(f"`evenhand {name}` is now `evenhand {' '.join(words)}`")
            args = [*words, *args[1:]]
        with _visible_refusals():
            try:
                return super().resolve_command(ctx, args)
            except UsageError as error:
                is_near = get_close_matches(name, self.commands, cutoff=NEAR)
                if not is_near and (elsewhere := _elsewhere(ctx.find_root().command, name)):
                    error.message = f"No such command {name!r}{'' if ctx.parent is None else ' here'}. {elsewhere}"
                raise


def _elsewhere(root: Any, name: str) -> str:
    """What may be meant by a name that a family does not have: a verb of another family, or a recipe; "" for neither."""
    spellings = [(word, word) for word in root.commands]
    spellings += [
        (below, f"{word} {below}") for word, verb in root.commands.items() for below in getattr(verb, "commands", {})
    ]
    spellings += [(word, " ".join(words)) for word, words in root.former.items()]
    words = [word for word, _ in spellings]
    if name in recipe_names() and name not in words:
        return f"It is a recipe: 'evenhand loop {name}' runs it, and 'evenhand recipes show {name}' prints it."
    near = get_close_matches(name, words, n=1)
    meant = {f"'evenhand {spelling}'": None for word, spelling in spellings if [word] == near}
    return f"Did you mean {', '.join(meant)}?" if meant else ""


@contextmanager
def _visible_refusals() -> Iterator[None]:
    """What typer says itself of a command line, with the names of files that a shell has put there."""
    try:
        yield
    except UsageError as error:
        error.message = visible(error.message)
        raise


class Verbs(typer.Typer):
    """Verbs with -q, -v and --run-code, which their functions need not know."""

    def __init__(self, **options: Any) -> None:
        # see `_Family`
        self.former: dict[str, tuple[str, ...]] = {}
        self.order: list[str] = []
        super().__init__(cls=type("Family", (_Family,), {"former": self.former, "order": self.order}), **options)

    def command(
        self,
        name: str | None = None,
        *,
        further: FurtherOptions | None = None,
        words: Words | None = None,
        **options: Any,
    ) -> Callable[[F], F]:
        """Register a function as a verb; see `typer.Typer.command`.

        Args:
            name: of the verb.
            further: options that the function takes by any name, asked for when the verb is run or its help shown.
            words: gives the words that those of its command line stand for; see `door.Verb`.
            options: as typer has them.
        """
        options["cls"] = type("Verb", (_Verb,), {"words": staticmethod(words)}) if words else _Verb
        register = super().command(name, **options)
        if further is None:
            return register

        def build(function: Callable[..., Any]) -> Any:
            app = typer.Typer(add_completion=False)
            app.command(name, **options)(_with_options(function, further()))
            return typer.main.get_command(app)

        def add(function: F) -> F:
            verb = _with_options(function, {})
            verb.build = lambda: build(function)  # type: ignore[attr-defined]
            register(verb)
            return function

        return add


def _with_options(
    function: Callable[..., Any], further: Mapping[str, Sequence[inspect.Parameter]]
) -> Callable[..., Any]:
    """What typer calls in the place of a function that takes options by any name: these stand for any."""

    @wraps(function)
    def verb(**arguments: Any) -> Any:
        return function(**arguments)

    signature = inspect.signature(function)
    own = [option for option in signature.parameters.values() if option.kind is not inspect.Parameter.VAR_KEYWORD]
    options = [option for before in own for option in (before, *further.get(before.name, ()))]
    verb.__signature__ = signature.replace(parameters=options)  # type: ignore[attr-defined]
    verb.__annotations__ = {option.name: option.annotation for option in options}
    return verb
