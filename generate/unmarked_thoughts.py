"""Thoughts and notes before a summary that no marks tell from it: "Okay, the user wants ...", "Key points:".

A text is a thought only where its first words speak of the task itself: of the user who wants it, or of having to summarise the
texts. The summary is then what the model announces as such, and where it announces nothing the last paragraph; where that goes on
thinking, or there is no other, the reply was cut off inside its thought, and nothing is left. Read are English, and the commonest
beginnings in seven other languages. A thought that begins in another way ("First, I need to read what the left says") cannot be
told from a summary in somebody's words, and stays.
"""

import re

from .announcements import SUMMARY, announced
from .refusals import is_attributed

# ruff: noqa: RUF001
SAME = r"[^.!?\n]{0,120}?"
WELL = r"(?:(?:okay|ok|al(?:l )?right|right|hmm+|well|so|now|first(?:ly| of all)?|good|let(?:'s| me) see)[,.!: …]{1,5}){0,3}"
TEXTS = r"(?:texts?|documents?|articles?|passages?|reviews?|excerpts?|perspectives?)\b"
THE_TEXTS = rf"(?:these|those|the) (?:[\w-]+ )?{TEXTS}"
ONE_SENTENCE = r"\b(?:one|single|two|three)[ -]sentences?\b"
USER_WANTS = (
    r"(?:the )?user(?:'s)? (?:wants?|asks?|asked|is asking|has asked|needs?|requests?|requested|gave|provided|query)\b"
)
THOUGHTS = (
    # "the user wants me to summarise", "user is asking for a summary of the texts", "the user asked for one sentence"
    rf"{USER_WANTS}(?: (?:me|us) to (?:summar|write a|read the)|{SAME}\bsummar(?:i[sz]e|y (?:of|for|from)) {SAME}{TEXTS}"
    rf"|{SAME}{ONE_SENTENCE}|:? (?:me )?(?:to|for) (?:me )?(?:an? )?(?:[\w-]+ )?summar(?:y|i[sz]e)[.,:\n])",
    # "I need to summarise these texts", "we are asked to write one sentence of", "we have to summarise the left"
    r"(?:i|we)(?:'m|'re| am| are)? (?:need to|have to|must|should|want to|asked to|supposed to|tasked with|going to|will)\b"
    rf"(?:{SAME}{ONE_SENTENCE}(?: of| that| summar)|{SAME}summar\w* (?:of )?(?:the )?(?:left|right)\b"
    rf"|{SAME}summar\w*{SAME}\b{THE_TEXTS}|{SAME}\b{THE_TEXTS}{SAME}summar)",
    # "let me analyse the provided documents"
    rf"(?:let me|i'll|i will) [^.!?\n]{{0,30}}?(?:the )?(?:provided|given) {TEXTS}",
    # "let's tackle this. The user asked", "let me think before I write the summary", "let me summarise the texts"
    r"let(?:'s| me| us) (?:tackle|try|think|start|begin|go|look|read|see|break|figure|parse|analy[sz]e|work|process)\b"
    rf"[^\n]{{0,160}}?(?:\b{USER_WANTS}|\bi (?:write|have to|need to|should) {SAME}summar|(?<!\w)summar\w* {THE_TEXTS})",
    rf"let me summari[sz]e {THE_TEXTS}|(?:the|my) (?:task|goal|job)(?: here)? is to summar\w* {THE_TEXTS}",
    r"(?:(?:gut|also|d'accord|bien|bueno|vale|va bene|так|хорошо)[,.] )?(?:der (?:be)?nutzer (?:möchte|will|bittet)"
    r"|l'utilisateur (?:veut|demande|souhaite)|el usuario (?:quiere|pide|solicita)|l'utente (?:vuole|chiede)"
    r"|o usuário (?:quer|pede|pediu)|пользователь (?:хочет|просит))"
    r"[^.!?\n]{0,80}(?:zusammenfass|résum|resum|riassu|резюм|обобщ)",
    r"(?:好的?|嗯|首先)[，, ]{0,2}(?:用户|我(?:需要|要|必须))[^。\n]{0,40}(?:总结|摘要|概括)",
)
THINKING = re.compile(rf"\s*{WELL}(?:{'|'.join(THOUGHTS)})", re.IGNORECASE)
# a paragraph that still thinks: of the task, of what has been written, or in a list
GOES_ON = re.compile(
    rf"\b(?:{USER_WANTS}|(?:the )?user said|i (?:should|need to|must|have to|will|'ll|can) (?:\w+ )?"
    r"(?:write|name|mention|combine|make|keep|avoid|check|note|summar|start|be)"
    r"|let me (?:write|combine|check|draft|think|start|try|see|make)|(?:the|my) summary (?:should|must|needs)"
    r"|that (?:works|should work|seems good))\b|^(?:wait|hmm)\b|^(?:\W{0,3}\d{1,2}[.)]|[-*•])[ \t]",
    re.IGNORECASE | re.MULTILINE,
)
# what a model writes down before its summary, and the summary's own announcement further on
NOTES = re.compile(
    rf"[\s*_#>]*{WELL}"
    r"(?:(?:let me|let's|let us)\b[^\n]{0,60}\b(?:think|reason|analy[sz]e|break|work|start|go)\b"
    r"|(?:first, )?(?:i|we)(?:'ll| will| need to| have to| should) (?:first )?"
    r"(?:analy[sz]e|read|look|identify|examine|go|summari[sz]e)\b"
    r"|(?:looking at|to summari[sz]e) (?:the|these)\b[^\n]{0,80}, (?:i|we)\b|step 1\b"
    r"|(?:first, )?(?:the )?(?:key|main) (?:points|facts|claims|arguments)\b[^\n]{0,60}[:*]"
    r"|(?:plan|notes|draft|思考(?:过程|過程|プロセス)?|推理(?:过程)?|考え|推論|추론|생각|사고 ?과정"
    r"|denkprozess|(?:vor)?überlegung(?:en)?"
    r"|gedanken(?:gang)?|raisonnement|réflexions?|razonamiento|pensamientos?|ragionamento|riflessioni?|raciocínio|pensamentos?"
    r"|denkproces|redenering|rozumowanie|размышлени[ея]|рассуждени[ея]|ход мыслей)[ \t*_]*[:：\n])",
    re.IGNORECASE,
)
THEREFORE = r"(?:therefore|so|thus|hence|finally|now),? "
LATER_SUMMARY = re.compile(
    rf"\n[ \t]{{0,9}}\n[\s*_#>]{{0,9}}(?:{THEREFORE})?(?:here(?: is|'s) )?(?:the |my )?"
    rf"(?:final |revised |refined |最终|最終|最后)?(?:{SUMMARY}|answer|final(?: version)?|答案)"
    rf"(?: is| (?:should|could|would) be)?[ \t*_]*[:：\n](?:[*_]{{1,3}}(?=\s))?"
    rf"|\b{THEREFORE}(?:the|my) (?:final )?(?:{SUMMARY}|answer) (?:is|(?:would|should) be)[ \t*_]{{0,3}}:[*_]{{0,3}}",
    re.IGNORECASE,
)
# what leads to the summary in its own line
LEAD = re.compile(
    r"(?:so|thus|therefore|combin|put|mayb|perhaps|something like|final|draft|result)[^.!?:\n]{0,40}:[ \t*_]{0,4}(?=\S)",
    re.IGNORECASE,
)
PARAGRAPH = re.compile(r"\n[ \t]{0,9}\n\s{0,9}")
# paragraphs at the end among which an announcement is looked for
MOST_PARAGRAPHS = 20


def behind_thoughts(text: str) -> str:
    """The summary behind a thought that the text begins as; "" where it was cut off, the text itself where it is none."""
    thinking = THINKING.match(text.replace("\u2019", "'"))
    if thinking is None or is_attributed(text, thinking.end()):
        return text
    *_, later = [None, *LATER_SUMMARY.finditer(text)]
    if later:
        return text[later.end() :].strip()
    paragraphs = PARAGRAPH.split(text)[1:][-MOST_PARAGRAPHS:]
    for n, paragraph in enumerate(paragraphs):
        if announced(paragraph):
            return "\n\n".join(paragraphs[n:])
    return _without_lead(paragraphs[-1]) if paragraphs and not GOES_ON.search(paragraphs[-1]) else ""


def behind_notes(text: str) -> str:
    """What is announced as the summary further on in a text that begins as notes; the text itself where it is none."""
    notes = NOTES.match(text)
    later = None if notes is None or is_attributed(text, notes.end()) else LATER_SUMMARY.search(text)
    return text[later.end() :].strip() if later else text


def _without_lead(paragraph: str) -> str:
    lead = LEAD.match(paragraph)
    return paragraph[lead.end() :] if lead else paragraph
