"""What is varied between inputs (gender, race, both), and who takes part in it.

Source: Steen and Markert 2024, sections 5.1 and 10; docs/papers.md#steen-inputs.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import get_args

from ....errors import DataError
from ..shares import check_groups
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
        for what, given in (("genders", self.genders), ("name sources", self.sources)):
            lacking = [category for category in self.categories if not given.get(category)]
            if lacking or set(given) - set(self.categories):
                raise DataError(f"{what} must be given for {', '.join(self.categories)}, got {dict(given)}")
        wrong = {gender for each in self.genders.values() for gender in each} - set(GENDERS)
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
