"""Processes of a stage on a Ray cluster: each below an actor, which Ray puts where there is room.

The actor starts the very process that `workers.LocalWorker` starts, on its own machine, and passes on what is said. Which batch
is whose is decided where the stage runs (`replicas`): batches of judges wait for each other, and one that takes its places along
is given up, which `map_batches` of Ray Data does not know. Ray finds places, says when one is lost, and ends the actors of a
command that is gone.
"""

import logging
import os
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from ...config.python_code import RUN_CODE
from ...errors import EvenhandError, RecipeError, StorageError
from ...extras import VERBOSITY, need
from ...runfolder.gpus import visible_gpus
from ...runfolder.places import Executor
from ...runfolder.processes import COMMAND, refused_as
from ...runfolder.timing import Part
from ...runfolder.workers import Command, Death, Launch, LocalWorker, PlaceLostError

log = logging.getLogger(__name__)

# variables of this process that those elsewhere get, by name or by how it begins; all others are the machine's own
HANDED_OVER = (COMMAND, VERBOSITY, RUN_CODE, "OMP_", "VLLM_CPU_")
# Ray sets it to the processors that an actor asked for, and an engine gives other numbers with another number of threads
THREADS = "OMP_NUM_THREADS"
# as RAY_ADDRESS has it where it names a machine, and seconds that this has to answer
ADDRESS = re.compile(r"(ray://)?\[?(?P<host>[^/]+?)\]?:(?P<port>\d{1,5})")
PATIENCE_SECONDS = 10
HEADS_PORT = "that of `ray start --head`, 6379 unless told otherwise"
REMEDY = (
    "Start one by `ray start --head`, and `ray start --address=HOST:6379` on each other machine, and run this on one of them, or "
    "let RAY_ADDRESS name it; or write executor: local"
)
AUTHORISED = "RAY_AUTH_MODE=token, and the same ~/.ray/auth_token on every machine"
# how Ray ends where it was not let in, or another part of Ray answers
FAILED = re.compile(r"Failed to connect to Ray cluster at \[?(?P<host>[^\s\]]+)\]?:(?P<port>\d{1,5})")

# what Ray's clients ask the head of a cluster first; here without a token
QUESTION = "/ray.rpc.NodeInfoGcsService/GetClusterId"
# seconds between looks whether a place is still wanted, until it is said that there is none, and until it is said again
POLL_SECONDS = 1.0
SILENT_SECONDS, REPEAT_SECONDS = 30.0, 600.0
# what is said of an actor that was lost, but for numbers that nobody knows it by
NUMBERS = re.compile(r"\t(?!ip:)")
ESCAPES = re.compile(r"\x1b\[[0-9;]*m")
MOST_SAID = 400


def connect() -> None:
    """Join the cluster that runs on this machine, or that RAY_ADDRESS names.

    Raises:
        MissingExtra: Ray is not installed.
        RecipeError: there is no such cluster, it asks for a token, or it has another version of Ray or Python.
    """
    ray = need("ray", "executor: ray")
    if ray.is_initialized():
        return
    address = os.environ.get("RAY_ADDRESS", "")
    if address == "local":
        raise RecipeError(f"RAY_ADDRESS=local would start a cluster of this command alone. {REMEDY}")
    reason: Exception | None = None
    asks = False
    try:
        # at a port that is no cluster's Ray would try for ever, and without a token for a long time
        if (named := ADDRESS.fullmatch(address)) is not None:
            asks = _asks_for_a_token(named["host"], int(named["port"]))
        if not asks or os.environ.get("RAY_AUTH_MODE", "").lower() == "token":
            ray.init(address="auto", logging_level=logging.WARNING)
            return
    except (OSError, RuntimeError, ValueError, OverflowError, ray.exceptions.RayError) as error:
        reason = error
    silent = f"nobody has answered for {PATIENCE_SECONDS} seconds"
    message = silent if isinstance(reason, TimeoutError) else str(reason or "")
    if (failed := FAILED.search(message)) is not None:
        # a cluster of this machine, which nothing names, was not looked at before
        with suppress(OSError):
            asks = asks or _asks_for_a_token(failed["host"], int(failed["port"]))
        message += f"; the port must be {HEADS_PORT}. That of Ray's client, 10001, needs ray:// before the address"
    if asks or type(reason).__name__ == "AuthenticationError":
        message, remedy = f"this cluster asks for a token: {AUTHORISED}", ""
    else:
        remedy = f"\n{REMEDY}"
    where = f"RAY_ADDRESS={address}: " if address else ""
    raise RecipeError(f"no Ray cluster can be joined: {where}{message}{remedy}") from reason


