"""The output contract: a summary opens with the words asked for, names its own side, says something and is as long as asked.

A model's output is cleaned of what stands around the summary and then checked. It is never repaired: what breaks the contract
is flagged, counted and judged as it is.

Source: docs/papers.md#ri-contract; there the opening is "The Left" or "The Right" and the number is one.
"""

import re
from dataclasses import dataclass

import regex

from ..records import REFUSAL, Contract
from ..text import IDEOGRAPHIC, fold, has_words, n_words
from ..text import words as words_of
from ..text.forms import LINE_END, normal_form, without_break
from .markup import unmarked, unquoted
from .refusals import is_refusal
from .reply_text import PREAMBLE, THOUGHT, TRAILING, ReplyText, summary_of

CLOSING_QUOTES = "\"'\u201d\u2019\u00bb"
# words whose full stop ends no sentence
ABBREVIATIONS = frozenset((
    "Mr", "Mrs", "Ms", "Dr", "Drs", "Messrs", "St", "Mt", "Sen", "Sens", "Rep", "Reps", "Gov", "Govs", "Lt",
    "Col", "Capt", "Maj", "Sgt", "Cmdr", "Adm", "Rev", "Hon", "Atty", "Jr", "Sr", "v", "vs", "No", "Gen", "U.S", "D.C",
    "Inc", "Prof",
    # of languages whose nouns have capitals, or whose titles stand before names
    "z.B", "d.h", "u.a", "bzw", "inkl", "evtl", "sog", "ggf", "vgl", "bspw", "Hr", "Fr",
    "Mio", "Mrd", "sig", "dott", "avv", "Sra", "Dra", "EE.UU",
    "\u0921\u0949", "\u092a\u094d\u0930\u094b",
    "Nr", "Ing", "Dipl", "Sig", "Dott", "Avv", "Spett", "Egr", "dhr", "Dhr", "mevr", "Mevr", "mw", "Mw", "drs", "Srta",
    "D\u00f1a", "Avda", "Exmo", "in\u017c", "\u015bw", "nap\u0159", "tzv",
    "f.eks", "t.ex", "Sn", "Do\u00e7", "\u0443\u043b", "\u043f\u0440\u043e\u0444", "\u0430\u043a\u0430\u0434",
))  # fmt: skip
# words that announce a statement and make none: of saying and thinking, articles, pronouns, auxiliaries
ANNOUNCING = frozenset("""
    argue argues argued arguing assert asserts asserted believe believes believed believing claim claims claimed claiming
    contend contends contended feel feels felt hold holds held insist insists insisted maintain maintains maintained mention
    mentions mentioned note notes noted point points pointed out report reports reported say says said saying state states stated
    stating suggest suggests suggested think thinks thought thinking write writes wrote
    argument belief claim opinion perspective position stance statement summary view viewpoint
    a an the this that these those which what who how why it its he she they them his her their there s
    and or but as so because if in of to on about follows
    am is are was were be been being has have had do does did will would shall should can could may might must not also
""".split())  # fmt: skip
BLANK_LINE = re.compile(r"\n\s*\n")
# characters in which the longest of the openings ends that begin like the one asked for
LONGEST_OPENING = 200
# characters before a mark among which the word that it belongs to is looked for
LONGEST_WORD = 64
# lines that announce one after the other
MOST_LINES = 4
# a first line that announces what follows it
ANNOUNCEMENT = re.compile(r"[^\n]*:[ \t]*\n\s*(?=\S)")
# a mark that may end a sentence, closing quotes after it, and the first letter of what follows
MARK = re.compile(rf"([.!?])[{CLOSING_QUOTES}]*\s+[\u00bf\u00a1]*(?=(\w))")
# the same where what follows is quoted, which counts in scripts without capitals only
QUOTED_NEXT = re.compile(rf"([.!?])[{CLOSING_QUOTES}]*\s+[\"'\u00ab\u2018\u201c\u201e(]+(?=(\w))")
# marks that end a sentence wherever they stand, whatever closes it, and what follows: those of Chinese, Japanese, Hindi, Arabic,
# Armenian, Amharic, Burmese, Khmer and many others; not the full stop in its many widths, nor Burmese's comma
OWN = r"[\p{Sentence_Terminal}\u17d4\u17d5]--[.!?\uff0e\ufe52\u2024\u104a]"
# from the first mark of a run on, and without a second look at what was read
OWN_MARK = regex.compile(
    rf"(?V1)(?<![{OWN}])[{OWN}]++[\p{{Pe}}\p{{Pf}}\"'\u00bb\s]*+[\p{{Ps}}\p{{Pi}}\"'\u00ab\s]*+(?=(\w))"
)
# a mark between letters of a script that has no spaces
IDEOGRAPHIC_MARK = regex.compile(rf"(?V1)(?<=[\p{{L}}&&[{IDEOGRAPHIC}]])[.!?\uff0e]+(?=[\p{{L}}&&[{IDEOGRAPHIC}]])")
# scripts that do not mark where a sentence ends, or mark clauses alike
UNMARKED, LETTER = regex.compile(r"(?V1)[\p{L}&&[\p{Thai}\p{Lao}\p{Tibetan}]]"), regex.compile(r"\p{L}")
LATIN = regex.compile(r"\p{Latin}")
# small letters of a script that is written without capitals
GEORGIAN = re.compile("[\u10d0-\u10ff]")
# "about n words" are from 0.4 to 2 times as many: 20 to 100 for 50, 40 to 200 for 100. Source:
# docs/papers.md#li-lengths
FEWEST, MOST = 0.4, 2.0
# the word that a full stop belongs to, with its inner full stops
LAST_WORD = regex.compile(r"\p{L}[\p{L}\p{M}]*(?:\.\p{L}[\p{L}\p{M}]*)*$")
# a German date, of whose number the full stop makes an ordinal ("am 3. Mai")
DATE = re.compile(
    r"(?<!\w)(?:am|vom|zum|beim|den|dem|der|des|seit|ab|bis)\s\d{1,2}\.\s+"
    r"(?:Januar|Februar|M\u00e4rz|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember)\b"
)
# characters of the longest one before its full stop, and behind it
BEFORE, BEHIND = 8, 12
# an issue that says what could not be checked
UNCOUNTED = "uncounted_sentences"


