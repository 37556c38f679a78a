"""What of a model's reply is its answer, and what of the answer is the summary: one reading for all methods and backends.

A reply may hold a train of thought, marks of turns, the role's name, further turns, and the answer may stand in tags, in a block
of code, in an object of JSON, or behind words that announce it. All of that is taken off and said; nothing else is changed.
"""

import json
import re
from dataclasses import dataclass

from ..text import has_words
from ..text.chat_marks import MARK, TURN, without_end_marks
from ..text.thoughts import without_thoughts
from .announcements import SUMMARY, announced

# one more with every change of what is taken off
VERSION = 2

THOUGHT, PREAMBLE, TRAILING = "thought", "preamble", "trailing"
# the role of an answer, as templates write it before one, where the marks around it are gone or still there
ROLE = re.compile(
    r"\s*(?:(?-i:assistant|model)(?=[A-Z\"\u201c*\u2018])|(?-i:assistant)(?=[^\x00-\u024f])"
    r"|(?:assistant|model|ai|final)[ \t]*(?=\n)|assistant[ \t]*:|#{2,6}[ \t]*(?:assistant|response|answer|ai|model)[ \t]*:)",
    re.IGNORECASE,
)
FIRST_MARK = re.compile(rf"\s*(?:{MARK.pattern})", re.IGNORECASE)
MARKED_ROLE = re.compile(r"\s*(?:assistant|model|ai|bot|chatbot|final)[ \t]*(?::|(?=[\n<\[]|\Z))", re.IGNORECASE)
# a further turn, named in words: a name glued to the end of a sentence, or at the beginning of a line
NEXT = re.compile(
    rf"{TURN.pattern}|(?<=[.!?\u2026\"'\u201d\u2019)\]])(?-i:assistant|user|model)[ \t]{{0,9}}(?=\n|\Z)"
    r"|\n[ \t]{0,9}(?:\#{1,6}[ \t]{0,3}|\*\*)?(?:human|user|instruction)(?:\*\*)?[ \t]{0,9}(?::|(?=\n)|\Z)"
    r"|\n[ \t]{0,9}(?:\#{1,6}[ \t]{0,3})?assistant[ \t]{0,9}(?::|(?=\n)|\Z)",
    re.IGNORECASE,
)
TAGS = r"(?:final[_ -]?|refined[_ -]?|revised[_ -]?|improved[_ -]?)?(?:summary|answer|response|output|result|solution)"
TAG = re.compile(rf"<({TAGS})>", re.IGNORECASE)
END_TAG = re.compile(rf"</{TAGS}>", re.IGNORECASE)
BEGIN_FENCE = re.compile(r"\s*(```+|~~~+)(?:[ \t]*[a-z]{0,12}[ \t]*\n)?", re.IGNORECASE)
# keys under which a summary stands in an object with other texts
KEYS = (
    "summary",
    "final_summary",
    "refined_summary",
    "revised_summary",
    "answer",
    "response",
    "output",
    "text",
    "content",
    "result",
)
# an object that was cut off
CUT_OBJECT = re.compile(r'\{\s*"[\w -]{1,40}"\s*:\s*"')
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
BOLD = re.compile(r"(\*{1,3}|_{1,3})(?=\S)")
ITEM = re.compile(r"(?:[-*+\u2022\u2013\u2014]|\d{1,2}[.)])[ \t]+(?=\S)")
LATER_ITEM = re.compile(rf"\n[ \t]{{0,9}}{ITEM.pattern}")
# what a model writes down before its summary, and the summary's own announcement further on
NOTES = re.compile(
    r"[\s*_#>]*(?:(?:let me|let's|let us)\b[^\n]{0,60}\b(?:think|reason|analy[sz]e|break|work|start|go)\b"
    r"|(?:first, )?(?:the )?(?:key|main) (?:points|facts|claims|arguments)\b[^\n]{0,60}[:*]"
    r"|(?:plan|notes|draft|\u601d\u8003(?:\u8fc7\u7a0b)?|denkprozess|raisonnement)[ \t*_]*[:\uff1a\n])",
    re.IGNORECASE,
)
LATER_SUMMARY = re.compile(
    rf"\n[ \t]{{0,9}}\n[\s*_#>]{{0,9}}(?:(?:therefore|so|thus|finally),? )?(?:the |my )?(?:final |revised |refined )?"
    rf"(?:{SUMMARY}|answer|\u7b54\u6848)(?: is)?[ \t*_]*[:\uff1a\n]",
    re.IGNORECASE,
)
# what a model says at the end of its summary, to who asked, and the count of its words
CLOSING = re.compile(
    r"(?:\s{1,9}\(?(?:(?:word count|words)[ \t]?[:=][ \t]?\d{1,4}(?: words?)?\)?|\(\d{1,4} words?\)|(?<=\n)\d{1,4} words?)\.?"
    r"|(?<=[.!?\"\u201d*)])\s{1,9}(?:please )?(?:let me know (?:if|whether)|feel free to"
    r"|i hope (?:this|that) (?:helps|summary|is)|hope this helps|would you like me to)\b[^.!?\n]{0,200}[.!?]{0,2}){1,3}\Z",
    re.IGNORECASE,
)
LONGEST_CLOSING = 400
# what is taken off one after the other, and quotes within quotes
MOST, MOST_QUOTES = 6, 20


@dataclass(frozen=True)
class ReplyText:
    """What was looked for in a reply."""

    text: str
    # what was taken off, in this order: thought, preamble, trailing
    issues: tuple[str, ...] = ()

    def but(self, text: str, *issues: str) -> "ReplyText":
        """Another text in its place, of which these were taken off, too."""
        order = (THOUGHT, PREAMBLE, TRAILING)
        return ReplyText(text, tuple(issue for issue in order if issue in self.issues or issue in issues))


