"""Tokens of a text, at least: by how many words it has, whatever vocabulary a model has."""

import re

# letters of scripts that are written without blanks, with how many of them a token has at most in running text
UNSPACED = (
    (re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"), 4),
    (re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]"), 10),
)
# a letter or figure that is repeated, as in lines and cries, which vocabularies have as one token
REPEATED = re.compile(r"(.)\1{3,}")
# words of a token, at most: vocabularies whose tokens go beyond blanks have fewer in running text
MOST_WORDS = 1.6
# tokens below which a text is too short to tell
LEAST = 256


def least_tokens(text: str) -> int:
    """Tokens of a text in any vocabulary, at least; 0 for one that is too short to tell."""
    plain, n = REPEATED.sub(r"\1", text), 0.0
    for letters, most in UNSPACED:
        plain, n_letters = letters.subn(" ", plain)
        n += n_letters / most
    n += sum(any(map(str.isalnum, word)) for word in plain.split()) / MOST_WORDS
    return int(n) if n >= LEAST else 0
