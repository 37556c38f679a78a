"""Where the answer begins in a text that a trainer decoded: behind the prompt, which decoding may give back in another form.

Tokenizers compose letters (NFC, NFKC), add or lose blanks, and trainers cut long prompts at the left. So prompt and text are
compared without white space and in a normal form, and where the text begins within the prompt, at the longest end of the prompt.
"""

import re
import unicodedata
from typing import Literal

from ...text.chat_marks import MARK, MOST_CHARACTERS

# the least letters of the end of a prompt that is cut at the left
LEAST_LEFT = 16
# letters of its end that are looked at, and of marks before it; letters that are compared until its end is given up
MOST_LEFT, MOST_COMPARED = 200_000, 50_000_000
FORMS: tuple[Literal["NFC", "NFKC"], ...] = ("NFC", "NFKC")
WORD = re.compile(r"\S+")
# white space, and what stands for half of a letter that a cut leaves
BLANK = re.compile(r"[\s\ufffd]*")


def answer_in(text: str, prompt: str) -> str | None:
    """What stands behind the prompt; None where the text does not begin with it or with the end of it."""
    if text.startswith(prompt):
        return text[len(prompt) :]
    # marks that fill up a batch
    for start in sorted({0, _begins(text)}):
        # of plain letters both forms are one
        for normal, wanted in dict.fromkeys(
            (unicodedata.normalize(form, text[start:]), unicodedata.normalize(form, prompt)) for form in FORMS
        ):
            letters, end = "".join(normal.split()), "".join(wanted.split())
            if n := len(end) if letters.startswith(end) else _overlap(end, letters):
                return _behind(normal, n)
    return None


def _begins(text: str) -> int:
    """Where the text begins behind marks, white space and what stands for half of a letter."""
    at = 0
    while at < MOST_LEFT and (match := BLANK.match(text, at)):
        at = match.end()
        if not (mark := MARK.match(text, at, at + MOST_CHARACTERS)):
            break
        at = mark.end()
    return at


def _overlap(end: str, text: str) -> int:
    """How many letters of the end of the one are the beginning of the other, at most; 0 where fewer than `LEAST_LEFT` are."""
    end = end[-MOST_LEFT:]
    last, n, n_compared = end[-LEAST_LEFT:], len(end) + 1, 0
    if len(end) < LEAST_LEFT:
        return 0
    # each place where the last letters stand, the longest beginning first
    while (at := text.rfind(last, 0, n - 1)) >= 0 and n_compared < MOST_COMPARED:
        n = at + LEAST_LEFT
        if end.endswith(text[:n]):
            return n
        n_compared += n
    return 0


def _behind(text: str, n: int) -> str:
    """What stands behind that many letters other than white space."""
    for word in WORD.finditer(text):
        n -= len(word[0])
        if n <= 0:
            return text[word.end() + n :]
    return ""
