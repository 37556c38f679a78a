"""Bad input out of good input: bytes, values and keys of a file go wrong, drawn by a seeded generator."""

import codecs
import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import yaml

LONG, DEEP, DIGITS = "x" * 300_000, 2000, "9" * 5000
# stands for a value until it is written; then it becomes text that no writer would write
MARK = "@@odd@@"
# nine aliases of nine aliases ...
BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9)
)

# what may stand in the place of any value, as text of JSON, and so of YAML
ODD = [
    "null", "true", "false", "0", "-1", "1", "1.5", "-0.0", "1e-400", "1e400", "1" + "0" * 30, "-" + "1" * 400, DIGITS, '""',
    '" "', '"\\u0000"', '"\\u2028"', '"nan"', '"1"', '"../../x"', '"' + LONG + '"', '"\\ud83d"', '"\\udc00x"', "[]", "{}", "[[]]",
    "[null]", '[""]', '{"": null}', "[" * DEEP + "]" * DEEP, '{"a":' * DEEP + "1" + "}" * DEEP, '{"a": 1, "a": 2}',
    "[" + ", ".join(["1"] * 3000) + "]", "{" + ", ".join(f'"k{n}": {n}' for n in range(3000)) + "}",
]  # fmt: skip
ODD_JSON = ["NaN", "Infinity", "-Infinity", "nul", "'x'", "1.", "0x10", "[1,]", "", "// x", '"\t"', '"\\x"']
ODD_YAML = [
    "2020-13-45", "2020-01-01", "!!int abc", "!!float abc", "!!bool abc", "!!timestamp abc", "!!binary '='", "!!set {a}",
    "!!omap [a: 1]", "!!python/object/apply:os.getcwd []", "!!map x", "!x y", "0x" + "f" * 5000, "0b", "1:99:99", "*undefined",
    "&a [*a]", "&a", "<<", ".nan", "-.inf", "~", "=", "@x", "`x`", "%x", "{a: 1, a: 2}", "{1: 2}", "{[a]: 1}", "? x", "- - - -",
    '"\\ud83d"', '"\\U00110000"', '"\\xzz"', "|", ">-", "[", "'", "\t",
]  # fmt: skip


def damaged(good: bytes, form: str, draw: Random) -> bytes:
    """A damaged copy of a good file.

    Args:
        good: the file.
        form: "json", "jsonl", "yaml", or "text" for what only its bytes are damaged of.
        draw: decides everything.
    """
    if form == "text" or draw.random() < 0.35:
        return draw.choice(BYTES)(good, draw)
    text = good.decode()
    if form == "jsonl":
        lines = text.splitlines()
        place = draw.randrange(len(lines))
        if draw.random() < 0.1:
            lines.insert(draw.randrange(len(lines)), lines[place])
        else:
            lines[place] = _damaged_json(lines[place], draw)
        return _encoded("\n".join(lines) + "\n")
    return _encoded(_damaged_json(text, draw) if form == "json" else _damaged_yaml(text, draw))


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _damaged_json(text: str, draw: Random) -> str:
    written = json.dumps(_with_mark(json.loads(text), draw), ensure_ascii=draw.random() < 0.5)
    return written.replace(f'"{MARK}"', draw.choice(ODD + ODD_JSON))


def _damaged_yaml(text: str, draw: Random) -> str:
    written = yaml.safe_dump(_with_mark(yaml.safe_load(text), draw), sort_keys=False, allow_unicode=True)
    written = written.replace(f"'{MARK}'", MARK).replace(MARK, draw.choice(ODD + ODD_YAML * 2))
    return BOMB + written if draw.random() < 0.1 else written


def _with_mark(value: Any, draw: Random) -> Any:
    """The value with one place in it marked, or one key lost, added or exchanged."""
    places = list(_places(value))
    holder, key = draw.choice(places)
    kind = draw.random()
    if holder is None:
        return MARK
    if kind < 0.7:
        holder[key] = MARK
    elif kind < 0.8:
        del holder[key]
    elif isinstance(holder, dict) and kind < 0.9:
        holder[draw.choice([f"{key}s", "", "id", "None", LONG, MARK])] = holder[key]
    elif isinstance(holder, dict):
        holder[draw.choice([f"{key}s", "", LONG])] = holder.pop(key)
    else:
        holder.insert(key, holder[key])
    return value


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Where a value stands, as what holds it and its key there; the whole is held by None."""
    yield None, None
    waiting = [value]
    while waiting:
        holder = waiting.pop()
        if isinstance(holder, dict | list):
            keys = list(holder) if isinstance(holder, dict) else range(len(holder))
            for key in keys:
                yield holder, key
                waiting.append(holder[key])


def _truncated(good: bytes, draw: Random) -> bytes:
    return good[: draw.randrange(len(good))]


def _flipped(good: bytes, draw: Random) -> bytes:
    changed = bytearray(good)
    for _ in range(draw.choice([1, 8])):
        changed[draw.randrange(len(good))] ^= 1 << draw.randrange(8)
    return bytes(changed)


def _inserted(good: bytes, draw: Random) -> bytes:
    place = draw.randrange(len(good))
    odd = draw.choice(
        [
            b"\0",
            b"\xff",
            b"\xed\xa0\x80",
            b"\x1a",
            b"\n",
            b"\r",
            b'"',
            b"[",
            b"{",
            b"}",
            b"\xc2\x85",
            b"\xe2\x80\xa8",
            b"\t",
        ]
    )
    return good[:place] + odd * draw.choice([1, 1, 500]) + good[place:]


def _cut_out(good: bytes, draw: Random) -> bytes:
    start = draw.randrange(len(good))
    return good[:start] + good[start + draw.randrange(1, 40) :]


def _doubled(good: bytes, draw: Random) -> bytes:
    return good + good


def _long_line(good: bytes, draw: Random) -> bytes:
    return good.replace(b"\n", b" ") + b"x" * 2_000_000


def _other_encoding(good: bytes, draw: Random) -> bytes:
    return good.decode(errors="replace").encode(
        draw.choice(["utf-16", "utf-16-le", "utf-32", "utf-7", "cp500"]), "replace"
    )


def _changed(good: bytes, draw: Random) -> bytes:
    """What is no damage at all, or was seen to be none to some readers."""
    return draw.choice(
        [
            codecs.BOM_UTF8 + good,
            good.replace(b"\n", b"\r\n"),
            good.replace(b"\n", b"\r"),
            b"\n\n" + good + b"\n \n",
            good.rstrip(),
        ]
    )


def _replaced(good: bytes, draw: Random) -> bytes:
    return draw.choice(
        [
            b"",
            b" ",
            b"\n\n",
            b"\0" * 100,
            b"null",
            b"[]",
            b"{}",
            b"\x1f\x8b\x08\0",
            b"SQLite format 3\0",
            b"version https",
        ]
    )


def _random(good: bytes, draw: Random) -> bytes:
    return draw.randbytes(draw.choice([1, 100, 5000]))


BYTES: list[Callable[[bytes, Random], bytes]] = [
    _truncated, _truncated, _flipped, _flipped, _inserted, _inserted, _cut_out, _doubled, _long_line, _other_encoding, _changed,
    _replaced, _random,
]  # fmt: skip
