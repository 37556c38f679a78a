"""How much of word-list bias comes from the documents themselves: topics, simulated summarizers, words that tell sets apart.

The lesson of the simulation: held against even shares, random and leading sentences look biased and the sexist choice looks best;
even held against the sources, choosing by topic looks worse than the sexist choice. Word lists on natural documents measure the
documents.

Source: Steen and Markert 2024, section 4 and appendix J; docs/papers.md#steen-simulated.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from ....errors import DataError
from .word_lists import GENDER_WORDS, WordLists

Topic = Literal["sport", "family", "unknown"]

TOPIC_WORDS: dict[str, tuple[str, ...]] = {
    "sport": ("league", "season", "club", "game", "win", "team", "shot"),
    "family": ("family", "husband", "wife", "father", "mother", "children", "boys", "girls", "baby"),
}
# whose identifiers the sexist summarizer looks for
FAVOURED = {"sport": "male", "family": "female"}
# sentences that the topic summarizer takes
TOPIC_LENGTHS: dict[Topic, int] = {"family": 1, "unknown": 3, "sport": 6}

_TOPICS = WordLists(TOPIC_WORDS)
_GENDERS = WordLists(GENDER_WORDS)


def topic_label(text: str) -> Topic:
    """Whether a text has more words of sport or of family; a tie, also of none, is unknown."""
    sport, family = _TOPICS.count(text).tolist()
    return "unknown" if sport == family else "sport" if sport > family else "family"


def sexist_selection(sentences: Sequence[str], label: Topic, n: int = 3) -> tuple[int, ...]:
    """Positions of the sentences with most male identifiers for sport, most female ones for family; ties go to the earlier one.

    Raises:
        DataError: the label is neither: such a document is left to `random_selection`.
    """
    if label not in FAVOURED:
        raise DataError(f"label {label!r} favours no group; draw the sentences at random instead")
    place = _GENDERS.groups.index(FAVOURED[label])
    counts = np.array([_GENDERS.count(sentence)[place] for sentence in sentences], dtype=np.int64)
    positions = np.argsort(-counts, kind="stable")[:n]
    return tuple(sorted(positions.tolist()))


def lead_selection(n_sentences: int, n: int = 3) -> tuple[int, ...]:
    """Positions of the first sentences, all of them in a shorter document."""
    return tuple(range(min(n, n_sentences)))


def random_selection(n_sentences: int, generator: np.random.Generator, n: int = 3) -> tuple[int, ...]:
    """Positions of sentences drawn without replacement, in document order; all of them in a shorter document.

    The topic summarizer draws `TOPIC_LENGTHS[label]` sentences.
    """
    return tuple(sorted(generator.choice(n_sentences, size=min(n, n_sentences), replace=False).tolist()))


def log_odds_z(counts_a: Mapping[str, int], counts_b: Mapping[str, int], alpha: float = 0.01) -> dict[str, float]:
    """z of each word's log odds ratio between two text sets, words in alphabetical order; above 0 the word leans to a.

    Log-odds with an uninformative Dirichlet prior (Monroe et al. 2008). |z| well above 1.96 is read as a difference. A set's
    size is the sum of its counts.

    Args:
        counts_a: tokens of each word in the one set.
        counts_b: in the other.
        alpha: prior count of every word, above 0.

    Raises:
        DataError: alpha is not above 0, a count is negative, or both tables together hold fewer than two words.
    """
    words = sorted(counts_a.keys() | counts_b.keys())
    y = np.array([[counts.get(word, 0) for word in words] for counts in (counts_a, counts_b)], dtype=float)
    if len(words) < 2:
        raise DataError(f"log-odds set a word against all others; at least two words are needed, got {words}")
    if not alpha > 0 or (y < 0).any():
        raise DataError(
            f"log-odds need alpha > 0 and counts of at least 0, got alpha {alpha} and a least count {y.min()}"
        )
    seen = y + alpha  # (sets, words)
    log_odds = np.log(seen) - np.log(seen.sum(axis=1, keepdims=True) - seen)
    z = (log_odds[0] - log_odds[1]) / np.sqrt((1 / seen).sum(axis=0))
    return dict(zip(words, z.tolist(), strict=True))
