"""Small text functions that several folders share."""

import difflib
import re
from collections.abc import Iterable

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
    close = difflib.get_close_matches(given, list(known), n=1, cutoff=0.6)
    return f"; did you mean {close[0]!r}?" if close else "."
