"""The grade in a judge's reply, or None: a reply that can be read in two ways has said nothing.

Source: docs/papers.md#ri-verdicts and #ri-attempts; what a model thought before it answered is taken off by the rule for all
replies (`text.thoughts`).
"""

import math
import re
import unicodedata
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

PLAIN_NUMBER = r"[-+]?\d+(?:\.\d+)?"
# as some write what a template has as <number>
BRACKETED = re.compile(rf"<\s?({PLAIN_NUMBER})\s?>")
# a number that is not part of a longer number or a word, no percentage, and no bound ("<4", "> 3")
NUMBER = r"(?<![\w.<\u2264\u2265])(?<![\s:]>)(?<![<\u2264\u2265]\s)(?<![\s:]>\s)" + PLAIN_NUMBER + r"(?!\w|\.\d|\s*%)"
DENOMINATOR = rf"\s*(?:/|\bout\s+of\b)\s*({NUMBER})"
OF = r"(?:out\s+of|of|von|sur|de|su|z|van\s+de|из)"
# behind a grade that has its name, where other words say the scale, too
SCALE = (
    rf"[\s,(\uff08]*(?:/|\b{OF}\b(?:\s+a\b)?(?:\s+(?:possible|maximum(?:\s+of)?)\b)?"
    r"|\u6ee1\u5206|\u6eff\u5206|\b(?:on|from|in)\s+a\s+scale\s+(?:of|from|to)(?:\s+\d+\s*(?:to|-))?)"
    rf"\s*(?P<scale>{PLAIN_NUMBER})"
)
# behind it, too: it is a range, one of two, or reckoned with
SEVERAL = re.compile(
    rf"\s*(?:\b(?:or|to|minus|plus)\s+{NUMBER}|[-~+]\s?{NUMBER}(?=\s*(?:$|[^\w\s]))|[,;]\s*{NUMBER}\s*(?:$|\n))"
)
WORD = "|".join(NUMBER_WORDS)
QUOTES = r"[\"'\u201c\u201d\u2018\u2019]*"

