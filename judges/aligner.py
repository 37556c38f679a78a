"""Aligners: how much a claim is supported by a premise, for all premises and claims of a candidate at once.

Aligners that read premise and claim together (NLI classifiers, AlignScore) share the batching here: equal pairs are run
once, each text is tokenised once however many pairs it is in, pairs of like length stand together, and only the premise is ever
cut to the model's length, at its end.
"""

import gc
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..extras import need
from .tokens import frame_of, token_ids

log = logging.getLogger(__name__)

# tokens of an input that nothing bounds
UNBOUNDED = 2**20

# (premise, claim)
Pair = tuple[str, str]
# what is read off a row of an encoded batch
R = TypeVar("R")
T = TypeVar("T")


@dataclass(frozen=True)
class Pairing:
    """Premises and claims that are compared each with each."""

    premises: tuple[str, ...]
    claims: tuple[str, ...]


@dataclass(frozen=True)
class Alignment:
    """What an aligner found."""

    # support in [0, 1], shape (premises, claims); not-a-number in gaps
    matrix: NDArray[np.float64]
    # comparisons in which the premise was cut to the model's length
    n_cut: int
    # where nothing was compared, because the claim alone exceeds the model's length, same shape; None: nowhere
    gaps: NDArray[np.bool_] | None = None
    # comparisons in which a text was read in windows
    n_split: int = 0

    @property
    def has_gaps(self) -> bool:
        """Whether some pair was not compared."""
        return self.gaps is not None and bool(self.gaps.any())


class Aligner(Protocol):
    """Compares premises with claims. Opening one loads its model."""

    def align(self, pairings: Sequence[Pairing]) -> list[Alignment]:
        """One alignment for each pairing, in order."""
        ...

    def close(self) -> None:
        """Give the model's memory back."""
        ...


class Holder:
    """What holds one model of transformers, under the name `_model`."""

    def close(self) -> None:
        """Give the model's memory back."""
        release(self, "_model")


class PairAligner(Holder, ABC):
    """An aligner whose model reads premise and claim together."""

    def __init__(self, tokenizer: Any, most_tokens: int, batch_size: int) -> None:
        self._tokenizer = tokenizer
        self._frame = frame_of(tokenizer, 2)
        self._most_tokens = most_tokens
        self._batch_size = batch_size

    @abstractmethod
    def probabilities(self, encoded: Any) -> list[float]:
        """Probability that the premise supports the claim, for each row of an encoded batch."""

    def align(self, pairings: Sequence[Pairing]) -> list[Alignment]:
        """One alignment for each pairing, in order."""
        support, cut = self.read(pairings, self.probabilities)
        return [alignment_of(p, support, cut) for p in pairings]

    def read(self, pairings: Sequence[Pairing], rows: Callable[[Any], list[R]]) -> tuple[dict[Pair, R], set[Pair]]:
        """What the model says of each distinct pair, and the pairs whose premise was cut.

        A pair whose claim leaves no room for a premise is not read.

        Args:
            pairings: premises and claims.
            rows: runs the model on an encoded batch; one answer for each row.
        """
        texts = list(dict.fromkeys(text for p in pairings for text in (*p.premises, *p.claims)))
        ids = dict(zip(texts, token_ids(self._tokenizer, texts), strict=True))
        room = self._most_tokens - self._frame.n_special
        lengths = {
            (premise, claim): len(ids[premise]) + len(ids[claim])
            for p in pairings
            for premise in p.premises
            for claim in p.claims
            # at least one token of the premise must stand beside the claim
            if len(ids[claim]) < room
        }
        torch = need("torch", "an aligner")
        readings: dict[Pair, R] = {}
        for batch in in_batches(lengths, lambda pair: (lengths[pair], pair), self._batch_size):
            framed = [self._frame.row((ids[premise][: room - len(ids[claim])], ids[claim])) for premise, claim in batch]
            encoded = self._tokenizer.pad(framed, return_tensors="pt")
            with torch.inference_mode():
                readings.update(zip(batch, rows(encoded), strict=True))
        cut = {pair for pair, length in lengths.items() if length > room}
        warn_of_cuts(len(cut), len(lengths), self._most_tokens)
        return readings, cut


def in_batches(pieces: Iterable[T], order: Callable[[T], Any], batch_size: int) -> Iterator[list[T]]:
    """The distinct pieces in batches; ordered by length, those of like length stand together, so that little is padding."""
    ordered = sorted(dict.fromkeys(pieces), key=order)
    for start in range(0, len(ordered), batch_size):
        yield ordered[start : start + batch_size]


def warn_of_cuts(n_cut: int, n: int, most_tokens: int) -> None:
    """Say, if it is so, that some of the comparisons did not read the source side to its end."""
    if n_cut:
        log.warning("%d of %d comparisons cut the source side to %d tokens", n_cut, n, most_tokens)


def alignment_of(pairing: Pairing, support: Mapping[Pair, float], cut: Set[Pair]) -> Alignment:
    """The alignment of a pairing, from the support of its pairs and which of them were cut; a pair without support is a gap."""
    pairs = [[(premise, claim) for claim in pairing.claims] for premise in pairing.premises]
    matrix = np.array([[support.get(pair, np.nan) for pair in row] for row in pairs])  # (premises, claims)
    gaps = np.array([[pair not in support for pair in row] for row in pairs], dtype=bool)  # (premises, claims)
    return Alignment(matrix, sum(pair in cut for row in pairs for pair in row), gaps)


def most_tokens(tokenizer: Any, model: Any) -> int:
    """The longest input that the model takes, in tokens, special ones included."""
    embedding = need("torch", "an aligner").nn.Embedding
    tables = [
        module
        for name, module in model.named_modules()
        if name.split(".")[-1] == "position_embeddings" and isinstance(module, embedding)
    ]
    # a table with a padding row counts positions from behind it on (RoBERTa, MPNet)
    limits = [table.num_embeddings - (0 if table.padding_idx is None else table.padding_idx + 1) for table in tables]
    if not tables:
        limits = [getattr(model.config, "max_position_embeddings", -1)]
    # XLNet says -1 for no limit; a tokenizer without one says 10^30, more than it can be asked for
    return int(min(tokenizer.model_max_length, UNBOUNDED, *(limit for limit in limits if limit > 0)))


def device() -> str:
    """Where aligners run: the first GPU, or the CPU."""
    return "cuda" if need("torch", "an aligner").cuda.is_available() else "cpu"


def release(holder: object, *names: str) -> None:
    """Drop the models that a holder has under these names, and give their memory back, the GPU's too.

    Models hold themselves in circles, so without a collection they would stay until Python happens to make one.
    """
    for name in names:
        vars(holder).pop(name, None)
    gc.collect()
    cuda = need("torch", "an aligner").cuda
    if cuda.is_available():
        cuda.empty_cache()
