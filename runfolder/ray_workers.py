"""Processes of a stage on a Ray cluster: each below an actor, which Ray puts where there is room.

The actor starts the very process that `workers.LocalWorker` starts, on its own machine, and passes on what is said. Which batch
is whose is decided where the stage runs (`replicas`), since batches of judges wait for each other, which `map_batches` of Ray
Data does not know. Ray finds places, says when one is lost, and ends the actors of a command that is gone.
"""

import logging
import os
import re
import socket
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..errors import EvenhandError, RecipeError, StorageError
from ..extras import need
from .processes import refused_as
from .timing import Part
from .workers import Command, LocalWorker, PlaceLostError

log = logging.getLogger(__name__)

# variables of this process that those elsewhere get; all others are the machine's own
HANDED_OVER = ("EVENHAND_", "OMP_", "VLLM_CPU_")
# Ray sets it to the processors that an actor asked for, and an engine gives other numbers with another number of threads
THREADS = "OMP_NUM_THREADS"
# as RAY_ADDRESS has it where it names a machine, and seconds that this has to answer
ADDRESS = re.compile(r"(ray://)?\[?(?P<host>[^/]+?)\]?:(?P<port>\d{1,5})")
PATIENCE_SECONDS = 10
# seconds between looks whether a place is still wanted, and until it is said that there is none
POLL_SECONDS = 1.0
SILENT_SECONDS = 30.0


def connect() -> None:
    """Join the cluster that runs on this machine, or that RAY_ADDRESS names.

    Raises:
        MissingExtra: Ray is not installed.
        RecipeError: there is no such cluster, or it has another version of Ray or Python.
    """
    ray = need("ray", "executor: ray")
    if ray.is_initialized():
        return
    try:
        # Ray would try for ever
        if (named := ADDRESS.fullmatch(os.environ.get("RAY_ADDRESS", ""))) is not None:
            socket.create_connection((named["host"], int(named["port"])), PATIENCE_SECONDS).close()
        ray.init(address="auto", logging_level=logging.WARNING)
    except (OSError, RuntimeError, ValueError, OverflowError) as error:
        raise RecipeError(
            f"no Ray cluster can be joined: {error}\nStart one by `ray start --head`, and `ray start --address=HOST:6379` on "
            "each other machine, and run this on one of them, or let RAY_ADDRESS name it; or write executor: local"
        ) from error


def disconnect() -> None:
    """Leave the cluster."""
    need("ray", "executor: ray").shutdown()


def machines() -> list[int]:
    """GPUs of each machine of the cluster.

    Raises:
        RecipeError: see `connect`.
    """
    connect()
    ray = need("ray", "executor: ray")
    return [int(node["Resources"].get("GPU", 0)) for node in ray.nodes() if node["Alive"]]


class Place:
    """The actor: one process on its machine."""

    def __init__(self, folder: str, variables: Mapping[str, str]) -> None:
        self._folder = folder
        self._variables = variables
        self._worker: LocalWorker | None = None

    def is_here(self) -> bool:
        """Say that a machine was found for it."""
        return True

    def begin(self, argv: tuple[str, ...], failure: str) -> bool | str:
        """Start the process; whether it is ready, or why it cannot be started on this machine."""
        phase = Path(self._folder, failure).parent.parent
        for folder in (Path(self._folder), phase):
            if not folder.is_dir():
                return f"{folder}: is not there on the machine {os.uname().nodename}"
        os.chdir(self._folder)
        os.environ.pop(THREADS, None)
        os.environ.update(self._variables)
        self._worker = LocalWorker()
        self._worker.begin(Command(argv, Path(failure)))
        return self._worker.is_ready()

    def work(self, message: bytes) -> Mapping[Part, float] | None:
        """See `Worker`."""
        assert self._worker is not None
        return self._worker.work(message)

    def death(self) -> tuple[str, str]:
        """How the process died: the name of its refusal, "" without one, and in words."""
        assert self._worker is not None
        try:
            return "", f"{self._worker.death()} on {os.uname().nodename}"
        except EvenhandError as error:
            return type(error).__name__, str(error)

    def end(self) -> None:
        """See `Worker`."""
        assert self._worker is not None
        self._worker.end()


class RayWorker:
    """A place on the cluster; see `workers.Worker`.

    Args:
        gpus: that its process needs, all of one machine.
    """

    def __init__(self, gpus: int) -> None:
        self._ray = need("ray", "executor: ray")
        self._gpus = gpus
        variables = {name: value for name, value in os.environ.items() if name.startswith(HANDED_OVER)}
        actor = self._ray.remote(Place).options(num_cpus=1, num_gpus=gpus, max_restarts=0)
        self._actor = actor.remote(str(Path.cwd()), variables)
        self._is_here, self._begun = self._actor.is_here.remote(), None

    def begin(self, command: Command) -> None:
        """See `Worker`."""
        self._begun = self._actor.begin.remote(tuple(command.argv), str(command.failure))

    def is_ready(self, is_wanted: Callable[[], bool]) -> bool:
        """See `Worker`.

        Raises:
            StorageError: its machine does not see the run folder.
        """
        self._found(self._is_here, is_wanted, self._say_that_it_waits)
        found = self._found(self._begun, is_wanted)
        if isinstance(found, str):
            raise StorageError(
                f"{found}. All machines of the cluster must see the folder of the run and that of the command, at the same path"
            )
        return bool(found)

    def work(self, message: bytes) -> Mapping[Part, float] | None:
        """See `Worker`."""
        found: Mapping[Part, float] | None = self._found(self._actor.work.remote(message))
        return found

    def death(self) -> str:
        """See `Worker`."""
        kind, how = self._found(self._actor.death.remote())
        if kind:
            raise refused_as(kind, how)
        return str(how)

    def end(self) -> None:
        """See `Worker`."""
        try:
            self._found(self._actor.end.remote())
        except PlaceLostError as lost:
            log.debug("a process was lost when it had done its work: %s", lost)
        self.close()

    def kill(self) -> None:
        """See `Worker`."""
        self._ray.kill(self._actor)

    def close(self) -> None:
        """See `Worker`."""
        self.kill()

    def _say_that_it_waits(self) -> None:
        log.warning(
            "a process waits for a machine of the cluster that has %s; the others go on",
            f"{self._gpus} GPU{'s' * (self._gpus > 1)} free" if self._gpus else "a processor free",
        )

    def _found(
        self, promised: Any, is_wanted: Callable[[], bool] = lambda: True, when_late: Callable[[], None] | None = None
    ) -> Any:
        """What the actor says.

        Raises:
            PlaceLostError: it is gone, or is not wanted any more.
        """
        began = time.monotonic()
        while not self._ray.wait([promised], timeout=POLL_SECONDS)[0]:
            if not is_wanted():
                raise PlaceLostError("it is not wanted any more")
            if when_late and time.monotonic() - began > SILENT_SECONDS:
                when_late()
                when_late = None
        try:
            return self._ray.get(promised)
        except self._ray.exceptions.RayTaskError:
            # the actor's own
            raise
        except self._ray.exceptions.RayError as error:
            # its machine, its process, or memory there, for want of which Ray ended it
            raise PlaceLostError(str(error).strip().partition("\n")[0]) from error
