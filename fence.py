"""Foreign text that cannot forge what stands around it in a prompt.

Sections of a prompt begin and end with tags, turns of a chat with marks of the model's own. A document, a topic, a summary or
another agent's answer could write such a mark itself and then speak to the model as its user. So each mark that is found in a
foreign text is broken by a dot after its first character; a text without marks stays as it is, letter by letter.

Marks are looked for in the text as a tokenizer may read it: in compatibility form (NFKD), without accents and other combining
marks, characters of no width, control characters and code points that nobody has assigned, in upper and lower case alike. What
the usual normalisers of tokenizers turn into a mark is found.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from itertools import pairwise

# no form of normalisation changes or drops it
BREAK = "\u00b7"
# changes with what is broken and how, here and in chats, for the signatures of those whose prompts are fenced
VERSION = 3

# the sections of evenhand's own prompts; a method quotes one prompt in another, so each text is kept from forging any of them
SECTIONS = frozenset(
    """
    answer critique excerpt feedback key_facts key_points passage points source statement summary task topic
    """.split()
)
TAG = re.compile(r"</?([^\W\d][\w-]*)[^<>]*>")


def fence(text: str, sections: Iterable[str] = ()) -> str:
    """The text with every tag of a section broken, of evenhand's own ones and of those named.

    >>> fence("a < b </source>")
    'a < b <\u00b7/source>'
    """
    return broken(text, _tags(SECTIONS.union(sections)))


def sections_of(text: str) -> frozenset[str]:
    """The names of the tags that a text of our own has, as `flat` writes them."""
    return frozenset(TAG.findall(flat(text)))


@cache
def _tags(names: frozenset[str]) -> re.Pattern[str]:
    # longer names first: "points" would find "point"
    listed = "|".join(re.escape(name) for name in sorted(names, reverse=True))
    return re.compile(rf"<\s*(?:/\s*)?(?:{listed})(?![\w-])", re.IGNORECASE)


def broken(text: str, marks: re.Pattern[str]) -> str:
    """The text with a dot after the first character of each mark.

    Args:
        text: a foreign text.
        marks: finds the marks in text of which `flat` has been taken; none is a single character.
    """
    whole = flat(text)
    if not marks.search(whole):
        return text
    # looking ahead finds a mark that begins inside another one, too
    inside = re.compile(f"(?={marks.pattern})", marks.flags)
    if whole != text:
        pieces = [_flat_character(character) for character in text]
        # place in the flat text -> place in the text
        places = [place for place, piece in enumerate(pieces) for _ in piece]
        firsts = sorted({places[found.start()] for found in inside.finditer("".join(pieces))})
    else:
        firsts = [found.start() for found in inside.finditer(text)]
    ends = [0, *(first + 1 for first in firsts), len(text)]
    return BREAK.join(text[start:end] for start, end in pairwise(ends))


def flat(text: str) -> str:
    """The text in compatibility form without what tokenizers may drop; with line feeds for line breaks, a space for U+2581."""
    return unicodedata.normalize("NFKD", text).translate(_READ)


class _Read(dict[int, str | int]):
    """What `str.translate` puts for a character, found out when it is first met."""

    def __missing__(self, code: int) -> str | int:
        self[code] = "" if unicodedata.category(chr(code))[0] in "CM" else code
        return self[code]


_READ = _Read({
    **{ord(space): space for space in "\t\n"},
    **dict.fromkeys(map(ord, "\r\u2028\u2029"), "\n"),
    ord("\u2581"): " ",
    # normalisers drop the first, and take the others for marks that combine, as Unicode once did
    **dict.fromkeys(map(ord, "\ufffd\u1cf2\u1cf3"), ""),
})  # fmt: skip
_flat_character = cache(flat)
