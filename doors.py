"""Doors: where evenhand's own plug-ins and those of other packages come in, by one and the same way.

A door has things of one kind by name. What the core has stands in the door's own table; everything else is an entry point of the
group `evenhand.NAME` of an installed package (https://packaging.python.org/specifications/entry-points/), evenhand's own among
them (pyproject.toml). Names are listed without an import; a thing is imported when it is asked for.
"""

import traceback
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass, replace
from functools import cache, cached_property, wraps
from importlib.metadata import Distribution, EntryPoint, entry_points
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar, cast, get_args, get_origin

from .errors import EvenhandError, PluginError

T = TypeVar("T")
# where evenhand's own plug-ins are, each in a folder; one that is deleted is not there, whatever was installed
PLUGINS = Path(__file__).parent / "plugins"
# modules whose lines are not a package's own
OURS = ("evenhand", "contextlib")


@contextmanager
def blamed(label: str) -> Iterator[None]:
    """Turn whatever a package's code raises in the block into an error that says whose it is, and where.

    Raises:
        PluginError: it raised something, or would have ended the process.
    """
    try:
        yield
    except EvenhandError:
        raise
    except (Exception, SystemExit) as error:
        lines = list(traceback.walk_tb(error.__traceback__))
        package_lines = [line for line in lines if line[0].f_globals.get("__name__", "").partition(".")[0] not in OURS]
        frame, number = (package_lines or lines)[-1]
        where = f"{frame.f_code.co_filename}:{number}"
        raise PluginError(f"{label} raised {type(error).__name__}: {error} ({where})") from error


def guarded_call(function: Callable[..., Any], label: str) -> Callable[..., Any]:
    """A function of a package whose calls, and what they give one after another, run within `blamed`."""

    @wraps(function, updated=())
    def call(*arguments: Any, **options: Any) -> Any:
        with blamed(label):
            answer = function(*arguments, **options)
        return _guarded_steps(answer, label) if isinstance(answer, Iterator) else answer

    return call


def _guarded_steps(steps: Iterator[Any], label: str) -> Generator[Any, Any, Any]:
    with blamed(label):
        return (yield from steps)


def guarded_fields(declaration: T, label: str) -> T:
    """A package's thing as it is listed, whose functions, at any depth of dataclasses, run within `blamed`; all else as it is."""
    if not is_dataclass(declaration) or isinstance(declaration, type):
        return declaration
    values = {field.name: (field.type, getattr(declaration, field.name)) for field in fields(declaration)}
    return replace(
        declaration,
        **{
            name: guarded_call(value, label) if _is_code(hint) and callable(value) else guarded_fields(value, label)
            for name, (hint, value) in values.items()
        },
    )


def _is_code(hint: Any) -> bool:
    """Whether a field of this type holds a function: what makes something may be a class there, as any function may."""
    return any(get_origin(part) is Callable for part in (hint, *get_args(hint)))


def guarded(thing: T, label: str) -> T:
    """A package's object, whose attributes are read and whose methods run within `blamed`."""
    return cast(T, _Guarded(thing, label))


class _Guarded:
    def __init__(self, thing: Any, label: str) -> None:
        self._thing, self._label = thing, label

    def __getattr__(self, name: str) -> Any:
        with blamed(self._label):
            value = getattr(self._thing, name, self)
        if value is self:
            raise AttributeError(f"{type(self._thing).__name__!r} has no attribute {name!r}")
        return guarded_call(value, self._label) if callable(value) else value


