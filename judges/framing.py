"""Texts as the token ids that a metric's model gets: each text is tokenised once, then laid between special tokens.

The tokens of a text do not depend on what stands beside it. So a text that is compared with many others is tokenised by itself,
its length is known before anything is run, and what is cut is cut from the ids that the model would have got.
"""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, TypeAlias

from .tokens import special_tokens

# texts tokenised at a time: what the tokenizer keeps of each is many times as large as its ids
AT_A_TIME = 1_000

# token ids of a text, in four bytes each
TokenIds: TypeAlias = "array[int]"


def token_ids(tokenizer: Any, texts: Sequence[str]) -> list[TokenIds]:
    """The token ids of each text, none around it; a special token that a text spells is an unknown word."""
    unknown, special = tokenizer.unk_token_id, special_tokens(tokenizer).keys()
    found: list[TokenIds] = []
    for start in range(0, len(texts), AT_A_TIME):
        some = list(texts[start : start + AT_A_TIME])
        for ids in tokenizer(some, add_special_tokens=False, truncation=False, verbose=False)["input_ids"]:
            # without an unknown token the pieces are bytes, none of which is special
            is_plain = unknown is None or special.isdisjoint(ids)
            found.append(array("i", ids if is_plain else [unknown if token in special else token for token in ids]))
    return found


@dataclass(frozen=True)
class _Part:
    """Tokens of one kind that stand together in a frame."""

    # place of the text that stands here; None for special tokens
    text: int | None
    special: tuple[int, ...]
    token_type: int


@dataclass(frozen=True)
class Frame:
    """What a tokenizer puts around its texts."""

    parts: tuple[_Part, ...]
    # whether the model is told which text a token is of
    has_types: bool

    @property
    def n_special(self) -> int:
        """Special tokens around and between the texts."""
        return sum(len(part.special) for part in self.parts)

    def row(self, texts: Sequence[Sequence[int]]) -> dict[str, list[int]]:
        """The texts in their frame: `input_ids` and, where the model has them, `token_type_ids`.

        Args:
            texts: token ids of each text, as many texts as the frame was made for.
        """
        filled = [(part, part.special if part.text is None else texts[part.text]) for part in self.parts]
        found = {"input_ids": [token for _, ids in filled for token in ids]}
        if self.has_types:
            found["token_type_ids"] = [part.token_type for part, ids in filled for _ in ids]
        return found


def frame_of(tokenizer: Any, n_texts: int) -> Frame:
    """What the tokenizer puts around one text, or around two that are read together."""
    # read off an example: tokenizers have no other word for it that all of them share
    encoded = tokenizer(*["a"] * n_texts)
    ids, places = encoded["input_ids"], encoded.sequence_ids(0)
    types = encoded.get("token_type_ids", [0] * len(ids))
    parts = []
    for (place, token_type), tokens in groupby(zip(places, types, ids, strict=True), key=lambda token: token[:2]):
        special = tuple(token for _, _, token in tokens) if place is None else ()
        parts.append(_Part(place, special, token_type))
    return Frame(tuple(parts), "token_type_ids" in encoded)
