"""A Ray cluster of two nodes, both of which are this machine: started by the commands that a user gives."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

START_SECONDS = 180


@dataclass
class Node:
    """One node: the command that keeps it up, and all that it started."""

    process: "subprocess.Popen[bytes]"
    log: Path

    def tree(self) -> list[psutil.Process]:
        """Its processes."""
        try:
            own = psutil.Process(self.process.pid)
            return [*own.children(recursive=True), own]
        except psutil.NoSuchProcess:
            return []

    def workers(self) -> list[psutil.Process]:
        """Processes of stages that run on it."""
        found = []
        for each in self.tree():
            try:
                found += (
                    [each] if {"evenhand.generate.child", "evenhand.judges.child"}.intersection(each.cmdline()) else []
                )
            except psutil.Error:
                continue
        return found

    def actors(self) -> list[psutil.Process]:
        """Processes of Ray that hold one of those each."""
        found = []
        for each in self.tree():
            with suppress(psutil.Error):
                found += [each] if each.cmdline()[:1] == ["ray::Place"] or "ray::Place" in each.name() else []
        return found

    def kill(self) -> None:
        """Switch it off."""
        for each in self.tree():
            try:
                each.send_signal(signal.SIGKILL)
            except psutil.NoSuchProcess:
                continue
        self.process.wait()


@dataclass
class Cluster:
    """Nodes, the first of them the head."""

    address: str
    nodes: list[Node]
    folder: Path
    # of the environment of all nodes
    variables: dict[str, str]

    def add(self, *arguments: str) -> Node:
        """Start another node and wait for it."""
        return self._started("--address", self.address, *arguments)

    def _started(self, *arguments: str) -> Node:
        log = self.folder / f"node-{len(self.nodes)}.txt"
        ray = Path(sys.executable).with_name("ray")
        command = [str(ray), "start", "--node-ip-address=127.0.0.1", "--disable-usage-stats", "--block", *arguments]
        with log.open("wb") as output:
            # as on a machine of its own, none of the variables of the command that it will work for
            variables = {
                name: value for name, value in os.environ.items() if not name.startswith(("EVENHAND_", "OMP_"))
            }
            # the memory is that of all tests
            variables |= {"RAY_memory_monitor_refresh_ms": "0"} | self.variables
            node = Node(subprocess.Popen(command, stdout=output, stderr=output, env=variables), log)
        self.nodes.append(node)
        deadline = time.monotonic() + START_SECONDS
        while "Ray runtime started" not in (said := log.read_text()):
            assert node.process.poll() is None and time.monotonic() < deadline, said
            time.sleep(0.1)
        return node


@contextmanager
def cluster(*arguments: str, **variables: str) -> Iterator[Cluster]:
    """A cluster of two nodes, each with these arguments of `ray start`; commands of this process and its children join it."""
    # sockets lie there, so its path must be short
    folder = Path(tempfile.mkdtemp(prefix="ray", dir="/tmp"))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    found = Cluster(f"127.0.0.1:{port}", [], folder, {"EVENHAND_CACHE": str(folder / "cache"), **variables})
    before = os.environ.get("RAY_ADDRESS")
    try:
        found._started("--head", f"--port={port}", f"--temp-dir={folder}", "--include-dashboard=false", *arguments)
        found.add(*arguments)
        os.environ["RAY_ADDRESS"] = found.address
        yield found
    finally:
        for node in reversed(found.nodes):
            node.kill()
        if before is None:
            os.environ.pop("RAY_ADDRESS", None)
        else:
            os.environ["RAY_ADDRESS"] = before
        shutil.rmtree(folder, ignore_errors=True)
