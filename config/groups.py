"""Groups of attribute values: what a group is called, and which values are in it.

    critical=1,2; mixed=3; praising=4,5      values
    home=US; abroad=*                        the rest
    young=..17; grown=18..59; old=60..       numbers from and to, both included; where bands meet, the first has the number
    critical=1,2; praising=4,5; -=3          documents of 3 are left out
    stars: critical=1,2; praising=*          of one attribute among several

In a recipe and in Python a mapping of names to values says the same: {critical: [1, 2], praising: "*"}. In a text a value
that has a comma, a semicolon or an equals sign stands in double quotes.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Annotated, Any

from pydantic import BeforeValidator

from ..errors import DataError
from ..text import fold, look_alike, one_spelling, repeated, some_of, value_key
from ..text.mistakes import listed
from ..text.shown import shortened

REST = "*"
# the name of what is no group: documents of its values are left out
LEFT_OUT = "-"
FORM = "critical=1,2; mixed=3; praising=4,5"
LEAST_GROUPS = 2
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
BAND = re.compile(rf"({NUMBER.pattern})?\s*\.\.\s*({NUMBER.pattern})?")
# what stands before the first mark of a group
ATTRIBUTE = re.compile(r'\s*([^:;="]+):(?=[^:]*=)')

# group -> its members: values, bands "18..59", or "*"
Members = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Band:
    """Numbers from and to, both included."""

    least: float
    most: float

    def __contains__(self, value: str) -> bool:
        number = number_of(value)
        return number is not None and self.least <= number <= self.most


def number_of(value: str) -> float | None:
    """The number that a value is, however it is written; None where it is none."""
    key = value_key(value)
    return float(key) if NUMBER.fullmatch(key) else None


def band_of(member: str) -> Band | None:
    """The band that a member is; None where it is a value."""
    match = BAND.fullmatch(member)
    if match is None or match[1] is match[2] is None:
        return None
    return Band(float(match[1] or "-inf"), float(match[2] or "inf"))


def read_groups(groups: Any) -> dict[str, tuple[str, ...]]:
    """Groups by name, of a text or a mapping.

    Raises:
        ValueError: two groups have one name or one value, a group has none, or there are fewer than two; all are listed.
    """
    entries = list(_of_text(groups) if isinstance(groups, str) else _of_mapping(groups))
    if mistakes := list(dict.fromkeys(_mistakes(entries))):
        raise ValueError(listed(mistakes))
    return dict(entries)


Groups = Annotated[dict[str, tuple[str, ...]], BeforeValidator(read_groups)]


def groups_of(entries: Sequence[Any], attributes: Sequence[str], option: str = "--group") -> dict[str, Members]:
    """Groups by attribute, of texts that may begin with the attribute that they are of.

    Args:
        entries: texts, or mappings where there is a single attribute.
        attributes: those that documents are grouped by.
        option: how an error calls it.

    Raises:
        DataError: a text is wrong, is of no attribute or of one that has groups already; all are listed.
    """
    by_attribute: dict[str, Members] = {}
    mistakes = []
    for entry in entries:
        named = ATTRIBUTE.match(entry) if isinstance(entry, str) else None
        attribute = fold(named[1]) if named else attributes[0] if len(attributes) == 1 else ""
        shown = f"{option} {shortened(entry) if isinstance(entry, str) else ''}".rstrip()
        if attribute not in attributes:
            names = " or ".join(f"{name}: {FORM}" for name in attributes)
            what = f"is of {attribute!r}, by which no documents are grouped" if attribute else "may be of any attribute"
            mistakes.append(f"{shown}: {what}; write {names}")
        elif attribute in by_attribute:
            mistakes.append(f"{shown}: {attribute!r} has groups already; write all of them into one")
        else:
            try:
                by_attribute[attribute] = read_groups(entry[named.end() :] if named else entry)
            except ValueError as error:
                mistakes += [f"{shown}: {mistake}" for mistake in str(error).split("\n")]
    if mistakes:
        raise DataError(listed(mistakes))
    return by_attribute


def groups_text(groups: Members) -> str:
    """The groups as a text from which they can be read."""
    return "; ".join(f"{_quoted(name)}={','.join(map(_quoted, members))}" for name, members in groups.items())


def _quoted(text: str) -> str:
    return f'"{text}"' if re.search("[;=,:]", text) else text


def _split(text: str, mark: str) -> list[str]:
    """The parts of a text between marks that stand in no quotes."""
    return re.split(rf'{mark}(?=(?:[^"]*"[^"]*")*[^"]*$)', text)


def _bare(text: str) -> str:
    return one_spelling(text.replace('"', ""))


def _of_text(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    if text.count('"') % 2:
        raise ValueError("has a quote that is not closed")
    for part in filter(str.strip, _split(text, ";")):
        name, *members = _split(part, "=")
        if len(members) != 1:
            raise ValueError(f"{shortened(part.strip())} is no group; write NAME=VALUE,VALUE: {FORM}")
        yield _bare(name), tuple(filter(None, map(_bare, _split(members[0], ","))))


def _of_mapping(groups: Any) -> Iterator[tuple[str, tuple[str, ...]]]:
    if not isinstance(groups, Mapping):
        raise ValueError(f'{shortened(groups)} are no groups; write a text, "{FORM}", or a mapping of names to values')
    for name, members in groups.items():
        many = members if isinstance(members, list | tuple | set | frozenset | range) else [members]
        if any(isinstance(member, Mapping) or member is None for member in many):
            raise ValueError(f"{name!r} has {shortened(members)}; write a value or a list of values")
        yield one_spelling(str(name)), tuple(filter(None, (one_spelling(str(member)) for member in many)))


def _mistakes(entries: Sequence[tuple[str, tuple[str, ...]]]) -> Iterator[str]:
    names = [name for name, _ in entries]
    if "" in names:
        yield f"a group has no name; write {FORM}"
    for name in repeated(names):
        yield f"two groups are called {shortened(name)}; give each its own name, and all its values at once"
    for spellings in look_alike(names, value_key):
        yield f"{some_of([*map(shortened, spellings)])} are names of groups that look alike; choose others"
    for name, members in entries:
        if not members:
            yield f"{shortened(name)} has no value; write {name or 'NAME'}=VALUE,VALUE"
        for member in members:
            if wrong := _band_mistake(member):
                yield f"{shortened(name)}: {wrong}"
    if (n := len([name for name in names if name != LEFT_OUT])) < LEAST_GROUPS:
        yield f"{n} group{'' if n else 's'}, and a group is compared with others; write {FORM}"
    for (one, some), (other, others) in combinations(entries, 2):
        for member in some:
            for rival in others:
                if text := _common(member, rival):
                    yield f"{shortened(one)} and {shortened(other)} both have {text}; take it out of one of them"


def _band_mistake(member: str) -> str:
    """What is wrong with a member as a band; "" where nothing, or where it is a value."""
    if member == "..":
        return f"{member!r} has no number in it; write 18..59, 60.. or ..17"
    band = band_of(member)
    if band and band.least > band.most:
        return f"no number is in {member!r}; write the smaller one first: {band.most:g}..{band.least:g}"
    return ""


def _common(member: str, rival: str) -> str:
    """What two members have in common; "" where nothing."""
    one, other = band_of(member), band_of(rival)
    if one and other:
        least, most = max(one.least, other.least), min(one.most, other.most)
        if least < most:
            return f"numbers of {member} and {rival}"
        # bands of decimals cannot but meet; of one number nothing would be left
        is_border = least > most or (one.least < one.most and other.least < other.most)
        return "" if is_border else f"{least:g}"
    if one or other:
        value, band = (member, other) if other else (rival, one)
        return value if band and value in band else ""
    if member == rival == REST:
        return "the rest (*)"
    return member if value_key(member) == value_key(rival) else ""
