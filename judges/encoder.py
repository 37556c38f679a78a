"""Alignment by sentence embeddings: the light aligner, which needs no classifier.

Support is the cosine of the two texts' embeddings, with negative cosines taken for 0: below 0 texts are merely
unrelated, and the scale stays [0, 1]. It sees topics and wording; it does not tell a claim from its negation.

Nothing is cut. A text that is longer than the model reads (captions have no full stops) is read in windows about as long as the
texts that it is compared with, so that it is as if it had been split into sentences: of a premise the best window counts, of a
claim the mean of its windows. A text that is encoded by itself is the mean of windows as long as the model reads.
"""

from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..extras import need, without_load_report
from ..models import is_hub_id, locate, signature
from ..models.opening import check_weights, refuse_damaged_files
from ..models.wholeness import refuse_strange_numbers, strange_numbers, told_once
from ..text import n_words
from ..text.forms import normal_form
from .aligner import Aligner, Alignment, Holder, Pairing, device
from .embeddings import Vector, keep_embeddings, known_embeddings
from .shared import Lazy, SharedModels
from .windows import LongText, mean_direction, support_of, taken_apart

FEATURE = "aligner 'encoder'"
# the pooler of a BERT, which was not trained with many encoders: they take the mean, or the first vector as it stands
UNREAD = ("pooler.",)
# tokens of the shortest window
LEAST_TOKENS = 8
# windows of a text; they are longer where there would be more
MOST_WINDOWS = 1024


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
        # tokens of a text that the model reads
        self._most = self._model.max_seq_length - self._model.tokenizer.num_special_tokens_to_add()

    def align(self, pairings: Sequence[Pairing]) -> list[Alignment]:
        """One alignment for each pairing, in order; every distinct text is encoded once."""
        forms = {text: normal_form(text) for p in pairings for text in (*p.premises, *p.claims)}
        lengths, long = self._lengths(forms.values())
        premises = [
            self._windows([forms[a] for a in p.premises], [forms[b] for b in p.claims], lengths, long, 4)
            for p in pairings
        ]
        claims = [
            self._windows([forms[b] for b in p.claims], [forms[a] for a in p.premises], lengths, long, 1)
            for p in pairings
        ]
        short = [form for form in dict.fromkeys(forms.values()) if form not in long]
        rows = dict(zip(short, self.encode(short), strict=True))
        pieces = {piece for windows in (*premises, *claims) for of_text in windows for piece in of_text} - rows.keys()
        # not kept from run to run: they depend on what a text is compared with
        if pieces:
            rows |= zip(pieces, self._made([*pieces]), strict=True)
        return [
            Alignment(
                support_of(a, b, rows),
                0,
                n_split=sum(forms[x] in long or forms[y] in long for x in p.premises for y in p.claims),
            )
            for p, a, b in zip(pairings, premises, claims, strict=True)
        ]

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """A vector of unit length for each text, shape (texts, dimensions); those that are kept are not made again.

        Vectors of two versions of a model cannot be compared, so a model that may change under its name keeps none.

        Raises:
            StorageError: the file of kept embeddings cannot be used.
        """
        forms = [*map(normal_form, texts)]
        _, long = self._lengths(forms)
        pieces = {
            form: long[form].windows(self._most, self._most) if form in long else [form]
            for form in dict.fromkeys(forms)
        }
        rows = self._known([*dict.fromkeys(piece for of_text in pieces.values() for piece in of_text)])
        directions = [mean_direction([rows[piece] for piece in pieces[form]]) for form in forms]
        return np.array(directions, dtype=np.float32).reshape(len(texts), self._size)

    def _lengths(self, texts: Iterable[str]) -> tuple[dict[str, int], dict[str, LongText]]:
        """Tokens that are read of each text at once, roughly for short ones, and the texts that are longer than that."""
        # no token is less than a byte
        lengths = {text: n_words(text) for text in texts}
        asked = [text for text in lengths if len(text.encode()) > self._most]
        if not asked:
            return lengths, {}
        ids = self._model.tokenizer(asked, add_special_tokens=False, truncation=False, verbose=False)["input_ids"]
        lengths |= {text: min(len(token_ids), self._most) for text, token_ids in zip(asked, ids, strict=True)}
        return lengths, {
            text: taken_apart(text, self._model.tokenizer)
            for text, token_ids in zip(asked, ids, strict=True)
            if len(token_ids) > self._most
        }

    def _windows(
        self,
        texts: Sequence[str],
        other_texts: Sequence[str],
        lengths: Mapping[str, int],
        long: Mapping[str, LongText],
        overlap: int,
    ) -> list[list[str]]:
        """The windows of each text; a short one is its only window. `overlap` of them hold every word."""
        if not other_texts or long.keys().isdisjoint(texts):
            return [[text] for text in texts]
        usual = max(LEAST_TOKENS, int(median(lengths[text] for text in other_texts)))
        windows = []
        for text in texts:
            if text not in long:
                windows.append([text])
                continue
            step = max(usual // overlap, int(long[text].n_tokens.sum()) // MOST_WINDOWS, 1)
            size = min(self._most, max(usual, step))
            windows.append(long[text].windows(size, min(step, size)))
        return windows

    def _known(self, texts: list[str]) -> dict[str, Vector]:
        """The vectors of distinct texts that are read at once."""
        known = {} if self._named is None else known_embeddings(self._named, texts, self._size)
        missing = [text for text in texts if text not in known]
        if not missing:
            return known
        vectors = dict(zip(missing, self._made(missing), strict=True))
        if self._named is not None:
            keep_embeddings(self._named, vectors)
        return known | vectors

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