@dataclass(frozen=True)
class Checked:
    """A model's output after cleaning, and whether it keeps the contract."""

    # True when the text opens as asked, says something and is as long as asked
    ok: bool
    # what judges see; "" when there was nothing
    text: str
    # what was found, in this order: thought, empty, wrong_side, preamble, trailing, uncounted_sentences, missing_opener, refusal,
    # no_content, multi_sentence, few_sentences, few_words, many_words
    issues: tuple[str, ...]


def check_output(contract: Contract, text: str, *, whole: bool = False) -> Checked:
    """The cleaned output and what is wrong with it; `thought`, `preamble` and `trailing` are cleaned away and do no harm.

    `uncounted_sentences` does none either: it says that the number of sentences was not checked, because the text is in a script
    that does not mark where a sentence ends (Thai, Lao, Tibetan).

    Cleaning takes off what `reply_text.summary_of` does: the train of thought (`thought`), what wraps the summary, and words that
    announce it (`preamble`). So are words before the opening that end in a colon or a line break, and where the text has no such
    opening a first line that ends in a colon. Everything from the first blank line on goes (`trailing`), and white space is
    folded. A text that opens with another side's words is `wrong_side`, one that does not open as asked is `missing_opener`. One
    in which the model declines is a `refusal`. One that says nothing behind its opening ("The Right argues that.") is
    `no_content`. More sentences than asked are `multi_sentence`, fewer are `few_sentences`; they are not cut. Where about n words
    are asked for, fewer than 0.4 n are `few_words` and more than 2 n `many_words`. A `whole` text, which somebody else's system
    wrote, is checked as it stands: nothing around it is taken off.

    Source: docs/papers.md#ri-contract.
    """
    read = ReplyText(text.strip()) if whole else _summary(contract, text)
    text, cleaned = read.text, [issue for issue in read.issues if issue != THOUGHT]
    issues = [issue for issue in read.issues if issue == THOUGHT]
    if not text:
        return Checked(ok=False, text="", issues=(*issues, "empty", *cleaned))
    wrong_side = _opening_of(text, contract) in contract.other_openings
    issues += [*(["wrong_side"] if wrong_side else []), *cleaned]
    # before its line breaks are gone
    text = fold(LINE_END.sub(without_break, text))
    if contract.sentences is not None and not marks_sentences(text):
        issues.append(UNCOUNTED)
    opens = not wrong_side and contract.opening in (None, _opening_of(text, contract))
    if not opens and not wrong_side:
        issues.append("missing_opener")
    # a refusal may be put behind the opening that was asked for
    body = text.removeprefix(contract.opening or "").lstrip(" :,.-\u2013\u2014") if opens else ""
    harmful = [REFUSAL] if is_refusal(text) or is_refusal(body) else []
    harmful += [*([] if _says_something(text, contract) else ["no_content"]), *_length_issues(contract, text)]
    return Checked(ok=opens and not harmful, text=text, issues=(*issues, *harmful))


def _summary(contract: Contract, reply: str) -> ReplyText:
    """The summary's first paragraph, and what was taken off around it."""
    read = summary_of(reply)
    for _ in range(MOST_LINES):
        start = _preamble(read.text, contract)
        if not start:
            break
        rest = summary_of(unmarked(read.text[start:].strip()))
        read = read.but(rest.text, PREAMBLE, *rest.issues)
    while (rule := BLANK_LINE.search(read.text)) and not has_words(read.text[: rule.start()]):
        # a line across the page
        read = read.but(read.text[rule.end() :], PREAMBLE)
    if cut := BLANK_LINE.search(read.text):
        read = read.but(read.text[: cut.start()], TRAILING)
        first = unmarked(read.text) if PREAMBLE in read.issues else unquoted(read.text)
        read = read.but(first)
    return read


