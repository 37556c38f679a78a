"""What the matchers with a model share: what they read of a text, which texts are run together, and the shares from the scores.

Sources are counted in tokens; the end of a text is cut off where the model reads no further. Texts are run in parts that memory
can hold, and in them in batches of like length.

Source: Zhang et al. 2024, section 3.2; docs/papers.md#zhang-neural.
"""

import logging
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ...config.fairness import MatcherSection
from ...errors import DataError
from ...fairness.groups.masses import EMPTY_SUMMARY, Masses, Unscored, softmax
from ...fairness.labelled import LabelledSummary
from ...models import signature
from ...runfolder.timing import booked
from ..shared import Lazy, OneModel
from ..support import DECIMALS, NO_NUMBER
from ..tokens import TokenIds, frame_of, token_ids
from .words import source_counter

log = logging.getLogger(__name__)

# characters of a text that a message shows
SHOWN = 60

# text of a value, summary
Compared = tuple[str, str]


def in_flight(pairs: Sequence[Compared], lengths: Mapping[str, int], most_tokens: int) -> Iterator[list[Compared]]:
    """The pairs, in order, in parts whose distinct texts have up to `most_tokens` tokens together; a single pair may have more.

    Args:
        pairs: texts of values with summaries; the nearer to each other those of one text stand, the less is run twice.
        lengths: tokens of each text.
        most_tokens: tokens of a part.
    """
    part: list[Compared] = []
    lengthened: set[str] = set()
    n_tokens = 0
    for pair in pairs:
        new = {*pair} - lengthened
        if part and n_tokens + sum(lengths[text] for text in new) > most_tokens:
            yield part
            part, lengthened, n_tokens = [], set(), 0
            new = {*pair}
        part.append(pair)
        lengthened |= new
        n_tokens += sum(lengths[text] for text in new)
    if part:
        yield part


@dataclass(frozen=True)
class ReadText:
    """A text as a model gets it."""

    # the tokens that it gets, special ones included
    ids: TokenIds
    # tokens of the whole text, special ones included
    n_tokens: int

    @property
    def is_cut(self) -> bool:
        """Whether the model does not get all of the text."""
        return self.n_tokens > len(self.ids)


class Reader:
    """A tokenizer that knows how much its model reads.

    Args:
        tokenizer: of transformers.
        most_tokens: that the model reads, special ones included.
        lay_out: what is done to a text before it is tokenised.
    """

    def __init__(self, tokenizer: Any, most_tokens: int, lay_out: Callable[[str], str] = str) -> None:
        self.most_tokens = most_tokens
        self._lay_out = lay_out
        self._tokenizer = tokenizer
        self._frame = frame_of(tokenizer, 1)

    def read(self, texts: Sequence[str]) -> list[ReadText]:
        """Each text as the model gets it."""
        n_special = self._frame.n_special
        read_texts = []
        for ids in token_ids(self._tokenizer, [*map(self._lay_out, texts)]):
            row = self._frame.row([ids[: self.most_tokens - n_special]])["input_ids"]
            read_texts.append(ReadText(array("i", row), len(ids) + n_special))
        return read_texts

    def padded(self, texts: Sequence[ReadText]) -> Any:
        """The texts as one batch: `input_ids` and `attention_mask`, shape (texts, tokens); padding stands behind."""
        rows = {"input_ids": [text.ids.tolist() for text in texts]}
        # what some tokenizers do is to pad in front
        return self._tokenizer.pad(rows, return_tensors="pt", padding_side="right")


# Tokens of the texts that are compared at a time and held as vectors: a call of many items is worked through in parts, so that
# memory does not grow with it. With the 1,024 numbers of four bytes that large models have a token, this is 256 MiB.
MOST_IN_FLIGHT = 2**16


class Scorer(Protocol):
    """A loaded model that scores summaries against the texts of values."""

    # makes of a text what the model gets
    reader: Reader

    def scores(self, pairs: Sequence[Compared], texts: Mapping[str, ReadText]) -> list[float]:
        """Matching score of each pair, which are distinct; a text is run once for all of its pairs.

        Args:
            pairs: texts of values with summaries.
            texts: each of them as the reader gave it.
        """
        ...

    def close(self) -> None:
        """Give the model's memory back."""
        ...


