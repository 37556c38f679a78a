"""Windows of neighbouring sentences: what a classifier reads of a document at once.

One window grows around each sentence, shorter neighbour first, and stays below the limit; windows overlap. The paper describes
disjoint chunks; this is what its code does. Source: Li et al. 2025, appendix A.2; docs/papers.md#li-windows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ...errors import DataError

MOST_WORDS = 100


@dataclass(frozen=True)
class Windows:
    """The windows of a document set."""

    texts: tuple[str, ...]
    # place of each window's document
    documents: tuple[int, ...]


def make_windows(
    documents: Sequence[Sequence[str]],
    most_words: int = MOST_WORDS,
    *,
    dedupe: Literal["document", "sample"] = "document",
) -> Windows:
    """The windows of the documents, in order, each text once.

    Args:
        documents: sentences of each document.
        most_words: words (white space between them) that a window stays below; a longer sentence stands alone and whole.
        dedupe: where a text stands once: in a "document", or in the whole "sample" as released, so that of two identical
            documents only the first can be covered.

    Raises:
        DataError: the limit is below 1.
    """
    if most_words < 1:
        raise DataError(f"a window holds at least 1 word, got a limit of {most_words}")
    texts: list[str] = []
    places: list[int] = []
    seen: set[str] = set()
    for place, sentences in enumerate(documents):
        if dedupe == "document":
            seen = set()
        lengths = [len(sentence.split()) for sentence in sentences]
        for centre in range(len(sentences)):
            first, last = _grown(lengths, centre, most_words)
            text = " ".join(sentences[first : last + 1])
            if text not in seen:
                seen.add(text)
                texts.append(text)
                places.append(place)
    return Windows(tuple(texts), tuple(places))


def _grown(lengths: Sequence[int], centre: int, most_words: int) -> tuple[int, int]:
    """First and last sentence of the window around a sentence."""
    first = last = centre
    held = lengths[centre]
    distance = 1
    while held < most_words:
        neighbours = [k for k in (centre - distance, centre + distance) if 0 <= k < len(lengths)]
        if not neighbours:
            break
        # stable: of two that are equally long the left one comes first
        for k in sorted(neighbours, key=lengths.__getitem__):
            if held + lengths[k] >= most_words:
                return first, last
            held += lengths[k]
            first, last = min(first, k), max(last, k)
        distance += 1
    return first, last
