"""How far a summary goes beyond copying: n-grams that its source does not have, and the runs of words that it shares with it.

Tokens are those of `text.words`; n-grams and fragments never cross the border of a passage.
Source: Ri et al. 2025, section 6.1; docs/papers.md#ri-tokens.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from ..text import words

# the n of n-grams
ORDERS = (1, 2, 3, 4)
# words of a fragment that is copied, and not common language
LONG = 8
# sources that are kept as they were read: candidates of one request come one after the other
KNOWN_SOURCES = 8


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
        grams = _ngrams(tokens, n)
        ratios[n] = sum(gram not in known for gram in grams) / len(grams) if grams else None
    return ratios


def _ngrams(tokens: Sequence[str], n: int) -> list[tuple[str, ...]]:
    return [tuple(tokens[start : start + n]) for start in range(len(tokens) - n + 1)]


@dataclass(frozen=True)
class Fragments:
    """A summary's fragments and what follows from their lengths; None for a summary without tokens."""

    # share of the summary's tokens that stand in a fragment, in [0, 1]
    coverage: float | None
    # mean over the summary's tokens of the length of the fragment they stand in, at least 0; long copies count most
    density: float | None
    # tokens of the source for each token of the summary
    compression: float | None
    # in the order of the summary
    fragments: tuple[tuple[str, ...], ...]

    @property
    def copied(self) -> float | None:
        """Share of the summary's tokens that stand in a fragment of eight words or more, in [0, 1]."""
        if self.coverage is None:
            return None
        lengths = [len(fragment) for fragment in self.fragments]
        return self.coverage * sum(n for n in lengths if n >= LONG) / sum(lengths) if lengths else 0.0


def fragments(passages: Sequence[str], summary: str) -> Fragments:
    """The fragments of a summary, found greedily from left to right; one lies within one passage.

    Source: Grusky, Naaman and Artzi 2018 (arXiv:1804.11283), in the form of their reference code: after a match the scan of the
    source goes on behind it. Source: Ri et al. 2025, section 6.1; docs/papers.md#ri-tokens.
    """
    source, tokens = _read(tuple(passages)), words(summary)
    runs, place = [], 0
    while place < len(tokens):
        length = max((passage.longest_match(tokens, place) for passage in source), default=0)
        if length:
            runs.append(tuple(tokens[place : place + length]))
        place += max(length, 1)
    n = len(tokens)
    return Fragments(
        coverage=sum(len(fragment) for fragment in runs) / n if n else None,
        density=sum(len(fragment) ** 2 for fragment in runs) / n if n else None,
        compression=sum(len(passage.tokens) for passage in source) / n if n else None,
        fragments=tuple(runs),
    )


@lru_cache(maxsize=KNOWN_SOURCES)
def _read(passages: tuple[str, ...]) -> "tuple[_Passage, ...]":
    return tuple(_Passage(words(passage)) for passage in passages)


class _Passage:
    """A passage of the source, and where each token stands in it."""

    def __init__(self, tokens: Sequence[str]) -> None:
        self.tokens = tokens
        self._places: dict[str, list[int]] = {}
        for place, token in enumerate(tokens):
            self._places.setdefault(token, []).append(place)

    def longest_match(self, wanted: Sequence[str], start: int) -> int:
        """Length of the longest run at `start` of `wanted` that the scan of the passage meets."""
        places = self._places.get(wanted[start], [])
        longest = behind = 0
        for place in places:
            # inside of the run before
            if place < behind:
                continue
            length = self._run(place, wanted, start)
            longest = max(longest, length)
            behind = place + length
        return longest

    def _run(self, place: int, wanted: Sequence[str], start: int) -> int:
        length = 1
        longest = min(len(self.tokens) - place, len(wanted) - start)
        while length < longest and self.tokens[place + length] == wanted[start + length]:
            length += 1
        return length
