"""A proxy in front of a real server that breaks a part of its answers in many ways."""

import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
from misbehaving import Misbehaving

# what becomes of an answer, one after the other
FAULTS = (429, 500, 503, "close", "cut", "late", "null", "text", "empty")


class Proxy:
    """Passes requests on and answers back, on a port of its own; use as a context.

    Args:
        upstream: scheme, host and port of the server.
        every: of so many answers one is broken; kinds take turns.
        late: seconds that a slow answer comes late by.
    """

    def __init__(self, upstream: str, every: int, late: float) -> None:
        self.upstream, self.every = upstream, every
        self.broken = Counter[int | str]()
        self.n_whole = 0
        self._lock = threading.Lock()
        outer = self

        class Handler(_Handler):
            proxy = outer

        Handler.late = late
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def fault(self) -> int | str | None:
        """What becomes of the next answer."""
        with self._lock:
            if (self.n_whole + self.broken.total() + 1) % self.every:
                self.n_whole += 1
                return None
            found = FAULTS[self.broken.total() % len(FAULTS)]
            self.broken[found] += 1
            return found

    def __enter__(self) -> "Proxy":
        threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()


class _Handler(Misbehaving, BaseHTTPRequestHandler):
    proxy: Proxy

    def do_GET(self) -> None:
        self._pass_on(httpx.get(self.proxy.upstream + self.path, timeout=60))

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        fault = self.proxy.fault()
        headers = {"Content-Type": "application/json"}
        if isinstance(fault, int) or fault == "close":
            self.misbehave(fault, {})
            return
        answer = httpx.post(self.proxy.upstream + self.path, content=body, headers=headers, timeout=60)
        if fault is None:
            self._pass_on(answer)
        else:
            self.misbehave(fault, answer.json())

    def _pass_on(self, answer: httpx.Response) -> None:
        self.send_bytes(answer.status_code, answer.content)
