"""Serving among hostile clients: what the others wait, what the process holds, and whether all answers are right.

A scripted model is served, so that nothing but `evenhand serve` itself is measured. Honest clients ask at a pace, each time about
documents of their own. Hostile ones, each a process of its own, send what is meant to hurt: bodies of every kind below, requests
that never go on, and requests whose sender leaves. Three kinds of parts take turns in one run:

    none        no hostile clients
    elsewhere   they send to another `evenhand serve` on this machine: what the honest wait for processors alone
    here        they send to the server that the honest ask
"""

import http.client
import json
import multiprocessing
import os
import socket
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import count as counted
from itertools import cycle
from pathlib import Path
from typing import Any

from ..config import Recipe
from ..config.recipe_file import dump_recipe
from ..extras import need
from ..storage import write_text
from .report import Breakdown, Report, bench_options, count, run_bench
from .serving import HOST, free_port, serving

NAME = "hostile"
# where hostile clients send
NONE, ELSEWHERE, HERE = "none", "elsewhere", "here"
# seconds between two requests of an honest client; most connections that a hostile one leaves silent at a time
PACE, MOST_SILENT = 0.2, 60
DOCUMENTS = (
    ("Trams wake the whole street.", "ban"),
    ("Rails are dangerous here.", "ban"),
    ("Trams carry many people.", "allow"),
)


@cache
def bodies() -> dict[str, bytes]:
    """What is sent to hurt, by name; each is shorter than a server takes."""
    documents = [{"text": text, "attributes": {"side": side}} for text, side in DOCUMENTS]
    item = {"documents": documents, "side": "ban"}
    chat = {"model": NAME, **item}
    return {
        "long key, long list": json.dumps({"model": NAME, "k" * 8000: [0] * 300_000}).encode(),
        "values": b'{"model": [' + b"0," * 900_000 + b"0]}",
        "deep": b'{"notes": ' + b"[" * 400_000 + b"]" * 400_000 + b"}",
        "deep notes": json.dumps(chat)[:-1].encode() + b', "notes": {"a": ' + b"[" * 900 + b"]" * 900 + b"}}",
        "doubled keys": b"{" + b",".join(b'"k%d":0' % n for n in range(120_000)) + b',"k0":0}',
        "unknown keys": b"{" + b",".join(b'"k%d":0' % n for n in range(120_000)) + b"}",
        "wrong documents": json.dumps({"model": NAME, "documents": [0] * 150_000}).encode(),
        "half characters": json.dumps(chat | {"notes": {"a": ["\ud800"] * 100_000}}).encode(),
        "blanks in an answer": json.dumps({"items": [{**item, "summary": "a" + " \n" * 400_000 + "b"}]}).encode(),
        "marks in an answer": json.dumps({"items": [{**item, "summary": "a" + "<|im_end|>" * 100_000 + "b"}]}).encode(),
        "overlaps in a prompt": json.dumps({"query": ["a" * 600_000], "prompts": ["a" * 300_000 + "b"], "labels": [0]}).encode(),
        "too long": b" " * 3_000_000,
    }  # fmt: skip


class Honest:
    """Clients that ask and look at the answers.

    Args:
        port: of the server.
    """

    def __init__(self, port: int) -> None:
        self.port, self.wrong, self.numbers = port, list[str](), counted()

    def during(self, n_clients: int, until: float) -> list[float]:
        """Seconds of each answer, of clients that ask until then."""
        with ThreadPoolExecutor(n_clients) as threads:
            return [each for some in threads.map(self._ask_on, [until] * n_clients) for each in some]

    def _ask_on(self, until: float) -> list[float]:
        seconds = []
        while time.monotonic() < until:
            begun, number = time.perf_counter(), next(self.numbers)
            self._ask(number)
            seconds.append(time.perf_counter() - begun)
            time.sleep(max(0.0, PACE - seconds[-1]))
        return seconds

    def _ask(self, number: int) -> None:
        documents = [{"text": f"Letter {number}. {text}", "attributes": {"side": side}} for text, side in DOCUMENTS]
        body = {"model": NAME, "documents": documents, "side": ("ban", "allow")[number % 2]}
        try:
            status, said = send(self.port, json.dumps(body).encode())
        except OSError as lost:
            self.wrong.append(f"{number}: {lost}")
            return
        about = json.loads(said).get("evenhand") or {}
        if status != 200 or about["n_candidates"] != 2 or about["side"] != body["side"]:
            self.wrong.append(f"{number}: {status} {said[:200]!r}")


