"""Names of numbers: which there are, and which numbers a limit means."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from ...errors import DataError
from ...storage import listed
from ...text import did_you_mean, some_of
from ...text.shown import shortened
from .limits import Limit, fold
from .numbers import SYSTEM, VALUE, NamedNumber, alike
from .subject import AS_SHOWN, PageKind

# functions that say nothing without what they are of
OF_SOMETHING = ("gap", "difference", "mean", "rate")


class MissingNumber(LookupError):
    """What a limit names is not on the page; the text says what is."""


def check_names(limits: Iterable[Limit], kind: PageKind[Any]) -> None:
    """Refuse, before any work, limits whose function no page of this kind has.

    Raises:
        DataError: all of them are listed.
    """
    mistakes = []
    for limit in limits:
        name, known = limit.function, kind.functions
        grows = next((each for each in (name, *limit.arguments) if each in kind.growing), "")
        if grows:
            mistakes.append(
                f"{limit.place}: {grows!r} is a mean of absolute gaps, which grows by chance alone: fair summaries, "
                "too, lie above 0, so that no limit tells them apart; name worst_gap(shares) or worst_gap(coverage)"
            )
        elif name not in known:
            names = [each.replace(" ", "_") for each in known]
            near = did_you_mean(name.replace(" ", "_"), [*names, *(f"worst_{each}" for each in names)])
            mistakes.append(f"{limit.place}: {shortened(name)} is not known{near} Known are {', '.join(names)}")
        elif name in OF_SOMETHING and not limit.arguments:
            mistakes.append(f"{limit.place}: says not of what; for example {known[name].rpartition(': ')[2]}")
    if mistakes:
        raise DataError(listed(mistakes))


def told(kind: PageKind[Any]) -> str:
    """What `--fail-if help` prints."""
    shown = [name.replace(" ", "_") for name, what in kind.functions.items() if what == AS_SHOWN]
    return "\n".join(
        [
            f'evenhand {kind.verb} --fail-if "NAME(WHAT) < NUMBER", with <, <=, > or >=; the number may end in %.',
            *(f"  {name.replace(' ', '_'):12}{what}" for name, what in kind.functions.items() if what != AS_SHOWN),
            *([f"As the page has them: {', '.join(shown)}."] if shown else []),
            "The brackets may contain a measure, a value or side, and a system, in any order; put a name with a comma "
            "in quotes. Without a "
            f"system it is {kind.last}.",
            "worst_NAME is that value or side which is farthest beyond the limit. A name without value or side is "
            "about all together, or about the worst if there is no such number.",
            "With --baseline a limit is about the change since; now NAME(WHAT) is about the number itself.",
        ]
    )


def meant(limit: Limit, numbers: Sequence[NamedNumber]) -> list[NamedNumber]:
    """The numbers that a limit is about: one, or one for each value or side.

    Raises:
        MissingNumber: there is none, or it is not clear which.
    """
    found = [each for each in numbers if limit.function in each.functions]
    if not found:
        raise MissingNumber(f"this page has no {limit.function}; it has {_some(each.functions[0] for each in numbers)}")
    of_both = {fold(each.side) for each in found if each.side} & {fold(each.system) for each in found}
    for argument in limit.arguments:
        if argument in of_both:
            raise MissingNumber(
                f"{argument!r} is a value or side and a system, too; write {VALUE}{argument} or {SYSTEM}{argument}"
            )
        known, found = found, [each for each in found if argument in each.labels]
        if not found:
            near = did_you_mean(argument, [label for each in known for label in each.labels])
            raise MissingNumber(f"this page has no {limit.function} of {argument!r}{near} {_had(known)}")
    if len({each.measures for each in found}) > 1:
        raise MissingNumber(f"says not of what. {_had(found)}")
    system = _system(limit, numbers)
    if not any(each.system == system for each in found):
        raise MissingNumber(f"{system} has no such number, and is meant where no other is named. {_had(found)}")
    found = [replace(each, functions=(limit.function,)) for each in found if each.system == system]
    whole = [each for each in found if each.side is None]
    return [each for each in found if each.side is not None] or whole if limit.is_worst or not whole else whole


def _system(limit: Limit, numbers: Sequence[NamedNumber]) -> str:
    """The last system of the page, of those that the limit names: also where it does not have the number."""
    found = alike(numbers, limit.function)
    for argument in limit.arguments:
        if not any(argument in each.what for each in found):
            found = [each for each in found if argument in each.labels]
    return found[-1].system


def _had(numbers: Sequence[NamedNumber]) -> str:
    """What some numbers of one function are of."""
    measures = [name for each in numbers for name in each.measures]
    groups = ["all" if each.side is None else f'"{each.side}"' for each in numbers]
    systems = [each.system for each in numbers]
    parts = (f"{what} {_some(names)}" for what, names in (("of", measures), ("for", groups), ("by", systems)) if names)
    return f"There are numbers {', '.join(parts)}."


def _some(names: Iterable[str]) -> str:
    return some_of(list(dict.fromkeys(names)))
