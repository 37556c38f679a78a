"""Which model an adapter was trained on: on another of the same shape it is opened without a fault, and its words are garbage."""

import logging
import re
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from ..errors import EvenhandError, UnfitModelError
from ..storage import local_path, sha256_of, write_json
from ..text.digests import digest
from ..text.shown import shortened
from .embedded import EMBEDDED
from .files import ADAPTER_SETTINGS, CONFIG, read_settings
from .places import file_at_hand, is_hub_id, public_name

log = logging.getLogger(__name__)

# file of an adapter that evenhand trained, beside peft's own
BASE = "base.json"
# keys of config.json in which models of one shape agree
SHAPE = ("model_type", "hidden_size", "num_hidden_layers", "num_attention_heads", "vocab_size")
# what makes another file of the same model: how it is quantised, who made it, the hash of a converted folder
COPY = re.compile(
    r"^meta-|[-_.](?:unsloth|bnb[-_.]4bit|[48]bit|awq|gptq|gguf|mlx|fp8|b?f16|fp16|i?q\d(?:_\w+)?)(?![^\W_]).*$|-[0-9a-f]{16}$"
)

# of three letters or more: "us" and "v" are of no family
WORD = re.compile(r"[a-z]{3,}")
# types whose architecture strangers took, too, so that nothing of a family follows
OPEN = frozenset({"gpt", "llama"})
# words that many names have, of models and of folders
PLAIN = frozenset(
    """
    adapter apac azure base chat checkpoint company dev dpo final global instruct judge large merged mini model open output policy
    prod sft small staging summarizer system test the tiny writer
    """.split()
)


def write_base(adapter: Path, name: str) -> None:
    """Note in an adapter's folder on which weights it was trained, where its settings can name a folder only."""
    if weights := weights_digest(name):
        write_json(adapter / BASE, {"weights": weights})


def weights_digest(name: str) -> str | None:
    """Digest of the weights of a model in a folder, whatever the files are called; None of a model of a hub or a package."""
    folder = local_path(name)
    if name.startswith(EMBEDDED) or public_name(name) != name or not folder.is_dir():
        return None
    return digest(sorted(sha256_of(path) for path in folder.iterdir() if path.suffix in {".safetensors", ".bin"}))


def refuse_other_base(name: str, config: Any, adapter: Path, *, by_weights: bool = True) -> None:
    """Refuse an adapter that was trained on another model, so far as that is known; a warning where its name alone says so.

    A folder may have been moved, and a model of a hub lie in a folder of any name.

    Args:
        name: of the model, or its folder.
        config: of transformers, of the model.
        adapter: its folder.
        by_weights: hash the weights of a model in a folder.

    Raises:
        UnfitModelError: evenhand trained it on other weights, or the model that it names is here and has another shape.
    """
    base = read_settings(adapter / ADAPTER_SETTINGS).get("base_model_name_or_path")
    noted = read_settings(adapter / BASE).get("weights") if (adapter / BASE).is_file() else None
    if noted and by_weights and (weights := weights_digest(name)):
        if weights != noted:
            raise UnfitModelError(
                f"adapter {adapter}: was trained on {base}, whose weights are not those of {name}; name that model, train the "
                f"adapter anew, or delete {adapter / BASE} if the weights are the same in other files"
            )
        return
    if not isinstance(base, str) or not base or is_same_model(base, name):
        return
    if difference := _other_shape(base, config):
        raise UnfitModelError(
            f"adapter {adapter}: was trained on {base}, and {name} is another model: {difference}; name the model that it was "
            "trained on"
        )
    # of a folder nothing is known once it is gone
    if is_hub_id(base) or Path(base).is_dir():
        _warn(str(adapter), base, name)


def is_same_model(base: str, name: str) -> bool:
    """Whether two names may be those of one model: who gives it and how it is packed does not count."""
    return _plain(base) == _plain(name)


def _plain(name: str) -> str:
    try:
        known = public_name(name)
    except EvenhandError:
        # a system's label, which is no model's
        known = name
    return COPY.sub("", Path(known).name.casefold())


def is_same_family(first: str, second: str) -> bool:
    """Whether two models are of one family, by their names: the first word of one, "qwen" or "llama", stands in the other's.

    So the tuned model that is named after its base is of both families, and one whose name does not say its base is of none that
    is known. Of a folder `model_type` is a word, too. No weights are read.
    """
    heads, words = zip(*map(_family, (first, second)), strict=True)
    return any(head in words[1] for head in heads[0]) or any(head in words[0] for head in heads[1])


def _family(name: str) -> tuple[set[str], set[str]]:
    """The words that a model's family is known by, and all words of its name."""
    words, config = [word for word in WORD.findall(_plain(name)) if word not in PLAIN], local_path(name) / CONFIG
    of_type: list[str] = []
    # a label may be too long for a file's name
    with suppress(EvenhandError, OSError):
        if config.is_file():
            of_type = [
                word for word in WORD.findall(str(read_settings(config).get("model_type")))[:1] if word not in OPEN
            ]
    return {*words[:1], *of_type}, {*words, *of_type}


def _other_shape(base: str, config: Any) -> str:
    """In what a model that is on this machine has another shape; nothing where it has none, or is not here."""
    try:
        path = file_at_hand(base, None, CONFIG)
        settings = {} if path is None else read_settings(path)
    except EvenhandError:
        return ""
    known = {key: getattr(config, key, None) for key in SHAPE}
    return ", ".join(
        f"{key} is {shortened(known[key])} and not {shortened(settings[key])}"
        for key in SHAPE
        if key in settings and known[key] is not None and known[key] != settings[key]
    )


@cache
def _warn(adapter: str, base: str, name: str) -> None:
    log.warning(
        "adapter %s: was trained on %s, and is put on %s; on another model its words are garbage. If it is the same, write its "
        "name as base_model_name_or_path into %s",
        adapter,
        base,
        name,
        Path(adapter) / ADAPTER_SETTINGS,
    )
