"""Small text functions that several folders share."""

import difflib
import re
from collections import Counter
from collections.abc import Iterable, Sequence

# names that an error lists
MOST_NAMED = 5
# characters of a name; comparing takes the more time the longer it is
MOST_COMPARED = 200
WORD = re.compile(r"\w+(?:'\w+)*")


def fold(text: str) -> str:
    """The text with every run of white space turned into one space, stripped."""
    return " ".join(text.split())


def words(text: str) -> list[str]:
    """Lower-cased words; curly apostrophes count as straight ones."""
    return WORD.findall(text.replace("\u2019", "'").replace("\u2018", "'").lower())


def has_words(text: str) -> bool:
    """Whether a text has a letter or digit of any script; zero-width spaces are none."""
    return any(map(str.isalnum, text))


def sentences(text: str, language: str = "en") -> list[str]:
    """The text's sentences, stripped, in order; [] for a blank text. Line breaks end a sentence too."""
    from sentencex import segment

    found = (s.strip() for line in text.splitlines() if line.strip() for s in segment(language, line))
    return [s for s in found if s]


def did_you_mean(given: str, known: Iterable[str]) -> str:
    """How an error about an unknown name goes on: "; did you mean 'nearest'?", or "." when no known name is near."""
    if len(given) > MOST_COMPARED:
        return "."
    close = difflib.get_close_matches(given, list(known), n=1, cutoff=0.6)
    return f"; did you mean {close[0]!r}?" if close else "."


def repeated(names: Iterable[str]) -> list[str]:
    """The names that occur more than once, each once, in order of the alphabet."""
    return sorted(name for name, count in Counter(names).items() if count > 1)


def some_of(names: Sequence[str]) -> str:
    """The first five names joined by commas, the others counted."""
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more
