"""Names of numbers: which there are, and which numbers a limit means."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from ...errors import DataError
from ...text import did_you_mean, some_of
from ...text.mistakes import listed
from ...text.shown import shortened
from .limits import Limit, fold
from .numbers import SYSTEM, VALUE, NamedNumber, alike
from .subject import AS_SHOWN, PageKind

# functions that say nothing without what they are of
OF_SOMETHING = ("gap", "difference", "mean", "rate")


class MissingNumber(LookupError):
    """A limit names a number that is not on the page; the text says which are."""


def check_names(limits: Iterable[Limit], kind: PageKind[Any]) -> None:
    """Refuse, before any work, limits whose function no page of this kind has.

    Raises:
        DataError: all of them are listed.
    """
    mistakes = []
    for limit in limits:
        name, known = limit.function, kind.functions
        grows = next((word for word in (name, *limit.arguments) if word in kind.growing), "")
        if grows:
            mistakes.append(
                f"{limit.place}: {grows!r} is a mean of absolute gaps, which grows by chance alone: fair summaries, "
                "too, lie above 0, so that no limit tells them apart; name worst_gap(shares) or worst_gap(coverage)"
            )
        elif name not in known:
            names = [function.replace(" ", "_") for function in known]
            near = did_you_mean(name.replace(" ", "_"), [*names, *(f"worst_{function}" for function in names)])
            mistakes.append(f"{limit.place}: {shortened(name)} is not known{near} Known are {', '.join(names)}")
        elif name in OF_SOMETHING and not limit.arguments:
            mistakes.append(f"{limit.place}: says not of what; for example {known[name].rpartition(': ')[2]}")
    if mistakes:
        raise DataError(listed(mistakes))


def told(kind: PageKind[Any]) -> str:
    """The text that `--fail-if help` prints."""
    shown = [name.replace(" ", "_") for name, meaning in kind.functions.items() if meaning == AS_SHOWN]
    return "\n".join(
        [
            f'evenhand {kind.verb} --fail-if "NAME(WHAT) < NUMBER", with <, <=, > or >=; the number may end in %.',
            *(
                f"  {name.replace(' ', '_'):18}{meaning}"
                for name, meaning in kind.functions.items()
                if meaning != AS_SHOWN
            ),
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
    matches = [number for number in numbers if limit.function in number.functions]
    if not matches:
        raise MissingNumber(
            f"this page has no {limit.function}; it has {_some(number.functions[0] for number in numbers)}"
        )
    of_both = {fold(number.side) for number in matches if number.side} & {fold(number.system) for number in matches}
    for argument in limit.arguments:
        if argument in of_both:
            raise MissingNumber(
                f"{argument!r} is a value or side and a system, too; write {VALUE}{argument} or {SYSTEM}{argument}"
            )
        known, matches = matches, [number for number in matches if argument in number.labels]
        if not matches:
            near = did_you_mean(argument, [label for number in known for label in number.labels])
            raise MissingNumber(f"this page has no {limit.function} of {argument!r}{near} {_had(known)}")
    if len({number.measures for number in matches}) > 1:
        raise MissingNumber(f"says not of what. {_had(matches)}")
    system = _system(limit, numbers)
    if not any(number.system == system for number in matches):
        raise MissingNumber(f"{system} has no such number, and is meant where no other is named. {_had(matches)}")
    matches = [replace(number, functions=(limit.function,)) for number in matches if number.system == system]
    overall = [number for number in matches if number.side is None]
    return (
        [number for number in matches if number.side is not None] or overall
        if limit.is_worst or not overall
        else overall
    )


def _system(limit: Limit, numbers: Sequence[NamedNumber]) -> str:
    """The last system of the page, of those that the limit names: also where it does not have the number."""
    matches = alike(numbers, limit.function)
    for argument in limit.arguments:
        if not any(argument in number.what for number in matches):
            matches = [number for number in matches if argument in number.labels]
    return matches[-1].system


def _had(numbers: Sequence[NamedNumber]) -> str:
    """The measures, groups and systems of some numbers of one function, as a sentence."""
    measures = [name for number in numbers for name in number.measures]
    groups = ["all" if number.side is None else f'"{number.side}"' for number in numbers]
    systems = [number.system for number in numbers]
    parts = (
        f"{preposition} {_some(names)}"
        for preposition, names in (("of", measures), ("for", groups), ("by", systems))
        if names
    )
    return f"There are numbers {', '.join(parts)}."


def _some(names: Iterable[str]) -> str:
    return some_of(list(dict.fromkeys(names)))
