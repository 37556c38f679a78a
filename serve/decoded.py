"""Where the answer begins in a text that a trainer decoded: behind the prompt, which decoding may give back in another form.

Tokenizers compose letters (NFC, NFKC), add or lose blanks, and trainers cut long prompts at the left. So prompt and text are
compared without white space and in a normal form, and where the text begins within the prompt, at the longest end of the prompt.
"""

import unicodedata
from typing import Literal

from ..text.chat_marks import MARK, MOST_CHARACTERS

# the least letters of the end of a prompt that is cut at the left
LEAST_LEFT = 16
# letters of its end that are looked at
MOST_LEFT = 200_000
FORMS: tuple[Literal["NFC", "NFKC"], ...] = ("NFC", "NFKC")


def answer_in(text: str, prompt: str) -> str | None:
    """What stands behind the prompt; None where the text does not begin with it or with the end of it."""
    if text.startswith(prompt):
        return text[len(prompt) :]
    # marks that fill up a batch, and half of a letter that a cut leaves
    for start in sorted({0, _begins(text)}):
        for form in FORMS:
            normal, wanted = (unicodedata.normalize(form, each) for each in (text[start:], prompt))
            places = [place for place, letter in enumerate(normal) if not letter.isspace()]
            letters, end = "".join(map(normal.__getitem__, places)), "".join(wanted.split())
            n = len(end) if letters.startswith(end) else _overlap(end, letters)
            if n and (n == len(end) or n >= LEAST_LEFT):
                return normal[places[n - 1] + 1 :]
    return None


def _begins(text: str) -> int:
    """Where the text begins behind marks, white space and what stands for half of a letter."""
    at = 0
    while at < len(text):
        if text[at].isspace() or text[at] == "\ufffd":
            at += 1
        elif mark := MARK.match(text, at, at + MOST_CHARACTERS):
            at = mark.end()
        else:
            break
    return at


def _overlap(end: str, text: str) -> int:
    """How many letters of the end of the one are the beginning of the other, at most; in time that grows with their lengths."""
    end = end[-MOST_LEFT:]
    text = text[: len(end)]
    # Knuth, Morris and Pratt: of each beginning of the text, how long its longest end is that is a beginning, too
    borders, n = [0], 0
    for letter in text[1:]:
        while n and letter != text[n]:
            n = borders[n - 1]
        n += letter == text[n]
        borders.append(n)
    n = 0
    for letter in end:
        while n and (n == len(text) or letter != text[n]):
            n = borders[n - 1]
        n += bool(text) and letter == text[n]
    return n
