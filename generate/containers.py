"""What a model puts its summary into: tags, a block of code, an object of JSON, TeX's box."""

import ast
import json
import re
from typing import NamedTuple

from ..text.thoughts import LESS, MORE

# names that say what a tag holds ("left_summary", "final answer"), and those that do so where a reply begins with them
NAMES = r"(?:[a-z]{1,20}[_ -]){0,3}(?:summary|answer|response|output|result|solution|reply)(?:[_-][a-z]{1,20})?|finalsummary"
FIRST_NAMES = r"final(?:[_ -]?text)?|sentence|paragraph|completion|text|json"
AROUND, ATTRIBUTES = r"[*`]{0,3}", r"(?:\s[^<>\n]{0,80})?"
TAG = re.compile(rf"{AROUND}{LESS}({NAMES}){ATTRIBUTES}{MORE}{AROUND}", re.IGNORECASE)
FIRST_TAG = re.compile(rf"\s*{AROUND}<({FIRST_NAMES}){ATTRIBUTES}>{AROUND}", re.IGNORECASE)
END_TAG = re.compile(rf"{AROUND}{LESS}/(?:{NAMES}|{FIRST_NAMES}){MORE}{AROUND}", re.IGNORECASE)
# one that another closes, as "[1] ..." begins a text
BRACKETED = re.compile(rf"\[({NAMES}|final)\]", re.IGNORECASE)
BEGIN_FENCE = re.compile(r"\s*(```+|~~~+|`(?=\{))(?:[ \t]*[a-z]{0,12}[ \t]*\n)?", re.IGNORECASE)
# keys under which a summary stands in an object with other texts
KEYS = (
    "summary", "final_summary", "refined_summary", "revised_summary", "final", "answer", "response", "output", "text", "content",
    "result", "sentence",
)  # fmt: skip
# an object that was cut off, or is none for other reasons: from its summary on, and from its first text on
SUMMARY_KEY = re.compile(r'[{,]\s*"[\w -]{0,40}summary[\w -]{0,20}"\s*:\s*"', re.IGNORECASE)
CUT_OBJECT = re.compile(r'\{\s*"[\w -]{1,40}"\s*:\s*"')
NEXT_KEY = re.compile(r'"\s*,\s*"[\w -]{1,40}"\s*:')
# where a box is an answer and no part of a formula: in a line of its own, or behind words that announce it
BOX = re.compile(r"(?:\A|\n|[:.][*_ ]{0,4}|\bis:? )\s{0,9}(?:\$\$?|\\[\[(])?\s{0,9}\\(?:f?box|boxed)\{", re.IGNORECASE)
TEX_TEXT = re.compile(r"\\(?:text(?:bf|it|rm)?|mbox|emph)\{")
TEX_ESCAPE = re.compile(r"\\([%$&_#])")
# objects in objects
MOST = 6


class Contents(NamedTuple):
    """What a container holds, and what stands before and behind it."""

    text: str
    before: str = ""
    behind: str = ""


def out_of_tags(text: str) -> Contents | None:
    """What stands between tags that say it is the summary; up to the end where none closes them."""
    if (begin := BRACKETED.search(text)) and (end := _closing(rf"\[/{re.escape(begin[1])}\]", text, begin.end())):
        return Contents(text[begin.end() : end.start()], text[: begin.start()], text[end.end() :])
    begin = TAG.search(text) or FIRST_TAG.match(text)
    if begin is None:
        end = END_TAG.search(text)
        return Contents(text[: end.start()], "", text[end.end() :]) if end else None
    end = _closing(rf"{AROUND}{LESS}/{re.escape(begin[1])}{MORE}{AROUND}", text, begin.end())
    inside, behind = (text[begin.end() : end.start()], text[end.end() :]) if end else (text[begin.end() :], "")
    before = text[: begin.start()]
    return Contents(inside, "" if BEGIN_FENCE.fullmatch(before) else before, behind)


def _closing(pattern: str, text: str, start: int) -> "re.Match[str] | None":
    return re.compile(pattern, re.IGNORECASE).search(text, start)


def out_of_fence(text: str) -> Contents | None:
    """What stands in a block of code that the text begins with."""
    begin = BEGIN_FENCE.match(text)
    if begin is None:
        return None
    inside, _, behind = text[begin.end() :].partition(begin[1])
    return Contents(inside, "", behind)


def out_of_object(text: str) -> Contents | None:
    """The one text of an object, or that under a key of a summary, of JSON or as Python writes it, whole or cut off."""
    text = re.sub(r"\Ajson\s+(?=[{\[])", "", text, flags=re.IGNORECASE)
    if text[:1] not in ("{", "["):
        return None
    try:
        value, end = json.JSONDecoder(strict=False).raw_decode(text)
    except (ValueError, RecursionError):
        return _out_of_literal(text) or _out_of_cut_object(text)
    inside = _only_text(value)
    # "[sic] ..." begins a text
    if inside is None or (text.startswith("[") and any(map(str.isalnum, text[end:]))):
        return None
    return Contents(inside, "", text[end:])


def _out_of_literal(text: str) -> Contents | None:
    end = text.rfind("}") + 1
    if not re.match(r"\[?\{\s*'", text) or not end:
        return None
    try:
        inside = _only_text(ast.literal_eval(text[:end]))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return None if inside is None else Contents(inside, "", text[end:])


def _out_of_cut_object(text: str) -> Contents | None:
    begin = SUMMARY_KEY.search(text) or CUT_OBJECT.match(text)
    if begin is None:
        return None
    rest = text[begin.end() :]
    if later := NEXT_KEY.search(rest):
        rest = rest[: later.start()]
    return Contents(rest.replace('\\"', '"').replace("\\n", "\n").rstrip('"}], \n'))


def _only_text(value: object) -> str | None:
    """The one text of an object, or that under a key of a summary; None without one."""
    for _ in range(MOST):
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        elif isinstance(value, dict):
            texts = [field for field in value.values() if isinstance(field, str | dict)]
            by_name = {str(key).lower(): field for key, field in value.items()}
            names = [*(key for key in KEYS if key in by_name), *(key for key in by_name if "summary" in key)]
            alone = texts or list(value.values())
            value = alone[0] if len(alone) == 1 else by_name[names[0]] if names else None
        else:
            break
    return value if isinstance(value, str) else None


def out_of_box(text: str) -> Contents | None:
    r"""What stands in TeX's \boxed{...}, the last one, or in \text{...} around the whole."""
    if "\\" not in text:
        return None
    boxes = list(BOX.finditer(text))
    if boxes:
        begin = boxes[-1].end()
        end = _end_of_group(text, begin)
        behind = text[end + 1 :].lstrip("$\\]).} \n")
        return Contents(_without_tex(text[begin:end]), text[: boxes[-1].start()], behind)
    plain = _without_tex(text)
    return None if plain == text else Contents(plain)


def _without_tex(text: str) -> str:
    text = text.strip()
    for _ in range(MOST):
        begin = TEX_TEXT.match(text)
        if begin is None or _end_of_group(text, begin.end()) < len(text) - 1:
            break
        text = TEX_ESCAPE.sub(r"\1", text[begin.end() : _end_of_group(text, begin.end())].strip())
    return text


def _end_of_group(text: str, begin: int) -> int:
    """Where the brace that was opened before `begin` is closed; the text's end where it was cut off."""
    depth = 1
    for brace in re.finditer(r"(?<!\\)[{}]", text[begin:]):
        depth += 1 if brace[0] == "{" else -1
        if not depth:
            return begin + brace.start()
    return len(text)
