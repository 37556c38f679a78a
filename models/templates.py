"""Chat templates of models, as their files have them: no tokenizer is opened, and no model converted."""

from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path

from ..errors import UnfitModelError
from ..extras import need
from ..storage import local_path
from .files import read_settings
from .hub import refusal
from .places import file_at_hand, is_hub_id

# files that hold a chat template, the first that is there
TEMPLATE, SETTINGS = "chat_template.jinja", "tokenizer_config.json"
# seconds that a hub has to give one
PATIENCE = 5.0
# key of a GGUF file, and bytes from its beginning in which its keys stand
KEY, MOST_BYTES = b"tokenizer.chat_template", 1 << 26

# one, or several by their names
Template = str | Mapping[str, str]

# of a template; those of models with tools have some 20,000
MOST_CHARACTERS = 500_000


def chat_template(name: str, revision: str | None) -> Template | None:
    """A model's chat template; None where it has none, or is not on this machine and its hub does not give it.

    Args:
        name: Hugging Face id, folder, GGUF file or embedded model. Of an id the files are fetched where they are not here.
        revision: branch, tag or commit of an id.
    """
    for path in _files(name, revision):
        if template := _read(path, path.stat().st_mtime_ns):
            refuse_long(template, str(path))
            return template
    return None


def refuse_long(template: object, place: str) -> None:
    """Refuse a chat template that takes minutes to be made ready.

    Raises:
        UnfitModelError: it is longer than any model's.
    """
    texts = [template] if isinstance(template, str) else template.values() if isinstance(template, Mapping) else ()
    if (length := max((len(str(text)) for text in texts), default=0)) > MOST_CHARACTERS:
        raise UnfitModelError(
            f"{place}: its chat template has {length:,} characters, more than any model's ({MOST_CHARACTERS:,}); name "
            "another model"
        )


def has_chat_template(name: str, revision: str | None) -> bool | None:
    """Whether a model has a chat template; None where that cannot be told. Arguments are those of `chat_template`."""
    path = local_path(name)
    if _files(name, revision):
        return chat_template(name, revision) is not None
    if path.suffix == ".gguf" and path.is_file():
        with path.open("rb") as file:
            return KEY in file.read(MOST_BYTES)
    return None


def _files(name: str, revision: str | None) -> list[Path]:
    """The files that may hold a model's chat template; they are fetched where none of them is here."""
    names = (TEMPLATE, SETTINGS)
    paths = [path for file in names if (path := file_at_hand(name, revision, file)) is not None]
    if paths or not is_hub_id(name):
        return paths
    return [path for file in names if (path := _fetched(name, revision, file)) is not None]


@lru_cache(maxsize=64)
def _read(path: Path, _mtime_ns: int) -> Template | None:
    if path.name == TEMPLATE:
        return path.read_text(encoding="utf-8", errors="replace")
    try:
        template = read_settings(path).get("chat_template")
    except UnfitModelError:
        # which is told where the tokenizer is opened
        return None
    if isinstance(template, list):
        # as older versions wrote several
        named = [entry for entry in template if isinstance(entry, dict)]
        return {str(entry.get("name")): str(entry.get("template")) for entry in named}
    return template if isinstance(template, str | dict) else None


@cache
def _fetched(name: str, revision: str | None, file: str) -> Path | None:
    """A file of a model on the hub; None where the hub has none, or does not answer."""
    feature = f"model {name!r}"
    hub = need("huggingface_hub", feature)
    try:
        if refusal(name, revision, feature, PATIENCE, file) is None:
            return Path(hub.hf_hub_download(name, file, revision=revision, etag_timeout=PATIENCE))
    except (need("httpx", feature).HTTPError, OSError, ValueError):
        # which is told where the model is opened
        pass
    return None
