"""What is varied between inputs (gender, race, both), who takes part in it, and the names that are given.

Names are from the census, or from a file of the user's.

Source: Steen and Markert 2024, sections 5.1 and 10; docs/papers.md#steen-inputs.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

import numpy as np

from .....corpora.cells import cell_text
from .....corpora.table_files import refuse_absent_columns, table_rows
from .....errors import DataError
from .....text.mistakes import listed_lines
from ..counts import check_groups
from ..name_reading import common_names
from .template import TemplateEntity
from .words import Gender

GENDERS: tuple[Gender, ...] = get_args(Gender)
COMMON = "common"


@dataclass(frozen=True)
class Setting:
    """Categories of persons, and what a person of each is given."""

    # in their order
    categories: tuple[str, ...]
    # category -> genders, one of which is drawn for each person
    genders: Mapping[str, tuple[Gender, ...]]
    # category -> sources of names, one of which is drawn for each person
    sources: Mapping[str, tuple[str, ...]]
    # whether last names are drawn too, or kept
    replace_last_names: bool = False

    def __post_init__(self) -> None:
        """Refuse a category without gender or source of names."""
        check_groups(self.categories)
        for label, by_category in (("genders", self.genders), ("name sources", self.sources)):
            lacking = [category for category in self.categories if not by_category.get(category)]
            if lacking or set(by_category) - set(self.categories):
                raise DataError(f"{label} must be given for {', '.join(self.categories)}, got {dict(by_category)}")
        wrong = {gender for genders in self.genders.values() for gender in genders} - set(GENDERS)
        if wrong:
            raise DataError(f"genders are male and female, got {sorted(wrong)}")

    @property
    def gender_varies(self) -> bool:
        """Whether the categories' sets of genders differ."""
        return len({frozenset(self.genders[category]) for category in self.categories}) > 1

    @property
    def names_vary(self) -> bool:
        """Whether the categories' sources of names differ."""
        return len({frozenset(self.sources[category]) for category in self.categories}) > 1

    def takes_part(self, entity: TemplateEntity) -> bool:
        """Whether a person gets a category; nobody without a name does, because no span of a summary could align."""
        has_first, has_last = entity.first_name is not None, entity.last_name is not None
        if not (has_first or has_last):
            return False
        return (self.gender_varies and entity.gendered) or (
            self.names_vary and (has_first or (self.replace_last_names and has_last))
        )


def gender_setting(replace_last_names: bool = False) -> Setting:
    """Men and women with common names; last names are kept unless asked for."""
    return Setting(
        categories=("male", "female"),
        genders={"male": ("male",), "female": ("female",)},
        sources={"male": (COMMON,), "female": (COMMON,)},
        replace_last_names=replace_last_names,
    )


def race_setting(black: tuple[Gender, ...] = GENDERS, white: tuple[Gender, ...] = GENDERS) -> Setting:
    """Black- and white-coded names with last names; genders drawn for each person, or fixed for an intersection."""
    return Setting(
        categories=("black", "white"),
        genders={"black": black, "white": white},
        sources={"black": ("black",), "white": ("white",)},
        replace_last_names=True,
    )


# columns of the BBQ vocabulary that are read; others are ignored
COLUMNS = ("Name", "First_last", "gender", "ethnicity")


@dataclass(frozen=True)
class NameInventory:
    """Lists of names, each name once."""

    # source -> gender -> first names
    first: Mapping[str, Mapping[Gender, tuple[str, ...]]]
    # source -> last names
    last: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


class NamesRanOut(DataError):
    """A list of names was shorter than a document needs; the document is dropped."""


def common_inventory() -> NameInventory:
    """The 50 most frequent first names of each census list as source "common"; no last names."""
    return NameInventory({COMMON: {gender: common_names(gender) for gender in GENDERS}})


def read_inventory(lists: Mapping[str, Mapping[str, list[str]]]) -> NameInventory:
    """Names in their JSON form: {"black": {"female": [...], "male": [...], "last": [...]}, ...}.

    Raises:
        DataError: a key is not one of female, male and last, or a list is empty.
    """
    mistakes = []
    for source, by_kind in lists.items():
        unknown = sorted(set(by_kind) - {*GENDERS, "last"})
        empty = sorted(kind for kind, names in by_kind.items() if not names)
        mistakes += [f"{source}.{kind}: is not one of female, male, last" for kind in unknown]
        mistakes += [f"{source}.{kind}: has no names" for kind in empty]
    if mistakes:
        raise DataError(f"names: {'; '.join(mistakes)}")
    return NameInventory(
        {source: {g: _once(by_kind[g]) for g in GENDERS if g in by_kind} for source, by_kind in lists.items()},
        {source: _once(by_kind["last"]) for source, by_kind in lists.items() if "last" in by_kind},
    )


def read_vocabulary(path: Path) -> NameInventory:
    """Names of a table as in the BBQ vocabulary; rows "first_only" have no ethnicity and form the source "common".

    Sources are the ethnicities, case folded; First_last is first, last or first_only; gender starts with f or m.

    Raises:
        DataError: a column is missing, or rows cannot be read; all are listed by line.
    """
    rows = list(table_rows(path, COLUMNS))
    refuse_absent_columns(rows, COLUMNS, path)
    lists: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    mistakes = []
    for line, row in rows:
        name, part, gender, source = (cell_text(row[column]).strip() for column in COLUMNS)
        genders: dict[str, Gender] = {"f": "female", "m": "male"}
        kind = "last" if part.casefold() == "last" else genders.get(gender[:1].casefold())
        source = COMMON if part.casefold() == "first_only" else source.casefold()
        if not name or not source or kind is None or part.casefold() not in ("first", "last", "first_only"):
            mistakes.append((line, f"{name!r}, {part!r}, {gender!r}, {source!r} is not a first or last name"))
            continue
        lists[source][kind].append(name)
    if mistakes:
        raise DataError(listed_lines(path, mistakes))
    return read_inventory(lists)


class NamePool:
    """One shuffle of an inventory; each name is given once, even if it stands in several lists."""

    def __init__(
        self, inventory: NameInventory, generator: np.random.Generator, used_names: Collection[str] = frozenset()
    ) -> None:
        """Take an inventory; a list is shuffled when it is first asked for, so that unused lists cost no randomness.

        Args:
            inventory: the lists.
            generator: of the shuffles.
            used_names: names that are no longer to be given.
        """
        self._inventory = inventory
        self._generator = generator
        self._used_names = set(used_names)
        self._remaining: dict[tuple[str, str], Iterator[str]] = {}

    def first_name(self, source: str, gender: Gender) -> str:
        """The next first name.

        Raises:
            NamesRanOut: there is no such list, or all of its names were given.
        """
        return self._next(source, gender, self._inventory.first.get(source, {}).get(gender, ()))

    def last_name(self, source: str) -> str:
        """The next last name.

        Raises:
            NamesRanOut: there is no such list, or all of its names were given.
        """
        return self._next(source, "last", self._inventory.last.get(source, ()))

    def _next(self, source: str, kind: str, names: tuple[str, ...]) -> str:
        key = (source, kind)
        if key not in self._remaining:
            self._remaining[key] = iter([names[i] for i in self._generator.permutation(len(names))])
        for name in self._remaining[key]:
            if name not in self._used_names:
                self._used_names.add(name)
                return name
        raise NamesRanOut(f"names of source {source!r}, {kind}, ran out: the list has {len(names)}; add names")


def _once(names: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
