"""Words that a judge may like or dislike for the side that uses them, and texts with other words in their place.

Names are read off capitals and give way to common family names, the same ones in a source and its summaries. The words of a side
are those that far more of its documents use; each gives way to one of the other side's, and the other way round. What a summary
covers, and whether its source supports it, is as it was.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ...text import words

# (side, text)
Told = tuple[str, str]
_WORD = re.compile(r"[^\W\d_]+")
# where the running text goes on: what is written with a capital there is a name
_GOES_ON = re.compile(r"[a-z\u00df-\u00ff,;:\d]['\u2019\"\u201c(]*\s+['\u2019\"\u201c(]*$")
# names of places, offices and peoples mostly stand behind one of these
_NOT_BEFORE_NAMES = re.compile(r"\b(?:the|a|an|in|at|near|this|our|every)\s+$", re.IGNORECASE)
_TITLES = frozenset(
    """mr mrs ms miss dr sir lady lord president senator sen representative rep governor gov mayor judge justice professor prof
    minister secretary director chairman general captain
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october
    november december i""".split()
)
# share of words in running text that have a capital, of so many; in languages with more of them a capital tells no name
MOST_CAPITALS, MANY_WORDS = 0.2, 60
# what stands for a name; one that a text has already is passed over
FAMILY_NAMES = tuple(
    """Miller Carver Benson Hadley Foster Turner Wilson Harper Barton Palmer Collins Dawson Fletcher Garner Hobbs Jensen Keller
    Lawson Mercer Norton Osborne Parsons Quinn Ramsey Sawyer Tanner Underhill Vaughn Watkins Yates Abbott Brewer Conway Draper
    Ellison Fowler Gibson Hewitt Ingram Jarvis Kendall Lambert Morton Nash Ogden Pearson Reeves Sutton Tucker Upton Vickers Walsh
    Archer Baxter Cooper Dalton Everett Finch Granger Holt""".split()
)
# documents that a side needs before its words are learned, and words that it needs before they are exchanged
LEAST_DOCUMENTS, LEAST_WORDS = 6, 5
# a word is a side's where so much more of its documents have it, and so many standard errors more
LEAST_RATIO, LEAST_ERRORS = 2.0, 1.28
MOST_WORDS = 200


def names_of(texts: Iterable[str], but: Iterable[str] = ()) -> dict[str, int]:
    """Name -> how many of the texts have it, the most frequent first; nothing where capitals tell no names.

    A name has a capital within a sentence, is never written small, and does not mostly stand behind an article.

    Args:
        texts: sources and summaries.
        but: what is left as it is, such as the sides' names.
    """
    small, running, capitals, behind_article, having = set[str](), 0, Counter[str](), Counter[str](), Counter[str]()
    for text in texts:
        text_names = set()
        for match in _WORD.finditer(text):
            word, before = match[0], text[max(0, match.start() - 16) : match.start()]
            goes_on = bool(_GOES_ON.search(before))
            running += goes_on
            if word[0].islower():
                small.add(word)
            elif len(word) > 2 and word[1:].islower():
                text_names.add(word)
                capitals[word] += goes_on
                behind_article[word] += goes_on and bool(_NOT_BEFORE_NAMES.search(before))
        having.update(text_names)
    if running >= MANY_WORDS and capitals.total() > MOST_CAPITALS * running:
        return {}
    excluded = _TITLES | {word.casefold() for word in but}
    return {
        word: n
        for word, n in sorted(having.items(), key=lambda pair: (-pair[1], pair[0]))
        if capitals[word] > 0
        and 2 * behind_article[word] < capitals[word]
        and word.lower() not in small
        and word.casefold() not in excluded
    }


def without_names(texts: Sequence[str], names: Iterable[str]) -> list[str]:
    """The texts, which belong together, with family names in place of the names that they have."""
    written = {word for text in texts for word in _WORD.findall(text)}
    free = [name for name in FAMILY_NAMES if name not in written]
    replacements = dict(zip((name for name in names if name in written), free, strict=False))
    return [_put(text, lambda word: replacements.get(word, word)) for text in texts]


@dataclass(frozen=True)
class SideWords:
    """Words of two sides, in pairs."""

    first: tuple[str, ...]
    second: tuple[str, ...]

    def exchanged(self, text: str) -> str:
        """The text with each side's words in place of the other's; capitals stay."""
        replacements = dict(zip(self.first + self.second, self.second + self.first, strict=True))
        return _put(
            text, lambda word: _like(word, replacements[word.lower()]) if word.lower() in replacements else word
        )

    def lean(self, text: str) -> float:
        """How many more of a text's words are the first side's, of those that are either's, in [-1, 1]; 0 without any."""
        counts = Counter(word.lower() for word in _WORD.findall(text))
        first, second = (sum(counts[word] for word in side) for side in (self.first, self.second))
        return (first - second) / (first + second) if first + second else 0.0


def side_words(documents: Sequence[Told], sides: tuple[str, str], but: Iterable[str] = ()) -> SideWords | None:
    """The words of two sides; None where too little is known to tell them.

    Args:
        documents: of either side; those of others are passed over.
        sides: their names.
        but: words that are left as they are.
    """
    keys = [side.casefold() for side in sides]
    excluded = {word.casefold() for word in (*but, *sides)}
    using = [
        Counter(
            word for side, text in documents if side.casefold() == key for word in {*words(text)} if _is_plain(word)
        )
        for key in keys
    ]
    n = [sum(side.casefold() == key for side, _ in documents) for key in keys]
    if min(n) < LEAST_DOCUMENTS:
        return None
    errors = {word: _errors_more(word, using, n) for word in (using[0] | using[1]) if word not in excluded}
    ranked = sorted(errors, key=lambda word: (-abs(errors[word]), word))
    first = [word for word in ranked if errors[word] >= LEAST_ERRORS]
    second = [word for word in ranked if errors[word] <= -LEAST_ERRORS]
    k = min(len(first), len(second), MOST_WORDS)
    return SideWords(tuple(first[:k]), tuple(second[:k])) if k >= LEAST_WORDS else None


def _is_plain(word: str) -> bool:
    return len(word) > 2 and word.isalpha()


def _errors_more(word: str, using: Sequence[Mapping[str, int]], n: Sequence[int]) -> float:
    """By how many standard errors more of the first side's documents use it, in log odds; 0 where not far more do."""
    have = [(counts.get(word, 0) + 0.5, total + 1.0) for counts, total in zip(using, n, strict=True)]
    shares = [k / total for k, total in have]
    if max(shares) < LEAST_RATIO * min(shares):
        return 0.0
    odds = [k / (total - k) for k, total in have]
    return math.log(odds[0] / odds[1]) / math.sqrt(sum(1 / k + 1 / (total - k) for k, total in have))


def _put(text: str, of: Callable[[str], str]) -> str:
    return _WORD.sub(lambda match: of(match[0]), text)


def _like(word: str, replacement: str) -> str:
    return replacement.upper() if word.isupper() else replacement.capitalize() if word[0].isupper() else replacement
