"""A proxy in front of a real server that breaks a part of its answers in many ways."""

import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx

# what becomes of an answer: a status, or "close": none comes; "cut": half of it does; "slow": it is late
FAULTS = (429, 500, 503, "close", "cut", "slow", "wrong JSON", "no JSON", "empty")


class Proxy:
    """Passes requests on and answers back, on a port of its own; use as a context.

    Args:
        upstream: scheme, host and port of the server.
        every: of so many answers one is broken; kinds take turns.
        late: seconds that a slow answer comes late by.
    """

    def __init__(self, upstream: str, every: int, late: float) -> None:
        self.upstream, self.every, self.late = upstream, every, late
        self.broken = Counter[int | str]()
        self.n_whole = 0
        self._lock = threading.Lock()
        outer = self

        class Handler(_Handler):
            proxy = outer

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


class _Handler(BaseHTTPRequestHandler):
    proxy: Proxy
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self._answer(httpx.get(self.proxy.upstream + self.path, timeout=60))

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        fault = self.proxy.fault()
        if isinstance(fault, int):
            self._send(fault, b'{"error": {"message": "not now"}}', {"Retry-After": "0.01"} if fault == 429 else {})
            return
        if fault == "close":
            self.close_connection = True
            return
        headers = {"Content-Type": "application/json"}
        answer = httpx.post(self.proxy.upstream + self.path, content=body, headers=headers, timeout=60)
        if fault == "slow":
            time.sleep(self.proxy.late)
        self._answer(answer, fault)

    def _answer(self, answer: httpx.Response, fault: str | None = None) -> None:
        broken = {"wrong JSON": b'{"choices": [null]}', "no JSON": b"<html>bad gateway</html>", "empty": b""}
        content = broken.get(fault or "", answer.content)
        if fault == "cut":
            self.close_connection = True
        self._send(answer.status_code, content, {}, len(content) // 2 if fault == "cut" else None)

    def _send(self, status: int, content: bytes, headers: dict[str, str], n_sent: int | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        try:
            self.wfile.write(content[:n_sent])
        except ConnectionError:
            # who asked has not waited for it
            self.close_connection = True
