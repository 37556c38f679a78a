"""An audit as people read it: its values by their names, see `pages.value_names`. Files and limits keep the values themselves."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from ..pages.value_names import value_name
from .contents import Audit, AuditExample, AuditNumber, Representation

# families whose numbers are of places and of lists of words, which have names of their own
OF_OTHERS = ("order", "word-lists", "opinions")

A = TypeVar("A", bound=AuditNumber)
Name = Callable[[str], str]


def namer(attribute: str, labels: Mapping[str, str]) -> Name:
    """What a value of the attribute is called."""
    return lambda value: value_name(value, attribute, labels)


def named(numbers: Iterable[A], name: Name) -> tuple[A, ...]:
    """The numbers with the names of their values."""
    return tuple(
        each if each.side is None or each.family in OF_OTHERS else each.model_copy(update={"side": name(each.side)})
        for each in numbers
    )


def named_in(found: Representation, name: Name) -> Representation:
    """Who is named, by their names."""
    if found.family in OF_OTHERS:
        return found
    return found.model_copy(update={key: tuple(map(name, getattr(found, key))) for key in ("under", "over", "small")})


def _example(found: AuditExample, name: Name) -> AuditExample:
    if found.family in OF_OTHERS:
        return found

    def by_name(of_values: Mapping[str, Any]) -> dict[str, Any]:
        return {name(value): what for value, what in of_values.items()}

    lines = tuple(
        line.model_copy(update={"takes": by_name(line.takes), "words": by_name(line.words)}) for line in found.lines
    )
    sides = tuple(side.model_copy(update={"name": name(side.name)}) for side in found.sides)
    return found.model_copy(update={"lines": lines, "sides": sides, "left_out": tuple(map(name, found.left_out))})


def with_names(audit: Audit) -> Audit:
    """The audit with its values by their names, in everything that a page makes tables and pictures of."""
    name = namer(audit.attribute, audit.labels)
    changed: dict[str, Any] = {
        key: named(getattr(audit, key), name) for key in ("numbers", "differences", "votes", "beside")
    }
    changed |= {
        "values": tuple(each.model_copy(update={"value": name(each.value)}) for each in audit.values),
        "represented": tuple(named_in(each, name) for each in audit.represented),
        "examples": tuple(_example(each, name) for each in audit.examples),
    }
    return audit.model_copy(update=changed)
