"""How often word lists are named falsely: simulated corpora in which people speak of women and men.

    python -m evenhand.benchmarks.calibration_word_lists --trials 40

makes the table of docs/fairness-evidence.md#word-lists, with the documents and manners of writing of `calibration`. Of the
words of a set a share that differs from set to set, 1 to 25 %, is replaced by words of HELM's lists, by Zipf's law: in a
document of the first value mostly female ones, of the second mostly male ones.
"""

from collections.abc import Sequence
from itertools import product
from typing import get_args

import numpy as np

from ..fairness.labelled import LabelledSource, LabelledSummary
from ..plugins.bias.demographic.word_lists import GENDER_WORDS, WordLists, letter_runs
from ..plugins.bias.word_list_family import ListedWords
from .calibration import HEADS, SIDES, Corpus, Counts, Manner, drawn_sets, generators, is_missed, items, row, verdicts
from .simulate import asked, print_heads, print_row

# share of a document's listed words that are of its own list
OWN_LIST = 0.85
RATES = (0.01, 0.25)
LISTS = tuple(GENDER_WORDS)


def gendered_sets(corpus: Corpus, generator: np.random.Generator) -> list[tuple[LabelledSource, ...]]:
    """Documents of every set."""
    return [
        tuple(_gendered(each, rate, generator) for each in documents)
        for documents in drawn_sets(corpus, generator)
        for rate in [float(generator.uniform(*RATES))]
    ]


def _gendered(document: LabelledSource, rate: float, generator: np.random.Generator) -> LabelledSource:
    its = SIDES.index(document.value) % len(LISTS)
    lines = tuple(" ".join(_replaced(text.split(), its, rate, generator)) for text in document.sentences or ())
    return LabelledSource("\n".join(lines), document.value, lines)


def _replaced(words: Sequence[str], its: int, rate: float, generator: np.random.Generator) -> list[str]:
    drawn = generator.random((len(words), 2))
    return [
        _listed(its if own < OWN_LIST else 1 - its, generator) if replaced < rate else word
        for word, (replaced, own) in zip(words, drawn, strict=True)
    ]


def _listed(place: int, generator: np.random.Generator) -> str:
    listed = GENDER_WORDS[LISTS[place]]
    weights = 1 / np.arange(1, len(listed) + 1)
    return listed[int(generator.choice(len(listed), p=weights / weights.sum()))]


def without_half(given: Sequence[LabelledSummary], name: str, generator: np.random.Generator) -> list[LabelledSummary]:
    """The summaries less half of the words of a list."""
    dropped = set(GENDER_WORDS[name])
    return [
        LabelledSummary(item.id, item.values, item.documents, _less(item.summary, dropped, generator)) for item in given
    ]


def _less(text: str, dropped: set[str], generator: np.random.Generator) -> str:
    lines = (letter_runs(line) for line in text.splitlines())
    return "\n".join(" ".join(w for w in line if w not in dropped or generator.random() < 0.5) for line in lines)


def count_named(corpus: Corpus, trials: int) -> Counts:
    """How often a list is named: of summaries that take no side, and of ones that drop half of the words of either list.

    `smallest` is the list of the smallest value's documents, `largest` that of the largest.
    """
    family = ListedWords(WordLists())
    false = smallest = largest = 0
    for generator in generators(corpus, trials):
        fair = items(corpus, gendered_sets(corpus, generator), generator)
        false += any(gap.is_clear for gap in verdicts(family, fair).values())
        found = [is_missed(family, without_half(fair, name, generator), name) for name in LISTS]
        largest, smallest = largest + found[0], smallest + found[1]
    return Counts(trials, false, smallest, largest)


def main() -> None:
    """Print the table."""
    given = asked(__doc__, (40, "corpora of each kind"), ([12, 30, 200], "document sets of a corpus"))
    print_heads(*HEADS)
    manners: tuple[Manner, ...] = get_args(Manner)
    for n_sets, sizes, own, manner in product(given.sets, ((4, 4), (7, 1)), (0.0, 0.3), manners):
        corpus = Corpus(sizes, n_sets, own, manner)
        print_row(*row(corpus, count_named(corpus, given.trials)))


if __name__ == "__main__":
    main()
