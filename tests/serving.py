"""A server of OpenAI's protocol that answers by rules, counts what it is asked, and breaks as a test says.

Its answers depend on the request alone, so that a run against it can be compared with another one.
"""

import json
import math
import ssl
import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from misbehaving import CHANGES, SENDINGS, Misbehaving

from evenhand.config import BackendSection, ModelSection
from evenhand.generate.backends import open_backend
from evenhand.text.digests import digest

# what becomes of the nth request: None for an answer, or a way to misbehave, as `misbehaving` names them; status, error and
# headers; or the content of its choices, one by one
Fault = Callable[[int, dict[str, Any]], Any]
# what becomes of a request without a field
NO_REQUEST = (400, {"message": "messages: field required"}, {})
SENTENCES = ("The ferry is cheap.", "The bridge costs too much.", "Nobody asked the island.", "Trains are late.")


class Server:
    """A server on a port of its own; use as a context.

    Args:
        fault: what goes wrong.
        models: ids that it lists; None: it has no list.
        key: that it asks for.
        has_n: whether it gives several answers to a request.
        logprobs: grades' probabilities by text; None: it gives none.
        owner: whose models it says it has.
        refuses: parameters that get the error that OpenAI's servers give.
        reason: why answers end.
        tells: whether it tells how many tokens there were.
        has_batches: whether it takes requests as files.
        has_adapters: whether it loads adapters.
        certificate: file of its certificate and key; None: it speaks plain HTTP.
        late: seconds by which what is late comes late, and for which what trickles does.
        price: of a token of the prompt, and of one of the answer, in its bill.
    """

    def __init__(
        self,
        fault: Fault = lambda number, body: None,
        *,
        models: tuple[str, ...] | None = ("tiny",),
        key: str | None = None,
        has_n: bool = True,
        logprobs: dict[str, float] | None = None,
        owner: str = "evenhand",
        refuses: tuple[str, ...] = (),
        reason: str = "stop",
        tells: bool = True,
        has_batches: bool = True,
        has_adapters: bool = True,
        certificate: Path | None = None,
        late: float = 1.0,
        price: tuple[float, float] = (0.0, 0.0),
    ) -> None:
        self.fault, self.models, self.key, self.has_n, self.logprobs, self.refuses = (
            fault, models, key, has_n, logprobs, refuses,
        )  # fmt: skip
        self.reason, self.tells, self.owner = reason, tells, owner
        self.has_batches, self.has_adapters = has_batches, has_adapters
        # what its answers call the model; None: they do not say it
        self.answers_as: str | None = None
        # why requests of batches are refused
        self.refusal = "content_filter"
        # what it says of what it does not have
        self.lacks = "not found"
        # whether its list of batches is one, and no object that holds one
        self.is_plain = False
        # ways to misbehave of the next responses other than answers, by kind: "models", "files", "batch", "batches", "content"
        self.other_faults: dict[str, list[str | int]] = {}
        # statuses that it answers the next requests for its list of models with
        self.list_faults: list[int] = []
        self.adapters: list[dict[str, Any]] = []
        # requests for answers, in the order in which they came; and those whose answer was sent whole
        self.asked: list[dict[str, Any]] = []
        self.answered: list[dict[str, Any]] = []
        # of requests that send something, and of those that get something
        self.headers: list[dict[str, str]] = []
        self.got: list[dict[str, str]] = []
        # what it wants for each request that it answered or worked on, whatever came of it
        self.bill: list[float] = []
        self.price = price
        self.most_at_once = 0
        # files and batches by id; a batch is worked off when a test says so
        self.files: dict[str, str] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self._at_once = 0
        self._lock = threading.Lock()
        outer = self

        class Handler(_Handler):
            server_of_test = outer
            over = threading.Event()

        Handler.late = late

        class Quiet(ThreadingHTTPServer):
            # connections of a burst that wait to be taken: of the usual five the others are reset
            request_queue_size = 128

            def handle_error(self, *_: Any) -> None:
                """A client that was killed is no news."""

        self.handler, self._over = Handler, Handler.over
        self._http = Quiet(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self._scheme = "http" if certificate is None else "https"
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self._http.socket = context.wrap_socket(self._http.socket, server_side=True)

    @property
    def base_url(self) -> str:
        return f"{self._scheme}://127.0.0.1:{self._http.server_address[1]}/v1"

    def __enter__(self) -> "Server":
        threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._http.shutdown()
        self._http.server_close()

    def work_off(
        self, status: str = "completed", fault: Callable[[int, dict[str, Any]], int] = lambda n, body: 200
    ) -> None:
        """End the batches that are under way; `fault` is the status of each request, 0 for one that expired."""
        for batch in self.batches.values():
            if batch["status"] != "in_progress":
                continue
            lines = []
            for number, line in enumerate(self.files[batch["input_file_id"]].splitlines()):
                request = json.loads(line)
                code = fault(number, request["body"])
                if code == 200:
                    self.asked.append(request["body"])
                body = (
                    respond(self, request["body"]) if code == 200 else {"error": {"message": f"{self.refusal} {code}"}}
                )
                response = {"status_code": code, "body": body} if code else None
                lines.append(json.dumps({"custom_id": request["custom_id"], "response": response}))
            # in any order
            self.files[f"out-{batch['id']}"] = "\n".join(reversed(lines))
            batch |= {"status": status, "output_file_id": f"out-{batch['id']}" if status == "completed" else None}

    def begins(self, body: dict[str, Any]) -> int:
        with self._lock:
            self.asked.append(body)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
            return len(self.asked) - 1

    def ends(self) -> None:
        with self._lock:
            self._at_once -= 1

    def charge(self, body: dict[str, Any], fault: Any) -> None:
        """Put a request on the bill: what a whole answer says of its tokens, and of any other the most that they can be."""
        is_whole = fault is None or isinstance(fault, list)
        is_whole = is_whole or (isinstance(fault, str) and (fault in CHANGES or SENDINGS.get(fault, False)))
        if is_whole and self.tells:
            used = respond(self, body)["usage"]
            n_input, n_output = used["prompt_tokens"], used["completion_tokens"]
        else:
            texts = [turn["content"] for turn in body.get("messages", ())] + [
                json.dumps(value, ensure_ascii=False)
                for key, value in body.items()
                if key in {"tools", "response_format"}
            ]
            n_input = sum(len(text.encode()) for text in texts) + len(body.get("prompt", ()))
            n_output = body.get("n", 1) * max(body.get("max_tokens", 0), body.get("max_completion_tokens", 0))
        with self._lock:
            self.bill.append(n_input * self.price[0] + n_output * self.price[1])


class _Handler(Misbehaving, BaseHTTPRequestHandler):
    server_of_test: Server

    def do_GET(self) -> None:
        server = self.server_of_test
        server.got.append(dict(self.headers))
        if not self._may():
            return
        if self.path == "/v1/models" and server.list_faults:
            self.send_json(server.list_faults.pop(0), {"error": {"message": "no list now"}}, {"Retry-After-Ms": "1"})
        elif "/files/" in self.path and (name := self.path.split("/")[-2]) in server.files:
            self._send_other("content", server.files[name])
        elif "/batches/" in self.path and (name := self.path.split("/")[-1]) in server.batches:
            self._send_other("batch", server.batches[name])
        elif self.path.split("?")[0].endswith("/batches") and server.has_batches:
            batches = list(server.batches.values())
            self._send_other("batches", json.dumps(batches) if server.is_plain else {"object": "list", "data": batches})
        elif self.path == "/v1/models" and server.models is not None:
            models = [{"id": name, "object": "model", "created": 0, "owned_by": server.owner} for name in server.models]
            self._send_other("models", {"object": "list", "data": models})
        else:
            self.send_json(404, {"error": {"message": server.lacks}})

    def do_POST(self) -> None:
        server = self.server_of_test
        sent = self.rfile.read(int(self.headers["Content-Length"]))
        server.headers.append(dict(self.headers))
        if not self._may():
            return
        if self.path.endswith("/files"):
            name = f"file-{len(server.files)}"
            lines = [line for line in sent.decode().splitlines() if line.startswith("{")]
            server.files[name] = "\n".join(lines)
            self._send_other(
                "files",
                {"id": name, "object": "file", "bytes": 1, "created_at": 1, "filename": "f", "purpose": "batch"},
            )
            return
        body = json.loads(sent)
        if self.path.endswith("/load_lora_adapter") and server.has_adapters:
            # as vLLM says it
            server.adapters.append(body)
            self.send_json(200, "Success: LoRA adapter added successfully.")
            return
        if self.path.endswith("/batches"):
            name = f"batch-{len(server.batches)}"
            server.batches[name] = {"id": name, "object": "batch", "status": "in_progress", "created_at": 1, **body}
            self._send_other("batch", server.batches[name])
            return
        if self.path.replace("/again/", "/") not in {"/v1/chat/completions", "/v1/completions"}:
            self.send_json(404, {"error": {"message": server.lacks}})
            return
        if not body:
            # no request, so that nobody is asked
            self._answer(server, -1, body)
            return
        number = server.begins(body)
        try:
            self._answer(server, number, body)
        finally:
            server.ends()

    def _send_other(self, kind: str, content: dict[str, Any] | str) -> None:
        if ways := self.server_of_test.other_faults.get(kind):
            self.misbehave(ways.pop(0), content)
        else:
            self.send_json(200, content)

    def _may(self) -> bool:
        key = self.server_of_test.key
        if key is None or self.headers.get("Authorization") == f"Bearer {key}":
            return True
        # as some servers do, it repeats what it was sent
        said = f"Incorrect API key provided: {self.headers.get('Authorization')}"
        self.send_json(401, {"error": {"message": said, "code": "invalid_api_key"}})
        return False

    def _answer(self, server: Server, number: int, body: dict[str, Any]) -> None:
        for parameter in server.refuses:
            if parameter in body:
                message = f"Unsupported parameter: '{parameter}' is not supported with this model."
                error = {"message": message, "param": parameter, "code": "unsupported_parameter"}
                server.charge(body, 400)
                self.send_json(400, {"error": error})
                return
        fault = server.fault(number, body) or (None if body else NO_REQUEST)
        is_hop = fault == "redirect here" and "/again/" not in self.path
        if body:
            server.charge(body, fault)
        if isinstance(fault, tuple):
            status, error, headers = fault
            if isinstance(error, bytes):
                # as it stands
                self.send_bytes(status, error, headers)
            else:
                self.send_json(status, {"error": error}, headers)
            return
        answer = respond(server, body, fault if isinstance(fault, list) else ())
        if isinstance(fault, str | int) and (is_hop or fault != "redirect here"):
            self.misbehave(fault, answer)
            return
        self.send_json(200, answer)
        if fault is None:
            server.answered.append(body)


def _held(top: list[dict[str, Any]], choices: Sequence[str]) -> list[dict[str, Any]]:
    """The alternatives as vLLM's server writes them when it holds an answer to choices: the others are there, and impossible."""
    total = math.log(sum(math.exp(each["logprob"]) for each in top if each["token"] in choices))
    held = [each | {"logprob": each["logprob"] - total if each["token"] in choices else -9999.0} for each in top]
    return sorted(held, key=lambda each: -each["logprob"])


def respond(server: Server, body: dict[str, Any], contents: Sequence[Any] = ()) -> dict[str, Any]:
    """The response to a request: sentences chosen by prompt and seed, or a grade; in the first choices these contents instead."""
    n = body.get("n", 1) if server.has_n else 1
    text = body["messages"][-1]["content"] if "messages" in body else str(body["prompt"])
    choices = []
    for index in range(n):
        number = int(digest([text, body.get("seed"), body.get("temperature"), index], 8), 16)
        said = SENTENCES[number % len(SENTENCES)]
        choice: dict[str, Any] = {
            "index": index,
            "finish_reason": server.reason,
            "message": {"content": f"{said} {number % 997}"},
        }
        if body.get("logprobs") and server.logprobs:
            top = [{"token": token, "logprob": value} for token, value in server.logprobs.items()]
            if held := body.get("structured_outputs"):
                top = _held(top, held["choice"])
            choice["logprobs"] = {"content": [{**top[0], "top_logprobs": top}]}
            choice["message"]["content"] = top[0]["token"]
        choice["message"]["content"] = contents[index] if index < len(contents) else choice["message"]["content"]
        choices.append(choice)
    used = {"prompt_tokens": len(text.split()), "completion_tokens": 4 * n, "total_tokens": 0}
    named = {} if server.answers_as is None else {"model": server.answers_as}
    return {
        "id": "x",
        "object": "chat.completion",
        "choices": choices,
        "usage": used if server.tells else None,
        **named,
    }


def opened(server: Any, engine: dict[str, Any] | None = None, retries: int = 1, **options: Any) -> Any:
    """The backend that asks this server, closed behind a with block."""
    section = {"base_url": server.base_url, "retries": retries, **options}
    backend = BackendSection(backend="openai", server=section, engine=engine or {})
    return closing(open_backend(backend, ModelSection(name="tiny")))
