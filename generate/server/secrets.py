"""Keys of servers, found again in any text: as they are, and as JSON, addresses, HTML and base64 write them."""

import base64
import html
import os
import re
from collections.abc import Iterable
from functools import lru_cache

from ...config.server import ServerSection

# in place of a key
REDACTED = "***"
# bytes that base64 takes at a time, and the letters that it writes for them
THREE, FOUR = 3, 4
# letters of base64 that are looked for, at least: fewer stand in texts by chance
LEAST = 12


def secrets_of(sections: Iterable[ServerSection | None]) -> tuple[str, ...]:
    """The keys that are sent to these servers, from the environment."""
    names = {each.api_key_env for each in sections if each is not None and each.api_key_env}
    return tuple(sorted({key for name in names if (key := os.environ.get(name, "").strip())}))


def without(text: str, secrets: tuple[str, ...]) -> str:
    """The text without these keys, in any writing."""
    return _pattern(secrets).sub(REDACTED, text) if secrets else text


def holds(text: str, secrets: tuple[str, ...]) -> bool:
    """Whether the text has one of these keys, in any writing."""
    return bool(secrets) and _pattern(secrets).search(text) is not None


@lru_cache
def _pattern(secrets: tuple[str, ...]) -> re.Pattern[str]:
    writings = [writing for key in secrets for writing in ("".join(map(_letter, key)), *_in_base64(key))]
    return re.compile("|".join(writings))


def _letter(letter: str) -> str:
    """A pattern of the writings of a letter: escaped by JSON or Python, once or more often, in an address, in HTML."""
    code, named = ord(letter), html.escape(letter).lstrip("&").rstrip(";")
    writings = [rf"\\{{0,8}}(?:{re.escape(letter)}|(?i:u{code:04x}|x{code:02x}))"]
    writings += [rf"(?i:%(?:25){{0,3}}{'%(?:25){0,3}'.join(f'{byte:02x}' for byte in letter.encode())})"]
    names = [rf"#0*{code}", rf"#x0*{code:x}", *([re.escape(named)] if named != letter else [])]
    writings += [rf"(?i:&(?:amp;){{0,3}}(?:{'|'.join(names)});)"]
    return f"(?:{'|'.join(writings)})"


def _in_base64(key: str) -> list[str]:
    """Patterns of what base64 writes for a key that begins at the first, second or third byte of three, without what its
    neighbours decide."""
    found = []
    for before in range(THREE):
        content = bytes(before) + key.encode()
        whole = base64.b64encode(content).decode().rstrip("=")
        first = -(-before * FOUR // THREE)
        letters = whole[first : len(content) * 8 // 6]
        if len(letters) >= LEAST:
            found += [re.escape(letters), re.escape(letters.translate(str.maketrans("+/", "-_")))]
    return found
