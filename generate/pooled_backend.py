"""An engine of the loop's pool, as the backend of a stage; see `engine_pool`."""

import json
import logging
import os
import socket
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from ..config import BackendSection, ModelSection
from ..models.dates import template_date
from ..runfolder.engine_pool import LOG, pool_connection
from ..runfolder.engines import NUMBER
from ..runfolder.gpus import VISIBLE
from ..runfolder.processes import refused_as
from ..runfolder.timing import book
from .backend import Ask, Reply, Usage

log = logging.getLogger(__name__)

# in the lines between a stage and its engine
ASKS, REPLIES = TypeAdapter(list[Ask]), TypeAdapter(list[Reply])


class PooledBackend:
    """A backend whose engine is another process's: of the same model, settings and replica, and served with the adapter.

    What the engine refuses is refused here, and its second death over one call ends this process with exit code 1, as if it had
    the engine itself.
    """

    def __init__(self, section: BackendSection, model: ModelSection, adapter: Path | None, signature: str) -> None:
        self.signature, self.usage = signature, Usage()
        self._socket = pool_connection()
        self._lines = self._socket.makefile("rwb")
        engine = {
            "section": section.model_dump(mode="json", include=set(BackendSection.model_fields)),
            "model": model.model_dump(mode="json"),
            "adapter": _part_of_engine(section, adapter),
            "replica": os.environ.get(NUMBER, "0"),
            "gpus": os.environ.get(VISIBLE),
        }
        adapter_path = None if adapter is None else str(adapter.absolute())
        self._call({"engine": engine, "adapter": adapter_path, "day": template_date().day.isoformat()})

    def complete(self, asks: Sequence[Ask]) -> list[Reply]:
        """One reply for each ask, in order; equal calls give equal replies, whatever was asked before."""
        answer = self._call({"asks": ASKS.dump_python(list(asks), mode="json")})
        self.usage.add_used(Usage(**answer["used"]))
        for part, seconds in answer["spent"].items():
            book(part, seconds)
        return REPLIES.validate_python(answer["replies"])

    def close(self) -> None:
        """Give the engine back; it sleeps then. Closed twice where it refused: here, and by the stage that ends over that."""
        if self._lines.closed:
            return
        with suppress(OSError), self._socket, self._lines:
            self._socket.shutdown(socket.SHUT_WR)
            self._lines.read()

    def _call(self, message: Mapping[str, Any]) -> dict[str, Any]:
        try:
            self._lines.write(json.dumps(message).encode() + b"\n")
            self._lines.flush()
            answer: dict[str, Any] = json.loads(self._lines.readline() or b'{"died": "ended with the loop"}')
        except OSError:
            answer = {"died": "ended with the loop"}
        if answer.keys() & {"refused", "died"}:
            # nobody else closes what was not opened
            self.close()
        if "refused" in answer:
            raise refused_as(answer["refused"], answer["message"])
        if "died" in answer:
            log.error(
                "the process of the engine %s, twice over one batch or its loading; its output is in %s. Kept engines take "
                "memory side by side: where that was short, leave keep_engines out",
                answer["died"],
                LOG,
            )
            raise SystemExit(1)
        return answer


def _part_of_engine(section: BackendSection, adapter: Path | None) -> str | int | None:
    """What an engine has of an adapter from its beginning: the rank where each stage may serve another, else all of it."""
    if adapter is None:
        return None
    if section.adapter == "serve":
        from .vllm_backend import served_rank

        return served_rank(adapter)
    return str(adapter.absolute())