def answer_of(reply: str) -> ReplyText:
    """The model's own turn without its thoughts; what follows the turn is `trailing`. A plain reply stays, stripped."""
    answer = without_thoughts(reply)
    text = _begun(without_end_marks(answer.text))
    read = ReplyText(text).but(text, *([THOUGHT] if answer.has_thought else []))
    struck = text.lower().find("<s>")
    # "</s>" may close a passage that "<s>" strikes out
    ends = (mark for mark in NEXT.finditer(text) if mark[0].lower() != "</s>" or not 0 <= struck < mark.start())
    after = next(ends, None)
    if after is None:
        return read
    rest = has_words(MARK.sub(" ", text[after.end() :]))
    return read.but(without_end_marks(text[: after.start()]), *([TRAILING] if rest else []))


def summary_of(reply: str) -> ReplyText:
    """The summary in a reply, without what wraps or announces it. A plain one stays, stripped, with all of its paragraphs.

    >>> summary_of("Sure! Here is the summary:\\n\\n**The left wants it.**")
    ReplyText(text='The left wants it.', issues=('preamble',))
    """
    read = answer_of(reply)
    for _ in range(MOST):
        before = read
        for take in (
            _out_of_tags,
            _out_of_fence,
            _out_of_object,
            _out_of_quotes,
            _out_of_notes,
            _unannounced,
            _unclosed,
        ):
            read = take(read)
        if read == before:
            break
    return read


def unmarked(text: str) -> str:
    """The text without quotes, bold letters, the mark of a list's only item or of a quotation around the whole of it."""
    for _ in range(MOST):
        before = text
        text = unquoted(text)
        for take in (_without_quotation, _without_item, _without_bold, _without_other_quotes):
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
    return "" if text in DOUBLE_QUOTES else text


def _begun(text: str) -> str:
    """The text from behind the marks and names that open a turn."""
    place = 0
    while mark := FIRST_MARK.match(text, place):
        place = mark.end()
        if role := MARKED_ROLE.match(text, place):
            place = role.end()
    if role := ROLE.match(text, place):
        place = role.end()
    return text[place:].strip()


def _out_of_tags(read: ReplyText) -> ReplyText:
    begin = TAG.search(read.text)
    if begin is None:
        end = END_TAG.search(read.text)
        return read.but(read.text[: end.start()].strip(), *_behind(read.text[end.end() :])) if end else read
    before, rest = read.text[: begin.start()], read.text[begin.end() :]
    end = re.search(rf"</{re.escape(begin[1])}>", rest, re.IGNORECASE)
    inside, behind = (rest[: end.start()], rest[end.end() :]) if end else (rest, "")
    return read.but(inside.strip(), *([PREAMBLE] if has_words(before) else []), *_behind(behind))


def _behind(text: str) -> list[str]:
    return [TRAILING] if has_words(text) else []


def _out_of_fence(read: ReplyText) -> ReplyText:
    begin = BEGIN_FENCE.match(read.text)
    if begin is None:
        return read
    inside, _, behind = read.text[begin.end() :].partition(begin[1])
    return read.but(inside.strip(), *_behind(behind))


def _out_of_object(read: ReplyText) -> ReplyText:
    text = read.text
    if text[:1] not in ("{", "["):
        return read
    try:
        value, end = json.JSONDecoder(strict=False).raw_decode(text)
    except (ValueError, RecursionError):
        begin = CUT_OBJECT.match(text)
        return read.but(text[begin.end() :].replace('\\"', '"').replace("\\n", "\n").rstrip('"} \n')) if begin else read
    inside = _only_text(value)
    # "[sic] ..." begins a text
    if text.startswith("[") and has_words(text[end:]):
        return read
    return read if inside is None else read.but(inside.strip(), *_behind(text[end:]))


def _only_text(value: object) -> str | None:
    """The one text of an object, or that under a key of a summary; None without one."""
    for _ in range(MOST):
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        elif isinstance(value, dict):
            texts = [each for each in value.values() if isinstance(each, str | dict)]
            named = {key.lower(): each for key, each in value.items()}
            value = texts[0] if len(texts) == 1 else next((named[key] for key in KEYS if key in named), None)
        else:
            break
    return value if isinstance(value, str) else None


def _out_of_quotes(read: ReplyText) -> ReplyText:
    return read.but(unquoted(read.text))


def _out_of_notes(read: ReplyText) -> ReplyText:
    later = LATER_SUMMARY.search(read.text) if NOTES.match(read.text) else None
    return read.but(read.text[later.end() :].strip(), PREAMBLE) if later else read


def _unclosed(read: ReplyText) -> ReplyText:
    text = read.text.rstrip()
    end = CLOSING.search(text, max(0, len(text) - LONGEST_CLOSING))
    if end is None or not has_words(text[: end.start()]):
        return read
    return read.but(text[: end.start()].strip(), TRAILING)


def _unannounced(read: ReplyText) -> ReplyText:
    begin = announced(read.text)
    return read.but(unmarked(read.text[begin:].strip()), PREAMBLE) if begin else read


def _without_quotation(text: str) -> str:
    lines = text.splitlines()
    is_quotation = lines and all(line.lstrip().startswith(">") for line in lines if line.strip())
    return "\n".join(line.lstrip().removeprefix(">").strip() for line in lines) if is_quotation else text


def _without_item(text: str) -> str:
    item = ITEM.match(text)
    return text[item.end() :] if item and not LATER_ITEM.search(text) else text


def _without_bold(text: str) -> str:
    mark = BOLD.match(text)
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
