"""Marks around a whole summary: quotes, bold letters, a list's only item, a quotation, a heading, a table's only row, HTML."""

import html
import re
from collections.abc import Callable

from .announcements import SUMMARY

PAIRS = {
    '"': '"',
    "\u201c": "\u201d",
    "\u201e": "\u201c\u201d",
    "'": "'",
    "\u2018": "\u2019",
    "\u00ab": "\u00bb",
    "\u300c": "\u300d",
    "`": "`",
}
DOUBLE_QUOTES = '"\u201c\u201d'
# a quotation that ends before the text does: its quote closes a word or sentence, where one that opens stands after a space
CLOSED_WITHIN = re.compile(
    rf'[{DOUBLE_QUOTES}][^{DOUBLE_QUOTES}]*(?:(?<!\s)(?<![{DOUBLE_QUOTES}])"|\u201d).', re.DOTALL
)
HALF_BOLD = re.compile(r"\*\*(?=[^\s*])")
BOLD = re.compile(r"(\*{1,3}|_{1,3})(?=\S)")
# a mark of a list, and a number, which may be a day of the month where nothing announces the summary
BULLET = re.compile(r"[-*+\u2022\u2013\u2014][ \t]+(?=\S)")
INNER_BULLET = re.compile(r"[-*+\u2022]\s")
ITEM = re.compile(rf"(?:{BULLET.pattern}|\d{{1,2}}[.)][ \t]+(?=\S))")
LATER_ITEM = re.compile(rf"\n[ \t]{{0,9}}{ITEM.pattern}")
HEADING = re.compile(r"#{1,6}[ \t]+(?=[^\n]+\Z)")
# a line across the page at the end
LAST_RULE = re.compile(r"\n\s{0,9}[-*_=]{3,40}\s{0,9}\Z")
ROW, RULE_CELL = re.compile(r"\s*\|(.*)\|\s*"), re.compile(r"\s*:?-+:?\s*")
SUMMARY_CELL = re.compile(rf"[\s*_]*(?:{SUMMARY})[\s*_:]*", re.IGNORECASE)
BLOCKS = (
    r"(?:html|body|main|article|section|header|div|p|blockquote|center|pre|ul|ol|li|table|tbody|thead|tr|td|th|h[1-6])"
)
INLINE = r"(?:b|strong|i|em|u|span|font|code|q|mark)"
# a page or a part of one, and tags that are left of one behind the text
PAGE = re.compile(rf"\s*<(?:!doctype\b|{BLOCKS}(?=[\s>]))[^<>]{{0,200}}>", re.IGNORECASE)
HEAD = re.compile(r"<!doctype[^<>]{0,200}>|<head\b.{0,2000}?</head>", re.IGNORECASE | re.DOTALL)
OPEN_HEADING, OPEN_ITEM = (
    re.compile(r"<h([1-6])\b[^<>]{0,200}>", re.IGNORECASE),
    re.compile(r"<li\b[^<>]{0,200}>", re.IGNORECASE),
)
BLOCK, BREAK = re.compile(rf"</?{BLOCKS}\b[^<>]{{0,200}}>", re.IGNORECASE), r"(?<![`\"'])<br\s{0,3}/?>(?![`\"'])"
LINE_BREAK = re.compile(BREAK, re.IGNORECASE)
INLINE_TAG = re.compile(rf"</?{INLINE}(?:\s[^<>]{{0,200}})?>", re.IGNORECASE)
AROUND_ALL = re.compile(rf"<({INLINE})(?:\s[^<>]{{0,200}})?>(.*)</\1>", re.IGNORECASE | re.DOTALL)
LAST_TAG, LONGEST_TAG = re.compile(rf"\s{{0,9}}</({BLOCKS}|{INLINE})>\s{{0,9}}\Z", re.IGNORECASE), 40
MORE_BREAKS = re.compile(r"\n{3,}")
# marks within marks, and quotes within quotes
MOST, MOST_QUOTES = 6, 20


def unmarked(text: str) -> str:
    """The text without quotes, bold letters, the mark of a list's only item or of a quotation around the whole of it."""
    return _without(text, (unquoted, *MARKS, _without_item, _without_other_quotes))


def unwrapped(text: str) -> str:
    """The text without what cannot be its own where nothing announces it: a number before it, or single quotes, can."""
    return _without(text, (unquoted, without_html, _out_of_table, *MARKS))


