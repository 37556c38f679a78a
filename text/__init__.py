"""Small text functions that several folders share. Whatever counts or compares words reads `normal_form` of a text."""

import difflib
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, pairwise

import regex

from .forms import VERSION, normal_form
from .spelling import copy_key as copy_key
from .spelling import look_alike as look_alike
from .spelling import one_spelling as one_spelling
from .spelling import spelling_key as spelling_key
from .spelling import value_key as value_key

# names that an error lists
MOST_NAMED = 5
# characters of a name; comparing takes the more time the longer it is
MOST_COMPARED = 200
WORD = re.compile(r"\w+(?:'\w+)*")
# the same with vowel signs and accents, which go with their letter
WORD_OF_ANY_SCRIPT = regex.compile(r"\w[\w\p{M}]*(?:'\w[\w\p{M}]*)*")
# scripts whose words stand side by side without a border, and letters of them that make a word on average: 1.61 in the thousand
# Chinese sentences of Universal Dependencies' PUD, 1.66 for each word of their English originals; 3.39 and 4.09 in Thai
# (the long vowel sign of Japanese belongs to two scripts)
IDEOGRAPHIC, LETTERS_PER_IDEOGRAPHIC_WORD = r"\p{Han}\p{Hiragana}\p{Katakana}\u30fc", 5 / 3
SYLLABIC, LETTERS_PER_SYLLABIC_WORD = r"\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}", 7 / 2
BORDERLESS = IDEOGRAPHIC + SYLLABIC
_IDEOGRAPHIC_LETTER, _SYLLABIC_LETTER, BORDERLESS_RUN = (
    regex.compile(rf"(?V1){pattern}")
    for pattern in (
        rf"[\p{{L}}&&[{IDEOGRAPHIC}]]",
        rf"[\p{{L}}&&[{SYLLABIC}]]",
        rf"(?:[\p{{L}}&&[{BORDERLESS}]]\p{{M}}*)+",
    )
)
# share of a text's letters and digits below which a measure that reads some alphabets only says nothing of it; the lower one
# holds where it reads so many words that they are no mere years and names
LEAST_READ, LEAST_READ_OF_MANY, MANY_WORDS = 0.5, 0.4, 10
NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?")
# rules of `sentences` beside sentencex's, for signatures: raise it with every change that moves the end of a sentence
SENTENCE_RULES = f"quotations-2,normal-form-{VERSION}"
# brackets and corner marks of East Asian scripts that close; sentencex keeps some in one piece
CJK_CLOSING = "\uff09\uff3d\u3009\u300b\u300d\u300f\u3011\u3015"
# quotation marks and round brackets; an apostrophe within a word is none
ENCLOSING = re.compile(
    "[()\"'`\u2018\u2019\u201a\u201c\u201d\u201e\u00ab\u00bb](?:(?<!['\u2018\u2019\u201a])|(?<!\\w.)|(?!\\w))"
)
# behind a sentence's last mark: what closes, then marks that stand for themselves (". . ."), and what follows them
CLOSING = re.compile(
    f"[{CJK_CLOSING})\"'`\u201c\u201d\u2018\u2019\u00ab\u00bb]*"
    "(?:\\s+[)\"'`\u201d\u2019\u00bb.!?\u2026]+(?!\\S))*(?=\\s*(\\S?))"
)
# what a sentence goes on with behind a quotation that closes: particles of Japanese and Korean, and who said it, in Chinese
STOPS = "\u3002\uff01\uff1f\uff0c,.!?"
GOES_ON = re.compile(
    "と(?!ても|ころ|き|にかく|りあえず|うとう)|って|など|なんて|を|の(?![ちどんび])|[가-힣]"
    rf"|\s*[^{STOPS}\uff1b;]{{0,8}}?(?:[说説說问問喊叫答称稱写寫]|表示|指出|(?<!知)道)道?[{STOPS}\uff1a:]"
)
# sentencex takes the square of the time for a line without spaces, so longer ones come in portions that end as sentences do
PORTION = re.compile("(?s:.{20000,}?[\u3002\uff01\uff1f]+|.+)")
# sentencex knows "Mr." and "Mrs." alone
ABBREVIATED = re.compile(r"\bMs\.$")
# full stops that sentencex reads as such -> those of Khmer, which it does not know
FULL_STOPS = str.maketrans("\u17d4\u17d5", "\u3002\u3002")


def fold(text: str) -> str:
    """The text with every run of white space turned into one space, stripped."""
    return " ".join(text.split())


