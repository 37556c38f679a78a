"""Commands of evenhand that need no start, and that are killed where a test says.

A server has everything imported; a client hands it arguments, folder, environment and the three standard streams, and the server
forks a process that runs the command. A loop's steps come the same way: what the command takes for its interpreter is a client.

Run as a script, it is the server (`forked.py serve SOCKET MODULE ...`) or a client, which takes an interpreter's arguments
(`forked.py run SOCKET CLIENT -m MODULE ...`). Whoever kills a client kills its command.
"""

import contextlib
import importlib
import json
import os
import runpy
import select
import signal
import socket
import sys
import time
import traceback
from pathlib import Path

# each process of a command is killed before its operation on files of this number, or after the one before it
KILL = "CAMPAIGN_KILL"
OPERATIONS = {"os.rename", "os.remove", "os.truncate", "os.mkdir", "sqlite3.connect"}
# what trainings and language models need
TRAINING = (
    "torch", "transformers:AutoModelForCausalLM", "transformers:LlamaForCausalLM", "transformers:Qwen2ForCausalLM",
    "transformers:MistralForCausalLM", "transformers:Trainer", "trl:DPOTrainer", "peft", "accelerate.commands.launch", "datasets",
)  # fmt: skip
# what vLLM's engine imports when it starts, runs a tiny Llama and compiles what little it does on a processor
ENGINES = (
    "torch", "vllm:LLM", "vllm.v1.engine.llm_engine", "vllm.v1.worker.cpu_worker", "vllm.model_executor.models.llama",
    "torch._inductor.compile_fx", "torch._inductor.codegen.cpp_wrapper_cpu", "evenhand.generate.vllm_draws",
)  # fmt: skip
# a line of code goes to the interpreter itself: torch asks it so whether the processor can do what it is about to compile
CLIENT = """\
#!/bin/sh
if [ "$1" = -c ]; then exec {python} "$@"; fi
exec {python} -I -S {file} run {socket} "$0" "$@"
"""


class Server:
    """A server that runs until `close`.

    Args:
        folder: for its socket and its client.
        modules: what it imports besides evenhand, and names in them that are to be looked up ("trl:DPOTrainer").
        environment: what the imports are to find in the environment besides.
    """

    def __init__(self, folder: Path, modules: tuple[str, ...] = (), **environment: str) -> None:
        # the name of a socket must be short
        self._socket = str(folder / "s")
        self.client = folder / "python"
        self.client.write_text(CLIENT.format(python=sys.executable, file=__file__, socket=self._socket))
        self.client.chmod(0o755)
        command = [sys.executable, __file__, "serve", self._socket, *modules]
        self._pid = os.posix_spawn(sys.executable, command, os.environ | environment)
        deadline = time.monotonic() + 600
        while not (folder / "s").exists():
            assert time.monotonic() < deadline, "the server does not start"
            time.sleep(0.05)

    def start(self, arguments: list[str], folder: Path, **environment: str) -> "Command":
        """Start `evenhand ARGUMENTS` in a folder; its output is appended to output.txt there."""
        with (folder / "output.txt").open("ab") as output, Path(os.devnull).open("rb") as nothing:
            streams = [nothing.fileno(), output.fileno(), output.fileno()]
            request = {
                "program": "evenhand",
                "is_module": True,
                "arguments": arguments,
                "folder": str(folder),
                "environment": {**os.environ, **environment},
                "executable": str(self.client),
            }
            return Command(*_ask(self._socket, request, streams))

    def close(self) -> None:
        """End the server; commands that it has started go on."""
        os.kill(self._pid, signal.SIGTERM)
        os.waitpid(self._pid, 0)


class Command:
    """A command that was started."""

    def __init__(self, connection: socket.socket, pid: int) -> None:
        self.pid = pid
        self._connection = connection

    def wait(self, seconds: float) -> int | None:
        """Its exit code, negative for a signal; None when it still runs after so many seconds."""
        self._connection.settimeout(seconds)
        try:
            return int(_line(self._connection))
        except TimeoutError:
            return None


