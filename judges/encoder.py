"""Alignment by sentence embeddings: the light aligner, which needs no classifier.

Support is the cosine of the two texts' embeddings, with negative cosines taken for 0: below 0 texts are merely
unrelated, and the scale stays [0, 1]. It sees topics and wording; it does not tell a claim from its negation.
"""

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..extras import need, without_load_report
from ..models import is_hub_id, locate, signature
from ..models.opening import check_weights, refuse_damaged_files
from ..models.wholeness import refuse_strange_numbers, strange_numbers, told_once
from .aligner import Aligner, Alignment, Holder, Pairing, device
from .embeddings import keep_embeddings, known_embeddings
from .shared import Lazy, SharedModels

log = logging.getLogger(__name__)

FEATURE = "aligner 'encoder'"
# the pooler of a BERT, which was not trained with many encoders: they take the mean, or the first vector as it stands
UNREAD = ("pooler.",)


def open_encoder(model: str, feature: str, revision: str | None = None) -> Any:
    """A model of sentence-transformers with all of its weights, each a number of 32 bits.

    Args:
        model: Hugging Face id, local folder or embedded model.
        feature: what the user asked for, as errors name it.
        revision: branch, tag or commit of a Hugging Face id.

    Raises:
        MissingExtra: sentence-transformers or torch is not installed.
        UnfitModelError: its files are damaged, or do not hold every weight.
        ModelError: it could not be opened for another reason.
    """
    library = need("sentence_transformers", feature)
    folder = locate(model)
    cannot = f"{feature} cannot open model {model!r}"
    refuse_damaged_files(folder, cannot)
    with told_once(cannot, folder), without_load_report():
        opened = library.SentenceTransformer(
            folder,
            revision=revision,
            device=device(),
            trust_remote_code=False,
            # shapes are compared below
            model_kwargs={"dtype": need("torch", feature).float32, "ignore_mismatched_sizes": True},
        )
        opened.encode([""])
    # the library does not say that it drew weights at random, or that some are not numbers
    for part in opened:
        inner = getattr(part, "auto_model", None)
        if inner is not None:
            check_weights(type(inner).__name__, inner.name_or_path, feature, may_lack=UNREAD)
    refuse_strange_numbers(strange_numbers(opened), f"{feature}: model {model!r}")
    return opened


def kept_under(opened: Any, model: str, revision: str | None) -> str | None:
    """What names the very weights of an open encoder; None of one of the hub that does not tell its commit.

    Args:
        opened: as `open_encoder` gave it.
        model: its name.
        revision: branch, tag or commit of a Hugging Face id.
    """
    named = signature(model, revision)
    if not is_hub_id(model):
        return named
    config = getattr(getattr(opened[0], "auto_model", None), "config", None)
    commit = getattr(config, "_commit_hash", None)
    return f"{named}@{commit}" if commit else None


class EncoderAligner(Holder):
    """A sentence-transformers model."""

    def __init__(self, model: str, batch_size: int, revision: str | None = None) -> None:
        self._model = open_encoder(model, FEATURE, revision)
        self._named = kept_under(self._model, model, revision)
        self._size = int(self._model.encode([""]).shape[1])
        self._batch_size = batch_size

    def align(self, pairings: Sequence[Pairing]) -> list[Alignment]:
        """One alignment for each pairing, in order; every distinct text is encoded once."""
        texts = list(dict.fromkeys(text for p in pairings for text in (*p.premises, *p.claims)))
        if not texts:
            return [Alignment(np.empty((len(p.premises), len(p.claims))), 0) for p in pairings]
        rows = self.encode(texts)
        place = {text: i for i, text in enumerate(texts)}
        ids = self._model.tokenizer(texts, add_special_tokens=True, truncation=False, verbose=False)["input_ids"]
        cut = {text for text, own in zip(texts, ids, strict=True) if len(own) > self._model.max_seq_length}
        if cut:
            log.warning("%d of %d texts were cut to %d tokens", len(cut), len(texts), self._model.max_seq_length)
        alignments = []
        for p in pairings:
            premises = rows[[place[text] for text in p.premises]].astype(float)  # (premises, dimensions)
            claims = rows[[place[text] for text in p.claims]].astype(float)  # (claims, dimensions)
            n_cut = sum(a in cut or b in cut for a in p.premises for b in p.claims)
            alignments.append(Alignment(np.clip(premises @ claims.T, 0.0, 1.0), n_cut))
        return alignments

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """A vector of unit length for each text, shape (texts, dimensions); those that are kept are not made again.

        Vectors of two versions of a model cannot be compared, so a model that may change under its name keeps none.

        Raises:
            StorageError: the file of kept embeddings cannot be used.
        """
        if self._named is None:
            return self._made(list(texts)).reshape(len(texts), self._size)
        distinct = list(dict.fromkeys(texts))
        known = known_embeddings(self._named, distinct, self._size)
        missing = [text for text in distinct if text not in known]
        if missing:
            made = dict(zip(missing, self._made(missing), strict=True))
            keep_embeddings(self._named, made)
            known |= made
        return np.array([known[text] for text in texts], dtype=np.float32).reshape(len(texts), self._size)

    def _made(self, texts: list[str]) -> NDArray[np.float32]:
        rows: NDArray[np.float32] = self._model.encode(
            texts,
            batch_size=self._batch_size,
            convert_to_numpy=True,
            normalize_embeddings=True,
            show_progress_bar=False,
        )
        return rows


def lazy_encoder(models: SharedModels, model: str, batch_size: int, revision: str | None = None) -> Lazy[Aligner]:
    """The encoder, which all judges that name it share."""
    return models.of(EncoderAligner, model, batch_size, revision)