ALONE = re.compile(rf"({NUMBER}|{WORD})(?:\s*(?:/|\b{OF}\b)\s*({NUMBER}|{WORD}))?\s*[.!,;:)\]]*")
# names of a grade, also in the languages of a user's own template, where the word means nothing else
LABELS = (
    r"score|rating|(?P<counting>coverage|faithfulness|answer)|grade|bewertung|punktzahl|puntuaci[oó]n|calificaci[oó]n|pontuação"
    "|valutazione|punteggio|оценка|评分|得分|分数|評価|スコア|점수"
)
LABELLED = re.compile(
    rf"\b(?:{LABELS})\b{QUOTES}\s*(?:\b(?:is|of)\b\s*)?(?P<sign>[:\uff1a]?\s*=?)\s*{QUOTES}(?P<value>{NUMBER})(?:{SCALE})?"
)
# names of a grade that mean other things as well ("note"), or of languages that a judge was not asked in: they count on a line
# that has nothing but the grade
NAMES = "|".join(
    """
    note wertung gesamtnote gesamtbewertung gesamtwertung punkte notation évaluation appréciation nota puntaje valoración
    evaluación avaliação classificação voto giudizio beoordeling cijfer waardering ocena hodnocení známka betyg poäng poeng
    karakter vurdering arvosana puan skor nilai điểm βαθμολογία σκορ балл баллы рейтинг оцінка التقييم الدرجة ציון अंक स्कोर คะแนน
    打分 评价 評分 分數 評價 採点 点数 得点 스코어 평점
    """.split()
)
LINE_OF_GRADE = re.compile(
    r"^[^\w\n]*(?:(?:la|die|il|het|a|итоговая|общая|final|최종)\s|最终|最終|总|総合)?"
    rf"(?:{LABELS}|{NAMES})(?:\s(?:finale?|globale?|general|geral|totale?|complessiv[ao]))?\s?"
    r"(?:[:\uff1a=]|\s-\s|\b(?:est|ist|es|è|é)\b(?:\sde\b)?|是|為|为|は|은|는)"
    rf"\s*(?P<value>{PLAIN_NUMBER})(?:{SCALE})?\s?(?:です|입니다)?[^\w\n%]*$",
    re.MULTILINE,
)
# words before a number that say that it is the grade, with a few between, and what follows one that counts nothing
GIVING = (
    r"\b(?:scor|rat|grad|giv|gave|assign|award|deserv|merit|earn|say|said|think|choose|pick|judg|verdict|evaluat|mark|result|final"
    r"|overall|conclu|boxed|scale)\w*"
)
BETWEEN = (
    r"(?:\s+(?:it|this|that|the|summary|an?|is|be|to|of|as|at|with|only|would|just|my|me|number|value|overall)\b){0,4}"
)
ENDING = r"(?=\s*(?:$|[^\w\s%-]|-(?!\w)|\n|(?:and|but|because|since|as|for|so|given|due|stars?|here|again|overall)\b))"
FRACTION = re.compile(rf"({NUMBER}){DENOMINATOR}")
# one that counts points of the text, or anything else ("4 out of 5 customers"), is none, unless somebody gives them
GIVEN_FRACTION = re.compile(rf"{GIVING}{BETWEEN}\W{{0,8}}{FRACTION.pattern}")
COUNTED = re.compile(
    r"\s+(?:of\s+[^\W\d]|(?:\w+\s)?(?:points?|facts?|claims?|statements?|documents?|sentences?"
    r"|aspects?|reviews?|details?|arguments?|topics?|opinions?|sides?|people)\b)"
)
# behind "4 out of 5", and not behind "4/5", where a word that ends so may be what the summary does ("covers")
PLURAL = r"\s+(?:\w[\w-]*\s)?(?:(?!(?:stars|always|perhaps)\b)[^\W\d_]{3,}[^\W\d_su]s)\b"
COUNTING_FRACTION = re.compile(f"{FRACTION.pattern}{COUNTED.pattern}" + rf"|{NUMBER}\s*\bout\s+of\b\s*{NUMBER}{PLURAL}")
# characters before a grade that are looked at for a denial of it
LONGEST_DENIAL = 100
# before the word that gives a grade: it is not given; a summary's faults ("does not mention prices, so I give it a 3") deny none
DENIED = re.compile(
    r"(?:\b(?:not|never|cannot|nor)\b|n['\u2019]t\b)"
    r"(?:\s(?:think|believe|say|feel|see|know|how|why|that|i|we|you|one|it|this|can|could|would|should|will|do|be|is|able|possible"
    r"|willing|going|ready|to|ever|really|fairly|honestly|reasonably|justify))*\s$"
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
    plain = unicodedata.normalize("NFC", without_thoughts(reply).text)
    # long runs of white space take the square of their time in patterns
    text = "\n".join(" ".join(line.split()) for line in plain.splitlines() if line.strip())
    text = POINTS.sub(" ", DECIMAL_COMMA.sub(".", text.translate(BLANKS).translate(HYPHENS).lower()))
    text = BRACKETED.sub(r" \1 ", text)
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
    labelled = [match for match in LABELLED.finditer(text) if _is_grade(match)] or list(LINE_OF_GRADE.finditer(text))
    if labelled:
        is_several = any(SEVERAL.match(text, match.end()) for match in labelled)
        return None if is_several else _only([(match["value"], match["scale"]) for match in labelled], high)
    fractions = FRACTION.findall(text)
    if fractions and (len({_read(x) for x, _ in fractions}) == 1 or _other_scale(fractions, high)):
        counts = COUNTING_FRACTION.search(text) and not GIVEN_FRACTION.search(text)
        return None if counts else _only(fractions, high)
    marker = LIST_MARKER.match(text)
    listed = text[marker.end() :] if marker else ""
    list_text = listed if re.search(NUMBER, listed) else text
    numbers = re.findall(NUMBER, list_text)
    if numbers and (LIST_BEGINS.match(list_text) or not _is_meant(list_text)):
        # a number in a sentence counts something else
        return None
    if not numbers and len(text.split()) <= 4:
        numbers = [word for word in re.findall(r"[^\W\d_]+", text) if word in NUMBER_WORDS]
    return _only([(number, "") for number in numbers], high)


def _is_grade(match: re.Match[str]) -> bool:
    """Whether the number behind its name is a grade, and counts nothing ("coverage of 4 sides", "coverage: 4 of 5 points")."""
    if not match["counting"]:
        return True
    following = match.string[match.end() :]
    is_given = match["scale"] or match["sign"] or re.match(ENDING, following)
    return bool(is_given) and not COUNTED.match(following)


def _is_meant(text: str) -> bool:
    """Whether a number is given as the grade, and not denied ("I cannot give it a 4")."""
    starts = (match.start() for match in MEANT.finditer(text))
    return any(not DENIED.search(text[max(0, start - LONGEST_DENIAL) : start]) for start in starts)


def _only(found: Sequence[tuple[str, str | None]], high: float) -> float | None:
    """The one distinct value among (value, denominator) pairs; None for several, or when a denominator is another scale's."""
    values = {_read(value) for value, _ in found}
    return values.pop() if len(values) == 1 and not _other_scale(found, high) else None


def _other_scale(values: Sequence[tuple[str, str | None]], high: float) -> bool:
    return any(denominator and _read(denominator) != high for _, denominator in values)


def _read(text: str) -> float:
    return NUMBER_WORDS[text] if text in NUMBER_WORDS else float(text)
