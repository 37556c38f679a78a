"""An engine of the loop's pool: `python -m evenhand.generate.pooled_engine FAILURE`; see `engine_pool`."""

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from ..config import BackendSection, ModelSection
from ..models.dates import RunDate, dated
from ..runfolder.timing import account
from ..runfolder.workers import as_child
from .backend import Backend
from .backends import BACKENDS
from .pooled_backend import ASKS, REPLIES


@runtime_checkable
class SleepingBackend(Backend, Protocol):
    """One that gives memory back between stages."""

    def sleep(self) -> None:
        """Give back what can be given back."""
        ...

    def wake_up(self, adapter: Path | None) -> None:
        """Be as if just opened with the adapter."""
        ...


def work(messages: Iterator[Any], answer: Callable[[Any], object]) -> None:
    """Be opened, asked and put to sleep, as the pool says it."""
    backend: Backend | None = None
    answer({})
    for message in messages:
        if "engine" in message:
            adapter, day = message["adapter"] and Path(message["adapter"]), date.fromisoformat(message["day"])
            if backend is None:
                backend = _opened(message["engine"], adapter)
            elif isinstance(backend, SleepingBackend):
                backend.wake_up(adapter)
            answer({})
            continue
        assert backend is not None, "an engine is opened first"
        if "asks" in message:
            with dated(RunDate(day)):
                answer(_replies(backend, message["asks"]))
        else:
            if isinstance(backend, SleepingBackend):
                backend.sleep()
            answer({})


def _opened(engine: Mapping[str, Any], adapter: Path | None) -> Backend:
    section = BackendSection.model_validate(engine["section"])
    keys = dict(section.traits.pooled_keys or {})
    section = section.model_copy(update={"engine": keys | section.engine})
    return BACKENDS[section.backend].open(section, ModelSection.model_validate(engine["model"]), adapter, "")


def _replies(backend: Backend, asks: Any) -> dict[str, Any]:
    before = replace(backend.usage)
    with account() as spent:
        replies = backend.complete(ASKS.validate_python(asks))
    return {
        "replies": REPLIES.dump_python(replies, mode="json"),
        "used": backend.usage.since(before).fields,
        "spent": spent,
    }


if __name__ == "__main__":
    sys.exit(as_child(work, Path(sys.argv[1])))
