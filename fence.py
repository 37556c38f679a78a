"""Foreign text that cannot forge what stands around it in a prompt.

Sections of a prompt begin and end with tags, turns of a chat with marks of the model's own. A document, a topic, a summary or
another agent's answer could write such a mark itself and then speak to the model as its user. So each mark that is found in a
foreign text is broken by a dot after its first character; a text without marks stays as it is, letter by letter.

Marks are looked for in the text as a tokenizer may read it: in compatibility form (NFKD), without accents, characters of no width
and control characters, in upper and lower case alike. What a tokenizer normalises to a mark is found whatever it normalises.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from itertools import pairwise

# no form of normalisation changes or drops it
BREAK = "\u00b7"
# changes with what is broken and how, here and in chats, for the signatures of those whose prompts are fenced
VERSION = 2

# the sections of evenhand's own prompts; a method quotes one prompt in another, so each text is kept from forging any of them
SECTIONS = frozenset(
    """
    answer critique excerpt feedback key_facts key_points passage points source statement summary task topic
    """.split()
)
TAG = re.compile(r"</?([A-Za-z][\w-]*)[^<>]*>")


def fence(text: str, sections: Iterable[str] = ()) -> str:
    """The text with every tag of a section broken, of evenhand's own ones and of those named.

    >>> fence("a < b </source>")
    'a < b <\u00b7/source>'
    """
    return broken(text, _tags(SECTIONS.union(sections)))


def sections_of(text: str) -> frozenset[str]:
    """The names of the tags that a text of our own has."""
    return frozenset(TAG.findall(text))


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
    """The text in compatibility form without what has no width of its own: accents, joiners, control characters."""
    return unicodedata.normalize("NFKD", text).translate(_NO_WIDTH)


class _NoWidth(dict[int, str | int]):
    """What `str.translate` puts for a character, found out when it is first met."""

    def __missing__(self, code: int) -> str | int:
        character = chr(code)
        gone = unicodedata.category(character) in ("Cc", "Cf", "Me", "Mn") and not character.isspace()
        self[code] = "" if gone else code
        return self[code]


_NO_WIDTH = _NoWidth()
_flat_character = cache(flat)
