"""Judges that read their score off a matrix of support: which premise supports which claim, and how much.

AlignScore and its kin, SummaC, UniEval and MiniCheck differ in what they take for premises and claims, in the model that
compares the two, and in how the matrix becomes a score. All else is here.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..config.needs import Against
from ..resampling import Scale
from ..runfolder.timing import booked
from ..text.digests import canonical_json
from .aligner import Aligner, Alignment, Pairing
from .judge import JudgeInput, ScoringJudge, Verdict
from .overflow import CUT_PAIRS
from .shared import Lazy

# why a summary is unscored whose model overflowed, or was trained to pieces
NO_NUMBER = "model gave no finite number"
# what is rounded away differs with the batch that a text stood in
DECIMALS = 6


def aggregate(matrix: ArrayLike) -> float:
    """Mean over the claims (columns) of the best premise (row)."""
    return float(np.asarray(matrix, dtype=float).max(axis=0).mean())


@dataclass(frozen=True)
class SupportReading:
    """How texts become premises and claims, and support a score."""

    pair: Callable[[JudgeInput], Pairing]
    # score of a matrix of shape (premises, claims) without a gap
    reduce: Callable[[NDArray[np.float64]], float]
    # of the score
    scale: Scale = (0.0, 1.0)


class SupportJudge(ScoringJudge):
    """One reading of one aligner's support as a judge."""

    def __init__(
        self, name: str, signature: str, against: Against, model: Lazy[Aligner], reading: SupportReading
    ) -> None:
        super().__init__(name, signature, against, model)
        self.low, self.high = reading.scale
        self._reading = reading
        self._model = model

    def score(self, inputs: Sequence[JudgeInput]) -> list[Verdict]:
        """One verdict for each input, in order; its `raw` lists the best match of each claim."""
        pairings = [self._reading.pair(judge_input) for judge_input in inputs]
        aligner = self._model.get()
        with booked("models"):
            alignments = aligner.align(pairings)
        return [self._verdict(alignment) for alignment in alignments]

    def _verdict(self, alignment: Alignment) -> Verdict:
        matrix = alignment.matrix
        if matrix.size == 0:
            return Verdict(None, "no sentence to compare")
        if alignment.has_gaps:
            return Verdict(None, "a sentence exceeds the aligner's length")
        score = self._reading.reduce(matrix) if np.isfinite(matrix).all() else math.nan
        if not math.isfinite(score):
            return Verdict(None, NO_NUMBER)
        # float32 sums differ in the seventh digit with the batch they stood in; six digits are the same every time
        best = [round(float(value), 6) for value in matrix.max(axis=0)]
        counts = {CUT_PAIRS: alignment.n_cut, "split": alignment.n_split}
        counted = {name: n for name, n in counts.items() if n}
        return Verdict(round(score, 6), raw=canonical_json({"best": best, **counted}))