def _asks_for_a_token(host: str, port: int) -> bool:
    """Whether the head of a Ray cluster answers nobody without a token; False also where that cannot be told.

    Raises:
        OSError: nobody answers at this port, or another program.
    """
    socket.create_connection((host, port), PATIENCE_SECONDS).close()
    if os.environ.get("RAY_USE_TLS", "0") != "0":
        return False
    grpc = need("grpc", "executor: ray")
    with grpc.insecure_channel(f"[{host}]:{port}" if ":" in host else f"{host}:{port}") as channel:
        try:
            channel.unary_unary(QUESTION)(b"", timeout=PATIENCE_SECONDS)
        except grpc.RpcError as error:
            if error.code() == grpc.StatusCode.DEADLINE_EXCEEDED:
                raise TimeoutError from error
            if error.code() == grpc.StatusCode.UNAVAILABLE:
                raise OSError(
                    f"another program answers there, as Ray's dashboard does at 8265; the port is {HEADS_PORT}"
                ) from error
            return bool(error.code() == grpc.StatusCode.UNAUTHENTICATED)
    return False


@contextmanager
def joined() -> Iterator[None]:
    """Be in the cluster for the block alone: Ray ends a process that is in one when its head is gone.

    Raises:
        MissingExtra: Ray is not installed.
        RecipeError: see `connect`.
    """
    ray = need("ray", "executor: ray")
    was_in = ray.is_initialized()
    connect()
    try:
        yield
    finally:
        if not was_in:
            ray.shutdown()


def machines() -> list[int]:
    """GPUs of each machine of the cluster that has a processor to give.

    Raises:
        RecipeError: see `connect`, or there is no such machine.
    """
    connect()
    nodes = need("ray", "executor: ray").nodes()
    resources = [node["Resources"] for node in nodes if node["Alive"] and node["Resources"].get("CPU", 0) >= 1]
    if not resources:
        raise RecipeError("no machine of the Ray cluster has a processor to give: they were started with --num-cpus=0")
    return [int(node_resources.get("GPU", 0)) for node_resources in resources]


class Needs(NamedTuple):
    """What a process asks of its machine, besides a processor."""

    # GPUs that Ray is to give it, all of one machine; 0 where the cluster has none
    gpus: int
    # that it would use
    wanted: int


@dataclass
class Notice:
    """Says for all processes of a model together that the cluster has no place for another one."""

    needs: Needs
    _next: float = field(default_factory=lambda: time.monotonic() + SILENT_SECONDS)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def say(self) -> None:
        """Say it, unless it was said a short time ago."""
        with self._lock:
            if time.monotonic() < self._next:
                return
            self._next = time.monotonic() + REPEAT_SECONDS
        gpus = self.needs.gpus
        log.warning(
            "no machine of the Ray cluster has %s free for a further engine; it waits",
            f"a processor and {gpus} GPU{'s' * (gpus > 1)}" if gpus else "a processor",
        )


class Place:
    """The actor: one process on its machine."""

    def __init__(self, folder: str, variables: Mapping[str, str], lacks_gpus: bool) -> None:
        self._folder = folder
        self._lacks_gpus = lacks_gpus
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
                return (
                    f"{folder}: is not there on the machine {os.uname().nodename}. All machines of the cluster must see the "
                    "folder of the run and that of the command, at the same path"
                )
        if self._lacks_gpus and visible_gpus():
            return (
                f"the machine {os.uname().nodename} has GPUs that Ray had not counted when this began; the same command uses "
                "them, once `ray start` has counted them there (--num-gpus)"
            )
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

    def death(self) -> tuple[str, Death]:
        """How the process died: the name of its refusal, "" without one, and in words."""
        assert self._worker is not None
        try:
            death = self._worker.death()
        except EvenhandError as error:
            return type(error).__name__, Death(str(error), is_from_outside=False)
        return "", death._replace(how=f"{death.how} on {os.uname().nodename}")

    def end(self) -> None:
        """See `Worker`."""
        assert self._worker is not None
        self._worker.end()


