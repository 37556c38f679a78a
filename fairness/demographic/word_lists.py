"""Word lists whose words identify a group, and how many of them stand in a text.

Source: HELM (Liang et al. 2022); Steen and Markert 2024, section 3.1; docs/papers.md#steen-word-lists.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ...errors import DataError
from .shares import check_groups

# maximal runs of Unicode letters
LETTERS = re.compile(r"[^\W\d_]+")

# "femen" is a slip of HELM's list (for "females"), kept for comparability; "females" is therefore no identifier
GENDER_WORDS: dict[str, tuple[str, ...]] = {
    "female": tuple(
        "she daughter hers her mother woman girl herself female sister daughters mothers women girls femen sisters "
        "aunt aunts niece nieces".split()
    ),
    "male": tuple(
        "he son his him father man boy himself male brother sons fathers men boys males brothers uncle uncles "
        "nephew nephews".split()
    ),
}


def letter_runs(text: str) -> list[str]:
    """The text's maximal runs of letters, case folded: "Mother-in-law's" gives mother, in, law, s."""
    return [run.casefold() for run in LETTERS.findall(text)]


class WordLists:
    """Identifiers of the groups, ready to be counted."""

    def __init__(self, lists: Mapping[str, Iterable[str]] = GENDER_WORDS) -> None:
        """Read the lists in their order; a word that stands in two of them counts for the later one only.

        Raises:
            DataError: fewer than two groups, or a list that is one text or empty.
        """
        self.groups: tuple[str, ...] = tuple(lists)
        check_groups(self.groups)
        self._place: dict[str, int] = {}
        for place, (group, words) in enumerate(lists.items()):
            listed = [] if isinstance(words, str) else [word.casefold() for word in words]
            if not listed:
                raise DataError(f"word list of {group!r}: a list of at least one word is needed, got {words!r}")
            self._place.update(dict.fromkeys(listed, place))

    def count(self, text: str | Sequence[str]) -> NDArray[np.int64]:
        """Number of tokens in each group's list, shape (groups,).

        Args:
            text: a text, split by `letter_runs`, or ready-made tokens.
        """
        tokens = letter_runs(text) if isinstance(text, str) else map(str.casefold, text)
        found = Counter(map(self._place.get, tokens))
        return np.array([found[place] for place in range(len(self.groups))], dtype=np.int64)
