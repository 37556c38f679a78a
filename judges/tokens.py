"""Tokenizers of metric models, which take a text for nothing but text.

A model that reads two texts together knows their border by a special token ("[SEP]", "</s>"), and a text may spell that token.
Tokenizers are therefore opened so that they split what looks like one. That is not enough for those whose vocabulary holds the
special tokens as ordinary pieces (SentencePiece: ALBERT, DeBERTa v3, T5), some of them behind a normalisation that turns a
full-width "\uff1c/s\uff1e" into one: what still comes out as a special token inside a text is read as an unknown word.

Each text is tokenised once, then laid between special tokens: its tokens do not depend on what stands beside it. So a text that
is compared with many others is tokenised by itself, its length is known before anything is run, and what is cut is cut from the
ids that the model would have got.
"""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, TypeAlias

from ..errors import JudgeError
from ..models.opening import open_tokenizer as open_foreign
from ..text.forms import normal_form


def open_tokenizer(folder: str, revision: str | None, feature: str) -> Any:
    """The tokenizer of a model; it splits special tokens in texts, and a text that is too long loses its end.

    Raises:
        MissingExtra: transformers is not installed.
        ModelError: it cannot be opened.
        JudgeError: it cannot tell where its tokens stand in the text.
    """
    tokenizer = open_foreign(folder, feature, revision, split_special_tokens=True, truncation_side="right")
    if not tokenizer.is_fast:
        raise JudgeError(f"{feature}: the tokenizer of {folder!r} is not a fast tokenizer; save it with tokenizer.json")
    return tokenizer


def special_tokens(tokenizer: Any) -> dict[int, str]:
    """The tokens that mean something else than text, by id; the unknown one is not among them."""
    added = {i: str(token) for i, token in tokenizer.added_tokens_decoder.items() if token.special}
    named = dict(zip(tokenizer.all_special_ids, tokenizer.all_special_tokens, strict=True))
    return {i: token for i, token in (added | named).items() if i != tokenizer.unk_token_id}


def own_tokens(encoded: Any, row: int) -> list[bool]:
    """Which tokens of a row of an encoded batch are a text's."""
    return [part is not None for part in encoded.sequence_ids(row)]


def ids_as_text(tokenizer: Any, encoded: Any) -> list[list[int]]:
    """The token ids of an encoded batch, with `as_text` in each row."""
    return [as_text(tokenizer, ids, own_tokens(encoded, row)) for row, ids in enumerate(encoded["input_ids"])]


def as_text(tokenizer: Any, ids: Sequence[int], is_own: Sequence[bool]) -> list[int]:
    """The token ids with the unknown token for every special one that stands in a text.

    Args:
        tokenizer: what made them. One without an unknown token has byte-level pieces, none of which is special.
        ids: tokens of a text or of several, special ones between them.
        is_own: which of them are a text's.
    """
    unknown, special = tokenizer.unk_token_id, special_tokens(tokenizer)
    if unknown is None:
        return list(ids)
    return [unknown if is_text and token in special else token for token, is_text in zip(ids, is_own, strict=True)]


# texts tokenised at a time: what the tokenizer keeps of each is many times as large as its ids
AT_A_TIME = 1_000

# token ids of a text, in four bytes each
TokenIds: TypeAlias = "array[int]"


def token_ids(tokenizer: Any, texts: Sequence[str]) -> list[TokenIds]:
    """The token ids of each text's normal form, none around it; a special token that a text spells is an unknown word."""
    unknown, special = tokenizer.unk_token_id, special_tokens(tokenizer).keys()
    token_ids_of_texts: list[TokenIds] = []
    for start in range(0, len(texts), AT_A_TIME):
        some = [*map(normal_form, texts[start : start + AT_A_TIME])]
        for ids in tokenizer(some, add_special_tokens=False, truncation=False, verbose=False)["input_ids"]:
            # without an unknown token the pieces are bytes, none of which is special
            is_plain = unknown is None or special.isdisjoint(ids)
            token_ids_of_texts.append(
                array("i", ids if is_plain else [unknown if token in special else token for token in ids])
            )
    return token_ids_of_texts


@dataclass(frozen=True)
class _TokenRun:
    """Tokens of one kind that stand together in a frame."""

    # place of the text that stands here; None for special tokens
    text: int | None
    special: tuple[int, ...]
    token_type: int


@dataclass(frozen=True)
class Frame:
    """What a tokenizer puts around its texts."""

    parts: tuple[_TokenRun, ...]
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
        encoded = {"input_ids": [token for _, ids in filled for token in ids]}
        if self.has_types:
            encoded["token_type_ids"] = [part.token_type for part, ids in filled for _ in ids]
        return encoded


def frame_of(tokenizer: Any, n_texts: int) -> Frame:
    """What the tokenizer puts around one text, or around two that are read together."""
    # read off an example: tokenizers have no other word for it that all of them share
    encoded = tokenizer(*["a"] * n_texts)
    ids, places = encoded["input_ids"], encoded.sequence_ids(0)
    types = encoded.get("token_type_ids", [0] * len(ids))
    parts = []
    for (place, token_type), tokens in groupby(zip(places, types, ids, strict=True), key=lambda token: token[:2]):
        special = tuple(token for _, _, token in tokens) if place is None else ()
        parts.append(_TokenRun(place, special, token_type))
    return Frame(tuple(parts), "token_type_ids" in encoded)
