"""Alignment of a summary with its source, after AlignScore: who supports what, sentence by sentence.

Precision: every sentence of the summary is a claim, compared with every chunk of the source; the best chunk counts, and
the score is the mean over the claims. Recall turns the roles round: every sentence of the source is a claim, compared
with every sentence of the summary. Source: Zha et al. 2023 (arXiv:2305.16739), section 3.3; docs/papers.md#ri-metrics. With
`splitter: nltk` AlignScore's scores are those of its own code on whole documents. With `parts: claim` the summary's sentences
are taken apart first, which is our own.
"""

import math
from collections.abc import Iterator
from functools import partial

from ..config.judges import AlignmentJudge
from ..config.section import Check
from ..models import signature
from .aligner import Aligner, Pairing
from .alignscore import (
    checkpoint_folder,
    lazy_alignscore,
    refuse_absent,
    refuse_other_checkpoint,
    refuse_pickle,
)
from .claims import VERSION as CLAIM_RULES
from .claims import claims
from .encoder import lazy_encoder
from .judge import Judge, JudgeInput, Kind, ModelReader, judge_signature
from .nli import NliAligner, lazy_nli
from .shared import Lazy, SharedModels
from .splitters import Splitter, open_splitter, splitter_checks
from .support import SupportJudge, SupportReading, aggregate

# words that a chunk of AlignScore aims at
CHUNK_WORDS = 350


def chunk_sizes(n_words: int, n_sentences: int) -> tuple[int, list[int]]:
    """Sentences per chunk, and the sentences in each chunk: chunks of about 350 words, cut at sentence ends.

    n_words // 350 + 1 chunks are aimed at, each of n_sentences // that many sentences, at least one; the last may be
    shorter, and rounding down may give more chunks than aimed at.
    """
    per_chunk = max(n_sentences // (n_words // CHUNK_WORDS + 1), 1)
    return per_chunk, [min(per_chunk, n_sentences - start) for start in range(0, n_sentences, per_chunk)]


def chunks(splitter: Splitter, text: str) -> list[str]:
    """The text in chunks of about 350 words, sentences joined with a space; [] for a blank text."""
    units = splitter.split(text)
    per_chunk, _ = chunk_sizes(len(text.split()), len(units))
    return [" ".join(units[start : start + per_chunk]) for start in range(0, len(units), per_chunk)]


def whole(text: str) -> tuple[str, ...]:
    """The text as its own only part; none for a blank text."""
    return (text.strip(),) if text.strip() else ()


def parts(options: AlignmentJudge, splitter: Splitter, judge_input: JudgeInput) -> Pairing:
    """The premises and claims that the options make of a summary and its reference."""
    summary = splitter.split(judge_input.text)
    if options.parts == "claim":
        summary = [part for sentence in summary for part in claims(sentence)]
    if options.direction == "recall":
        return Pairing(premises=tuple(summary), claims=tuple(splitter.split(judge_input.reference)))
    if not options.splits:
        return Pairing(premises=whole(judge_input.reference), claims=whole(judge_input.text))
    source = (
        chunks(splitter, judge_input.reference)
        if options.source_chunks == "350-words"
        else splitter.split(judge_input.reference)
    )
    return Pairing(premises=tuple(source), claims=tuple(summary))


def _aligner(options: AlignmentJudge, models: SharedModels) -> Lazy[Aligner]:
    """The aligner; judges that name the same one share it."""
    if options.aligner == "encoder":
        return lazy_encoder(models, options.model, options.batch_size, options.revision)
    if options.aligner == "nli":
        return lazy_nli(models, options.model, options.batch_size, revision=options.revision)
    return lazy_alignscore(models, options.model, options.mode.removesuffix("_sp"), options.batch_size)


def open_alignment(name: str, options: AlignmentJudge, models: SharedModels) -> Judge:
    """The alignment judge that the options describe.

    Raises:
        ModelError: the model is a path that holds none.
        JudgeError: an AlignScore checkpoint is named as it was released, as a pickle.
        MissingExtra, DataError: its splitter needs NLTK or NLTK's data, which is absent.
    """
    if options.aligner == "alignscore":
        refuse_pickle(options.model)
        options = options.model_copy(update={"model": checkpoint_folder(options.model)})
    # a regression is trained towards 0 and 1, but nothing keeps it between them
    scale = (-math.inf, math.inf) if options.mode.startswith("reg") else (0.0, 1.0)
    splitter = open_splitter(options.splitter)
    in_chunks = options.direction == "precision" and options.source_chunks == "350-words"
    named = judge_signature(
        f"alignment-{options.direction}",
        "alignment",
        aligner=options.aligner,
        model=signature(options.model, options.revision),
        against=options.against,
        chunks="350-words" if in_chunks else "sentence",
        **({"mode": options.mode} if options.mode != "nli_sp" else {}),
        **({"parts": f"claim-{CLAIM_RULES}"} if options.parts == "claim" else {}),
        sentences=splitter.signature,
        v=2,
    )
    reading = SupportReading(partial(parts, options, splitter), aggregate, scale)
    return SupportJudge(name, named, options.against, _aligner(options, models), reading)


def _checks(name: str, options: AlignmentJudge) -> Iterator[Check]:
    if options.aligner == "alignscore":
        yield Check("model", partial(refuse_absent, options.model), is_here=True)
    yield from splitter_checks(name, options)


def _readers(options: AlignmentJudge) -> Iterator[ModelReader]:
    if options.aligner == "nli":
        read = partial(NliAligner, options.model, 1, revision=options.revision)
        yield ModelReader("model", options.model, options.revision, read)
    if options.aligner == "alignscore":
        yield ModelReader(
            "model", checkpoint_folder(options.model), None, partial(refuse_other_checkpoint, options.model)
        )


ALIGNMENT = Kind(open_alignment, AlignmentJudge, checks=_checks, readers=_readers)
