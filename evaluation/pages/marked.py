"""Somebody's text with words marked."""

import re
from collections.abc import Collection
from difflib import SequenceMatcher
from itertools import takewhile

import regex

from ...text import BORDERLESS
from .blocks import Marked

# a word of a script without borders between words has no edges
BARE = regex.compile(rf"(?V1)[{BORDERLESS}]")


def marked(text: str, words: Collection[str], head: str = "") -> Marked:
    """The text, every occurrence of the words marked, in whatever case they stand there."""
    longest = sorted(words, key=len, reverse=True)
    forms = [re.escape(word) if BARE.search(word) else rf"(?<!\w){re.escape(word)}(?!\w)" for word in longest]
    if not forms:
        return Marked(((text, False),), head)
    parts = re.split(f"({'|'.join(forms)})", text, flags=re.IGNORECASE)
    return Marked(tuple((part, place % 2 == 1) for place, part in enumerate(parts) if part), head)


def changes(before: str, after: str, heads: tuple[str, str] = ("", "")) -> tuple[Marked, Marked]:
    """Two versions of a text, with the words marked that are in one of them only, or elsewhere."""
    texts = [re.findall(r"\S+\s*", text) for text in (before, after)]
    bare_texts = [[word.rstrip() for word in text] for text in texts]
    # what both begin with is never elsewhere: of a text said twice the second time is marked
    n = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(*bare_texts, strict=False))))
    parts = [[("".join(text[:n]), False)] if n else [] for text in texts]
    old, new = (text[n:] for text in bare_texts)
    for kind, *ends in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        for text, of_text, (start, end) in zip(texts, parts, (ends[:2], ends[2:]), strict=True):
            if words := "".join(text[n + start : n + end]):
                bare = words.rstrip()
                of_text += [(bare, kind != "equal"), *([(words[len(bare) :], False)] if words != bare else [])]
    first, second = (Marked(tuple(of_text), head) for of_text, head in zip(parts, heads, strict=True))
    return first, second
