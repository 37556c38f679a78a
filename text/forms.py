"""The one form in which texts are read before any word is counted, so that the encoding of a side's texts is no bias.

A word is the same word with a soft hyphen in it, broken at the end of a line, in full-width or mathematical letters, with a
ligature, with its accent apart, with another sign for its apostrophe, as LaTeX, JSON or HTML write it, or with Cyrillic letters
that look like Latin ones. Texts are kept and shown as they were written.

What is left alone, because reading it otherwise would harm real texts: emoji (they stand between words more often than in one),
spaces within a word, superscript figures ("10\u00b2" is not 102), punctuation ("\u2026" is no three full stops), words of another
script's letters alone in a text of that script, and LaTeX accents without braces that may be escaped apostrophes (l\\'eau).
"""

import html
import json
import re
import unicodedata
from functools import lru_cache

# for signatures of what rests on it: raise it with every change of the form
VERSION = 2

# a hyphen between a letter and the end of a line; a soft one is meant for that, others join small letters only
LINE_END = re.compile("(?<=[^\\W\\d_])([-\u00ac\u2010\uff0d\u00ad])[^\\S\r\n]*(?:\r\n?|\n)\\s*(?=[^\\W\\d_])")
# of ASCII
HYPHEN_LAST = re.compile(r"-\s*[\r\n]")
SOFT_HYPHEN = "\u00ad"
# characters without a sign of their own that are not of the category Cf, and those of that category that have one; a tatweel only
# makes an Arabic word longer
UNSEEN = re.compile("[\u034f\u0640\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
SEEN = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd")
# what stands between spaces in full-width letters, with its marks; elsewhere full-width marks are those of Chinese and Japanese
FULL_WIDTH = re.compile("(?<!\\S)(?=\\S*[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a])[\uff01-\uff5e\u00c0-\u024f]+(?!\\S)")
NARROW = {0xFF01 + place: 0x21 + place for place in range(94)}

ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
# an ampersand that was written as an entity once more, before what it began
TWICE = re.compile(r"&amp;(?=(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});)")
APOSTROPHES = "'\u2019"
# what stands for one within a word, the letter also behind one: prime, accent alone, full-width one, and the curly one of Windows
# where its bytes were read as another code
WITHIN_WORD = re.compile("(?<=[^\\W\\d_\u02bc])(?:\u02bc|[\u2032\u00b4\u201b\uff07\x92](?=[^\\W\\d_\u02bc]))")
CODES = re.compile(r"(?:\\u[0-9a-fA-F]{4})+")
# line breaks and tabs only where they are no beginning of a command or of a folder's name
ESCAPED = re.compile(r"\\(?:([\"'/])|[nrt](?![a-z]))")
CONTRACTED = re.compile(r"\\'(?:s|t|re|ve|ll|m|d)\b")
# LaTeX's accents: in braces with their letter, or before one in braces; without braces within a word only, and "\'" there only
# where no elided word stands before it (dell\'arte, qu\'il)
ACCENTED = re.compile(
    r"""\{?\\([`'^"~=.]|[uvHckrd](?=\s*\{))\s*\{\\?([A-Za-z])\}\}?|\{\\([`'^"~=.]|[uvHckrd]\s)\\?([A-Za-z])\}"""
    r"""|(?<=[^\W\d_])\\([`^"~])([AEIOUYNaeiouyn])|(?<=[^\W\d_]{2})(?<!ll)(?<!qu)(?<!\bun)\\(')([aeiouy])"""
)
ACCENTS = dict(
    zip(
        "`'^\"~=.uvHckrd",
        "\u0300\u0301\u0302\u0308\u0303\u0304\u0307\u0306\u030c\u030b\u0327\u0328\u030a\u0323",
        strict=True,
    )
)
NAMED = re.compile(r"\{\\(ss|ae|oe|aa|[ol]|AE|OE|AA|[OL])\}|\\(ss|ae|oe|aa|[ol]|AE|OE|AA|[OL])\{\}")
LETTERS = {
    "ss": "\u00df", "ae": "\u00e6", "oe": "\u0153", "aa": "\u00e5", "o": "\u00f8", "l": "\u0142",
    "AE": "\u00c6", "OE": "\u0152", "AA": "\u00c5", "O": "\u00d8", "L": "\u0141",
}  # fmt: skip

# small letters that have no accent apart
BASES = str.maketrans({
    "\u00e6": "ae", "\u0153": "oe", "\u00f8": "o", "\u0142": "l", "\u0111": "d", "\u00f0": "d", "\u00fe": "th", "\u0131": "i",
})  # fmt: skip

# letters that look like Latin ones: of Cyrillic, and of Greek
CYRILLIC = (
    "\u0430\u0441\u0435\u043e\u0440\u0445\u0443\u0456\u0458\u0455\u0410\u0412\u0421\u0415\u041d\u0406\u0408\u041a\u041c\u041e"
    "\u0420\u0405\u0422\u0425\u0423\u0501\u04bb\u051b\u051d",
    "aceopxyijsABCEHIJKMOPSTXYdhqw",
)
GREEK = (
    "\u03bf\u0391\u0392\u0395\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a7\u03a5\u0396",
    "oABEHIKMNOPTXYZ",
)
LOOK_ALIKES = frozenset(CYRILLIC[0] + GREEK[0])
TO_LATIN = str.maketrans(CYRILLIC[0] + GREEK[0], CYRILLIC[1] + GREEK[1])
_LATIN, _CYRILLIC, _GREEK = (
    "A-Za-z\u00aa\u00ba\u00c0-\u024f\u1e00-\u1eff",
    "\u0400-\u052f",
    "\u0370-\u03ff\u1f00-\u1fff",
)
# of each script a letter's own form, and what a word of it is; a word that can be of two is of the first
SCRIPTS = tuple(
    (table, re.compile(f"[{letters}]+"))
    for table, letters in (
        (TO_LATIN, _LATIN),
        (str.maketrans(*reversed(CYRILLIC)), _CYRILLIC),
        (str.maketrans(*reversed(GREEK)), _GREEK),
    )
)
LATIN, OTHER = re.compile(f"[{_LATIN}]"), re.compile(f"[{_CYRILLIC}{_GREEK}]")
MIXED = re.compile(f"[{_LATIN}][{_CYRILLIC}{_GREEK}]|[{_CYRILLIC}{_GREEK}][{_LATIN}]")
RUN = re.compile(r"[^\W\d_]+")


def normal_form(text: str) -> str:
    """The text as it is read; most ASCII texts are their own form, and every form is its own.

    Letters and digits are those of Unicode's NFKC, spaces plain ones; characters without a sign of their own are out; a word
    that a hyphen parts at the end of a line is one. JSON's escapes, LaTeX's accents and HTML's names of letters stand for what
    they mean, also where they were escaped twice; what stands for an apostrophe within a word is one; and a word that mixes Latin
    with letters of Cyrillic or Greek that look alike is of one script.
    """
    if text.isascii() and "\\" not in text and "&" not in text and not HYPHEN_LAST.search(text):
        return text
    while (form := _read_once(text)) != text:
        text = form
    return text


def base_letters(text: str) -> str:
    """The normal form in small letters without accents, for what reads a to z alone: "\u00d6l" is "ol", not "l"."""
    plain = normal_form(text)
    if plain.isascii():
        return plain.lower()
    letters = unicodedata.normalize("NFKD", plain.casefold().translate(BASES))
    return "".join(character for character in letters if not unicodedata.combining(character))


def _read_once(text: str) -> str:
    if "\\" in text:
        text = _unescaped(text)
    if "&" in text:
        text = ENTITY.sub(_letter_of_entity, TWICE.sub("&", text))
    text = unicodedata.normalize("NFC", text)
    if "\n" in text or "\r" in text:
        text = LINE_END.sub(without_break, text)
    if text.isascii():
        return text
    text = WITHIN_WORD.sub("'", text)
    text = FULL_WIDTH.sub(lambda match: match[0].translate(NARROW), text)
    forms = {ord(character): form for character in set(text) if (form := _form_of(character)) != character}
    return _in_one_script(unicodedata.normalize("NFC", text.translate(forms)) if forms else text)


@lru_cache(maxsize=1 << 16)
def _form_of(character: str) -> str:
    """A character's form; "" of one that is not seen."""
    kind = unicodedata.category(character)
    if (kind == "Cf" and character not in SEEN) or UNSEEN.match(character):
        return ""
    if kind == "Zs":
        return " "
    # some Arabic signs stand on a space there
    is_letter = kind[0] == "L" or kind in ("Nd", "Nl")
    return unicodedata.normalize("NFKC", character).lstrip() if is_letter else character


def without_break(match: "re.Match[str]") -> str:
    """What a match of `LINE_END` becomes: nothing where it parts a word, and its hyphen in a word that has others."""
    if match[1] != SOFT_HYPHEN and "-" in match.string[: match.start()].rpartition(" ")[2].rpartition("\n")[2]:
        return match[1]
    before, behind = match.string[match.start() - 1], match.string[match.end()]
    is_hyphenated = match[1] == SOFT_HYPHEN or (before.islower() and behind.islower())
    return "" if is_hyphenated else match[0]


def _unescaped(text: str) -> str:
    text = CODES.sub(_of_codes, text)
    if not CONTRACTED.search(text):
        text = ACCENTED.sub(_accented, NAMED.sub(lambda match: LETTERS[match[1] or match[2]], text))
    return ESCAPED.sub(lambda match: match[1] or (" " if match[0] == r"\t" else "\n"), text)


def _of_codes(match: "re.Match[str]") -> str:
    text = str(json.loads(f'"{match[0]}"'))
    # half of a pair is no character
    return match[0] if any("\ud800" <= character <= "\udfff" for character in text) else text


def _accented(match: "re.Match[str]") -> str:
    accent, letter = filter(None, match.groups())
    return unicodedata.normalize("NFC", letter + ACCENTS[accent.strip()])


def _letter_of_entity(match: "re.Match[str]") -> str:
    """What an entity stands for where that belongs to a word; other entities part words, as what they stand for does."""
    text = html.unescape(match[0])
    return text if all(c.isalpha() or c in APOSTROPHES or not _form_of(c) for c in text) else match[0]


def _in_one_script(text: str) -> str:
    """The text with words that mix scripts in one, where look-alike letters allow it.

    Where all letters of Cyrillic and Greek look like Latin ones, and others are Latin, so are they.
    """
    if LOOK_ALIKES.isdisjoint(text) and not MIXED.search(text):
        return text
    if MIXED.search(text):
        text = RUN.sub(_word_in_one_script, text)
    is_latin = LATIN.search(text) and LOOK_ALIKES.issuperset(OTHER.findall(text))
    return text.translate(TO_LATIN) if is_latin else text


def _word_in_one_script(match: "re.Match[str]") -> str:
    word = match[0]
    if LATIN.search(word) and OTHER.search(word):
        for table, of_script in SCRIPTS:
            form = word.translate(table)
            if of_script.fullmatch(form):
                return form
    return word
