"""Tokenizers of metric models, which take a text for nothing but text.

A model that reads two texts together knows their border by a special token ("[SEP]", "</s>"), and a text may spell that token.
Tokenizers are therefore opened so that they split what looks like one. That is not enough for those whose vocabulary holds the
special tokens as ordinary pieces (SentencePiece: ALBERT, DeBERTa v3, T5), some of them behind a normalisation that turns a
full-width "\uff1c/s\uff1e" into one: what still comes out as a special token inside a text is read as an unknown word.
"""

from collections.abc import Sequence
from typing import Any

from ..errors import JudgeError
from ..models.opening import open_tokenizer as open_foreign


def open_tokenizer(folder: str, revision: str | None, feature: str) -> Any:
    """The tokenizer of a model; it splits special tokens in texts, and a text that is too long loses its end.

    Raises:
        MissingExtra: transformers is not installed.
        ModelError: it cannot be opened.
        JudgeError: it cannot tell where its tokens stand in the text.
    """
    tokenizer = open_foreign(folder, feature, revision, split_special_tokens=True, truncation_side="right")
    if not tokenizer.is_fast:
        raise JudgeError(
            f"{feature}: the tokenizer of {folder!r} is none of the 'fast' kind; save it with tokenizer.json"
        )
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


def as_text(tokenizer: Any, ids: Sequence[int], own: Sequence[bool]) -> list[int]:
    """The token ids with the unknown token for every special one that stands in a text.

    Args:
        tokenizer: what made them. One without an unknown token has byte-level pieces, none of which is special.
        ids: tokens of a text or of several, special ones between them.
        own: which of them are a text's.
    """
    unknown, special = tokenizer.unk_token_id, special_tokens(tokenizer)
    if unknown is None:
        return list(ids)
    return [unknown if mine and token in special else token for token, mine in zip(ids, own, strict=True)]