def _ask(path: str, request: dict[str, object], streams: list[int]) -> tuple[socket.socket, int]:
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(path)
    data = json.dumps(request).encode()
    socket.send_fds(connection, [len(data).to_bytes(4, "big")], streams)
    connection.sendall(data)
    return connection, int(_line(connection))


def _line(connection: socket.socket) -> str:
    found = b""
    while not found.endswith(b"\n"):
        part = connection.recv(1)
        assert part, "the server is gone"
        found += part
    return found.decode()


def serve(path: str, modules: list[str]) -> None:
    """Import everything, then fork a process for each client, as long as the tests live."""
    _import_all()
    for module, _, name in (each.partition(":") for each in modules):
        found = importlib.import_module(module)
        # libraries import parts of theirs when a name is looked up
        assert not name or getattr(found, name)
    # nobody waits for the processes that keep the commands
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(path)
    listening.listen(16)
    listening.settimeout(1)
    tests = os.getppid()
    while os.getppid() == tests:
        try:
            connection, _ = listening.accept()
        except TimeoutError:
            continue
        if os.fork() == 0:
            listening.close()
            with contextlib.suppress(BrokenPipeError):
                _keep(connection)
            os._exit(0)
        connection.close()


def _import_all() -> None:
    import rouge_score.rouge_scorer  # noqa: F401

    import evenhand.cli.app
    import evenhand.evaluation.report.checkpoint.page
    import evenhand.evaluation.report.checkpoint.report
    import evenhand.evaluation.report.comparison.build
    import evenhand.evaluation.report.comparison.page
    import evenhand.evaluation.report.comparison.runs
    import evenhand.loop
    import evenhand.preflight  # noqa: F401


def _keep(connection: socket.socket) -> None:
    """Run what a client asks for in a process of its own, and tell its number and its end."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    size, streams, _, _ = socket.recv_fds(connection, 4, 3)
    data = b""
    while len(data) < int.from_bytes(size, "big"):
        data += connection.recv(65536)
    pid = os.fork()
    if pid == 0:
        connection.close()
        _run(json.loads(data), streams)
    for stream in streams:
        os.close(stream)
    connection.sendall(f"{pid}\n".encode())
    ended = os.pidfd_open(pid)
    readable, _, _ = select.select([ended, connection], [], [])
    if ended not in readable:
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    connection.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())


def _run(request: dict[str, object], streams: list[int]) -> None:
    """Be the command; does not return."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(str(request["folder"]))
    os.environ.clear()
    os.environ.update(request["environment"])
    program = str(request["program"])
    sys.argv = [program, *request["arguments"]]
    sys.executable = str(request["executable"])
    if "torch" in sys.modules and "OMP_NUM_THREADS" in os.environ:
        # which is looked at when libraries are loaded
        sys.modules["torch"].set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    if KILL in os.environ:
        _kill_before(int(os.environ[KILL]))
    code: object = 0
    try:
        if program == "evenhand":
            from evenhand.__main__ import main

            main()
        elif request["is_module"]:
            runpy.run_module(program, run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(program, run_name="__main__")
    except SystemExit as end:
        code = end.code
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else 0)


def _kill_before(number: int) -> None:
    """Have this process killed before the operation on files of that number, counted from 1."""
    seen = 0

    def look(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal seen
        is_opened = event == "open" and int(arguments[2] or 0) & (os.O_WRONLY | os.O_RDWR)
        if not is_opened and event not in OPERATIONS:
            return
        seen += 1
        if seen >= number:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(look)


def run(path: str, client: str, arguments: list[str]) -> None:
    """Be a client: run a command with this process's streams, and end as it does."""
    is_module = "-m" in arguments[:2]
    # torchrun starts its processes with -u
    program, *rest = [each for each in arguments if each != "-u"][is_module:]
    request = {
        "program": program,
        "is_module": is_module,
        "arguments": rest,
        "folder": str(Path.cwd()),
        "environment": dict(os.environ),
        "executable": client,
    }
    connection, _ = _ask(path, request, [0, 1, 2])
    code = int(_line(connection))
    if code < 0:
        os.kill(os.getpid(), -code)
    sys.exit(code)


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2], sys.argv[3:])
    else:
        run(sys.argv[2], sys.argv[3], sys.argv[4:])
