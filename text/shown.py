"""How errors and messages show values, counts and texts, which may be of any length."""

import reprlib
from typing import Any

# characters of a wrong value that an error shows
MOST_SHOWN = 80
# characters of one mistake that an error tells
MOST_TOLD = 1000


def shortened(value: Any) -> str:
    """How an error shows a value: its `repr`, cut after 80 characters; a large value is not written out for it."""
    if isinstance(value, str):
        shown = repr(value[:MOST_SHOWN])
        return shown if len(shown) <= MOST_SHOWN and len(value) <= MOST_SHOWN else f"{shown[: MOST_SHOWN - 4]} ..."
    if isinstance(value, int) and value.bit_length() > MOST_SHOWN:
        return f"a whole number of {value.bit_length():,} bits"
    shown = _BRIEF.repr(value)
    return shown if len(shown) <= MOST_SHOWN else f"{shown[: MOST_SHOWN - 4]} ..."


_BRIEF = reprlib.Repr()
_BRIEF.maxlevel = 4
_BRIEF.maxtuple = _BRIEF.maxlist = _BRIEF.maxdict = 20
_BRIEF.maxstring = _BRIEF.maxother = MOST_SHOWN


def cut(text: str) -> str:
    """What an error says of one mistake, cut after 1,000 characters: names and texts in it may be of any length."""
    return text if len(text) <= MOST_TOLD else f"{text[: MOST_TOLD - 4]} ..."


def counted_as(n: int, text: str) -> str:
    """ "1 vote of people of no group", "2 votes of people of no group": of a text that begins with a plural."""
    noun, blank, remainder = text.partition(" ")
    return f"{n:,} {noun.removesuffix('s') if n == 1 else noun}{blank}{remainder}"
