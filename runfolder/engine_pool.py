"""Engines that outlive the stages of a loop: processes that the loop starts when a stage first asks for one.

A stage asks over a socket in a folder that only its user can open, a line of JSON for a call and one for its answer, and has the
engine until it closes its end. Then the engine sleeps: where its platform can, its GPU is free for the next stage's.
"""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingUnixStreamServer
from tempfile import TemporaryDirectory, gettempdir
from threading import Lock, Thread
from typing import Any

from ..errors import EvenhandError
from ..storage import canonical_json, make_folder
from .gpus import VISIBLE
from .own_files import open_own
from .processes import environment
from .replicas import MOST_DEATHS
from .workers import Command, LocalWorker

# set for the stages of a loop that keeps engines: its socket; and in its run folder, what its engines print
POOL, LOG = "EVENHAND_ENGINE_POOL", "logs/engines.log"
# module that an engine's process runs, and what it is told when the stage has closed its end
MODULE, SLEEP = "evenhand.generate.pooled_engine", b"{}\n"
# a socket's path has at most 104 bytes, and ours 30 below the folder of temporary files
MOST_PATH = 70


@contextmanager
def engine_pool(output: Path) -> Iterator[None]:
    """Within it, stages that are started find engines which outlive them; they end with it, or with this process.

    Args:
        output: the run folder, which must be held.

    Raises:
        StorageError: the log cannot be written.
    """
    make_folder((output / LOG).parent)
    log = open_own(output / LOG, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    below = gettempdir() if len(os.fsencode(gettempdir())) < MOST_PATH else "/tmp"  # noqa: S108
    try:
        with TemporaryDirectory(prefix="evenhand-", dir=below) as folder, _Pool(Path(folder), log) as pool:
            listener = Thread(target=pool.serve_forever, args=(0.1,), name="engine-pool", daemon=True)
            listener.start()
            try:
                with environment(**{POOL: str(pool.server_address)}):
                    yield
            finally:
                pool.end()
                listener.join()
    finally:
        os.close(log)


class _Pool(ThreadingUnixStreamServer):
    """The engines by what they are made of, and the socket."""

    daemon_threads, block_on_close = True, False

    def __init__(self, folder: Path, log: int) -> None:
        super().__init__(str(folder / "socket"), _StageHandler)
        self._folder, self._log = folder, log
        self._engines: dict[str, _Engine] = {}
        self._lock = Lock()

    def engine(self, description: Mapping[str, Any]) -> "_Engine":
        """The engine of a description, which is started when it is first asked."""
        with self._lock:
            failure = self._folder / f"{len(self._engines)}.failure.json"
            gpus = description["gpus"]
            worker = LocalWorker({} if gpus is None else {VISIBLE: gpus}, self._log)
            command = Command(("-m", MODULE, str(failure)), failure)
            return self._engines.setdefault(canonical_json(description), _Engine(worker, command))

    def end(self) -> None:
        """End all engines, whatever they are at."""
        self.shutdown()
        with self._lock:
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

    def _answered(self, line: bytes) -> Mapping[str, Any] | None:
        if not self._is_open:
            self._worker.begin(self._command)
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
