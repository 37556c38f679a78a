"""Small text functions that several folders share."""

import difflib
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise
from unicodedata import category, normalize

# names that an error lists
MOST_NAMED = 5
# characters of a name; comparing takes the more time the longer it is
MOST_COMPARED = 200
WORD = re.compile(r"\w+(?:'\w+)*")
NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?")
# rules of `sentences` beside sentencex's, for signatures: raise it with every change that moves the end of a sentence
SENTENCE_RULES = "quotations-1"
# quotation marks and round brackets; an apostrophe within a word is none
ENCLOSING = re.compile(
    "[()\"'`\u2018\u2019\u201a\u201c\u201d\u201e\u00ab\u00bb](?:(?<!['\u2018\u2019\u201a])|(?<!\\w.)|(?!\\w))"
)
# behind a sentence's last mark: what closes, then marks that stand for themselves (". . ."), and what follows them
CLOSING = re.compile(
    "[)\"'`\u201c\u201d\u2018\u2019\u00ab\u00bb]*(?:\\s+[)\"'`\u201d\u2019\u00bb.!?\u2026]+(?!\\S))*(?=\\s*(\\S?))"
)
# sentencex takes the square of the time for a line without spaces, so longer ones come in portions that end as sentences do
PORTION = re.compile("(?s:.{20000,}?[\u3002\uff01\uff1f]+|.+)")
# sentencex knows "Mr." and "Mrs." alone
ABBREVIATED = re.compile(r"\bMs\.$")
# formats that are seen: Arabic and Syriac signs that enclose the digits behind them
SEEN_FORMATS = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd")
# letters and marks that are not seen: fillers, and selectors of a glyph
UNSEEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0\ufe00-\ufe0f\U000e0100-\U000e01ef]")
# the tags behind a flag, which say whose it is
FLAG = re.compile("\U0001f3f4[\U000e0020-\U000e007f]+")
# a joiner shapes letters of Arabic, Indic and other such scripts and makes one emoji of several; elsewhere it is not seen
SHAPED = "[\u0600-\u109f\u1200-\u1cff\ua840-\ua9ff\u2190-\u2bff\U0001f000-\U0001faff]"
SHAPING = re.compile(f"(?<={SHAPED})[\u200c\u200d](?={SHAPED})")
JOINERS = re.compile("[\u200c\u200d]")
# a blank of Braille, and hyphens that are written like the usual one
ALIKE = str.maketrans({"\u2800": " ", "\u2010": "-", "\u2011": "-"})


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
    """The text's sentences, stripped, in order; [] for a blank text. Line breaks end a sentence too.

    The rules are sentencex's, but for quotations and brackets: it keeps whatever stands in them in one piece, so that an opening
    mark which nothing closes glues all that follows to it. It therefore reads the text without these marks. One behind the end
    of a sentence belongs to that sentence, one before a word to the next, and where a quotation closes and the text goes on in
    small letters ("Why?" she asked), no sentence ends.
    """
    return [sentence for line in text.splitlines() if line.strip() for sentence in _sentences_of_line(line, language)]


def _sentences_of_line(line: str, language: str) -> Iterator[str]:
    bounds = [0]
    for end in _ends(line, language):
        # marks alone are not a sentence
        if has_words(line[bounds[-1] : end]):
            bounds.append(end)
    if len(bounds) > 1 and not has_words(line[bounds[-1] :]):
        bounds.pop()
    return (line[start:end].strip() for start, end in pairwise([*bounds, len(line)]))


def _ends(line: str, language: str) -> Iterator[int]:
    """Where a sentence ends within a line and another begins, behind the marks that close the first."""
    from sentencex import segment

    hidden = [mark.start() for mark in ENCLOSING.finditer(line)]
    # a character of the bare text stands further on in the line by as many places as this list has items up to its own place
    shifts = [place - n for n, place in enumerate(hidden)]
    n_read = 0
    portions = PORTION.findall(ENCLOSING.sub("", line))
    for piece in chain.from_iterable(segment(language, portion) for portion in portions):
        last = n_read + len(piece.rstrip()) - 1
        n_read += len(piece)
        behind = last + bisect_right(shifts, last) + 1
        closing = CLOSING.match(line, behind)
        assert closing, "every part of it may be empty"
        end, following = closing.end(), closing[1]
        goes_on = following in ",;:)]" or (end > behind and following.islower())
        if not goes_on and not ABBREVIATED.search(line, behind - 4, behind):
            yield end


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


def in_order(values: Iterable[str]) -> tuple[str, ...]:
    """Each value once: numbers by size where all of them are, others as they appear."""
    found = tuple(dict.fromkeys(values))
    return tuple(sorted(found, key=float)) if all(map(NUMBER.fullmatch, found)) else found


def one_spelling(text: str) -> str:
    """The one spelling of a name for all that look the same: NFKC, no invisible characters, single spaces, stripped.

    Joiners stay where they shape what is seen: between letters of Arabic and Indic scripts, and in emoji.
    """
    if text.isascii() and text.isprintable():
        return fold(text)
    seen = _seen(normalize("NFKC", text).translate(ALIKE))
    return fold(normalize("NFKC", seen))


def _seen(text: str) -> str:
    """The text without characters that nobody sees, but for white space."""
    flags = {place for flag in FLAG.finditer(text) for place in range(*flag.span())}
    kept = "".join(
        letter
        for place, letter in enumerate(text)
        if place in flags
        or letter in SEEN_FORMATS
        or letter.isspace()
        or JOINERS.match(letter)
        or not (category(letter) in ("Cf", "Cc") or UNSEEN.match(letter))
    )
    shaping = {match.start() for match in SHAPING.finditer(kept)}
    return "".join(letter for place, letter in enumerate(kept) if place in shaping or not JOINERS.match(letter))


def spelling_key(text: str) -> str:
    """What spellings of one name share that differ by capitals, joiners or what `one_spelling` takes off."""
    return one_spelling(JOINERS.sub("", one_spelling(text)).casefold())