def words(text: str) -> list[str]:
    """Lower-cased words; curly apostrophes count as straight ones.

    Where a script writes no borders between words, a run of its letters is one; `n_words` counts what stands in it.
    """
    plain = normal_form(text).replace("\u2019", "'").replace("\u2018", "'").lower()
    return WORD.findall(plain) if plain.isascii() else WORD_OF_ANY_SCRIPT.findall(plain)


def n_words(text: str, split: Callable[[str], list[str]] = words) -> int:
    """How many words a text has, at least 1 where it has letters.

    Where a script writes no borders between words they are counted by letters: five of Chinese and Japanese are three words,
    seven of Thai, Lao, Khmer and Burmese are two.

    Args:
        text: in any script.
        split: parts it into words where it has borders.
    """
    plain = normal_form(text)
    if plain.isascii() or not BORDERLESS_RUN.search(plain):
        return len(split(plain))
    letters = (len(letter.findall(plain)) for letter in (_IDEOGRAPHIC_LETTER, _SYLLABIC_LETTER))
    rates = (LETTERS_PER_IDEOGRAPHIC_WORD, LETTERS_PER_SYLLABIC_WORD)
    borderless = sum(n / rate for n, rate in zip(letters, rates, strict=True))
    bordered = filter(has_words, split(BORDERLESS_RUN.sub(" ", plain)))
    return len([*bordered]) + max(1, round(borderless))


def letters_read(text: str, read: Sequence[str]) -> tuple[int, int]:
    """How many letters and digits a measure reads of a text, and how many there are.

    Args:
        text: in any script.
        read: the words that are read of it, without letters that are not.
    """
    n = sum(map(str.isalnum, normal_form(text)))
    return min(n, sum(map(len, read))), n


def is_read(text: str, read: Sequence[str]) -> bool:
    """Whether a measure reads a word of a text, and enough of its letters and digits; arguments as of `letters_read`."""
    n_read, n = letters_read(text, read)
    return n_read > 0 and n_read >= (LEAST_READ if len(read) < MANY_WORDS else LEAST_READ_OF_MANY) * n


def has_words(text: str) -> bool:
    """Whether a text has a letter or digit of any script; zero-width spaces are none."""
    return any(map(str.isalnum, normal_form(text)))


def sentences(text: str, language: str = "en") -> list[str]:
    """The text's sentences, stripped, in order; [] for a blank text. Line breaks end a sentence too.

    The rules are sentencex's, but for quotations and brackets: it keeps whatever stands in them in one piece, so that an opening
    mark which nothing closes glues all that follows to it. It therefore reads the text without these marks. One behind the end
    of a sentence belongs to that sentence, one before a word to the next, and where a quotation closes and the text goes on in
    small letters ("Why?" she asked), no sentence ends. Sentences are pieces of the text's normal form.
    """
    lines = normal_form(text).splitlines()
    return [sentence for line in lines if line.strip() for sentence in _sentences_of_line(line, language)]


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
    portions = PORTION.findall(ENCLOSING.sub("", line).translate(FULL_STOPS))
    for piece in chain.from_iterable(segment(language, portion) for portion in portions):
        last = n_read + len(piece.rstrip()) - 1
        n_read += len(piece)
        behind = last + bisect_right(shifts, last) + 1
        closing = CLOSING.match(line, behind)
        assert closing, "every part of it may be empty"
        end, following = closing.end(), closing[1]
        has_closed = end > behind or line[behind - 1] in CJK_CLOSING
        goes_on = following in ",;:)]" or (has_closed and (following.islower() or GOES_ON.match(line, end)))
        if not goes_on and not ABBREVIATED.search(line, behind - 4, behind):
            yield end


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """How an error about an unknown name goes on: "; did you mean 'nearest'?", or "." when no known name is near."""
    if len(name) > MOST_COMPARED:
        return "."
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f"; did you mean {close[0]!r}?" if close else "."


def repeated(names: Iterable[str]) -> list[str]:
    """The names that occur more than once, each once, in order of the alphabet."""
    return sorted(name for name, count in Counter(names).items() if count > 1)


def some_of(names: Sequence[str]) -> str:
    """The first five names joined by commas, the others counted."""
    ending = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + ending


def in_order(values: Iterable[str]) -> tuple[str, ...]:
    """Each value once: numbers by size where all of them are, others as they appear."""
    distinct = tuple(dict.fromkeys(values))
    return tuple(sorted(distinct, key=float)) if all(map(NUMBER.fullmatch, distinct)) else distinct
