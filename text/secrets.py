"""Keys of servers, found again in any text: as they are, and as JSON, addresses, HTML and base64 write them.

`redacted` is what every log and every traceback passes through: a library's error may quote the address or the header that it was
called with. It takes out the keys that this process knows, and what has the form of a key.
"""

import base64
import html
import os
import re
from functools import lru_cache

# in place of a key
REDACTED = "***"
# bytes that base64 takes at a time, and the letters that it writes for them
THREE, FOUR = 3, 4
# letters of base64 that are looked for, at least: fewer stand in texts by chance
LEAST = 12
# variables of the environment that hold a key, by the end of their name, and letters of one at least
VARIABLE = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$", re.IGNORECASE)
LEAST_KEY = 8
# a name, in an address or a header, whose value is a key
NAMED = r"(?:api[-_]?key|subscription[-_]?key|auth[-_]?token|access[-_]?token|client[-_]?secret|secret|passw(?:or)?d)"
QUOTE = r"\\{0,4}['\"]"
# what has the form of a key, behind what stays
FORMS = re.compile(
    # of OpenAI and of others who write it so; no name of a folder or file that begins like it (Slovak texts do)
    r"(?<![\w-])(?P<a>sk-)(?=[\w-]*\d|[\w-]{20})[\w-]{8,}+(?![./]\w)"
    r"|(?<!\w)(?P<b>hf_|gh[oprsu]_|github_pat_|glpat-|gsk_|xai-|nvapi-|AIza|AKIA|eyJ)[\w.-]{16,}"
    r"|(?P<c>(?i:\bbearer)(?:\s|%20|\+){1,3})[\w.~+/=-]{6,}"
    r"|(?P<d>(?i:\bauthorization)\W{1,5}(?i:basic|digest|token|apikey)\s{1,3})[^\s'\"]{4,}"
    rf"|(?P<e>(?i:{NAMED})(?:{QUOTE}\s{{0,3}}[:=]\s{{0,3}}{QUOTE}|\s{{0,3}}[:=]\s{{0,3}}(?:{QUOTE})?))"
    r"(?=[^\s'\"&,;)}\]]{0,200}\d|[^\s'\"&,;)}\]]{20})[^\s'\"&,;)}\]\\]{6,}"
    r"|(?P<f>[?&;](?i:key|token|code|sig|auth)=)[^\s'\"&#)]{4,}"
    r"|(?P<g>://[^\s/@:'\"]{0,200}:)[^\s/@'\"]{1,200}(?=@)"
)
# keys that were sent to servers from here
_sent: set[str] = set()


def remember(secret: str) -> None:
    """Keep a key that is sent from this process out of everything that it logs."""
    _sent.add(secret)


def redacted(text: str, secrets: tuple[str, ...] = ()) -> str:
    """The text without keys: these, those that this process has sent, those of the environment, and whatever looks like one."""
    known = {value.strip() for name, value in os.environ.items() if VARIABLE.search(name)}
    known = {value for value in known if len(value) >= LEAST_KEY and "/" not in value[:1]}
    text = without(text, tuple(sorted({*secrets, *_sent, *known} - {""})))
    return FORMS.sub(lambda match: f"{match[match.lastgroup or 0]}{REDACTED}", text)


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
    patterns = []
    for before in range(THREE):
        content = bytes(before) + key.encode()
        text = base64.b64encode(content).decode().rstrip("=")
        first = -(-before * FOUR // THREE)
        letters = text[first : len(content) * 8 // 6]
        if len(letters) >= LEAST:
            patterns += [re.escape(letters), re.escape(letters.translate(str.maketrans("+/", "-_")))]
    return patterns
