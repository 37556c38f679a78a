"""Token counts of the summaries of one original, the plain representation of distinguishability.

Source: Steen and Markert 2024, eq. 4; docs/papers.md#steen-distinguishability. The same tokens, stop words and counts as
scikit-learn's `CountVectorizer(stop_words="english")`, which the authors used.
"""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..stop_words import ENGLISH_STOP_WORDS

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# two or more word characters: FIRST_NAME is one token
TOKEN = re.compile(r"\b\w\w+\b")


def count_vectors(texts: Sequence[str]) -> "csr_array":
    """Raw counts of the lower-cased tokens that are no stop words, shape (texts, words); no idf.

    Args:
        texts: all summaries of one original, masked.
    """
    from scipy.sparse import csr_array

    tokens = [TOKEN.findall(text.lower()) for text in texts]
    text_of = np.repeat(np.arange(len(texts)), [len(each) for each in tokens])  # (tokens,)
    words: dict[str, int] = {}
    word_of = np.fromiter((words.setdefault(token, len(words)) for each in tokens for token in each), dtype=np.intp)
    # entries at the same place are added up
    counts = csr_array((np.ones(len(word_of)), (text_of, word_of)), shape=(len(texts), max(1, len(words))))
    kept = np.array([place for word, place in words.items() if word not in ENGLISH_STOP_WORDS], dtype=np.intp)
    return counts[:, kept]
