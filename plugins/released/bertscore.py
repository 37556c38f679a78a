"""BERTScore: how well each token of one text is matched by some token of the other, in context.

Both texts become unit vectors, one for each token, from the last hidden layer; special tokens are left out. Precision is the
mean over the summary's tokens of the best cosine with a token of the text, recall the mean over the text's tokens, F1 their
harmonic mean. No weighting by rarity, no rescaling. Source: Zhang et al. 2020 (arXiv:1904.09675); docs/papers.md#ri-metrics.

Nothing is cut. A model with relative positions (DeBERTa) reads a text at once. One that counts its positions reads it in windows,
one for each passage (line). What is longer than a window is read in several, and the judgement says so; their tokens are then
taken together.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...extras import need
from ...judges.aligner import Holder
from ...judges.aligner import most_tokens as longest_input
from ...judges.checkpoint import open_checkpoint
from ...judges.encoder import UNREAD
from ...judges.judge import Judge, JudgeInput, Kind, ScoringJudge, Verdict, judge_signature, own_model
from ...judges.shared import Lazy, SharedModels
from ...judges.support import NO_NUMBER
from ...judges.tokens import ids_as_text, own_tokens
from ...models import signature
from ...runfolder.timing import booked
from ...text.digests import canonical_json
from ...text.forms import normal_form
from .sections import BertScoreJudge

Vectors = NDArray[np.float32]

# tokens of a window that `batch_size` counts by
USUAL_LENGTH = 512


def bert_score(text: Vectors, summary: Vectors) -> dict[str, float]:
    """Precision, recall and F1, each in [-1, 1] and in practice above 0.

    Args:
        text: unit vectors of the text's tokens, shape (tokens, dimensions), at least one token.
        summary: the same of the summary's.
    """
    cosines = (summary @ text.T).astype(float)  # (summary tokens, text tokens)
    precision, recall = float(cosines.max(axis=1).mean()), float(cosines.max(axis=0).mean())
    # the mean of a precision and a recall of different sign has no meaning
    positive = precision > 0 and recall > 0
    fmeasure = 2 * precision * recall / (precision + recall) if positive else 0.0
    return {"precision": precision, "recall": recall, "fmeasure": fmeasure}


@dataclass(frozen=True)
class Embedded:
    """A text as the encoder sees it."""

    # unit vectors of its tokens in their order, shape (tokens, dimensions)
    vectors: Vectors
    # passages too long to be read at once, so that tokens of one window do not see those of another
    n_split: int


@dataclass(frozen=True)
class _Window:
    """A piece of a text that the encoder reads at once."""

    # token ids, special ones included
    ids: list[int]
    # which of them are the text's own, shape (tokens,)
    own: NDArray[np.bool_]


class TokenEmbedder(Holder):
    """An encoder that gives each token of a text its vector.

    Args:
        model: Hugging Face id or local folder.
        batch_size: windows of 512 tokens that are run at a time; longer ones are fewer, so that attention needs no more memory.
        most_tokens: longest window in tokens, special ones included, if the model takes it.
        revision: branch, tag or commit of a Hugging Face id.
    """

    def __init__(self, model: str, batch_size: int, most_tokens: int, revision: str | None = None) -> None:
        self._tokenizer, self._model = open_checkpoint(
            "AutoModel", model, "judge 'bertscore'", revision, may_lack=UNREAD
        )
        config = self._model.config
        self._relative = config.model_type.startswith("deberta") and not config.position_biased_input
        self._most = most_tokens if self._relative else min(most_tokens, longest_input(self._tokenizer, self._model))
        self._batch_size = batch_size

    def embed(self, texts: Sequence[str]) -> dict[str, Embedded]:
        """Each text's tokens."""
        forms = {text: normal_form(text) for text in texts}
        lines = {text: [form] if self._relative else form.splitlines() for text, form in forms.items()}
        pieces = {text: [self._windows(line.strip()) for line in lines[text] if line.strip()] for text in texts}
        windows = [window for of_text in pieces.values() for of_piece in of_text for window in of_piece]
        rows: dict[int, Vectors] = {}
        for batch in self._batches(windows):
            rows.update(zip(batch, self._run([windows[i] for i in batch]), strict=True))
        embeddings = {}
        place = 0
        for text, of_text in pieces.items():
            n = sum(map(len, of_text))
            token_vectors = [rows[i] for i in range(place, place + n)]
            place += n
            vectors = np.concatenate(token_vectors) if token_vectors else np.empty((0, 0), np.float32)
            embeddings[text] = Embedded(vectors, sum(len(of_piece) > 1 for of_piece in of_text))
        return embeddings

    def _windows(self, piece: str) -> list[_Window]:
        encoded = self._tokenizer(
            [piece],
            truncation=True,
            max_length=self._most,
            stride=0,
            return_overflowing_tokens=True,
            verbose=False,
        )
        return [
            _Window(ids, np.array(own_tokens(encoded, row), dtype=bool))
            for row, ids in enumerate(ids_as_text(self._tokenizer, encoded))
        ]

    def _batches(self, windows: Sequence[_Window]) -> Iterator[list[int]]:
        """The places of the windows in batches of like length; attention's memory grows with the square of it."""
        batch: list[int] = []
        for i in sorted(range(len(windows)), key=lambda i: len(windows[i].ids)):
            n = len(batch) + 1
            longest = len(windows[i].ids)
            if n > self._batch_size or (n > 1 and n * longest**2 > self._batch_size * USUAL_LENGTH**2):
                yield batch
                batch = []
            batch.append(i)
        if batch:
            yield batch

    def _run(self, windows: Sequence[_Window]) -> Iterator[Vectors]:
        """Unit vectors of each window's own tokens."""
        torch = need("torch", "judge 'bertscore'")
        encoded = self._tokenizer.pad({"input_ids": [window.ids for window in windows]}, return_tensors="pt")
        with torch.inference_mode():
            hidden = self._model(**encoded.to(self._model.device)).last_hidden_state  # (windows, tokens, dimensions)
            unit = torch.nn.functional.normalize(hidden.float(), dim=-1).cpu().numpy()
        for window, mask, rows in zip(windows, encoded["attention_mask"].bool().cpu().numpy(), unit, strict=True):
            yield rows[mask][window.own]


