"""The date that chat templates are given, one for a whole run.

Templates of some families write the day into every prompt (`strftime_now`, `date_string`), and transformers gives them the
clock. A run that passes midnight would then ask two kinds of prompts, and train on others than it generated from. So the day is
fixed: in a run folder the day on which the run began, elsewhere the day on which a process first asked for it.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime, time
from functools import cache
from typing import Any

from .templates import chat_template

# function and variable by which templates read the date
CLOCK, WORDS = "strftime_now", "date_string"
# the function, called with a form in letters: group 2; and where it is not called
CALL = re.compile(rf"""\b{CLOCK}\s*\(\s*(["'])(.*?)\1\s*\)""")
ASKED_FOR = re.compile(rf"\b{CLOCK}\s+is\b")
# how the variable is written where a template has no form of its own: as Llama's templates write it
FORM = "%d %b %Y"
# what stands in a template that does not need the variable: its own date, or another way without
DEFAULT = re.compile(rf"\b{WORDS}\s*(?:=(?!=)|\||is\b)")
# the date in a signature, and what parts it from what stands before
SIGNED = re.compile(r"[|,]date:\d{4}-\d{2}-\d{2}")
COMMENT = re.compile(r"\{#.*?#\}", re.DOTALL)


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
    """What `apply_chat_template` is given besides the chat, for a template that reads the date; nothing for any other.

    The day is written into the template: transformers 5.24 gives templates no functions but its clock. One that calls it in
    another way, with a form that is made on the way or by another name, is given the function, with which that version ends in an
    error.
    """
    text, day = _code(template), template_date().day
    # a template may write the hour, too: a run has none
    midnight = datetime.combine(day, time())
    options: dict[str, Any] = {}
    if CLOCK in text and (undated_text := template.get("default") if isinstance(template, Mapping) else template):
        options["chat_template"] = CALL.sub(
            lambda call: f"{call[1]}{midnight.strftime(call[2])}{call[1]}", undated_text
        )
    if CLOCK in ASKED_FOR.sub("", CALL.sub("", text)):
        options[CLOCK] = midnight.strftime
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


def undated(signature: str) -> str:
    """A signature without the date in it: a model's worth and a baseline's numbers are not those of one day."""
    return SIGNED.sub("", signature)


def signed_date(name: str, revision: str | None) -> str:
    """What a model's signature says of the date: "date:2026-11-28" where its chat template reads it, else "".

    Args:
        name: Hugging Face id, folder, GGUF file or embedded model. Of an id the template is fetched where it is not here, so that
            the signature is the same before and after the model is fetched.
        revision: branch, tag or commit of an id.
    """
    now = template_date()
    return f"date:{now.day.isoformat()}" if now.is_signed and reads_date(chat_template(name, revision)) else ""
