"""The content tokens of a text: what the Opinion Interaction Graph, matcher `words` and entailer `words` read of it."""

import re
from collections.abc import Iterable
from itertools import pairwise

import regex

from ..text import BORDERLESS
from ..text.forms import normal_form
from .stop_words import ENGLISH_STOP_WORDS

# of the rules below, for signatures of what rests on them
VERSION = 4

LINK = regex.compile(r"https?://\S*|\bwww\.\S+", regex.IGNORECASE)
MENTION = regex.compile(r"@[\p{L}\p{M}\p{N}_]+")
CONTRACTIONS = ("n't", "'re", "'ve", "'ll", "'d", "'m")
DROPPED = ENGLISH_STOP_WORDS | {"rt"}

_BARE = rf"[\p{{L}}&&[{BORDERLESS}]]"
_LETTER = rf"[[\p{{L}}\p{{Nl}}]--[{BORDERLESS}]]"
# vowel signs and accents go with their letter; apostrophes stand inside of words only
_PART = rf"{_LETTER}(?:{_LETTER}|\p{{M}})*"
TOKEN = regex.compile(rf"(?V1)(?P<run>(?:{_BARE}\p{{M}}*)+)|{_PART}(?:['\u2019]{_PART})*")
# what TOKEN finds of lower-case ASCII, in a fraction of the time
ASCII_TOKEN = re.compile(r"[a-z]+(?:'[a-z]+)*")
CHARACTER = regex.compile(r"\P{M}\p{M}*")
LETTER, BARE = regex.compile(r"\p{L}"), regex.compile(rf"(?V1){_BARE}")


def content_tokens(text: str) -> list[str]:
    """The text's content words in order, case folded, not stemmed; [] when it has none.

    Links and @mentions are removed; tokens are runs of letters and their marks (accents, vowel signs) with inner apostrophes,
    less a final 's. Contractions, single letters, "rt" and the English stop words are dropped. Texts are read in their
    `normal_form`. Where a script writes no borders between words (Chinese, Japanese, Thai, Lao, Khmer, Burmese), every
    two neighbouring characters are a token.

    Source: docs/papers.md#shandilya-tokens; the paper does not speak of such scripts.
    """
    plain = MENTION.sub(" ", LINK.sub(" ", normal_form(text)))
    if plain.isascii():
        tokens = [token.removesuffix("'s") for token in ASCII_TOKEN.findall(plain.lower())]
    else:
        tokens = [token for match in TOKEN.finditer(plain) for token in _tokens(match)]
    return [t for t in tokens if len(t) > 1 and t not in DROPPED and not t.endswith(CONTRACTIONS)]


def _tokens(match: "regex.Match[str]") -> list[str]:
    if match["run"] is None:
        return [match[0].casefold().replace("\u2019", "'").removesuffix("'s")]
    characters = CHARACTER.findall(match["run"])
    return ["".join(pair) for pair in pairwise(characters)]


def share_borderless(texts: Iterable[str]) -> float:
    """The share of the texts' letters that are of scripts without borders between words, in [0, 1]; 0 without any letter."""
    letters = bare = 0
    for text in texts:
        letters += len(LETTER.findall(text))
        bare += len(BARE.findall(text))
    return bare / letters if letters else 0.0
