"""What the matchers with a model read of a text: its token ids, the end cut off where the model reads no further."""

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..framing import TokenIds, frame_of, token_ids


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
        return [self._fitted(ids) for ids in token_ids(self._tokenizer, [*map(self._lay_out, texts)])]

    def _fitted(self, ids: TokenIds) -> ReadText:
        n_special = self._frame.n_special
        row = self._frame.row([ids[: self.most_tokens - n_special]])["input_ids"]
        return ReadText(array("i", row), len(ids) + n_special)

    def padded(self, texts: Sequence[ReadText]) -> Any:
        """The texts as one batch: `input_ids` and `attention_mask`, shape (texts, tokens); padding stands behind."""
        rows = {"input_ids": [text.ids.tolist() for text in texts]}
        # what some tokenizers do is to pad in front
        return self._tokenizer.pad(rows, return_tensors="pt", padding_side="right")
