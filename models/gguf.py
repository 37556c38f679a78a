"""GGUF files, de-quantised once into an ordinary Hugging Face folder in the cache, which every engine can read.

The tokenizer is verified: each id is the file's piece, tokens of control stay whole, and texts are cut as the file's scores say.
What was made has fingerprints beside it, so that a folder that was changed since is not used.
"""

import logging
import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..errors import StorageError, UnfitModelError
from ..extras import need
from ..storage import sha256_of
from .cache import made_alone, models_folder, refuse_full_disk, whole_folder
from .files import damage
from .fingerprints import damage_of, fingerprint_file, read_fingerprints, write_fingerprints
from .sentencepiece import TokenKind, Vocabulary, encoded, read_vocabulary, sentencepiece_tokenizer

log = logging.getLogger(__name__)

# raised where folders of an earlier version must be made again; 2: tokenizers are verified, and those with scores are right
VERSION = 2

# tokens that end a turn in the chat formats of families
END_OF_TURN = ("<|im_end|>", "<|eot_id|>", "<end_of_turn>", "<|end|>", "<|END_OF_TURN_TOKEN|>")
# how byte vocabularies cut texts before merges, by the file's name for it: Llama 3 cuts numbers into threes, where transformers
# cuts all files of that family as GPT-2 does
LLAMA_3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
CUTS = dict.fromkeys(("llama-bpe", "llama3", "llama-v3"), LLAMA_3)
# what transformers' own conversions are right for
KNOWN_CUTS = {"", "default", "gpt-2", "gpt2", "qwen2", "smollm", "starcoder", "falcon", *CUTS}

# texts that a tokenizer is tried with: numbers, spaces, accents, scripts, signs
SAMPLES = (
    "The council met on 12 March 2024, and 3,450 people came.",
    "It's not that they don't care:  two  spaces,\na line,\n\nand\ta tab.",
    "Die Stra\u00dfenbahn f\u00e4hrt \u2013 \u201cpunctually\u201d \u2013 for 5 \u20ac to the Caf\u00e9.",
    "\u041c\u043e\u0441\u043a\u0432\u0430 \u5317\u4eac\u5e02 \u0639\u0631\u0628 \u0e44\u0e17\u0e22 \ud55c\uad6d\uc5b4",
    "a bicycle \U0001f6b2, x_1 = {y: [2]} <b>",
)


def converted_folder(stem: str, sha256: str) -> Path:
    """Where the Hugging Face folder made from a GGUF file of this name and SHA-256 lies, or will."""
    return models_folder() / f"{stem}-{sha256[:16]}"


def converted(gguf: Path, n_bytes: int = 0, *, name: str | None = None, mend: bool = False) -> Path:
    """The cached Hugging Face folder made from a GGUF file; converted on first use, by one process at a time.

    Args:
        gguf: the file.
        n_bytes: room that the folder needs, where that is known.
        name: of the model, as `evenhand models fetch` takes it; None for the file.
        mend: hash all that was made, and make it again where it is not what it was.

    Raises:
        UnfitModelError: the file is damaged, or cannot be converted; or what was made of it was changed, unless that is mended.
        StorageError: the disk has no room for the folder, or the cache cannot be written.
    """
    target = converted_folder(gguf.stem, sha256_of(gguf))
    if is_whole(target, name or str(gguf), mend=mend):
        return target
    if is_unrecorded(target) and not (os.access(target.parent, os.W_OK) and find_spec("gguf")):
        log.warning("%s was converted by an earlier version, and cannot be checked or made again here", target)
        return target
    with made_alone(target):
        # another process may have made it meanwhile
        if not is_whole(target, name or str(gguf), mend=mend):
            refuse_full_disk(target.parent, n_bytes, f"converting {gguf.name}")
            log.info("converting %s to a Hugging Face folder (once)", gguf.name)
            _convert(gguf, target)
            write_fingerprints(target, VERSION)
    return target


