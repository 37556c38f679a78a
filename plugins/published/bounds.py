"""How unfair and how fair a summary of these documents can be: source sentences taken greedily.

The paper shows such bounds but neither code nor stopping rule; this is a reconstruction. There is no early stop, so a trace need
not be monotone; its minimum (maximum) is the tighter bound. Source: Li et al. 2025, appendix A.9; docs/papers.md#li-bounds.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import DataError

Floats = NDArray[np.float64]
Bound = Literal["lower", "upper"]

# values this near count as equal, and the sentence that stands first wins
TIE = 1e-12


@dataclass(frozen=True)
class GreedyBound:
    """What was selected, and the measure after each step."""

    # places of the sentences, in the order of selection
    selected: tuple[int, ...]
    trace: tuple[float, ...]

    @property
    def last(self) -> float | None:
        """The measure of the whole selection; None when no sentence has an answer."""
        return self.trace[-1] if self.trace else None


class _Selection:
    """Sentences selected so far from one document set, and what each further one would do."""

    def __init__(self, coverage: ArrayLike, labels: ArrayLike, n_values: int) -> None:
        self._matrix = np.asarray(coverage, dtype=float)  # (documents, sentences)
        places = np.asarray(labels, dtype=int)
        if self._matrix.ndim != 2 or places.shape != self._matrix.shape[:1]:
            raise DataError(
                f"coverage needs one row for each of {places.size} documents, got shape {self._matrix.shape}"
            )
        if places.min(initial=0) < 0 or places.max(initial=0) >= n_values:
            raise DataError(f"a document's label is a place below {n_values}, got {places.tolist()}")
        self._has = (np.arange(n_values)[:, None] == places).astype(float)  # (values, documents)
        self.counts = self._has.sum(axis=1)  # (values,)
        self._covered = np.asarray((self._matrix > 0).any(axis=0))
        self._unused = np.ones(self._matrix.shape[1], dtype=bool)
        self._sums = np.zeros(len(self._matrix))
        self._n = 0

    def deviations(self) -> Floats:
        """Summed coverage less the overall of each value's documents if a sentence were added, (values, sentences).

        nan where the sentence is used, or nothing would be covered.
        """
        n = np.where(self._unused & (self._n + self._covered > 0), self._n + self._covered, np.nan)
        by_document = (self._sums[:, None] + self._matrix) / n  # (documents, sentences)
        return np.asarray(self._has @ (by_document - by_document.mean(axis=0)))

    def add(self, sentence: int) -> None:
        self._sums = self._sums + self._matrix[:, sentence]
        self._n += int(self._covered[sentence])
        self._unused[sentence] = False


def greedy_equal_coverage(coverage: ArrayLike, labels: ArrayLike, most_sentences: int, bound: Bound) -> GreedyBound:
    """Equal Coverage at its lowest or highest, greedily.

    Args:
        coverage: gated entailment of each source sentence by each document, shape (documents, sentences); a sentence entails
            itself.
        labels: value of each document, from 0.
        most_sentences: of the selection; the mean number of units of a system's summaries is a fair choice.
        bound: which end.

    Raises:
        DataError: the shapes differ, fewer than two values are present, or no sentence is allowed.
    """
    places = np.asarray(labels, dtype=int)
    if most_sentences < 1 or len(np.unique(places)) < 2:
        raise DataError("a bound on Equal Coverage needs documents of at least two values and at least 1 sentence")
    selection = _Selection(coverage, places, int(places.max()) + 1)
    present = selection.counts > 0
    selected: list[int] = []
    trace: list[float] = []
    for _ in range(most_sentences):
        gaps = np.abs(selection.deviations()[present] / selection.counts[present, None]).mean(axis=0)
        best = _best(gaps, bound)
        if best is None:
            break
        selection.add(best)
        selected.append(best)
        trace.append(float(gaps[best]))
    return GreedyBound(tuple(selected), tuple(trace))


def greedy_coverage_parity(
    sets: Iterable[tuple[ArrayLike, ArrayLike]], n_values: int, most_sentences: int, bound: Bound
) -> tuple[list[tuple[int, ...]], float | None]:
    """Selected sentences of each set, and Coverage Parity of the corpus at its lowest or highest, greedily.

    Sets are taken in order; each step looks at the corpus finished so far plus the current set. A set of which nothing can be
    covered, or whose documents share one value, gets () and does not count. None when no set counts.

    Args:
        sets: coverage of shape (documents, sentences) and labels of each set; read once.
        n_values: declared values; labels are below it.
        most_sentences: of each selection.
        bound: which end.

    Raises:
        DataError: the shapes differ, a label is not below `n_values`, or no sentence is allowed.
    """
    if most_sentences < 1:
        raise DataError(f"a bound needs at least 1 sentence, got {most_sentences}")
    sums, counts = np.zeros(n_values), np.zeros(n_values)
    chosen: list[tuple[int, ...]] = []
    for coverage, labels in sets:
        selection = _Selection(coverage, labels, n_values)
        selected: list[int] = []
        current = np.zeros(n_values)
        if (selection.counts > 0).sum() > 1:
            for _ in range(most_sentences):
                added = selection.deviations()  # (values, sentences)
                parity = _parity(sums[:, None] + added, (counts + selection.counts)[:, None])
                best = _best(parity, bound)
                if best is None:
                    break
                current = added[:, best]
                selection.add(best)
                selected.append(best)
        if selected:
            sums, counts = sums + current, counts + selection.counts
        chosen.append(tuple(selected))
    return chosen, float(_parity(sums, counts)) if counts.any() else None


def _parity(sums: Floats, counts: Floats) -> Floats:
    """Mean over the values that occur of their absolute mean, along the first axis."""
    present = counts > 0
    means = np.abs(sums / np.where(present, counts, 1.0))
    return np.asarray((means * present).sum(axis=0) / present.sum(axis=0))


def _best(measure: Floats, bound: Bound) -> int | None:
    """The sentence of the lowest or highest measure; None when no sentence has one."""
    signed = measure if bound == "lower" else -measure
    if np.isnan(signed).all():
        return None
    return int(np.argmax(signed <= np.nanmin(signed) + TIE))
