"""Novel n-grams: how much of a summary's wording its source does not have."""

from collections.abc import Sequence

from ...text import words

ORDERS = (1, 2, 3, 4)


def novel_ngrams(passages: Sequence[str], summary: str, orders: Sequence[int] = ORDERS) -> dict[int, float | None]:
    """Share of the summary's n-grams that no passage has, in [0, 1], for each n; every occurrence counts.

    None where the summary has fewer than n tokens. Source: See et al. 2017, as used by Ri et al. 2025, section 6.1;
    docs/papers.md#ri-tokens.

    Args:
        passages: the source's passages; an n-gram lies within one of them.
        summary: the text looked at.
        orders: the n.
    """
    source, tokens = [words(passage) for passage in passages], words(summary)
    ratios: dict[int, float | None] = {}
    for n in orders:
        known = {gram for passage in source for gram in _ngrams(passage, n)}
        mine = _ngrams(tokens, n)
        ratios[n] = sum(gram not in known for gram in mine) / len(mine) if mine else None
    return ratios


def _ngrams(tokens: Sequence[str], n: int) -> list[tuple[str, ...]]:
    return [tuple(tokens[start : start + n]) for start in range(len(tokens) - n + 1)]