def _without(text: str, takes: tuple[Callable[[str], str], ...]) -> str:
    for _ in range(MOST):
        before = text
        for take in takes:
            text = take(text).strip()
        if text == before:
            break
    return text


def unquoted(text: str) -> str:
    """The text without the double quotes around it; those of two quotations at its ends are not around it."""
    for _ in range(MOST_QUOTES):
        is_quoted = len(text) > 1 and text[0] in DOUBLE_QUOTES and text[-1] in DOUBLE_QUOTES
        if not is_quoted or CLOSED_WITHIN.match(text):
            break
        text = text[1:-1].strip()
    if text.count("\u201c") + text.count("\u201d") == 1:
        text = text.removeprefix("\u201c").removesuffix("\u201d")
    return "" if text in DOUBLE_QUOTES else text


def without_html(text: str) -> str:
    """The text without the tags of a page that it begins as, and with line breaks for those of HTML."""
    if "<" not in text:
        return text
    if PAGE.match(text):
        text = OPEN_ITEM.sub("\n- ", OPEN_HEADING.sub(lambda tag: "\n\n" + "#" * int(tag[1]) + " ", HEAD.sub("", text)))
        text = html.unescape(INLINE_TAG.sub("", BLOCK.sub("\n\n", LINE_BREAK.sub("\n", text))))
        return MORE_BREAKS.sub("\n\n", "\n".join(map(str.strip, text.splitlines())))
    text = LINE_BREAK.sub("\n", text)
    around = AROUND_ALL.fullmatch(text)
    if around and not re.search(rf"</{around[1]}>", around[2], re.IGNORECASE):
        return around[2]
    for _ in range(MOST):
        tag = LAST_TAG.search(text, max(0, len(text) - LONGEST_TAG))
        # one that nothing opens
        if tag is None or re.search(rf"<{tag[1]}[\s>]", text, re.IGNORECASE):
            break
        text = text[: tag.start()]
    return text


def _out_of_table(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    rows = [ROW.fullmatch(line) for line in lines]
    if not lines or not all(rows):
        return text
    cells = [[cell.strip() for cell in row[1].split("|")] for row in rows if row]
    body = [row for row in cells if not all(map(RULE_CELL.fullmatch, row))]
    head = body[0] if len(body) == 2 and len(body) < len(cells) else [""] * len(body[-1]) if body else []
    if len(body) - (head is body[0] if body else 0) != 1:
        return text
    row = body[-1]
    named = [cell for name, cell in zip(head, row, strict=False) if SUMMARY_CELL.fullmatch(name)]
    others = named or [cell for cell in row if not SUMMARY_CELL.fullmatch(cell)]
    return others[0] if len(others) == 1 else text


def _without_quotation(text: str) -> str:
    lines = text.splitlines()
    is_quotation = lines and all(line.lstrip().startswith(">") for line in lines if line.strip())
    return "\n".join(line.lstrip().removeprefix(">").strip() for line in lines) if is_quotation else text


def _without_item(text: str) -> str:
    return _without_mark(text, ITEM)


def _without_bullet(text: str) -> str:
    # not of a list in one line
    return text if INNER_BULLET.search(text, 2) else _without_mark(text, BULLET)


def _without_mark(text: str, mark: "re.Pattern[str]") -> str:
    item = mark.match(text)
    return text[item.end() :] if item and not LATER_ITEM.search(text) else text


def _without_heading(text: str) -> str:
    return LAST_RULE.sub("", HEADING.sub("", text, count=1) if HEADING.match(text) else text)


def _without_bold(text: str) -> str:
    mark = BOLD.match(text)
    if text.count("**") == 1 and (HALF_BOLD.match(text) or text.endswith("**")):
        # the other of two marks was cut off
        return text.removeprefix("**").removesuffix("**")
    if mark is None:
        return text
    inside = text.removeprefix(mark[1]).removesuffix(mark[1])
    is_around = len(inside) == len(text) - 2 * len(mark[1]) and mark[1] not in inside
    return inside if is_around else text


def _without_other_quotes(text: str) -> str:
    closing = PAIRS.get(text[:1])
    inside = text[1:-1]
    if closing is None or len(text) < 2 or text[-1] not in closing or text.startswith("```"):
        return text
    # two quotations: one closes within, and another opens behind it
    first = re.search(rf"(?<=[\w.,!?])[{closing}](?=[\s,.;])", inside)
    return text if first and re.search(rf"\s[{text[0]}](?=\w)", inside[first.end() :]) else inside


MARKS = (_without_quotation, _without_heading, _without_bullet, _without_bold)
