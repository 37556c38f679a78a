"""Tokenizers of GGUF files that hold a SentencePiece vocabulary: pieces with scores, and no merges.

transformers makes other tokenizers of some of them (of Gemma's one that knows single characters), so they are made here. Of
neighbouring pieces that make a piece together, those are joined first whose piece has the highest score (Kudo and Richardson
2018, arXiv:1808.06226; llama.cpp does the same): every way to make a piece of two is a merge, ranked by the score of the piece.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

from ..extras import need

# what stands for a space in pieces
SPACE = "\u2581"
BYTE = re.compile(r"<0x([0-9A-F]{2})>")


class TokenKind(IntEnum):
    """What a token is, as GGUF files number it."""

    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5
    BYTE = 6


@dataclass(frozen=True)
class Vocabulary:
    """What a GGUF file says of its tokenizer."""

    # "llama" for SentencePiece, "gpt2" for bytes with merges
    model: str
    # how a text is cut before merges, of a byte vocabulary
    cuts: str
    pieces: list[str]
    # of the pieces; empty where merges take their place
    scores: list[float]
    kinds: list[int]
    bos: int | None
    eos: int | None
    unknown: int | None
    # ids of tokens that end a turn besides
    ends: tuple[int, ...]
    has_bos: bool
    has_eos: bool
    # whether a text by itself begins with a space
    has_prefix: bool
    chat_template: str | None

    def of_kind(self, *kinds: TokenKind) -> list[str]:
        """The pieces of these kinds, in order."""
        return [piece for piece, kind in zip(self.pieces, self.kinds, strict=True) if kind in kinds]

    @cached_property
    def ids(self) -> dict[str, int]:
        """Piece -> id."""
        return {piece: number for number, piece in enumerate(self.pieces)}

    @cached_property
    def joinable(self) -> dict[str, float]:
        """Pieces that texts are made of, with their scores."""
        return {
            piece: score
            for piece, score, kind in zip(self.pieces, self.scores, self.kinds, strict=True)
            if kind == TokenKind.NORMAL or (kind == TokenKind.USER_DEFINED and piece not in self.whole)
        }

    @cached_property
    def whole(self) -> list[str]:
        """Pieces that are found in texts before anything is joined.

        Those with a space are joined like others where a text is given one at its beginning: it would be found in them.
        """
        return [piece for piece in self.of_kind(TokenKind.USER_DEFINED) if not (self.has_prefix and SPACE in piece)]


def read_vocabulary(path: Path) -> Vocabulary | None:
    """What a GGUF file says of its tokenizer; None where it says nothing."""
    fields = need("gguf", f"model file {path.name}").GGUFReader(path).fields

    def value(key: str, default: Any = None) -> Any:
        field = fields.get(f"tokenizer.{key}")
        return default if field is None else field.contents()

    pieces = value("ggml.tokens")
    if not pieces:
        return None
    scores, bos, eos = value("ggml.scores", []), value("ggml.bos_token_id"), value("ggml.eos_token_id")
    unknown = value("ggml.unknown_token_id")
    model = value("ggml.model", "")
    control = {bos, eos}
    kinds = value("ggml.token_type") or [
        TokenKind.UNKNOWN
        if i == unknown
        else TokenKind.CONTROL
        if i in control
        else TokenKind.BYTE
        if BYTE.fullmatch(piece)
        else TokenKind.NORMAL
        for i, piece in enumerate(pieces)
    ]
    is_sentencepiece = model == "llama"
    return Vocabulary(
        model=model,
        cuts=value("ggml.pre", ""),
        pieces=pieces,
        scores=scores if len(scores) == len(pieces) else [0.0] * len(pieces),
        kinds=kinds,
        bos=bos,
        eos=eos,
        unknown=unknown,
        ends=tuple(end for key in ("eot", "eom") if (end := value(f"ggml.{key}_token_id")) is not None),
        has_bos=value("ggml.add_bos_token", is_sentencepiece),
        has_eos=value("ggml.add_eos_token", False),
        has_prefix=value("ggml.add_space_prefix", is_sentencepiece),
        chat_template=value("chat_template"),
    )


def sentencepiece_tokenizer(vocabulary: Vocabulary) -> Any:
    """The tokenizer of a vocabulary with scores, as transformers has it."""
    tokenizers = need("tokenizers", "a tokenizer of a GGUF file")
    transformers = need("transformers", "a tokenizer of a GGUF file")
    named = {
        name: None if number is None else vocabulary.pieces[number]
        for name, number in (("bos", vocabulary.bos), ("eos", vocabulary.eos), ("unk", vocabulary.unknown))
    }
    built = tokenizers.Tokenizer(
        tokenizers.models.BPE(
            vocabulary.ids, list(_merges(vocabulary)), unk_token=named["unk"], fuse_unk=True, byte_fallback=True
        )
    )
    normalizers, decoders = tokenizers.normalizers, tokenizers.decoders
    prefix = [normalizers.Prepend(SPACE)] if vocabulary.has_prefix else []
    built.normalizer = normalizers.Sequence([*prefix, normalizers.Replace(" ", SPACE)])
    strip = [decoders.Strip(" ", 1, 0)] if vocabulary.has_prefix else []
    built.decoder = decoders.Sequence([decoders.Replace(SPACE, " "), decoders.ByteFallback(), decoders.Fuse(), *strip])
    framed = [*([named["bos"]] if vocabulary.has_bos else []), "$A", *([named["eos"]] if vocabulary.has_eos else [])]
    if None not in framed and len(framed) > 1:
        ends = [(piece, vocabulary.ids[piece]) for piece in framed if piece and piece != "$A"]
        built.post_processor = tokenizers.processors.TemplateProcessing(single=framed, special_tokens=ends)
    control = vocabulary.of_kind(TokenKind.CONTROL, TokenKind.UNKNOWN)
    built.add_special_tokens([tokenizers.AddedToken(piece, normalized=False, special=True) for piece in control])
    built.add_tokens([tokenizers.AddedToken(piece, normalized=SPACE in piece) for piece in vocabulary.whole])
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=built,
        bos_token=named["bos"],
        eos_token=named["eos"],
        unk_token=named["unk"],
        clean_up_tokenization_spaces=False,
    )


def _merges(vocabulary: Vocabulary) -> Iterator[tuple[str, str]]:
    """Pairs of pieces that make a piece, the highest score of what they make first."""
    joinable = vocabulary.joinable
    for piece in sorted(joinable, key=lambda piece: -joinable[piece]):
        pairs = ((piece[:cut], piece[cut:]) for cut in range(1, len(piece)))
        known = [pair for pair in pairs if pair[0] in joinable and pair[1] in joinable]
        yield from sorted(known, key=lambda pair: (vocabulary.ids[pair[0]], vocabulary.ids[pair[1]]), reverse=True)


def encoded(vocabulary: Vocabulary, text: str) -> list[int]:
    """Token ids of a text, none around it, as SentencePiece's own algorithm finds them one pair at a time.

    What tokenizers that were made of the vocabulary are held against; its time is the square of the text's length.
    """
    text = (SPACE if vocabulary.has_prefix and text else "") + text.replace(" ", SPACE)
    ids = {piece.replace(" ", SPACE): vocabulary.ids[piece] for piece in vocabulary.whole}
    pattern = "|".join(re.escape(piece) for piece in sorted(ids, key=len, reverse=True)) or "(?!)"
    tokens: list[int] = []
    for part in re.split(f"({pattern})", text):
        tokens += [ids[part]] if part in ids else _joined(vocabulary, part)
    return tokens


def _joined(vocabulary: Vocabulary, text: str) -> Iterator[int]:
    parts, scores = list(text), vocabulary.joinable
    while True:
        pairs = [(scores[a + b], -n) for n, (a, b) in enumerate(pairwise(parts)) if a + b in scores]
        if not pairs:
            break
        place = -max(pairs)[1]
        parts[place : place + 2] = [parts[place] + parts[place + 1]]
    was_unknown = False
    for part in parts:
        bytes_of = [vocabulary.ids.get(f"<0x{byte:02X}>") for byte in part.encode()]
        is_unknown = part not in scores and None in bytes_of
        if part in scores:
            yield vocabulary.ids[part]
        elif not is_unknown:
            yield from (number for number in bytes_of if number is not None)
        elif vocabulary.unknown is not None and not was_unknown:
            yield vocabulary.unknown
        was_unknown = is_unknown
