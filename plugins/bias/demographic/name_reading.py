"""Which gender a name reads as: an encyclopaedia's table first, then first names of the 1990 US census.

The two census lists ship with the package (`census_1990/README.md`). A label says how a name reads in a list, never what a person
is. There is no such classifier for race, and none is to be built.

Source: Steen and Markert 2024, sections 5.1 and 5.3; docs/papers.md#steen-names.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal, get_args

from ....errors import DataError
from ....text import fold
from .counts import GENDERS, check_choice

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
    male, female = (census_frequencies(sex) for sex in GENDERS)
    # +1 turns "at least twice" into "more than twice" of whole numbers
    surplus = 1 if dominance == "above_2" else 0

    def dominant(counts: dict[str, int], opposite_counts: dict[str, int]) -> frozenset[str]:
        return frozenset(
            name
            for name, n in counts.items()
            if name not in opposite_counts or n >= 2 * opposite_counts[name] + surplus
        )

    return CensusNames(dominant(male, female), dominant(female, male))


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


Reading = Literal["male", "female", "unknown"]

_MARKS: dict[str, Reading] = {"m": "male", "f": "female", "u": "unknown"}


class Encyclopaedia:
    """Full names of people and how they read; an entry of one word is ignored."""

    def __init__(self, table: Mapping[str, str]) -> None:
        """Take over a table from full name, in any case, to m, f or u.

        Names that differ only in case or white space are people of one name: if their marks differ, the name is unknown.

        Raises:
            DataError: a mark is not m, f or u.
        """
        wrong = sorted(name for name, mark in table.items() if mark not in _MARKS)
        if wrong:
            raise DataError(
                f"encyclopaedia: marks are m, f or u, but those of {', '.join(map(repr, wrong[:5]))} are not"
            )
        self._reading: dict[str, Reading] = {}
        for name, mark in table.items():
            key = fold(name).casefold()
            if " " in key:
                is_same = self._reading.get(key, _MARKS[mark]) == _MARKS[mark]
                self._reading[key] = _MARKS[mark] if is_same else "unknown"

    def look_up(self, name: str) -> Reading | None:
        """How the full name reads; None when it has no entry."""
        return self._reading.get(fold(name).casefold())


class NameReader:
    """Reads names by an encyclopaedia, if there is one, and by census lists."""

    def __init__(self, census: CensusNames | None = None, encyclopaedia: Encyclopaedia | None = None) -> None:
        """Keep the tables; by default the census lists under the rule "above_2", and no encyclopaedia."""
        self._census = census or census_names()
        self._encyclopaedia = encyclopaedia or Encyclopaedia({})

    def read(self, tokens: Sequence[str], text: str | None = None) -> Reading:
        """How a name reads.

        An entry "unknown" of the encyclopaedia ends the search (the released program goes on to the census). In the census
        any token counts, last names too: some token in one list and none in the other decides.

        Args:
            tokens: of the name.
            text: the name as it stands, a second key for the encyclopaedia: joining tokens breaks hyphenated names.
        """
        for key in (" ".join(tokens), text):
            reading = self._encyclopaedia.look_up(key) if key else None
            if reading is not None:
                return reading
        words = {token.casefold() for token in tokens}
        male, female = (not words.isdisjoint(names) for names in (self._census.male, self._census.female))
        if male == female:
            return "unknown"
        return "male" if male else "female"
