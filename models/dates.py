"""The date that chat templates are given, one for a whole run.

Templates of some families write the day into every prompt (`strftime_now`, `date_string`), and transformers gives them the
clock. A run that passes midnight would then ask two kinds of prompts, and train on others than it generated from. So the day is
fixed: in a run folder the day on which the run began, elsewhere the day on which a process first asked for it.
"""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime, time
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from ..errors import UnfitModelError
from ..extras import need
from .files import read_settings
from .hub import refusal
from .places import file_at_hand, is_hub_id

# function and variable by which templates read the date
CLOCK, WORDS = "strftime_now", "date_string"
# how the variable is written where a template has no form of its own: as Llama's templates write it
FORM = "%d %b %Y"
# what stands in a template that does not need the variable: its own date, or another way without
DEFAULT = re.compile(rf"\b{WORDS}\s*(?:=(?!=)|\||is\b)")
COMMENT = re.compile(r"\{#.*?#\}", re.DOTALL)
# files that hold a chat template, the first that is there
TEMPLATE, SETTINGS = "chat_template.jinja", "tokenizer_config.json"
# seconds that a hub has to give one
PATIENCE = 5.0


@dataclass(frozen=True)
class RunDate:
    """The day of a run."""

    day: date
    # whether signatures of models name it; not in folders that were begun before runs had a date
    is_signed: bool = True


_dates: list[RunDate] = []


@contextmanager
def dated(run_date: RunDate) -> Iterator[None]:
    """Within it chat templates are given this day, in all threads of the process."""
    _dates.append(run_date)
    try:
        yield
    finally:
        _dates.remove(run_date)


def template_date() -> RunDate:
    """The day that chat templates are given."""
    return _dates[-1] if _dates else _process_date()


@cache
def _process_date() -> RunDate:
    return RunDate(today())


def today() -> date:
    """The day by the clock of this machine."""
    return datetime.now().astimezone().date()


def date_options(template: str | Mapping[str, str] | None) -> dict[str, Any]:
    """What `apply_chat_template` is given besides the chat, for a template that reads the date; nothing for any other."""
    text, day = _code(template), template_date().day
    # a template may write the hour, too: a run has none
    midnight = datetime.combine(day, time())
    options: dict[str, Any] = {CLOCK: midnight.strftime} if CLOCK in text else {}
    if WORDS in text and not DEFAULT.search(text):
        options[WORDS] = midnight.strftime(FORM)
    return options


def reads_date(template: str | Mapping[str, str] | None) -> bool:
    """Whether a chat template's prompts differ from day to day."""
    return bool(date_options(template))


def _code(template: str | Mapping[str, str] | None) -> str:
    """The text of a chat template, of several all, without comments."""
    texts = template.values() if isinstance(template, Mapping) else [template or ""]
    return COMMENT.sub("", "\n".join(texts))


def signed_date(name: str, revision: str | None) -> str:
    """What a model's signature says of the date: "date:2026-11-28" where its chat template reads it, else "".

    Args:
        name: Hugging Face id, folder, GGUF file or embedded model. Of an id the template is fetched where it is not here, so that
            the signature is the same before and after the model is fetched.
        revision: branch, tag or commit of an id.
    """
    now = template_date()
    return f"date:{now.day.isoformat()}" if now.is_signed and reads_date(_template(name, revision)) else ""


def _template(name: str, revision: str | None) -> str | Mapping[str, str] | None:
    for file in (TEMPLATE, SETTINGS):
        path = file_at_hand(name, revision, file) or (_fetched(name, revision, file) if is_hub_id(name) else None)
        if path is not None and (found := _read(path, path.stat().st_mtime_ns)) is not None:
            return found
    return None


@lru_cache(maxsize=64)
def _read(path: Path, _mtime_ns: int) -> str | Mapping[str, str] | None:
    if path.name == TEMPLATE:
        return path.read_text(encoding="utf-8", errors="replace")
    try:
        found = read_settings(path).get("chat_template")
    except UnfitModelError:
        # which is told where the tokenizer is opened
        return None
    if isinstance(found, list):
        return {str(each): json.dumps(each) for each in found}
    return found if isinstance(found, str | dict) else None


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
