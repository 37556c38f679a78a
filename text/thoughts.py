"""Trains of thought in what a model writes, in whatever marks: they are no part of its answer.

Where a thought begins and ends is read from marks: tags of every family, channels of gpt-oss and Gemma, blocks of code, headings
such as "Thinking Process:". An end without a beginning ends the thoughts, because some chat templates open them in the prompt; a
beginning without an end was cut off, so that nothing follows it. A mark between quotes or backticks is a word that a text names.

Source: docs/papers.md#ri-attempts has the rule for <think>; the others are ours.
"""

import re
from typing import NamedTuple

LESS, MORE = r"\\?(?:<|&lt;|\uff1c)", r"\\?(?:>|&gt;|\uff1e)"
# "think", "seed:think", "longcat_think", "antThinking", "begin_of_thought"
NAMES = (
    r"(?:(?:[a-z]{1,12}[:_-]|ant)?(?:think(?:ing)?|thoughts?|reasoning|scratch[_-]?pad|(?:self[_-])?reflection|inner_?monologue|analysis"
    r"|rationale|planning)(?:[_-](?:process|content|block))?|chain[_-]of[_-]thought|cot|\u601d\u8003|\u63a8\u7406)"
)
# names that other texts have as well: their tags count where they begin a line
WEAK_NAMES = (
    r"(?:[a-z]{1,12}[_-])?(?:plan|notes?|work(?:ing)?|outline|brainstorm(?:ing)?|key[_ -]?points?|draft|steps|critique"
    r"|observations?|reason|monologue|deliberation|explanation|scratch)"
)
DETAILS = (
    r"<details\b[^<>]{0,200}(?:reasoning|thinking)[^<>]{0,200}>"
    r"|<details>\s{0,9}<summary>[^<>]{0,80}(?:think|thought|reason)[^<>]{0,80}</summary>"
)
OPENING = "|".join([
    rf"{LESS}\s?{NAMES}(?:\s[^<>\n]{{0,200}})?(?<!/){MORE}", rf"(?<![^\n])<{WEAK_NAMES}>",
    r"\[(?:THINK(?:ING)?|THOUGHT|REASONING)\]", r"\u25c1think\u25b7",
    r"<[|\uff5c](?:begin[_\u2581]of[_\u2581]thought|START_THINKING|start_thinking|think(?:ing)?|thought|inner_prefix|reasoning_start)[|\uff5c]>",
    # channels: of gpt-oss, and of Gemma
    r"<\|channel\|>\s?(?:analysis|commentary)[^<>\n]{0,200}(?:<\|message\|>)?", r"<\|channel>\s?[a-z]+\n?",
    # Gemma's, where its tokens are not named
    r"<unused94>(?:thought)?", "<!--",
    DETAILS,
])  # fmt: skip
CLOSING = "|".join([
    rf"{LESS}\s?[/\\]{{1,2}}\s?{NAMES}\s?{MORE}|{LESS}{NAMES}\s?/{MORE}",
    r"\[/(?:THINK(?:ING)?|THOUGHT|REASONING)\]", r"\u25c1/think\u25b7",
    r"<[|\uff5c](?:end[_\u2581]of[_\u2581]thought|END_THINKING|end_thinking|/think(?:ing)?|/thought|inner_suffix|reasoning_end)[|\uff5c]>",
    r"(?:<\|start\|>)?(?:assistant)?<\|channel\|>\s?final[^<>\n]{0,200}(?:<\|message\|>)?", r"<channel\|>",
    "<unused95>", rf"(?P<weak></details>|-->|</{WEAK_NAMES}>)",
    # what is left of channels where special tokens are not written, and what terminals write
    r"(?-i:assistantfinal)", r"\.\.\.\s?done thinking\.?",
])  # fmt: skip
OPEN_END = re.compile(rf"(?:{OPENING})\s*\Z", re.IGNORECASE)
MARK = re.compile(f"(?P<opening>{OPENING})|(?P<closing>{CLOSING})", re.IGNORECASE)
QUOTES = "`\"'\u201c\u201d\u2018\u2019"
# a block of code that says that it is a thought
FENCED = re.compile(
    r"\s*(?:```+|~~~+)[ \t]{0,3}(?:think(?:ing)?|thoughts?|reasoning|analysis|scratchpad)\b[^\n]{0,40}\n", re.IGNORECASE
)
FENCE = re.compile(r"^[ \t]{0,3}(?:```+|~~~+)[ \t]*$", re.MULTILINE)
AROUND = r"[ \t*_#>`]{0,12}"
# a text that begins so is a thought up to its answer
HEADED = re.compile(
    rf"\s*{AROUND}(?:thinking(?: process)?{AROUND}(?::|(?:\.\.\.|\u2026)?[ \t]*\n)|thought process{AROUND}[:\n]"
    rf"|(?:here is|here's|this is) my (?:thought process|thinking|reasoning){AROUND}[:\n]|chain[ -]of[ -]thought{AROUND}[:\n]"
    r"|(?-i:analysis(?=[A-Z])))",
    re.IGNORECASE,
)
# one that begins so is one where an answer follows
PERHAPS_HEADED = re.compile(
    rf"\s*{AROUND}(?:(?:my )?reasoning|my thought process|my thinking|thoughts?|analysis|step[ -]by[ -]step){AROUND}[:\n]",
    re.IGNORECASE,
)
ANSWER = re.compile(
    rf"^{AROUND}(?:(?:here is|here's) (?:my|the) (?:final )?(?:response|answer|summary)|(?:(?:my|the) )?"
    rf"(?:final |refined |revised )?(?:answer|summary|response|output|score|rating|grade|verdict)){AROUND}(?::{AROUND}|$)",
    re.IGNORECASE | re.MULTILINE,
)