def send(port: int, body: bytes, path: str = "/v1/chat/completions") -> tuple[int, bytes]:
    """Status and body of an answer."""
    connection = http.client.HTTPConnection(HOST, port, timeout=60)
    try:
        connection.request("POST", path, body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def disturb(port: int, until: float) -> int:
    """Send everything that hurts, one after the other, until then; how much was sent."""
    silent, n = list[socket.socket](), 0
    head = b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 90000\r\n"
    honest = json.dumps(
        {"model": NAME, "documents": [{"text": "Trams.", "attributes": {"side": "ban"}}], "side": "ban"}
    ).encode()
    for name, body in cycle(bodies().items()):
        if time.monotonic() > until:
            break
        path = "/v1/score" if "answer" in name or "prompt" in name else "/v1/chat/completions"
        n += 1
        try:
            send(port, body, path)
            for part in (b"GET /hea", head, head + b"\r\n{"):
                silent.append(socket.create_connection((HOST, port)))
                silent[-1].sendall(part)
            with socket.create_connection((HOST, port)) as leaver:
                leaver.sendall(head.replace(b"90000", str(len(honest)).encode()) + b"\r\n" + honest)
        except (OSError, http.client.HTTPException):
            # closed while it was sent, as it should be
            continue
        while len(silent) > MOST_SILENT:
            silent.pop(0).close()
    for each in silent:
        each.close()
    return n


def main(argv: Sequence[str] | None = None) -> None:
    """Run the benchmark."""
    options = bench_options(
        NAME,
        __doc__,
        argv,
        {"seconds": 6, "parts": 3},
        seconds=count(600, "seconds of the whole"),
        parts=count(12, "parts of the time: without hostile clients, with them elsewhere, with them here, and so on"),
        honest=count(6, "honest clients"),
        hostile=count(2, "hostile clients"),
    )
    report = Report(NAME, vars(options))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with served(folder / "here") as (port, process), served(folder / "elsewhere") as (other, _):
            memory = need("psutil", "a benchmark").Process(process.pid).memory_info
            rows, wrong = parts({HERE: port, ELSEWHERE: other}, options, lambda: memory().rss / 2**20)
    title = f"{options.honest} honest clients, beside them none or {options.hostile} hostile ones; {len(wrong)} wrong answers"
    ratios = [compared(rows, kind) for kind in (ELSEWHERE, HERE) if any(row["hostile"] == kind for row in rows)]
    report.add_breakdown(Breakdown(title, [*rows, *ratios]))
    report.finish(wrong[:3])


@contextmanager
def served(folder: Path) -> Iterator[tuple[int, Any]]:
    """The port and the process of an `evenhand serve` of its own."""
    folder.mkdir()
    port = free_port()
    write_text(folder / "recipe.yaml", dump_recipe(recipe_of(folder)))
    command = [sys.executable, "-m", "evenhand.cli", "serve", str(folder / "recipe.yaml"), "--port", str(port)]
    environment = {"EVENHAND_CACHE": str(folder / "cache")}
    with serving(command, environment, folder / "log", f"http://{HOST}:{port}/health") as process:
        yield port, process


def parts(ports: dict[str, int], options: Any, memory: Any) -> tuple[list[dict[str, Any]], list[str]]:
    """A row for each part of the time, and the answers that were wrong."""
    honest, rows = Honest(ports[HERE]), list[dict[str, Any]]()
    length = options.seconds / options.parts
    # they hold no lock of the honest ones
    with ProcessPoolExecutor(options.hostile, multiprocessing.get_context("spawn")) as processes:
        _sent(processes, options.hostile, ports[ELSEWHERE], 0)
        honest.during(options.honest, time.monotonic() + 1)
        for part, kind in zip(range(options.parts), cycle((NONE, ELSEWHERE, HERE)), strict=False):
            until = time.monotonic() + length
            with ThreadPoolExecutor(1) as beside:
                sent = beside.submit(_sent, processes, options.hostile, ports[kind], until) if kind != NONE else None
                seconds = honest.during(options.honest, until)
                n_sent = sent.result() if sent else 0
            p50, p95 = (float(need("numpy", "a benchmark").percentile(seconds, each)) for each in (50, 95))
            rows.append({"": f"part {part + 1}", "hostile": kind, "sent": n_sent, "answers": len(seconds), "p50 s": p50,
                         "p95 s": p95, "MiB": memory(), "load": os.getloadavg()[0]})  # fmt: skip
    return rows, honest.wrong


def _sent(processes: Executor, n: int, port: int, until: float) -> int:
    """What so many hostile clients sent until then."""
    return sum(processes.map(disturb, [port] * n, [until] * n))


def compared(rows: Sequence[dict[str, Any]], kind: str) -> dict[str, Any]:
    """How often as long the honest wait beside hostile clients of that kind as beside none: medians of the parts."""
    median = need("numpy", "a benchmark").median
    with_them, without = ([row for row in rows if row["hostile"] == each] for each in (kind, NONE))
    return {"": f"{kind} : none"} | {
        key: float(median([row[key] for row in with_them]) / median([row[key] for row in without]))
        for key in ("p50 s", "p95 s", "MiB")
    }


def recipe_of(folder: Path) -> Recipe:
    """What is served: the better of two candidates of a scripted model, by its words."""
    return Recipe.model_validate(
        {
            "name": NAME,
            "output": folder / "run",
            "model": {"name": "none"},
            "corpus": {"attribute": "side"},
            "generate": {"backend": "scripted", "plans": {"hot": {"temperature": 1.0, "candidates": 2}}},
            "judges": {"words": {"kind": "length"}, "contract": {"kind": "contract"}},
            "reward": {"judges": ["words"], "combine": "mean"},
            "evaluation": {"judges": ["contract"]},
            "rounds": 0,
        }
    )


if __name__ == "__main__":
    run_bench(main)