def is_whole(target: Path, name: str, *, mend: bool = False) -> bool:
    """Whether a converted folder is there as it was made; False where none is, or it is an earlier version's.

    Args:
        target: the folder.
        name: of the model, as `evenhand models fetch` takes it.
        mend: hash all of it; False, too, where it was changed.

    Raises:
        UnfitModelError: it was changed, unless that is to be mended.
    """
    known = read_fingerprints(target, VERSION) if target.is_dir() else None
    if known is None:
        return False
    wrong = damage_of(target, known, thoroughly=mend)
    if wrong and not mend:
        raise UnfitModelError(
            f"model {name!r}: {wrong}; what was converted of it is damaged. Make it again: evenhand models fetch "
            f"{name.removeprefix('embedded:')}"
        )
    return not wrong


def is_unrecorded(target: Path) -> bool:
    """Whether a converted folder is one of an earlier version, which left no fingerprints."""
    return target.is_dir() and not fingerprint_file(target).exists()


def _convert(gguf: Path, target: Path) -> None:
    need("gguf", f"model file {gguf.name}")
    transformers = need("transformers", f"model file {gguf.name}")
    torch = need("torch", f"model file {gguf.name}")
    from .wholeness import refuse_misfit, refuse_strange_numbers, strange_numbers, told_once

    if why := damage(gguf):
        raise UnfitModelError(f"{gguf}: {why}")
    with told_once(f"{gguf}: cannot be converted", str(gguf)):
        model, report = transformers.AutoModelForCausalLM.from_pretrained(
            gguf.parent,
            gguf_file=gguf.name,
            dtype=torch.bfloat16,
            local_files_only=True,
            trust_remote_code=False,
            output_loading_info=True,
        )
        vocabulary = read_vocabulary(gguf)
        tokenizer = _tokenizer(gguf, vocabulary)
    refuse_misfit(model, report, f"{gguf}:")
    refuse_strange_numbers(strange_numbers(model), f"{gguf}:")
    # the weights are plain numbers now; with these two left in place they would be saved as if still quantised
    model.hf_quantizer = None
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    # the GGUF reader takes the begin token for the end token and sets no padding token: without this a trained summary
    # would end in <|im_start|>
    end = tokenizer.convert_ids_to_tokens(model.config.eos_token_id)
    tokenizer.eos_token = end
    tokenizer.pad_token = end
    if vocabulary is not None and len(ends := _ends(vocabulary, tokenizer)) > 1:
        model.generation_config.eos_token_id = ends
    fingerprint_file(target).unlink(missing_ok=True)
    with whole_folder(target) as temporary:
        try:
            model.save_pretrained(temporary)
            tokenizer.save_pretrained(temporary)
        except need("safetensors", f"model file {gguf.name}").SafetensorError as error:
            # a full disk is none of the system's errors there
            raise StorageError(
                f"{target}: cannot be written: {error}; make room, or name another folder with EVENHAND_CACHE"
            ) from error
        if vocabulary is not None:
            # as it will be opened
            with told_once(f"{gguf}: its tokenizer cannot be opened", str(gguf)):
                opened = transformers.AutoTokenizer.from_pretrained(temporary, trust_remote_code=False)
            refuse_other_tokens(opened, vocabulary, str(gguf))


