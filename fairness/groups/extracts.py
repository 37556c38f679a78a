"""Extracts that know no label: what a test of sides must find fair on a user's own documents.

Each takes as many sentences of a set's documents as the summary has: any, the shortest, the longest, those in words that most
other documents have, and those that stand first.
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from .taste import Credit, Source

Floats = NDArray[np.float64]


def _commonness(source: Source) -> Floats:
    documents = {token: len({int(source.document[k]) for k in places}) for token, places in source.having.items()}
    return np.array([sum(map(documents.__getitem__, tokens)) / len(tokens) for tokens in source.tokens])


# what each prefers in a sentence, the more the higher
EXTRACTS: dict[str, Callable[[Source], Floats]] = {
    "random": lambda source: np.zeros(len(source.tokens)),
    "short": lambda source: -source.length,
    "long": lambda source: source.length,
    "common words": _commonness,
    "first sentences": lambda source: -source.place,
}


def extract(name: str, summary: Credit, seed: int) -> Credit:
    """An extract in the place of a summary.

    Args:
        name: of `EXTRACTS`.
        summary: whose documents and length it has.
        seed: decides between sentences that are alike.
    """
    source = summary.source
    ties = np.random.default_rng(seed).random(len(source.tokens))
    order = np.lexsort((ties, -EXTRACTS[name](source)))
    tokens = chain.from_iterable(source.tokens[place] for place in order[: max(1, summary.n_sentences)])
    return replace(summary, amounts=source.credit([*tokens]))
