"""An audit as people read it: its values by their names, see `pages.value_names`. Files and limits keep the values themselves."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from ..pages.value_names import value_name
from .contents import Audit, AuditExample, AuditNumber, Representation
from .families import MEASURES

A = TypeVar("A", bound=AuditNumber)
Name = Callable[[str], str]


def namer(attribute: str, labels: Mapping[str, str]) -> Name:
    """What a value of the attribute is called."""
    return lambda value: value_name(value, attribute, labels)


def has_own_groups(family: str) -> bool:
    """Whether its numbers are of groups with names of their own, as places and lists of words have, and not of values."""
    return bool(MEASURES[family].page.groups)


def named(numbers: Iterable[A], name: Name) -> tuple[A, ...]:
    """The numbers with the names of their values."""
    return tuple(
        number
        if number.side is None or has_own_groups(number.family)
        else number.model_copy(update={"side": name(number.side)})
        for number in numbers
    )


def named_in(finding: Representation, name: Name) -> Representation:
    """Who is named, by their names."""
    if has_own_groups(finding.family):
        return finding
    return finding.model_copy(
        update={key: tuple(map(name, getattr(finding, key))) for key in ("under", "over", "small")}
    )


def _example(example: AuditExample, name: Name) -> AuditExample:
    if has_own_groups(example.family):
        return example

    def by_name(of_values: Mapping[str, Any]) -> dict[str, Any]:
        return {name(value): content for value, content in of_values.items()}

    lines = tuple(
        line.model_copy(update={"takes": by_name(line.takes), "words": by_name(line.words)}) for line in example.lines
    )
    sides = tuple(side.model_copy(update={"name": name(side.name)}) for side in example.sides)
    return example.model_copy(update={"lines": lines, "sides": sides, "left_out": tuple(map(name, example.left_out))})


def with_names(audit: Audit) -> Audit:
    """The audit with its values by their names, in everything that a page makes tables and pictures of."""
    name = namer(audit.attribute, audit.labels)
    changed: dict[str, Any] = {
        key: named(getattr(audit, key), name) for key in ("numbers", "differences", "votes", "beside")
    }
    changed |= {
        "values": tuple(note.model_copy(update={"value": name(note.value)}) for note in audit.values),
        "represented": tuple(named_in(finding, name) for finding in audit.represented),
        "examples": tuple(_example(example, name) for example in audit.examples),
    }
    return audit.model_copy(update=changed)