class BertScore(ScoringJudge):
    """One measure of BERTScore as a judge, on a scale from -1 to 1."""

    low = -1.0

    def __init__(self, name: str, options: BertScoreJudge, model: Lazy[TokenEmbedder]) -> None:
        named = judge_signature(
            f"bertscore-{options.measure}",
            "bertscore",
            model=signature(options.model, options.revision),
            tokens=options.most_tokens,
            against=options.against,
            layer="last",
            idf="no",
            rescaled="no",
            v=3,
        )
        super().__init__(name, named, options.against, model)
        self._measure = options.measure
        self._model = model

    def score(self, inputs: Sequence[JudgeInput]) -> list[Verdict]:
        """One verdict for each input, in order; its `raw` has all three measures, and `split` where passages were."""
        embedder = self._model.get()
        with booked("models"):
            embeddings = embedder.embed([text for each in inputs for text in (each.reference, each.text)])
        return [
            self._verdict(embeddings[judge_input.reference], embeddings[judge_input.text]) for judge_input in inputs
        ]

    def _verdict(self, text: Embedded, summary: Embedded) -> Verdict:
        if not len(text.vectors) or not len(summary.vectors):
            return Verdict(None, "no tokens to compare")
        # the seventh digit differs with the batch that a text stood in
        measures = {measure: round(value, 6) for measure, value in bert_score(text.vectors, summary.vectors).items()}
        if not all(map(math.isfinite, measures.values())):
            return Verdict(None, NO_NUMBER)
        n_split = text.n_split + summary.n_split
        return Verdict(measures[self._measure], raw=canonical_json(measures | ({"split": n_split} if n_split else {})))


def open_bertscore(name: str, options: BertScoreJudge, models: SharedModels) -> Judge:
    """The BERTScore judge that the options describe.

    Raises:
        ModelError: the model is a path that holds none.
    """
    embedder = models.of(TokenEmbedder, options.model, options.batch_size, options.most_tokens, options.revision)
    return BertScore(name, options, embedder)


BERTSCORE = Kind(
    open_bertscore,
    BertScoreJudge,
    readers=own_model(lambda options: TokenEmbedder(options.model, 1, 16, options.revision)),
)
