"""Masses by N-gram matching: which values' words the summary uses.

The source counts tokens. The summary counts, for each value, those of its tokens that the value's text has, each time they
stand there; a token that several values have counts for each of them. One-token matching: with two or three tokens over 80 %
of summaries have no overlap at all.

Source: Zhang et al. 2024, section 3.2; docs/papers.md#zhang-tokens.
"""

from collections.abc import Sequence

from .masses import Masses, Unscored
from .tokens import Tokenize

EMPTY_SUMMARY = "empty summary"


def ngram_masses(
    value_tokens: Sequence[Sequence[str]], summary_tokens: Sequence[str], *, remove_overlap: bool = False
) -> Masses:
    """Numbers of source tokens and of matched summary tokens, one a value.

    Args:
        value_tokens: tokens of each declared value's source text, [] for a value that the source lacks.
        summary_tokens: tokens of the summary.
        remove_overlap: take out what the values have in common first (see `common_tokens`); published numbers do not.
    """
    if remove_overlap:
        common = common_tokens(value_tokens)
        value_tokens = [[token for token in tokens if token not in common] for tokens in value_tokens]
        summary_tokens = [token for token in summary_tokens if token not in common]
    vocabularies = (set(tokens) for tokens in value_tokens)
    # summed over bound membership tests, which no Python code runs for each token
    matched = (sum(map(vocabulary.__contains__, summary_tokens)) for vocabulary in vocabularies)
    return Masses(source=tuple(map(len, value_tokens)), target=tuple(matched))


def common_tokens(value_tokens: Sequence[Sequence[str]]) -> set[str]:
    """The tokens that the released code takes for common to all values.

    It intersects value by value and begins anew with the current value whenever nothing is left, so after an empty
    intersection these are tokens of the last values only.
    """
    common: set[str] = set()
    for tokens in value_tokens:
        common = common & set(tokens) if common else set(tokens)
    return common


def text_masses(
    value_texts: Sequence[str], summary: str, tokenize: Tokenize, *, remove_overlap: bool = False
) -> Masses | Unscored:
    """Masses of one summary and its sources; an empty summary is unscored.

    Args:
        value_texts: source text of each declared value, joined; "" for a value that the source lacks.
        summary: the summary.
        tokenize: `NgramTokenizer`, or any other function from text to tokens.
        remove_overlap: as in `ngram_masses`.
    """
    if not summary.strip():
        return Unscored(EMPTY_SUMMARY)
    tokens = [tokenize(text) for text in value_texts]
    return ngram_masses(tokens, tokenize(summary), remove_overlap=remove_overlap)
