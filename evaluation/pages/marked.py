"""Somebody's text with words marked."""

import re
from collections.abc import Collection

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
