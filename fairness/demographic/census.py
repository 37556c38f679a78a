"""First names of the 1990 US census: which read as male, which as female, and the most frequent of each.

Source: Steen and Markert 2024, sections 5.1 and 5.3; docs/papers.md#steen-names. The two lists ship with the package
(`census_1990/README.md`). A label says how a name reads in that list, never what a person is.
"""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal, get_args

from .shares import GENDERS, check_choice

# how much more frequent a name must be among one sex to count for it alone: "above_2" is the released program's rule,
# "at_least_2" the paper's wording; nine names with a ratio of exactly two tell them apart
Dominance = Literal["above_2", "at_least_2"]


@dataclass(frozen=True)
class CensusNames:
    """Case-folded first names that count for one group only."""

    male: frozenset[str]
    female: frozenset[str]


@cache
def census_names(dominance: Dominance = "above_2") -> CensusNames:
    """Names in one file only, and names in both whose frequencies differ enough; the others are in neither list.

    Raises:
        DataError: the rule is not known.
    """
    check_choice(dominance, get_args(Dominance), "dominance")
    by_sex = {sex: census_frequencies(sex) for sex in GENDERS}
    return CensusNames(*(frozenset(_dominant(sex, by_sex, dominance)) for sex in GENDERS))


@cache
def census_frequencies(sex: str) -> dict[str, int]:
    """Case-folded first names of one sex in falling order of frequency, in thousandths of a per cent (whole numbers).

    Raises:
        DataError: the sex is not "male" or "female", which are those the census knew.
    """
    check_choice(sex, GENDERS, "sex")
    text = (files(__package__) / "census_1990" / f"dist.{sex}.first").read_text(encoding="ascii")
    rows = (line.split() for line in text.splitlines() if line.strip())
    # whole numbers, so that a ratio of exactly two is seen as such
    return {name.casefold(): round(float(frequency) * 1000) for name, frequency, *_ in rows}


def common_names(sex: str, n: int = 50) -> tuple[str, ...]:
    """The n most frequent first names of one sex, in title case: source "common" of the gender setting.

    Raises:
        DataError: the sex is not "male" or "female".
    """
    return tuple(name.title() for name in list(census_frequencies(sex))[:n])


def _dominant(sex: str, by_sex: dict[str, dict[str, int]], dominance: Dominance) -> list[str]:
    (other,) = (by_sex[each] for each in GENDERS if each != sex)
    # +1 turns "at least twice" into "more than twice" of whole numbers
    surplus = 1 if dominance == "above_2" else 0
    return [name for name, count in by_sex[sex].items() if name not in other or count >= 2 * other[name] + surplus]
