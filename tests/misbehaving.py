"""What servers send in place of a whole answer: ways to misbehave, by name, of the one fake server and of the proxy.

A way is an HTTP status, or a name: of a body (`BODIES`), of a change to an answer that is whole else (`CHANGES`), of a number of
tokens that cannot be (`USAGES`), or of a way to send (`SENDINGS`).
"""

import gzip
import json
import socket
import struct
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler
from typing import Any

# bytes of what is far too much, for an answer of a few tokens
HUGE = 48_000_000
# levels of a list in a list: more than Python reads
DEEP = 100_000
# a wait for which nobody has the patience, in seconds
LONG_WAIT = 1000
# between two bytes of an answer that trickles, in seconds: less than any time-out of a test
PAUSE = 0.05

# sent with status 200 in place of an answer
BODIES: dict[str, bytes] = {
    "empty": b"",
    "blanks": b" \n ",
    "text": b"<html>a gateway's error</html>",
    "error": b'{"error": {"message": "an error with status 200"}}',
    "null": b'{"choices": [null]}',
    "nothing": b'{"choices": null}',
    "no choices": b'{"choices": []}',
    "choices in an object": b'{"choices": {"0": {}}}',
    "a number": b"17",
    "a list": b"[]",
    "deep": b'{"choices": ' + b"[" * DEEP + b"]" * DEEP + b"}",
    "another encoding": '{"choices": [{"message": {"content": "fähre"}}]}'.encode("latin-1"),
}


def _changed(**values: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """An answer whose first choice has these values."""
    return lambda answer: answer | {"choices": [answer["choices"][0] | values, *answer["choices"][1:]]}


# name -> an answer that is whole else; some of these are answers all the same, and a client that takes them is right
CHANGES: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "half an emoji": _changed(message={"content": "The ferry is cheap \ud83d"}),
    "no message": _changed(message=None),
    "message of text": _changed(message="The ferry is cheap."),
    "content a number": _changed(message={"content": 4}),
    "reason a list": _changed(finish_reason=["stop"]),
    "index of text": _changed(index="first"),
    "logprobs a list": _changed(logprobs=[{"token": "4"}]),
}

# name -> tokens that are not possible, over those of the answer
USAGES: dict[str, Any] = {
    "usage negative": {"prompt_tokens": -1_000_000_000},
    "usage true": {"prompt_tokens": True, "completion_tokens": True},
    "usage a fraction": {"completion_tokens": 1.9},
    "usage of text": {"prompt_tokens": "many"},
    "usage infinite": {"prompt_tokens": float("inf")},
    "usage below zero": {"completion_tokens": -4},
    "usage of cache above prompt": {"prompt_tokens_details": {"cached_tokens": 10**9}},
    "usage of cache below zero": {"prompt_tokens_details": {"cached_tokens": -(10**9)}},
    "usage above what is allowed": {"completion_tokens": 10**9},
    "usage of no output": {"completion_tokens": 0},
    "usage of no prompt": {"prompt_tokens": 0},
    "usage null": {"prompt_tokens": None, "completion_tokens": None},
    "usage a list": [1, 2, 3],
    "usage in words": "some tokens",
    "usage missing": None,
}

# name -> whether an answer that is whole comes of it, for who waits long enough
SENDINGS: dict[str, bool] = {
    "close": False, "reset": False, "cut": False, "cut chunks": False, "late": True, "trickle": True, "trickling blanks": True,
    "huge": False, "huge in few bytes": False, "redirect elsewhere": False, "redirect here": True, "long wait": False,
}  # fmt: skip
WAYS = (*BODIES, *CHANGES, *USAGES, *SENDINGS)


