"""The grade in a judge's reply, or None: a reply that can be read in two ways has said nothing.

Source: docs/papers.md#ri-verdicts and #ri-attempts; what a model thought before it answered is taken off by the rule for all
replies (`text.thoughts`).
"""

import math
import re
from collections.abc import Sequence

from ..text.thoughts import without_thoughts

NUMBER_WORDS = {
    word: float(value) for value, word in enumerate("zero one two three four five six seven eight nine ten".split())
}

BLANKS = str.maketrans("*`#", "   ")
# as most languages but English write a fraction
DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d{1,2}(?!\d))")
# points of a grade, in Chinese, Japanese and Korean
POINTS = re.compile(r"(?<=\d)\s?[\u5206\u70b9\uc810](?!\w)")
# figure, en and em dash, horizontal bar, minus sign
HYPHENS = str.maketrans("\u2012\u2013\u2014\u2015\u2212", "-----")

# a number that is not part of a longer number or a word
NUMBER = r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?!\w|\.\d)"
DENOMINATOR = rf"\s*(?:/|\bout\s+of\b)\s*({NUMBER})"
WORD = "|".join(NUMBER_WORDS)
QUOTES = r"[\"'\u201c\u201d\u2018\u2019]*"

ALONE = re.compile(rf"({NUMBER}|{WORD})(?:\s*(?:/|\bout\s+of\b)\s*({NUMBER}|{WORD}))?\s*[.!,;:)\]]*")
LABELLED = re.compile(
    r"\b(?:score|rating|coverage|faithfulness|answer|grade"
    # in the languages of a user's own template, where the word means nothing else
    r"|bewertung|punktzahl|puntuaci\u00f3n|calificaci\u00f3n|pontua\u00e7\u00e3o|valutazione|punteggio|\u043e\u0446\u0435\u043d\u043a\u0430"
    r"|\u8bc4\u5206|\u5f97\u5206|\u5206\u6570|\u8a55\u4fa1|\u30b9\u30b3\u30a2|\uc810\uc218)\b"
    rf"{QUOTES}\s*(?:\b(?:is|of)\b\s*)?[:\uff1a]?\s*=?\s*{QUOTES}({NUMBER})(?:{DENOMINATOR})?"
)
# words before a number that say that it is the grade, with a few between, and what follows one that counts nothing
GIVING = (
    r"\b(?:scor|rat|grad|giv|gave|assign|award|deserv|merit|earn|say|said|think|choose|pick|judg|verdict|evaluat|mark|result|final"
    r"|overall|conclu|boxed|scale)\w*"
)
BETWEEN = (
    r"(?:\s+(?:it|this|that|the|summary|an?|is|be|to|of|as|at|with|only|would|just|my|me|number|value|overall)\b){0,4}"
)
ENDING = r"(?=\s*(?:$|[^\w\s%]|\n|(?:and|but|because|since|as|for|so|given|due|stars?|here|again|overall)\b))"
FRACTION = re.compile(rf"({NUMBER}){DENOMINATOR}")
# one that counts points of the text ("4 out of 5 key points") is none, unless somebody gives them
GIVEN_FRACTION = re.compile(rf"{GIVING}{BETWEEN}\W{{0,8}}{FRACTION.pattern}")
COUNTING_FRACTION = re.compile(
    rf"{FRACTION.pattern}\s+(?:of\s+(?:the|its|all|these)\b|(?:\w+\s)?(?:points?|facts?|claims?|statements?|documents?|sentences?"
    r"|aspects?|reviews?|details?|arguments?|topics?|opinions?)\b)"
)
MEANT = re.compile(
    rf"(?:^[^\w\n+-]*|{GIVING}{BETWEEN}(?:\s-\s|[^\w+-]{{0,8}})|\b(?:is|be|it'?s|was)\s+an?\s+)(?P<value>{NUMBER}){ENDING}",
    re.MULTILINE,
)
# what begins a list of several, unless it ends there: the first of them has the number 1
LIST_BEGINS = re.compile(r"\s*1[.)]\s+\S")
LIST_MARKER = re.compile(r"\s*\d+[.)]\s")


def parse_judge(reply: str, low: float, high: float, integer_only: bool = False) -> float | None:
    """The grade that the reply gives, in [low, high]; None when it gives none, several, or one off the scale.

    Args:
        reply: what the judge wrote.
        low: lowest grade of the scale.
        high: highest grade of the scale.
        integer_only: a fractional grade is None, too.
    """
    text = _prepared(reply, low, high)
    value = _value(text, high) if text else None
    if value is None or not math.isfinite(value) or not low <= value <= high:
        return None
    return None if integer_only and not value.is_integer() else value


def _prepared(reply: str, low: float, high: float) -> str:
    """Steps 1 and 2: the reply in lower case without thoughts, markup and echoes of the scale."""
    text = without_thoughts(reply).text
    text = POINTS.sub(" ", DECIMAL_COMMA.sub(".", text.translate(BLANKS).translate(HYPHENS).lower()))
    first, last = re.escape(f"{low:g}"), re.escape(f"{high:g}")
    echo = (
        rf"\(?\s*(?<![\w.]){first}\s*(?:-|~|\bto\b|\bthrough\b)\s*{last}(?!\w|\.\d)\s*(?:only\b|scale\b)?\s*\)?"
        rf"|\bscale\s+of\s+{last}(?!\w|\.\d)"
    )
    return re.sub(echo, " ", text).strip()


def _value(text: str, high: float) -> float | None:
    """Steps 3 to 8: the one value of the first rule that finds any; in running text it must be given as the grade."""
    alone = ALONE.fullmatch(text.splitlines()[0].strip())
    if alone:
        return _only([(alone.group(1), alone.group(2))], high)
    labelled = LABELLED.findall(text)
    if labelled:
        return _only(labelled, high)
    fractions = FRACTION.findall(text)
    if fractions and (len({_read(x) for x, _ in fractions}) == 1 or _other_scale(fractions, high)):
        counts = COUNTING_FRACTION.search(text) and not GIVEN_FRACTION.search(text)
        return None if counts else _only(fractions, high)
    marker = LIST_MARKER.match(text)
    listed = text[marker.end() :] if marker else ""
    list_text = listed if re.search(NUMBER, listed) else text
    numbers = re.findall(NUMBER, list_text)
    if numbers and (LIST_BEGINS.match(list_text) or not MEANT.search(list_text)):
        # a number in a sentence counts something else
        return None
    if not numbers and len(text.split()) <= 4:
        numbers = [word for word in re.findall(r"[^\W\d_]+", text) if word in NUMBER_WORDS]
    return _only([(number, "") for number in numbers], high)


def _only(found: Sequence[tuple[str, str | None]], high: float) -> float | None:
    """The one distinct value among (value, denominator) pairs; None for several, or when a denominator is another scale's."""
    values = {_read(value) for value, _ in found}
    return values.pop() if len(values) == 1 and not _other_scale(found, high) else None


def _other_scale(values: Sequence[tuple[str, str | None]], high: float) -> bool:
    return any(denominator and _read(denominator) != high for _, denominator in values)


def _read(text: str) -> float:
    return NUMBER_WORDS[text] if text in NUMBER_WORDS else float(text)