class PlainReply(NamedTuple):
    """A reply without its thoughts."""

    # "" where it was cut off while thinking
    text: str
    # whether there were any
    has_thought: bool


def without_thoughts(reply: str, *, is_summary: bool = False) -> PlainReply:
    """The reply without what the model thought before it answered, in time that grows with its length.

    Args:
        reply: what a model wrote.
        is_summary: whether somebody took it for a summary, so that headings such as "Analysis:" may be its own: then what no
            marks tell is a thought only where it begins as one for sure and an answer follows.

    >>> without_thoughts("<think>Both sides.</think>The ferry sails.")
    PlainReply(text='The ferry sails.', has_thought=True)
    """
    answer = _without_headed(_without_fenced(_without_marked(reply)), is_summary=is_summary)
    if answer == reply:
        return PlainReply(reply, False)
    return PlainReply(answer.strip(), _n_letters(MARK.sub("", reply)) > _n_letters(answer))


def opens_thought(prompt_end: str) -> bool:
    """Whether what a chat template wrote at the end of a prompt opens a thought, so that the reply begins within it."""
    return OPEN_END.search(prompt_end) is not None


def _n_letters(text: str) -> int:
    return sum(map(str.isalnum, text))


def _without_marked(text: str) -> str:
    """What stands outside of marks."""
    pieces: list[str] = []
    # where what is kept goes on; None within a thought
    start: int | None = 0
    for mark in MARK.finditer(text):
        if _is_named(text, mark):
            continue
        if mark["opening"]:
            if start is not None:
                pieces.append(text[start : mark.start()])
                start = None
            continue
        if start is not None:
            # the end of a block that other texts have as well
            if mark["weak"]:
                continue
            # a thought that the prompt opened: whatever was before is part of it
            pieces.clear()
        start = mark.end()
    if start is None:
        return " ".join(pieces)
    return " ".join([*pieces, text[start:]]) if pieces else text[start:]


def _is_named(text: str, mark: "re.Match[str]") -> bool:
    before, behind = text[max(0, mark.start() - 1) : mark.start()], text[mark.end() : mark.end() + 1]
    return bool(before and behind) and before in QUOTES and behind in QUOTES


def _without_fenced(text: str) -> str:
    place = 0
    while begin := FENCED.match(text, place):
        end = FENCE.search(text, begin.end())
        place = end.end() if end else len(text)
    return text[place:]


def _without_headed(text: str, *, is_summary: bool) -> str:
    is_headed = HEADED.match(text)
    if not is_headed and (is_summary or not PERHAPS_HEADED.match(text)):
        return text
    answers = list(ANSWER.finditer(text))
    if answers:
        return text[answers[-1].end() :]
    return "" if is_headed and not is_summary else text
