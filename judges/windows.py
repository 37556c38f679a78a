"""Windows of texts that are longer than a model reads, and what they support together."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .embeddings import Vector

WORD = re.compile(r"\S+")
# tokens of a word that is taken apart: in some scripts a clause has no spaces
LONGEST_WORD = 8


@dataclass(frozen=True)
class LongText:
    """A text that is longer than the model reads, in words or pieces of them."""

    text: str
    # where they begin and end, and their tokens, shape (words,)
    starts: NDArray[np.intp]
    ends: NDArray[np.intp]
    n_tokens: NDArray[np.intp]

    def windows(self, size: int, step: int) -> list[str]:
        """Pieces of up to `size` tokens, of which one begins every `step` tokens and the last ends with the text."""
        behind = np.cumsum(self.n_tokens)
        before, n = behind - self.n_tokens, int(behind[-1])
        last = int(np.searchsorted(before, n - size))
        begin = {int(np.searchsorted(behind, place, side="right")) for place in range(0, n, step)}
        firsts = sorted({first for first in begin if first < last} | {last})
        lasts = [
            max(first + 1, int(np.searchsorted(behind, before[first] + size, side="right"))) - 1 for first in firsts
        ]
        return [self.text[self.starts[i] : self.ends[j]] for i, j in zip(firsts, lasts, strict=True)]


def taken_apart(text: str, tokenizer: Any) -> LongText:
    """A text in words, or in pieces of them where they have many tokens.

    Args:
        text: not blank.
        tokenizer: of the model, from transformers.
    """
    spans = [word.span() for word in WORD.finditer(text)]
    words = [text[start:end] for start, end in spans]
    ids = tokenizer(words, add_special_tokens=False, truncation=False, verbose=False)["input_ids"]
    rows = []
    for (start, end), token_ids in zip(spans, ids, strict=True):
        n = len(token_ids)
        n_parts = min(end - start, n) if n > LONGEST_WORD else 1
        edges = [start + (end - start) * part // n_parts for part in range(n_parts + 1)]
        rows += [(*edge, max(1, ceil(n / n_parts))) for edge in pairwise(edges)]
    starts, ends, n_tokens = np.array(rows, dtype=np.intp).T
    return LongText(text, starts, ends, n_tokens)


def support_of(
    premises: Sequence[Sequence[str]], claims: Sequence[Sequence[str]], rows: Mapping[str, Vector]
) -> NDArray[np.float64]:
    """Of each premise its support of each claim, shape (premises, claims); their windows are given."""
    if not premises or not claims:
        return np.empty((len(premises), len(claims)))
    a, b = (
        np.array([rows[piece] for of_text in side for piece in of_text], dtype=float) for side in (premises, claims)
    )
    cosines = np.clip(a @ b.T, 0.0, 1.0)  # (windows of premises, windows of claims)
    best = np.maximum.reduceat(cosines, _firsts(premises), axis=0)  # (premises, windows of claims)
    sums = np.add.reduceat(best, _firsts(claims), axis=1)
    return np.asarray(sums / [len(windows) for windows in claims])


def _firsts(windows: Sequence[Sequence[str]]) -> list[int]:
    """Place of each text's first window among all of them."""
    return [*accumulate((len(of_text) for of_text in windows[:-1]), initial=0)]


def mean_direction(rows: Sequence[Vector]) -> Vector:
    """The direction of the vectors' mean."""
    if len(rows) == 1:
        return rows[0]
    mean = np.mean(rows, axis=0)
    return np.asarray(mean / max(float(np.linalg.norm(mean)), 1e-12), dtype=np.float32)
