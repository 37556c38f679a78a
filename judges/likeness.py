"""Whether documents are like those that a judge was calibrated on: how many of their words those have.

A judge's agreement was measured on some articles, and says little of documents of another kind. How much is like them needs no
threshold from elsewhere: each topic of the calibration is held against the words of its other topics, and a recipe whose typical
document set shares fewer words with the calibration than nine in ten of these topics do is of another kind.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from ..records import Record
from ..resampling import LEAST_SETS
from ..text import words

# shorter words are mostly those that every English text has
LEAST_LETTERS = 5
# per cent of a calibration's own topics that share as few words with the others
FEWEST = 10


class ArticleVocabulary(Record):
    """Words of a calibration's articles, and what share of each topic's running words its other topics have."""

    # in alphabetical order, with spaces between them
    words: str = ""
    # (topics,), each in [0, 1]
    shares: tuple[float, ...] = ()

    @property
    def least(self) -> float | None:
        """The share below which documents are of another kind, in [0, 1]; None where too few topics are there to say."""
        return float(np.percentile(self.shares, FEWEST)) if len(self.shares) >= LEAST_SETS else None


def content_words(texts: Iterable[str]) -> Counter[str]:
    """How often each word of some length stands in the texts; numbers are none."""
    return Counter(word for text in texts for word in words(text) if len(word) >= LEAST_LETTERS and word.isalpha())


def vocabulary(by_topic: Mapping[str, Sequence[str]]) -> ArticleVocabulary:
    """What articles are about.

    Args:
        by_topic: topic -> texts of its articles.
    """
    counts = [content_words(texts) for texts in by_topic.values()]
    topics_with = Counter(word for its in counts for word in its)
    shares = (_share(its, lambda word: topics_with[word] > 1) for its in counts)
    return ArticleVocabulary(words=" ".join(sorted(topics_with)), shares=tuple(x for x in shares if x is not None))


def typical_share(known: ArticleVocabulary, sets: Iterable[Sequence[str]]) -> float | None:
    """The median over document sets of the share of running words that a calibration has, in [0, 1]; None without words."""
    have = frozenset(known.words.split())
    shares = [x for texts in sets if (x := _share(content_words(texts), have.__contains__)) is not None]
    return float(np.median(shares)) if shares else None


def _share(counts: Counter[str], is_known: Callable[[str], bool]) -> float | None:
    total = counts.total()
    return sum(n for word, n in counts.items() if is_known(word)) / total if total else None
