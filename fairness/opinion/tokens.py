"""The content tokens of a text: what the Opinion Interaction Graph, matcher `words` and entailer `words` read of it."""

import re
import unicodedata
from collections.abc import Iterable
from itertools import pairwise

import regex

from ..stop_words import ENGLISH_STOP_WORDS

# of the rules below, for signatures of what rests on them
VERSION = 2

LINK = regex.compile(r"https?://\S*|\bwww\.\S+", regex.IGNORECASE)
MENTION = regex.compile(r"@[\p{L}\p{M}\p{N}_]+")
CONTRACTIONS = ("n't", "'re", "'ve", "'ll", "'d", "'m")
DROPPED = ENGLISH_STOP_WORDS | {"rt"}

# scripts whose words stand side by side without a border; the long vowel sign of Japanese belongs to two of them
BORDERLESS = r"\p{Han}\p{Hiragana}\p{Katakana}\u30fc\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_BARE = rf"[\p{{L}}&&[{BORDERLESS}]]"
_LETTER = rf"[[\p{{L}}\p{{Nl}}\p{{No}}]--[{BORDERLESS}]]"
# vowel signs and accents go with their letter; apostrophes and joiners stand inside of words only
_PART = rf"{_LETTER}(?:{_LETTER}|\p{{M}})*"
JOINERS = "\u200c\u200d"
TOKEN = regex.compile(rf"(?V1)(?P<run>(?:{_BARE}\p{{M}}*)+)|{_PART}(?:(?:['\u2019]|[{JOINERS}]+){_PART})*")
# what TOKEN finds of lower-case ASCII, in a fraction of the time
ASCII_TOKEN = re.compile(r"[a-z]+(?:'[a-z]+)*")
CHARACTER = regex.compile(r"\P{M}\p{M}*")
LETTER, BARE = regex.compile(r"\p{L}"), regex.compile(rf"(?V1){_BARE}")
WITHOUT_JOINERS = str.maketrans("", "", JOINERS)


def content_tokens(text: str) -> list[str]:
    """The text's content words in order, case folded, not stemmed; [] when it has none.

    Links and @mentions are removed; tokens are runs of letters and their marks (accents, vowel signs) with inner apostrophes,
    less a final 's. Contractions, single letters, "rt" and the English stop words are dropped. Texts are read in Unicode's
    composed form (NFC). Where a script writes no borders between words (Chinese, Japanese, Thai, Lao, Khmer, Burmese), every
    two neighbouring characters are a token.

    Source: docs/papers.md#shandilya-tokens; the paper does not speak of such scripts.
    """
    plain = MENTION.sub(" ", LINK.sub(" ", unicodedata.normalize("NFC", text)))
    if plain.isascii():
        tokens = [token.removesuffix("'s") for token in ASCII_TOKEN.findall(plain.lower())]
    else:
        tokens = [token for found in TOKEN.finditer(plain) for token in _tokens(found)]
    return [t for t in tokens if len(t) > 1 and t not in DROPPED and not t.endswith(CONTRACTIONS)]


def _tokens(found: "regex.Match[str]") -> list[str]:
    if found["run"] is None:
        return [found[0].translate(WITHOUT_JOINERS).casefold().replace("\u2019", "'").removesuffix("'s")]
    characters = CHARACTER.findall(found["run"])
    return ["".join(pair) for pair in pairwise(characters)]


def share_borderless(texts: Iterable[str]) -> float:
    """The share of the texts' letters that are of scripts without borders between words, in [0, 1]; 0 without any letter."""
    letters = bare = 0
    for text in texts:
        letters += len(LETTER.findall(text))
        bare += len(BARE.findall(text))
    return bare / letters if letters else 0.0
