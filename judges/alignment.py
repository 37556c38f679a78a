"""Alignment of a summary with its source, after AlignScore: who supports what, sentence by sentence.

Precision: every sentence of the summary is a claim, compared with every chunk of the source; the best chunk counts, and
the score is the mean over the claims. Recall turns the roles round: every sentence of the source is a claim, compared
with every sentence of the summary. Source: Zha et al. 2023 (arXiv:2305.16739), section 3.3; specification of the seed
paper, section 6 (`nli_sp`). Sentences are split by sentencex, where the paper's code uses NLTK.
"""

from collections.abc import Sequence
from functools import partial
from importlib.metadata import version

import numpy as np
from numpy.typing import ArrayLike

from ..config import AlignmentJudge
from ..models import signature
from ..storage import canonical_json
from ..text import sentences
from ..timing import booked
from .aligner import Aligner, Alignment, Pairing
from .judge import REQUESTS_PER_BATCH, Against, Judge, JudgeInput, Verdict, judge_signature
from .shared import Lazy, SharedModels

# words that a chunk of AlignScore aims at
CHUNK_WORDS = 350


def chunk_sizes(n_words: int, n_sentences: int) -> tuple[int, list[int]]:
    """Sentences per chunk, and the sentences in each chunk: chunks of about 350 words, cut at sentence ends.

    n_words // 350 + 1 chunks are aimed at, each of n_sentences // that many sentences, at least one; the last may be
    shorter, and rounding down may give more chunks than aimed at.
    """
    per_chunk = max(n_sentences // (n_words // CHUNK_WORDS + 1), 1)
    return per_chunk, [min(per_chunk, n_sentences - start) for start in range(0, n_sentences, per_chunk)]


def chunks(text: str) -> list[str]:
    """The text in chunks of about 350 words, sentences joined with a space; [] for a blank text."""
    found = sentences(text)
    per_chunk, _ = chunk_sizes(len(text.split()), len(found))
    return [" ".join(found[start : start + per_chunk]) for start in range(0, len(found), per_chunk)]


def aggregate(matrix: ArrayLike) -> float:
    """Mean over the claims (columns) of the best premise (row)."""
    return float(np.asarray(matrix, dtype=float).max(axis=0).mean())


class AlignmentScore:
    """One direction of alignment under one aligner as a judge, on a scale from 0 to 1."""

    requests_per_batch = REQUESTS_PER_BATCH
    low = 0.0
    high = 1.0

    def __init__(self, name: str, options: AlignmentJudge, model: Lazy[Aligner]) -> None:
        self.name = name
        self.against: Against | None = options.against
        self.loads = model.key
        self._recall = options.direction == "recall"
        self._in_chunks = not self._recall and options.source_chunks == "350-words"
        self._model = model
        self.signature = judge_signature(
            f"alignment-{options.direction}",
            "alignment",
            aligner=options.aligner,
            model=signature(options.model),
            against=options.against,
            chunks="350-words" if self._in_chunks else "sentence",
            # where a sentence ends decides what the claims and the chunks are
            sentences=f"sentencex-{version('sentencex')}",
            v=1,
        )

    def score(self, inputs: Sequence[JudgeInput]) -> list[Verdict]:
        """One verdict for each input, in order; its `raw` lists the best match of each claim."""
        pairings = [self._pairing(each) for each in inputs]
        aligner = self._model.get()
        with booked("models"):
            found = aligner.align(pairings)
        return [_verdict(alignment) for alignment in found]

    def _pairing(self, each: JudgeInput) -> Pairing:
        summary = tuple(sentences(each.text))
        if self._recall:
            return Pairing(premises=summary, claims=tuple(sentences(each.reference)))
        source = chunks(each.reference) if self._in_chunks else sentences(each.reference)
        return Pairing(premises=tuple(source), claims=summary)

    def close(self) -> None:
        """Give the aligner's memory back."""
        self._model.close()


def _verdict(alignment: Alignment) -> Verdict:
    matrix = alignment.matrix
    if matrix.size == 0:
        return Verdict(None, "no sentence to compare")
    if np.isnan(matrix).any():
        return Verdict(None, "a sentence exceeds the aligner's length")
    # float32 sums differ in the seventh digit with the batch they stood in; six digits are the same every time
    best = [round(float(value), 6) for value in matrix.max(axis=0)]
    cut = {"cut": alignment.n_cut} if alignment.n_cut else {}
    return Verdict(round(aggregate(matrix), 6), raw=canonical_json({"best": best, **cut}))


def load_aligner(aligner: str, model: str, batch_size: int) -> Aligner:
    """The aligner with its model loaded.

    Args:
        aligner: "encoder", "nli" or "alignscore".
        model: Hugging Face id, local folder or embedded model.
        batch_size: texts or pairs run at a time.

    Raises:
        MissingExtra: its library is not installed.
        ModelError: the model cannot be opened.
        JudgeError: it is not the kind of model that the aligner needs.
    """
    if aligner == "encoder":
        from .encoder import EncoderAligner

        return EncoderAligner(model, batch_size)
    if aligner == "nli":
        from .nli import NliAligner

        return NliAligner(model, batch_size)
    from .alignscore import AlignScoreAligner

    return AlignScoreAligner(model, batch_size)


def open_alignment(name: str, options: AlignmentJudge, models: SharedModels) -> Judge:
    """The alignment judge that the options describe.

    Raises:
        ModelError: the model is a path that holds none.
        JudgeError: an AlignScore checkpoint is named as it was released, as a pickle.
    """
    if options.aligner == "alignscore":
        from .alignscore import checkpoint_folder, refuse_pickle

        refuse_pickle(options.model)
        options = options.model_copy(update={"model": checkpoint_folder(options.model)})
    key = canonical_json([options.aligner, options.model, options.batch_size])
    load = partial(load_aligner, options.aligner, options.model, options.batch_size)
    return AlignmentScore(name, options, models.lazy(key, load))