class Door(Mapping[str, T]):
    """Things of one kind, by name: those of the core first, then those of packages.

    Args:
        name: of the group of entry points, below "evenhand.".
        noun: one of them is called, in errors: "judge".
        check: whether something is one of them.
        core: those that are always there.
        part: what of a thing of another package is wanted here, all of it by default.
        guard: what stands in the place of a thing of another package, from the thing and its label.
    """

    def __init__(
        self,
        name: str,
        noun: str,
        check: Callable[[Any], bool],
        core: Mapping[str, T] = MappingProxyType({}),
        part: Callable[[Any], T] = lambda thing: thing,
        guard: Callable[[T, str], T] = guarded_fields,
    ) -> None:
        self.name, self._noun, self._check, self._core, self._part = name, noun, check, core, part
        self._guard = guard

    @cached_property
    def _points(self) -> dict[str, list[EntryPoint]]:
        points: dict[str, list[EntryPoint]] = {}
        for point in entry_points(group=f"evenhand.{self.name}"):
            if _is_there(point):
                points.setdefault(point.name, []).append(point)
        return points

    def __iter__(self) -> Iterator[str]:
        yield from dict.fromkeys((*self._core, *self._points))

    def __len__(self) -> int:
        return len(self._core.keys() | self._points.keys())

    def __contains__(self, name: object) -> bool:
        return name in self._core or name in self._points

    def __getitem__(self, name: str) -> T:
        """The thing of that name, imported.

        Raises:
            KeyError: there is none.
            PluginError: several packages bring one of that name, it cannot be imported, or it is something else.
        """
        points = self._points.get(name, [])
        packages = [*(["evenhand"] if name in self._core else []), *map(package_of, points)]
        if len(packages) > 1:
            raise PluginError(
                f"{self._noun} {name!r} is brought by {' and by '.join(packages)}; uninstall all of these packages but one, or "
                "have it renamed"
            )
        return self._loaded(points[0]) if points else self._core[name]

    def broken(self) -> dict[str, PluginError]:
        """Those that are brought and cannot be had, and why."""
        errors: dict[str, PluginError] = {}
        for name in self._points:
            try:
                self[name]
            except PluginError as error:
                errors[name] = error
        return errors

    def package(self, name: str) -> str | None:
        """Name and version of the package that brings the thing of that name; None where it is evenhand's own, or not there."""
        points = self._points.get(name, [])
        return package_of(points[0]) if points and not _is_own(points[0]) else None

    def label(self, name: str) -> str:
        """The thing as messages name it, with its package where it is not evenhand's own."""
        package = self.package(name)
        return f"{self._noun} {name!r}{(package and f' of package {package}') or ''}"

    def _loaded(self, point: EntryPoint) -> T:
        label = f"{self._noun} {point.name!r} of package {package_of(point)}"
        try:
            thing = point.load()
        except (Exception, SystemExit) as error:
            raise PluginError(
                f"{label} cannot be imported from {point.value}: {type(error).__name__}: {error}; mend or uninstall the package"
            ) from error
        if not self._check(thing):
            raise PluginError(
                f"{label} is {type(thing).__name__} and no {self._noun}; see docs/plugins.md for what {point.value} must be"
            )
        return self._part(thing) if _is_own(point) else self._guard(self._part(thing), label)


def package_of(point: EntryPoint) -> str:
    """Name and version of the package that brings it."""
    return _named(point.dist) if point.dist else "?"


@cache  # to be named, a package has its metadata read as a mail is, which takes milliseconds
def _named(package: Distribution) -> str:
    return f"{package.name} {package.version}"


def _is_own(point: EntryPoint) -> bool:
    return point.module.partition(".")[0] == "evenhand"


def _is_there(point: EntryPoint) -> bool:
    folder = _folder_of(point)
    # of a deleted one __pycache__ may be left
    return folder is None or (PLUGINS / folder / "__init__.py").is_file()


def plugin_folders() -> list[Path]:
    """The folders of evenhand's own plug-ins that are there."""
    return [path.parent for path in sorted(PLUGINS.glob("*/__init__.py"))]


def _folder_of(point: EntryPoint) -> str | None:
    """The folder of evenhand's own plug-in that brings it."""
    below = point.module.removeprefix("evenhand.plugins.")
    return None if below == point.module else below.partition(".")[0]


@cache
def absent_names() -> dict[str, str]:
    """What evenhand's own plug-ins would bring that were deleted: its name -> the plug-in."""
    groups = (entry_points(group=group) for group in entry_points().groups if group.startswith("evenhand."))
    return {point.name: _folder_of(point) or "" for points in groups for point in points if not _is_there(point)}


def absence(*names: str) -> str:
    """What messages say behind a name that a deleted plug-in of evenhand's would bring; "" where none of the names is one."""
    plugin = next((plugin for name in names if (plugin := absent_names().get(name))), None)
    return f" (of the plug-in {plugin}, which is not here)" if plugin else ""


def command(words: str) -> str:
    """A command as messages recommend it, without "evenhand"; one of a plug-in that was deleted says so."""
    verb, below, *_ = (*words.split(), "")
    return f"`evenhand {words}`" + absence(verb, f"{verb}.{below}")
