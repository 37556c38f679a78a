"""What a classifier is asked about: a summary's units, from a chat model's numbered list, and windows of a document's sentences.

The paper describes disjoint chunks of a document; its code, and this, let one window grow around each sentence, shorter neighbour
first, below a limit, so that windows overlap.

Source: Li et al. 2025, appendices A.1 and A.2; docs/papers.md#li-units and #li-windows.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from ...errors import DataError

Domain = Literal["reviews", "tweets", "articles", "claims"]

# a summary with fewer units is not scored
FEWEST_UNITS = 3
SPACES = re.compile(r" {2,}")
ARTICLES = re.compile(r"(?:the news articles|the articles)\b", re.IGNORECASE)
CLAIMS = re.compile(r"(?:the news articles|the articles|the news documents|the documents|documents)\b", re.IGNORECASE)
TWEETS = re.compile(r"(?:the tweets|tweets)\b", re.IGNORECASE)


def parse_units(reply: str, domain: Domain, fewest: int = FEWEST_UNITS) -> tuple[str, ...] | None:
    """The units of a numbered list, in order; None when there are fewer than are asked for, and the summary is not scored.

    A line counts when its first word has a digit, which is taken off.

    Args:
        reply: what the model wrote.
        domain: of the documents; says which subjects are rewritten.
        fewest: units of a list that counts; three as published.

    Raises:
        DataError: there is no such domain.
    """
    if domain not in REWRITES:
        raise DataError(f"domain {domain!r} is not known; domains are {', '.join(REWRITES)}")
    units = []
    for line in reply.split("\n"):
        number, _, unit = line.strip().partition(" ")
        if any(character.isdigit() for character in number) and unit.strip():
            units.append(REWRITES[domain](unit.strip()))
    return tuple(units) if len(units) >= fewest else None


def _without_shoppers(unit: str) -> str:
    lowered = unit.lower()
    if "some customers" in lowered:
        unit = unit.replace("customers", "").replace("Customers", "")
    else:
        unit = unit.replace("customers", "they").replace("Customers", "They")
    if "some users" in lowered:
        unit = unit.replace("users", "")
    return SPACES.sub(" ", unit)


def _opening_with_it(subjects: re.Pattern[str]) -> Callable[[str], str]:
    def rewritten(unit: str) -> str:
        opening = subjects.match(unit)
        return "It" + unit[opening.end() :] if opening else unit

    return rewritten


REWRITES: dict[str, Callable[[str], str]] = {
    "reviews": _without_shoppers,
    "tweets": _opening_with_it(TWEETS),
    "articles": _opening_with_it(ARTICLES),
    "claims": _opening_with_it(CLAIMS),
}


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
    n_words = lengths[centre]
    distance = 1
    while n_words < most_words:
        neighbours = [k for k in (centre - distance, centre + distance) if 0 <= k < len(lengths)]
        if not neighbours:
            break
        # stable: of two that are equally long the left one comes first
        for k in sorted(neighbours, key=lengths.__getitem__):
            if n_words + lengths[k] >= most_words:
                return first, last
            n_words += lengths[k]
            first, last = min(first, k), max(last, k)
        distance += 1
    return first, last