class NeuralMatcher(OneModel[Scorer]):
    """Masses whose target is a softmax over a model's scores of the values.

    Args:
        section: of the recipe.
        model: the scorer.
        options: what else the scores depend on, for the signature.

    Raises:
        MissingExtra: N-grams are counted and NLTK is not installed.
        DataError: N-grams are counted and NLTK's data is absent.
        ModelError: the model is a path that holds none.
    """

    def __init__(self, section: MatcherSection, model: Lazy[Scorer], options: Mapping[str, object]) -> None:
        super().__init__(model)
        counter, self._count = source_counter(section)
        self.name: str = section.kind
        parts = {"model": signature(section.model_name, section.revision), **options, "T": section.temperature}
        named = "|".join(f"{key}:{value}" for key, value in parts.items())
        self.signature = f"{section.kind}|{named}|source:{counter}|v:2"
        self._temperature = section.temperature
        self._on_overflow = section.on_overflow
        self._said_cut = False

    def masses(self, items: Sequence[LabelledSummary]) -> list[Masses | Unscored]:
        """Masses of each item's declared values; equal texts are run once, those of all items together.

        Raises:
            DataError: a text is longer than the model reads, and on_overflow is "raise".
        """
        sides = [(item.value_texts(), item.summary) for item in items]
        pairs = list(
            dict.fromkeys((text, summary) for value_texts, summary in sides if summary.strip() for text in value_texts)
        )
        texts = self._read(pairs)
        scores = self._scores(pairs, texts)
        counted = {text: float(len(self._count(text))) for text in dict.fromkeys(text for text, _ in pairs)}
        found: list[Masses | Unscored] = []
        for item, (mine, summary) in zip(items, sides, strict=True):
            if not summary.strip():
                found.append(Unscored(EMPTY_SUMMARY))
                continue
            scores_by_value = [scores[text, summary] for text in mine]
            if not np.isfinite(scores_by_value).all():
                found.append(Unscored(NO_NUMBER))
                continue
            target = softmax(np.round(scores_by_value, DECIMALS), self._temperature)
            n_cut = sum(texts[text].is_cut or texts[summary].is_cut for text in mine)
            found.append(
                Masses(tuple(counted[text] for text in mine), tuple(target.tolist()), item.values, n_cut=n_cut)
            )
        return found

    def matched_words(self, item: LabelledSummary) -> dict[str, tuple[str, ...]]:
        """None: a model reads whole texts."""
        return {}

    def _read(self, pairs: Sequence[Compared]) -> dict[str, ReadText]:
        distinct = list(dict.fromkeys(text for pair in pairs for text in pair))
        if not distinct:
            return {}
        reader = self._model.get().reader
        texts = dict(zip(distinct, reader.read(distinct), strict=True))
        self._check_lengths({text: read.n_tokens for text, read in texts.items()}, reader.most_tokens)
        return texts

    def _check_lengths(self, lengths: Mapping[str, int], most_tokens: int) -> None:
        """Say once that texts are cut, or refuse them; both lengths count special tokens.

        Raises:
            DataError: a text is too long and nothing may be cut; the first such texts are named by how they begin.
        """
        long = {text: n for text, n in lengths.items() if n > most_tokens}
        if long and self._on_overflow == "raise":
            named = ", ".join(f"{text[:SHOWN]!r} ({n} tokens)" for text, n in list(long.items())[:3])
            raise DataError(
                f"matcher {self.name!r} reads {most_tokens} tokens, and {len(long)} of {len(lengths)} texts are longer: "
                f"{named}; shorten the documents, write on_overflow: truncate, or match by words, which has no limit"
            )
        if long and not self._said_cut:
            log.warning(
                "matcher %r: %d of %d texts were cut to %d tokens; later ones are truncated without a further warning",
                self.name, len(long), len(lengths), most_tokens,
            )  # fmt: skip
            self._said_cut = True

    def _scores(self, pairs: Sequence[Compared], texts: Mapping[str, ReadText]) -> dict[Compared, float]:
        lengths = {text: len(read.ids) for text, read in texts.items()}
        scores: dict[Compared, float] = {}
        for some in in_flight(pairs, lengths, MOST_IN_FLIGHT):
            scorer = self._model.get()
            with booked("models"):
                scores.update(zip(some, scorer.scores(some, texts), strict=True))
        return scores