def _says_something(text: str, contract: Contract) -> bool:
    """Whether a word is left without the openings and the words that only announce a statement.

    One word is enough: "The Left objects." is short, and a statement. Other languages than English have no list, so that there
    any word behind the opening counts.
    """
    text = normal_form(text)
    for opening in filter(None, (contract.opening, *contract.other_openings)):
        # within the text the other side is "the Right"
        text = re.sub(re.escape(normal_form(opening)), " ", text, flags=re.IGNORECASE)
    return not ANNOUNCING.issuperset(words_of(text))


def _length_issues(contract: Contract, text: str) -> list[str]:
    issues = []
    surplus = 0
    if contract.sentences is not None and marks_sentences(text):
        surplus = count_sentences(text) - contract.sentences
    if surplus:
        issues.append("multi_sentence" if surplus > 0 else "few_sentences")
    if contract.words is not None and not FEWEST * contract.words <= (n := n_words(text)) <= MOST * contract.words:
        issues.append("few_words" if n < contract.words else "many_words")
    return issues


def count_sentences(text: str) -> int:
    """Sentences of a text that is not blank, at least 1; what follows the last mark counts as one.

    A sentence ends at ".", "!" or "?" and closing quotes before white space and an upper-case letter, or a letter of a script
    without capitals. A full stop after an abbreviation of the list, after a single letter or of a German date ends
    none. Marks that stand for nothing else ("\u3002", "\u0964", "\u061f") end one before anything but a small letter.
    A text of which nine letters of ten are Latin is read by the rule for capitals alone, whatever it quotes. The
    contract has this rule of its own, and not a sentence splitter's, so that a new version of a library cannot change
    who keeps the contract.
    """
    plain = normal_form(text)
    n = 1 + sum(_ends_sentence(plain, mark) for mark in MARK.finditer(plain))
    if plain.isascii() or 10 * len(LATIN.findall(plain)) > 9 * len(LETTER.findall(plain)):
        return n
    n += sum(_has_no_case(mark[2]) and _ends_sentence(plain, mark) for mark in QUOTED_NEXT.finditer(plain))
    n += sum(_has_no_case(mark[1]) or not mark[1].islower() for mark in OWN_MARK.finditer(plain))
    return n + len(IDEOGRAPHIC_MARK.findall(plain))


def marks_sentences(text: str) -> bool:
    """Whether the ends of a text's sentences can be told: less than half of its letters are Thai, Lao or Tibetan."""
    return text.isascii() or 2 * len(UNMARKED.findall(text)) < max(1, len(LETTER.findall(text)))


def _has_no_case(letter: str) -> bool:
    is_caseless = letter.isalpha() and not letter.islower() and not letter.isupper()
    return is_caseless or GEORGIAN.match(letter) is not None


def _ends_sentence(text: str, mark: "re.Match[str]") -> bool:
    if not mark[2].isupper() and not _has_no_case(mark[2]):
        return False
    if mark[1] != ".":
        return True
    word = LAST_WORD.search(text, max(0, mark.start() - LONGEST_WORD), mark.start())
    if word is None:
        return DATE.search(text, max(0, mark.start() - BEFORE), mark.end() + BEHIND) is None
    return word[0] not in ABBREVIATIONS and len(word[0].rpartition(".")[2]) > 1


def _opening_of(text: str, contract: Contract) -> str | None:
    """The opening that the text begins with, the longest where one is part of another; None when it is none of them."""
    text = normal_form(text).lstrip()
    forms = {o: normal_form(o) for o in (contract.opening, *contract.other_openings) if o}
    # not with a longer word ("The Leftovers")
    fitting = (
        o for o, form in forms.items() if text.startswith(form) and not text[len(form) : len(form) + 1].isalpha()
    )
    return max(fitting, key=len, default=None)


def _preamble(text: str, contract: Contract) -> int:
    """Length of what stands before the opening and ends in a colon or a line break; 0 when there is no such thing.

    Where no opening is asked for, or the text has none, it is a first line that ends in a colon ("Here is a summary:").
    """
    if _opening_of(text, contract) is not None:
        return 0
    opening = contract.opening or ""
    start = text.find(opening) if opening else -1
    while start > 0:
        end = start
        while end and text[end - 1] in " \t\r":
            end -= 1
        begun = text[start : start + len(opening) + LONGEST_OPENING]
        if text[end - 1 : end] in (":", "\n") and _opening_of(begun, contract) == opening:
            return start
        start = text.find(opening, start + 1)
    announcement = ANNOUNCEMENT.match(text)
    return announcement.end() if announcement else 0