def _tokenizer(gguf: Path, vocabulary: Vocabulary | None) -> Any:
    """The tokenizer of a GGUF file, as transformers has it."""
    transformers = need("transformers", f"model file {gguf.name}")
    if vocabulary is not None and vocabulary.model == "llama":
        tokenizer = sentencepiece_tokenizer(vocabulary)
        tokenizer.chat_template = vocabulary.chat_template
        return tokenizer
    tokenizer = transformers.AutoTokenizer.from_pretrained(
        gguf.parent, gguf_file=gguf.name, local_files_only=True, trust_remote_code=False
    )
    if vocabulary is None:
        return tokenizer
    if vocabulary.model == "gpt2" and vocabulary.cuts not in KNOWN_CUTS:
        log.warning(
            "%s: cuts texts as %r does, which evenhand does not know; numbers and spaces may be cut otherwise than the model was "
            "trained with",
            gguf,
            vocabulary.cuts,
        )
    if pattern := CUTS.get(vocabulary.cuts):
        parts = need("tokenizers", f"model file {gguf.name}").pre_tokenizers
        tokenizer.backend_tokenizer.pre_tokenizer = parts.Sequence(
            [
                parts.Split(need("tokenizers", "cuts").Regex(pattern), "isolated"),
                parts.ByteLevel(add_prefix_space=False, use_regex=False),
            ]
        )
    tokenizers = need("tokenizers", f"model file {gguf.name}")
    tokenizer.add_tokens(
        [
            tokenizers.AddedToken(piece, normalized=False, special=kind == TokenKind.CONTROL)
            for piece, kind in zip(vocabulary.pieces, vocabulary.kinds, strict=True)
            if kind in {TokenKind.CONTROL, TokenKind.USER_DEFINED} and not _stays_whole(tokenizer, piece, vocabulary)
        ]
    )
    return tokenizer


def _stays_whole(tokenizer: Any, piece: str, vocabulary: Vocabulary) -> bool:
    return bool(tokenizer(piece, add_special_tokens=False)["input_ids"] == [vocabulary.ids[piece]])


def _ends(vocabulary: Vocabulary, tokenizer: Any) -> list[int]:
    """Ids of the tokens that end an answer: the file's, and the one with which its chat template ends a turn."""
    template = tokenizer.chat_template if isinstance(tokenizer.chat_template, str) else ""
    pieces = set(vocabulary.of_kind(TokenKind.CONTROL, TokenKind.USER_DEFINED))
    named = [vocabulary.ids[piece] for piece in END_OF_TURN if piece in pieces and piece in template]
    return list(dict.fromkeys([tokenizer.eos_token_id, *vocabulary.ends, *named]))


def refuse_other_tokens(tokenizer: Any, vocabulary: Vocabulary, subject: str) -> None:
    """Refuse a tokenizer that is not the one of the file's vocabulary.

    Args:
        tokenizer: of transformers.
        vocabulary: of the file.
        subject: which file, as the error begins.

    Raises:
        UnfitModelError: an id has another piece, a token of control does not stay whole, or a text is cut otherwise.
    """
    reason = f"{subject}: no right tokenizer can be made of it:"
    remedy = "name the model's folder of safetensors"
    pieces = tokenizer.convert_ids_to_tokens(range(len(vocabulary.pieces)))
    for number, (token, piece) in enumerate(zip(pieces, vocabulary.pieces, strict=True)):
        if token != piece:
            raise UnfitModelError(f"{reason} token {number} would be {token!r}, and is {piece!r} in the file; {remedy}")
    for piece in vocabulary.of_kind(TokenKind.CONTROL):
        if not _stays_whole(tokenizer, piece, vocabulary):
            raise UnfitModelError(f"{reason} {piece!r}, which controls the model, would be cut; {remedy}")
    for text in SAMPLES:
        ids = list(tokenizer(text, add_special_tokens=False)["input_ids"])
        if vocabulary.model == "llama":
            if ids != (expected := encoded(vocabulary, text)):
                cut, right = (tokenizer.convert_ids_to_tokens(token_ids) for token_ids in (ids, expected))
                raise UnfitModelError(
                    f"{reason} {text!r} would be cut into {cut}, and is {right} by the file's scores; {remedy}"
                )
        elif vocabulary.model == "gpt2" and (read := tokenizer.decode(ids, clean_up_tokenization_spaces=False)) != text:
            raise UnfitModelError(f"{reason} {text!r} would be read as {read!r}; {remedy}")
