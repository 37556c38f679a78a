"""Serving among hostile clients: what the others wait, what the process holds, and whether all answers are right.

A scripted model is served, so that nothing but `evenhand serve` itself is measured. Honest clients ask at a pace, each time about
documents of their own. In every second part of the time others send what is meant to hurt: bodies of every kind below, requests
that never go on, and requests whose sender leaves. Parts take turns in one run.
"""

import http.client
import json
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
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
# seconds between two requests of an honest client; most connections that a hostile one leaves silent at a time
PACE, MOST_SILENT = 0.2, 60
DOCUMENTS = (
    ("Trams wake the whole street.", "ban"),
    ("Rails are dangerous here.", "ban"),
    ("Trams carry many people.", "allow"),
)


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


def disturb(port: int, over: threading.Event) -> int:
    """Send everything that hurts, one after the other, until it is over; how much was sent."""
    silent, n = list[socket.socket](), 0
    head = b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 90000\r\n"
    honest = json.dumps(
        {"model": NAME, "documents": [{"text": "Trams.", "attributes": {"side": "ban"}}], "side": "ban"}
    ).encode()
    for name, body in cycle(bodies().items()):
        if over.is_set():
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
        {"seconds": 4, "parts": 2},
        seconds=count(600, "seconds of the whole"),
        parts=count(10, "parts of the time, of which every second one has hostile clients"),
        honest=count(6, "honest clients"),
        hostile=count(2, "hostile clients"),
    )
    report = Report(NAME, vars(options))
    with tempfile.TemporaryDirectory() as name:
        folder, port = Path(name), free_port()
        write_text(folder / "recipe.yaml", dump_recipe(recipe_of(folder)))
        command = [sys.executable, "-m", "evenhand.cli", "serve", str(folder / "recipe.yaml"), "--port", str(port)]
        cache = {"EVENHAND_CACHE": str(folder / "cache")}
        with serving(command, cache, folder / "log", f"http://{HOST}:{port}/health") as process:
            memory = need("psutil", "a benchmark").Process(process.pid).memory_info
            rows, wrong = parts(port, options, lambda: memory().rss / 2**20)
    title = f"{options.honest} honest clients, beside them none or {options.hostile} hostile ones; {len(wrong)} wrong answers"
    report.add_breakdown(Breakdown(title, [*rows, compared(rows)]))
    report.finish()


def parts(port: int, options: Any, memory: Any) -> tuple[list[dict[str, Any]], list[str]]:
    """A row for each part of the time, and the answers that were wrong."""
    honest, rows = Honest(port), list[dict[str, Any]]()
    honest.during(options.honest, time.monotonic() + 1)
    for part in range(options.parts):
        over = threading.Event()
        n_hostile = options.hostile * (part % 2)
        with ThreadPoolExecutor(max(1, n_hostile)) as threads:
            sent = [threads.submit(disturb, port, over) for _ in range(n_hostile)]
            seconds = honest.during(options.honest, time.monotonic() + options.seconds / options.parts)
            over.set()
            n_sent = sum(each.result() for each in sent)
        p50, p95 = (float(need("numpy", "a benchmark").percentile(seconds, each)) for each in (50, 95))
        rows.append({"": f"part {part + 1}", "hostile": n_hostile, "sent": n_sent, "answers": len(seconds),
                     "p50 s": p50, "p95 s": p95, "MiB": memory()})  # fmt: skip
    return rows, honest.wrong


def compared(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """How often as long the honest wait with hostile clients as without: medians of the parts."""
    median = need("numpy", "a benchmark").median
    halves = [[row for row in rows if bool(row["hostile"]) is is_hostile] for is_hostile in (True, False)]
    ratios = {key: float(median([row[key] for row in halves[0]]) / median([row[key] for row in halves[1]]))
              for key in ("p50 s", "p95 s", "MiB")}  # fmt: skip
    return {"": "with : without", "hostile": "", "sent": "", "answers": "", **ratios}


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
