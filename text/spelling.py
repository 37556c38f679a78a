"""The one spelling of names that look the same: of attribute values, which are shown as they are spelt."""

import re
from collections.abc import Callable, Iterable
from decimal import Decimal
from unicodedata import category, normalize

from .forms import SEEN, UNSEEN

# the tags behind a flag, which say whose it is
FLAG = re.compile("\U0001f3f4[\U000e0020-\U000e007f]+")
# a joiner shapes letters of Arabic, Indic and other such scripts and makes one emoji of several; elsewhere it is not seen
SHAPED = "[\u0600-\u109f\u1200-\u1cff\ua840-\ua9ff\u2190-\u2bff\U0001f000-\U0001faff]"
SHAPING = re.compile(f"(?<={SHAPED})[\u200c\u200d](?={SHAPED})")
JOINERS = re.compile("[\u200c\u200d]")
# a blank of Braille, and hyphens that are written like the usual one
ALIKE = str.maketrans({"\u2800": " ", "\u2010": "-", "\u2011": "-"})
# a number, of so few digits that none is written out at length, and one whose thousands are parted
NUMBER = re.compile(r"[+-]?\d{1,30}(?:[.,]\d{0,30}|(?:,\d{3}){2,9}(?:\.\d{0,30})?|,\d{3}\.\d{0,30})?")
THOUSANDS = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d*)?")
MINUS = str.maketrans("\u2212", "-")
# a mark between two digits, and a hyphen or dash before a number
PARTED = re.compile(r"[.,:;/\-\u2010-\u2015'](?<=\d.)(?=\d)")
BELOW_ZERO = re.compile(r"[-\u2010-\u2015](?<![\w.,%)\]].)(?=\d)")
# marks by which texts differ, and one that stands for an apostrophe, of which NFKC makes an accent
MEANINGFUL = "#%&@"
ACUTE = "\u00b4"
TRUTHS = {"true": "1", "false": "0"}


def one_spelling(text: str) -> str:
    """The one spelling of a name for all that look the same: NFKC, no invisible characters, single spaces, stripped.

    Joiners stay where they shape what is seen: between letters of Arabic and Indic scripts, and in emoji.
    """
    if text.isascii() and text.isprintable():
        return " ".join(text.split())
    seen = _seen(normalize("NFKC", text).translate(ALIKE))
    return " ".join(normalize("NFKC", seen).split())


def _seen(text: str) -> str:
    """The text without characters that nobody sees, but for white space."""
    flags = {place for flag in FLAG.finditer(text) for place in range(*flag.span())}
    letters = "".join(
        letter
        for place, letter in enumerate(text)
        if place in flags
        or letter in SEEN
        or letter.isspace()
        or JOINERS.match(letter)
        or not (category(letter) in ("Cf", "Cc") or UNSEEN.match(letter))
    )
    shaping = {match.start() for match in SHAPING.finditer(letters)}
    return "".join(letter for place, letter in enumerate(letters) if place in shaping or not JOINERS.match(letter))


def spelling_key(text: str) -> str:
    """What spellings of one name share that differ by capitals, joiners or what `one_spelling` takes off."""
    return one_spelling(JOINERS.sub("", one_spelling(text)).casefold())


def value_key(text: str) -> str:
    """What spellings of one attribute value share: those of a name, of a number ("1", "01", "1.0", "1,0") and of a truth value.

    A comma before three digits parts thousands.
    """
    key = spelling_key(text).translate(MINUS)
    if key in TRUTHS:
        return TRUTHS[key]
    if not NUMBER.fullmatch(key):
        return key
    plain = key.replace(",", "") if THOUSANDS.fullmatch(key) else key.replace(",", ".")
    return format(Decimal(plain).normalize() + 0, "f")


def copy_key(text: str) -> str:
    """What copies of one text share, whatever became of its capitals, quotes, hyphens, full stops and blanks.

    Symbols stay ("C++", "< 5 %", an emoji), and that two digits are parted, or a number is below 0; of marks alone the marks.
    """
    plain = normalize("NFKC", text.replace(ACUTE, "'")).casefold()
    plain = PARTED.sub("\u2044", BELOW_ZERO.sub("\u2212", plain))
    key = plain
    for sign in set(plain):
        kind = category(sign)
        if kind == "Sk" or kind[0] in "ZC" or (kind[0] == "P" and sign not in MEANINGFUL) or UNSEEN.match(sign):
            key = key.replace(sign, "")
    return key or " ".join(plain.split())


def look_alike(names: Iterable[str], key: Callable[[str], str] = one_spelling) -> list[list[str]]:
    """Groups of different names that share a key, by default because nobody sees the difference."""
    groups: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        groups.setdefault(key(name), []).append(name)
    return [group for group in groups.values() if len(group) > 1]