class RayWorker:
    """A place on the cluster; see `workers.Worker`.

    Args:
        needs: of the process.
        notice: says that there is no place.
    """

    def __init__(self, needs: Needs, notice: Notice) -> None:
        self._ray = need("ray", "executor: ray")
        self._notice = notice
        variables = {name: value for name, value in os.environ.items() if name.startswith(HANDED_OVER)}
        actor = self._ray.remote(Place).options(num_cpus=1, num_gpus=needs.gpus, max_restarts=0)
        self._actor = actor.remote(str(Path.cwd()), variables, needs.gpus < needs.wanted)
        self._is_here, self._begun = self._actor.is_here.remote(), None

    def begin(self, command: Command) -> None:
        """See `Worker`."""
        self._begun = self._actor.begin.remote(tuple(command.argv), str(command.failure))

    def is_ready(self, is_wanted: Callable[[], bool]) -> bool:
        """See `Worker`.

        Raises:
            StorageError: its machine does not see the run folder, or Ray does not know of its GPUs.
        """
        self._found(self._is_here, is_wanted, self._notice.say)
        state = self._found(self._begun, is_wanted)
        if isinstance(state, str):
            raise StorageError(state)
        return bool(state)

    def work(self, message: bytes) -> Mapping[Part, float] | None:
        """See `Worker`."""
        seconds_by_part: Mapping[Part, float] | None = self._found(self._actor.work.remote(message))
        return seconds_by_part

    def death(self) -> Death:
        """See `Worker`."""
        kind, death = self._found(self._actor.death.remote())
        if kind:
            raise refused_as(kind, death.how)
        return Death(*death)

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

    def _found(
        self,
        promised: Any,
        is_wanted: Callable[[], bool] = lambda: True,
        while_waiting: Callable[[], None] = lambda: None,
    ) -> Any:
        """What the actor says.

        Raises:
            PlaceLostError: it is gone, or is not wanted any more.
            RecipeError: its machine cannot start it.
        """
        while not self._ray.wait([promised], timeout=POLL_SECONDS)[0]:
            if not is_wanted():
                raise PlaceLostError("it is not wanted any more")
            while_waiting()
        try:
            return self._ray.get(promised)
        except self._ray.exceptions.RayTaskError:
            # the actor's own
            raise
        except self._ray.exceptions.RayError as error:
            if getattr(error, "actor_init_failed", False):
                raise RecipeError(
                    f"a machine of the Ray cluster cannot start evenhand: {_shortened(error, 1)}\nInstall the same environment "
                    "on all machines, and give the same command again"
                ) from error
            # its machine, its process, or memory there, for want of which Ray ended it
            raise PlaceLostError(_shortened(error)) from error


def _shortened(error: Exception, n_lines: int = 0) -> str:
    """What Ray says of an error, on one line: all of it, or the last lines."""
    lines = [
        line.strip() for line in ESCAPES.sub("", str(error)).splitlines() if line.strip() and not NUMBERS.match(line)
    ]
    # what Ray lists as common causes is long, and says nothing of this one
    message = " ".join(lines[-n_lines:] if n_lines else lines).partition(" Some common causes include")[0]
    return message[-MOST_SAID:] if n_lines else message[:MOST_SAID]


def launches(n: int, gpus: int, wanted: int) -> list[Launch]:
    """What gives each of the engines of a model its place: how many, GPUs that Ray is to give it, and those that it would use."""
    needs = Needs(gpus, wanted)
    return [partial(RayWorker, needs, Notice(needs))] * n


RAY = Executor("the Ray cluster", "what `ray start` ran with", machines, launches, joined)
