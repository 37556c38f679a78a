"""Engines that outlive the stages of a loop: processes that the loop starts when a stage first asks for one.

A stage asks over a socket, a line of JSON for a call and one for its answer, and has the engine until it closes its end. Then the
engine sleeps: where its platform can, its GPU is free for the next stage's. The socket has no file (Linux calls its name
abstract), so that nothing of it stays when the loop is killed; other users are turned away.
"""

import json
import os
import socket
import struct
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingUnixStreamServer
from threading import Lock, Thread
from typing import Any
from uuid import uuid4

from ..errors import EvenhandError, RecipeError
from ..storage import make_folder
from ..text.digests import canonical_json
from .gpus import VISIBLE
from .own_files import open_own
from .processes import environment
from .replicas import MOST_DEATHS
from .workers import Command, LocalWorker

# set for the stages of a loop that keeps engines: the name of its socket; and in its run folder, what its engines print
POOL, LOG = "EVENHAND_ENGINE_POOL", "logs/engines.log"
# module that an engine's process runs, and what it is told when the stage has closed its end
MODULE, SLEEP = "evenhand.generate.pooled_engine", b"{}\n"
# of the other end's process: its number, its user's and its group's
CREDENTIALS = struct.Struct("3i")


@contextmanager
def engine_pool(output: Path) -> Iterator[None]:
    """Within it, stages that are started find engines which outlive them; they end with it, or with this process.

    Args:
        output: the run folder, which must be held.

    Raises:
        RecipeError: this is not Linux.
        StorageError: the log cannot be written.
    """
    if sys.platform != "linux":
        raise RecipeError("keep_engines needs a socket that Linux has; leave keep_engines out")
    make_folder((output / LOG).parent)
    log = open_own(output / LOG, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    name = f"evenhand-{uuid4().hex}"
    try:
        with _Pool(f"\0{name}", (output / LOG).parent, log) as pool:
            listener = Thread(target=pool.serve_forever, args=(0.1,), name="engine-pool", daemon=True)
            listener.start()
            try:
                with environment(**{POOL: name}):
                    yield
            finally:
                pool.end()
                listener.join()
    finally:
        os.close(log)


def pool_connection() -> socket.socket:
    """A connection to the loop's pool.

    Raises:
        OSError: the loop has ended.
    """
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(f"\0{os.environ[POOL]}")
    if not _is_own_user(connection):
        connection.close()
        raise PermissionError(f"{os.environ[POOL]}: another user's")
    return connection


def _is_own_user(connection: socket.socket) -> bool:
    """Whether the process at the other end is this user's."""
    _, user, _ = CREDENTIALS.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, CREDENTIALS.size))
    return bool(user == os.geteuid())


class _Pool(ThreadingUnixStreamServer):
    """The engines by what they are made of, and the socket."""

    daemon_threads, block_on_close = True, False

    def __init__(self, address: str, folder: Path, log: int) -> None:
        super().__init__(address, _StageHandler)
        self._folder, self._log = folder, log
        self._engines: dict[str, _Engine] = {}
        self._lock = Lock()
        self._is_ended = False

    def verify_request(self, request: Any, client_address: Any) -> bool:
        """Whether the process that asks is this user's."""
        return _is_own_user(request)

    def engine(self, description: Mapping[str, Any]) -> "_Engine":
        """The engine of a description, which is started when it is first asked."""
        with self._lock:
            failure = self._folder / f"engine-{len(self._engines)}.failure.json"
            gpus = description["gpus"]
            worker = LocalWorker({} if gpus is None else {VISIBLE: gpus}, self._log)
            command = Command(("-m", MODULE, str(failure)), failure)
            engine = self._engines.setdefault(canonical_json(description), _Engine(worker, command))
            if self._is_ended:
                # the question was under way when the loop ended
                engine.end()
            return engine

    def end(self) -> None:
        """End all engines, whatever they are at."""
        self.shutdown()
        with self._lock:
            self._is_ended = True
            for engine in self._engines.values():
                engine.end()


class _StageHandler(StreamRequestHandler):
    """A process of a stage, for as long as it has the engine."""

    server: _Pool

    def handle(self) -> None:
        """Answer what it asks, and let the engine sleep after that, also when the process has died over its question."""
        if not (opening := self.rfile.readline()).endswith(b"\n"):
            return
        engine = self.server.engine(json.loads(opening)["engine"])
        with engine.lock:
            try:
                self._answer(engine.open(opening))
                for line in self.rfile:
                    self._answer(engine.answer(line))
            except OSError:
                # the process has died: nobody hears the answer
                pass
            finally:
                engine.sleep()

    def _answer(self, answer: Mapping[str, Any]) -> None:
        self.wfile.write(json.dumps(answer).encode() + b"\n")


class _Engine:
    """A process with an engine, started anew when it has died; one stage's process has it at a time.

    Args:
        worker: where it runs.
        command: that it runs.
    """

    def __init__(self, worker: LocalWorker, command: Command) -> None:
        self.lock = Lock()
        self._worker, self._command = worker, command
        self._opening = b""
        self._is_open = self._is_ended = False

    def open(self, opening: bytes) -> Mapping[str, Any]:
        """Open it for a stage, or wake it up; what it says to that."""
        self._opening = opening
        return self.answer(opening)

    def answer(self, line: bytes) -> Mapping[str, Any]:
        """What it answers; "refused" and the message of an error, or "died" and how it did so twice over the line."""
        how = "ended with the loop"
        for _ in range(MOST_DEATHS):
            if self._is_ended:
                break
            answer = self._answered(line)
            self._is_open = answer is not None
            if answer is not None:
                return answer
            try:
                how = self._worker.death().how
            except EvenhandError as error:
                return {"refused": type(error).__name__, "message": str(error)}
        return {"died": how}

    def _answered(self, line: bytes) -> Mapping[Any, Any] | None:
        if not self._is_open:
            self._worker.begin(self._command)
            if self._is_ended:
                # while it began
                self._worker.kill()
            opened = self._worker.work(self._opening) if self._worker.is_ready() else None
            if opened is None or line == self._opening:
                return opened
        return self._worker.work(line)

    def sleep(self) -> None:
        """Let it sleep until a stage opens it again."""
        if self._is_open and self._worker.work(SLEEP) is None:
            self._is_open = False
            with suppress(EvenhandError):
                self._worker.death()

    def end(self) -> None:
        """End its process at once."""
        self._is_ended = True
        self._worker.kill()