class Misbehaving(BaseHTTPRequestHandler):
    """Sends answers, and what is none."""

    protocol_version = "HTTP/1.1"
    # seconds by which what is late is late; ended early by `over`
    late = 1.0
    over = threading.Event()
    # another host's address, for redirects
    elsewhere = "http://localhost.invalid/v1/chat/completions"

    def log_message(self, *_: object) -> None:
        pass

    def send_json(
        self, status: int, content: Mapping[str, Any] | str, headers: Mapping[str, str] | None = None
    ) -> None:
        """A response with its length."""
        self.send_bytes(status, (content if isinstance(content, str) else json.dumps(content)).encode(), headers)

    def send_bytes(self, status: int, content: bytes, headers: Mapping[str, str] | None = None) -> None:
        """A response with its length, of which a client that has gone gets nothing."""
        try:
            self._begin(status, {"Content-Length": str(len(content)), **(headers or {})})
            self.wfile.write(content)
            self.wfile.flush()
        except ConnectionError:
            self.close_connection = True

    def misbehave(self, way: str | int, answer: dict[str, Any] | str) -> None:
        """Send what becomes of an answer, or of another response; names of no way are an error of the test."""
        if isinstance(way, int):
            headers = {"Retry-After": "0.01"} if way == 429 else {}
            self.send_json(way, "" if way == 204 else {"error": {"message": f"fault {way}"}}, headers)
        elif way in BODIES:
            self.send_bytes(200, BODIES[way])
        elif isinstance(answer, dict) and way in CHANGES:
            self.send_json(200, CHANGES[way](answer))
        elif isinstance(answer, dict) and way in USAGES:
            change = USAGES[way]
            usage = {**(answer.get("usage") or {}), **change} if isinstance(change, dict) else change
            self.send_json(200, answer | {"usage": usage})
        else:
            assert way in SENDINGS, way
            try:
                self._send_badly(way, (answer if isinstance(answer, str) else json.dumps(answer)).encode())
            except ConnectionError:
                # who asked has not waited for it
                self.close_connection = True

    def _send_badly(self, way: str, answer: bytes) -> None:
        if way in {"close", "reset"}:
            self.close_connection = True
            if way == "reset":
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.connection.close()
        elif way == "late":
            self.over.wait(self.late)
            self.send_bytes(200, answer)
        elif way == "cut":
            self._begin(200, {"Content-Length": str(len(answer))})
            self.wfile.write(answer[: len(answer) // 2])
            self._break()
        elif way == "cut chunks":
            self._begin(200, {"Transfer-Encoding": "chunked"})
            self._chunk(answer[: len(answer) // 2])
            self._break()
        elif way in {"trickle", "trickling blanks"}:
            # a byte now and then: no time between two of them is long
            before = b" " * int(self.late / PAUSE) if way == "trickling blanks" else b""
            self._begin(200, {"Transfer-Encoding": "chunked"})
            n = max(1, len(before or answer) // int(self.late / PAUSE))
            parts = [before[i : i + 1] for i in range(len(before))] or [
                answer[i : i + n] for i in range(0, len(answer), n)
            ]
            for part in parts:
                self._chunk(part)
                self.over.wait(PAUSE)
            self._chunk(answer if before else b" ")
            self._chunk(b"")
        elif way == "huge":
            self._begin(200, {"Content-Length": str(HUGE + len(answer))})
            for _ in range(HUGE // 1_000_000):
                self.wfile.write(b" " * 1_000_000)
            self.wfile.write(answer)
        elif way == "huge in few bytes":
            self.send_bytes(200, gzip.compress(b" " * HUGE + answer), {"Content-Encoding": "gzip"})
        elif way.startswith("redirect"):
            here = f"{self.path.replace('/v1/', '/v1/again/')}"
            self.send_bytes(307, b"", {"Location": here if way == "redirect here" else self.elsewhere})
        else:
            self.send_json(429, {"error": {"message": "come back later"}}, {"Retry-After": str(LONG_WAIT)})

    def _begin(self, status: int, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.end_headers()

    def _chunk(self, content: bytes) -> None:
        self.wfile.write(b"%x\r\n%b\r\n" % (len(content), content))
        self.wfile.flush()

    def _break(self) -> None:
        self.wfile.flush()
        self.close_connection = True
        self.connection.close()
