"""Which gender a name reads as: an encyclopaedia's table first, then census lists.

Source: Steen and Markert 2024, section 5.3; docs/papers.md#steen-names. There is no such classifier for race, and none is to be
built.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

from ...errors import DataError
from ...text import fold
from .census import CensusNames, census_names

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
                same = self._reading.get(key, _MARKS[mark]) == _MARKS[mark]
                self._reading[key] = _MARKS[mark] if same else "unknown"

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
            found = self._encyclopaedia.look_up(key) if key else None
            if found is not None:
                return found
        words = {token.casefold() for token in tokens}
        male, female = (not words.isdisjoint(names) for names in (self._census.male, self._census.female))
        if male == female:
            return "unknown"
        return "male" if male else "female"
