"""Extractive fragments: the runs of words that a summary shares with its source, found greedily from left to right."""

from collections.abc import Sequence
from dataclasses import dataclass

from ...text import words


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


def fragments(passages: Sequence[str], summary: str) -> Fragments:
    """The fragments of a summary; one lies within one passage.

    Source: Grusky, Naaman and Artzi 2018 (arXiv:1804.11283), in the form of their reference code: after a match the scan of the
    source goes on behind it. Specification of the seed paper, section 12.4.
    """
    source, tokens = [words(passage) for passage in passages], words(summary)
    found, place = [], 0
    while place < len(tokens):
        length = max((_longest_match(passage, tokens[place:]) for passage in source), default=0)
        if length:
            found.append(tuple(tokens[place : place + length]))
        place += max(length, 1)
    n = len(tokens)
    return Fragments(
        coverage=sum(len(fragment) for fragment in found) / n if n else None,
        density=sum(len(fragment) ** 2 for fragment in found) / n if n else None,
        compression=sum(len(passage) for passage in source) / n if n else None,
        fragments=tuple(found),
    )


def _longest_match(source: Sequence[str], wanted: Sequence[str]) -> int:
    """Length of the longest run at the beginning of `wanted` that the scan of the source meets."""
    longest = place = 0
    while place < len(source):
        length = 0
        while place + length < len(source) and length < len(wanted) and source[place + length] == wanted[length]:
            length += 1
        longest = max(longest, length)
        place += max(length, 1)
    return longest
