"""What of a model's reply is its answer, and what of the answer is the summary: one reading for all methods and backends.

A reply may hold a train of thought, marks of turns, the role's name, further turns, and the answer may stand in tags, in a block
of code, in an object of JSON, or behind words that announce it. All of that is taken off and said; nothing else is changed.
"""

import re
import string
from collections.abc import Callable
from dataclasses import dataclass

from ..text import has_words
from ..text.chat_marks import MARK, TURN, without_end_marks
from ..text.thoughts import without_thoughts
from .announcements import announced
from .containers import Contents, out_of_box, out_of_fence, out_of_object, out_of_tags
from .markup import unmarked, unwrapped
from .unmarked_thoughts import behind_notes, behind_thoughts

# one more with every change of what is taken off
VERSION = 5

THOUGHT, PREAMBLE, TRAILING = "thought", "preamble", "trailing"
# the role of an answer, as templates write it before one, where the marks around it are gone or still there
ROLE = re.compile(
    r"\s*(?:(?-i:assistant|model)(?=[A-Z\"\u201c*\u2018])|(?-i:assistant)(?=[^\x00-\u024f])"
    r"|(?-i:assistant[ \t](?=[A-Z\d\"\u201c'\u2018*_`>#-]))"
    r"|(?:assistant|model|ai|final)[ \t]*(?=\n)|assistant[ \t]*:"
    r"|\*\*(?:assistant|ai|model)(?::\*\*|\*\*:)|#{2,6}[ \t]*(?:assistant|response|answer|ai|model)[ \t]*:)",
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
# what a model says at the end of its summary, to who asked, and the count of its words
CLOSING = re.compile(
    r"(?:\s{1,9}\(?(?:(?:word count|words)[ \t]?[:=][ \t]?\d{1,4}(?: words?)?\)?|\(\d{1,4} words?\)|(?<=\n)\d{1,4} words?)\.?"
    r"|(?<=[.!?\"\u201d*)])\s{1,9}(?:please )?(?:let me know (?:if|whether)|feel free to"
    r"|i hope (?:this|that) (?:helps|summary|is)|hope this helps|would you like me to)\b[^.!?\n]{0,200}[.!?]{0,2}){1,3}\Z",
    re.IGNORECASE,
)
LONGEST_CLOSING = 400
# white space, a byte order mark and other characters that nobody sees, before a reply
UNSEEN_FIRST = f"{string.whitespace}\ufeff\u200b\u2060"
# what is taken off one after the other
MOST = 6


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
    return _turn(reply)[0]


def _turn(reply: str) -> tuple[ReplyText, bool]:
    """The model's own turn, and whether a mark or its name opened it."""
    answer = without_thoughts(reply.lstrip(UNSEEN_FIRST))
    bare = without_end_marks(answer.text)
    text = _begun(bare)
    is_role = text != bare
    read = ReplyText(text).but(text, *([THOUGHT] if answer.has_thought else []))
    struck = text.lower().find("<s>")
    # "</s>" may close a passage that "<s>" strikes out
    ends = (mark for mark in NEXT.finditer(text) if mark[0].lower() != "</s>" or not 0 <= struck < mark.start())
    after = next(ends, None)
    if after is None:
        return read, is_role
    rest = has_words(MARK.sub(" ", text[after.end() :]))
    return read.but(without_end_marks(text[: after.start()]), *([TRAILING] if rest else [])), is_role


def summary_of(reply: str) -> ReplyText:
    """The summary in a reply, without what wraps or announces it. A plain one stays, stripped, with all of its paragraphs.

    >>> summary_of("Sure! Here is the summary:\\n\\n**The left wants it.**")
    ReplyText(text='The left wants it.', issues=('preamble',))
    """
    read, is_role = _turn(reply)
    # what follows the name of who answers is marked as what follows an announcement is
    read = read.but(unmarked(read.text)) if is_role else read
    for _ in range(MOST):
        before = read
        for take in TAKES:
            read = take(read)
        if read == before:
            break
    return read


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


def _out_of(container: Callable[[str], Contents | None]) -> Callable[[ReplyText], ReplyText]:
    def take(read: ReplyText) -> ReplyText:
        contents = container(read.text)
        if contents is None:
            return read
        issues = [PREAMBLE] * has_words(contents.before) + [TRAILING] * has_words(contents.behind)
        return read.but(contents.text.strip(), *issues)

    return take


def _behind_notes(read: ReplyText) -> ReplyText:
    text = behind_thoughts(read.text)
    if text != read.text:
        return read.but(text, THOUGHT)
    text = behind_notes(read.text)
    return read if text == read.text else read.but(text, PREAMBLE)


def _unwrapped(read: ReplyText) -> ReplyText:
    return read.but(unwrapped(read.text))


def _unclosed(read: ReplyText) -> ReplyText:
    text = read.text.rstrip()
    end = CLOSING.search(text, max(0, len(text) - LONGEST_CLOSING))
    if end is None or not has_words(text[: end.start()]):
        return read
    return read.but(text[: end.start()].strip(), TRAILING)


def _unannounced(read: ReplyText) -> ReplyText:
    begin = announced(read.text)
    return read.but(unmarked(read.text[begin:].strip()), PREAMBLE) if begin else read


# one after the other, and again until nothing is taken off
TAKES = (
    *map(_out_of, (out_of_tags, out_of_fence, out_of_object, out_of_box)),
    _unwrapped,
    _behind_notes,
    _unannounced,
    _unclosed,
)
