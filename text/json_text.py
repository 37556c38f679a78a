"""JSON texts, read with bounds and with what is wrong with them said."""

import json
import math
import re
from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import accumulate
from typing import Any

from ..errors import DataError
from .shown import shortened

# arrays and objects within each other that JSON and YAML may have; Python's own bound differs from version to version
MOST_NESTED = 100
# characters of a key of an object, and keys of one, where there are bounds
MOST_KEY = MOST_KEYS = 1000
# all bytes but those that tell how deep a text is nested and how many values it has; what each of them adds to the depth
NOT_NESTING = bytes(set(range(256)) - set(b'[]{},"'))
STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1, ord(","): 0}
# half of a pair that stands for one character; alone it is none
HALF = re.compile("[\ud800-\udfff]")
SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


class NotJsonError(DataError):
    """A text is not JSON that can be used.

    `line` is where it breaks, 1 where that is not known; `is_syntax` whether it is not JSON at all.
    """

    def __init__(self, text: str, line: int = 1, *, is_syntax: bool = False) -> None:
        super().__init__(text)
        self.line = line
        self.is_syntax = is_syntax


def _with_unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        twice = next(name for name, n in counts.items() if n > 1)
        raise NotJsonError(f"has an object with the key {shortened(twice)} twice; keep one")
    return members


def _with_short_keys(make_object: Callable[[list[tuple[str, Any]]], Any], pairs: list[tuple[str, Any]]) -> Any:
    if len(pairs) > MOST_KEYS:
        raise NotJsonError(f"has an object with {len(pairs):,} keys; send {MOST_KEYS:,} at most")
    if long := next((name for name, _ in pairs if len(name) > MOST_KEY), None):
        raise NotJsonError(f"has a key of {len(long):,} characters, {shortened(long)}; keys have {MOST_KEY} at most")
    return make_object(pairs)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise NotJsonError(f"holds the number {shortened(text)}, which JSON has not; write null, or leave it out")
    return number


def _refuse_unbounded(text: str, most_values: int | None) -> None:
    """Refuse arrays and objects deeper within each other than `MOST_NESTED`, or more values, by brackets and commas alone."""
    n_open = text.count("[") + text.count("{")
    if n_open <= MOST_NESTED and (most_values is None or n_open + text.count(",") < most_values):
        return
    plain = text.replace("\\\\", "").replace('\\"', "").encode(errors="replace")
    # what stands outside of strings; these steps hold no thread up, other than one that looks at each letter
    signs = b"".join(plain.translate(None, NOT_NESTING).split(b'"')[::2])
    n_open = signs.count(b"[") + signs.count(b"{")
    if most_values is not None:
        # the first value of each array or object, and one behind each comma
        if n_open + signs.count(b",") >= most_values:
            raise NotJsonError(f"has more than {most_values:,} values; send fewer at a time")
        if signs.count(b"]") + signs.count(b"}") > n_open:
            raise NotJsonError("is not JSON (it closes more brackets than it opens)", is_syntax=True)
    if n_open > MOST_NESTED and max(accumulate(map(STEPS.__getitem__, signs))) > MOST_NESTED:
        raise NotJsonError(f"is nested too deeply to be read: more than {MOST_NESTED} levels")


def _half_in(value: Any) -> tuple[str, str]:
    """Where a value of JSON holds a lone surrogate, and which; the path is written for that one alone."""
    stack: list[tuple[tuple[Any, ...], Any]] = [((), value)]
    while stack:
        path, part = stack.pop()
        if isinstance(part, dict):
            stack += [((*path, key), child) for key, child in part.items()] + [((*path, key), key) for key in part]
        elif isinstance(part, list):
            stack += [((*path, number), child) for number, child in enumerate(part)]
        elif isinstance(part, str) and (surrogate := HALF.search(part)):
            return f"{shortened('.'.join(map(str, path)))}: " if path else "", surrogate[0]
    raise AssertionError("a surrogate was there a moment ago")


def parse_json(
    text: str,
    make_object: Callable[[list[tuple[str, Any]]], Any] = _with_unique_keys,
    *,
    allow_nan: bool = False,
    most_values: int | None = None,
) -> Any:
    """The value that a JSON text holds.

    Args:
        text: JSON.
        make_object: makes an object of its keys and values, in order; the default refuses a key that occurs there twice.
        allow_nan: read NaN and Infinity, which Python's own writer puts into files.
        most_values: that it may have, counted before any is made; objects are then bounded by `MOST_KEY` and `MOST_KEYS`, too.

    Raises:
        NotJsonError: it is not JSON, or has what cannot be worked with: nesting beyond `MOST_NESTED` levels, NaN, Infinity and
            other numbers without an end, a whole number of thousands of digits, half a character (a lone surrogate, which no file
            can hold). The text says what, not where the file is.
    """
    _refuse_unbounded(text, most_values)
    if most_values is not None:
        make_object = partial(_with_short_keys, make_object)
    try:
        number = None if allow_nan else _finite
        value = json.loads(text, object_pairs_hook=make_object, parse_float=number, parse_constant=number)
        if SURROGATE.search(text):
            json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        # some of its messages end in "at", for the place that Python shows
        problem = error.msg.removesuffix(" at")
        raise NotJsonError(f"is not JSON ({problem} at column {error.colno})", error.lineno, is_syntax=True) from error
    except UnicodeEncodeError as error:
        where, surrogate = _half_in(value)
        raise NotJsonError(
            f"{where}holds half a character, {surrogate!r}, which no text can hold; take it out"
        ) from error
    except NotJsonError:
        raise
    except ValueError as error:
        # json gives whole numbers to int, which takes 4,300 digits
        raise NotJsonError("holds a whole number of more digits than can be read") from error
    return value
