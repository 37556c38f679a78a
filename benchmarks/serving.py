"""Serving: how long a client waits for the best of k candidates, how many requests a second are answered, and memory.

vLLM's own server runs the model. In front of it stands an `evenhand serve` for each number of candidates, a process of its own.
Every request has documents of its own, so that no cache answers for a model. They are those of sets of the sample, one set after
another until there are as many as asked for: four are some 400 tokens, as a set of Yelp's reviews has, and 14 are 1,400, as a
request of PoliSum has.

    evenhand    the candidates are drawn in one call (n), judged by ROUGE, and the best is returned
    server      the same prompt and the same call, asked of vLLM's server itself: nothing is judged, nothing chosen

Both are asked in turn, each number of candidates and of documents once a round, by the official client. "p50" and "p95" are of
the seconds until the answer. Clients ask again as soon as they are answered. "MiB" is the resident memory of `evenhand serve`
alone.
"""

import argparse
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import count as counted
from itertools import islice
from pathlib import Path
from typing import Any

from ..config import CorpusSection, Recipe
from ..config.recipe_file import dump_recipe
from ..corpora import load_corpus
from ..errors import DataError
from ..extras import need
from ..generate.chat import chat_text
from ..models import locate, signature
from ..models.opening import open_chat_tokenizer
from ..plugins.serve.asked import DocumentsRequest, GivenDocument, request_of
from ..records import DocumentSet, SummaryRequest
from ..runfolder.gpus import visible_gpus
from ..storage import write_text
from .programs import end_when_stopped, started
from .report import Breakdown, Report, bench_options, count, run_bench

HOST, MODEL, NAME = "127.0.0.1", "writer", "serving"
EVENHAND, ALONE = "evenhand", "server"
SAMPLING = {"temperature": 1.0, "top_p": 0.9}
# seconds that a server has to start, and that a request may take
START, PATIENCE = 300, 600

# (set of the sample, number of the request, documents) -> seconds
Ask = Callable[[int, int, int], float]


@dataclass(frozen=True)
class Running:
    """An `evenhand serve` and the two ways to a summary.

    Attributes:
        ways: way -> asks it about a set of the sample, in a request of that number; seconds until the answer.
        memory: resident MiB of evenhand's process.
    """

    ways: Mapping[str, Ask]
    memory: Callable[[], float]


def main(argv: Sequence[str] | None = None) -> None:
    """Run the benchmark."""
    end_when_stopped()
    options = bench_options(
        NAME,
        __doc__,
        argv,
        {"repeats": 1, "candidates": [1, 2], "documents": [4, 5], "clients": [1, 2], "requests": 2, "tokens": 4},
        "model",
        "dtype",
        repeats=count(24, "requests of each way for each number of candidates"),
        candidates=count([1, 3, 9], "candidates of a request"),
        documents=count([4, 14], "documents of a request"),
        clients=count(
            [1, 8, 32], "clients that ask at the same time, with the middle number of candidates and fewest documents"
        ),
        requests=count(64, "requests of all clients together"),
        tokens=count(64, "most tokens of a candidate"),
    )
    report = Report(NAME, vars(options) | {"model": signature(options.model)})
    serials = counted()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        tokens = {n: _prompt_tokens(options.model, n, folder) for n in sorted(options.documents)}
        longest = max(2048, max(tokens.values()) + options.tokens)
        address = stack.enter_context(model_server(options, folder, longest))
        running = {
            k: stack.enter_context(evenhand_server(k, address, options, folder)) for k in sorted(options.candidates)
        }
        report.add_breakdown(waits(running, tokens, options.repeats, serials))
        middle = list(running)[len(running) // 2]
        report.add_breakdown(throughput(middle, running[middle], options, serials))
        report.finish()


def waits(running: Mapping[int, Running], tokens: Mapping[int, int], repeats: int, serials: Iterator[int]) -> Breakdown:
    """Seconds of one client's requests, all ways in turn, after one request of each that is not counted.

    Args:
        running: number of candidates -> what answers.
        tokens: number of documents -> most tokens of their prompt.
        repeats: requests of each.
        serials: numbers of requests.
    """
    keys = [(n, k, way) for n in tokens for k in running for way in (EVENHAND, ALONE)]
    seconds: dict[tuple[int, int, str], list[float]] = {key: [] for key in keys}
    for place in range(repeats + 1):
        for (n, k, way), found in seconds.items():
            took = running[k].ways[way](place, next(serials), n)
            if place:
                found.append(took)
    halves = {key: _percentile(found, 50) for key, found in seconds.items()}
    first = next(iter(running))
    lengths = ", ".join(f"{n} documents: at most {most} tokens of prompt" for n, most in tokens.items())
    return Breakdown(
        f"one client, {repeats} requests of each; {lengths}",
        [
            {
                "": f"{n} documents, {way}, k = {k}", "p50 s": halves[n, k, way], "p95 s": _percentile(found, 95),
                f"vs k = {first}": halves[n, k, way] / halves[n, first, way],
                f"vs {ALONE}": halves[n, k, way] / halves[n, k, ALONE],
            }
            for (n, k, way), found in seconds.items()
        ],
    )  # fmt: skip


def throughput(k: int, running: Running, options: argparse.Namespace, serials: Iterator[int]) -> Breakdown:
    """Requests a second of several clients, both ways in turn."""
    rows, fewest = [], min(options.documents)
    for clients in options.clients:
        row: dict[str, Any] = {"": f"{clients} clients"}
        for way in (EVENHAND, ALONE):
            n_asked = max(clients, options.requests)
            begun = time.perf_counter()
            with ThreadPoolExecutor(clients) as pool:
                seconds = list(pool.map(running.ways[way], range(n_asked), serials, [fewest] * n_asked))
            row |= {f"{way}/s": n_asked / (time.perf_counter() - begun), f"{way} p95": _percentile(seconds, 95)}
        row |= {f"vs {ALONE}": row[f"{EVENHAND}/s"] / row[f"{ALONE}/s"], "MiB": running.memory()}
        rows.append(row)
    title = f"several clients, k = {k}, {options.requests} requests of {fewest} documents or one a client"
    return Breakdown(title, rows)


def _percentile(found: Sequence[float], part: float) -> float:
    return float(need("numpy", "a benchmark").percentile(found, part))


@contextmanager
def model_server(options: argparse.Namespace, folder: Path, longest: int = 2048) -> Iterator[str]:
    """vLLM's server with the model; its address.

    Args:
        options: of the command line.
        folder: for its log.
        longest: most tokens of a prompt with its answer.
    """
    need("vllm", f"benchmark '{NAME}'")
    port = free_port()
    command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", str(locate(options.model))]
    command += [
        "--served-model-name",
        MODEL,
        "--dtype",
        options.dtype,
        "--max-model-len",
        str(longest),
        "--block-size",
        "32",
    ]
    command += ["--host", HOST, "--port", str(port), *(["--enforce-eager"] if options.quick else [])]
    if not visible_gpus():
        # on the CPU, vLLM 0.31 ends at a request with a seed whose prompt it runs in parts
        command += ["--no-enable-chunked-prefill", "--max-num-batched-tokens", str(max(4096, longest))]
    environment = {"VLLM_CPU_KVCACHE_SPACE": "2", "VLLM_NO_USAGE_STATS": "1"}
    with serving(command, environment, folder / "vllm.log", f"http://{HOST}:{port}/health"):
        yield f"http://{HOST}:{port}/v1"


@contextmanager
def evenhand_server(k: int, address: str, options: argparse.Namespace, folder: Path) -> Iterator[Running]:
    """`evenhand serve` with k candidates, in front of the server at the address."""
    recipe, port = recipe_of(k, address, options.tokens, folder), free_port()
    path, n_most = folder / f"{k}.yaml", max(options.clients)
    write_text(path, dump_recipe(recipe))
    command = [sys.executable, "-m", "evenhand.cli", "serve", str(path), "--host", HOST, "--port", str(port)]
    command += ["--workers", str(n_most), "--deadline", str(PATIENCE), "--verbose"]
    cache = {"EVENHAND_CACHE": str(folder / f"cache-{k}")}
    openai = need("openai", f"benchmark '{NAME}'")
    with serving(command, cache, folder / f"{k}.log", f"http://{HOST}:{port}/health") as process:
        usual = {"api_key": "none", "timeout": PATIENCE, "max_retries": 0}
        chosen = openai.OpenAI(base_url=f"http://{HOST}:{port}/v1", **usual)
        alone = openai.OpenAI(base_url=address, **usual)
        ways = {EVENHAND: _chosen(chosen, k), ALONE: _alone(alone, k, recipe, options.tokens)}
        psutil = need("psutil", "a benchmark")
        yield Running(ways, lambda: psutil.Process(process.pid).memory_info().rss / 2**20)


def recipe_of(k: int, address: str, n_tokens: int, folder: Path) -> Recipe:
    """What is served: k candidates of one plan, the best by ROUGE."""
    plan = {"candidates": k, "max_tokens": n_tokens, **SAMPLING}
    return Recipe.model_validate(
        {
            "name": NAME,
            "output": folder / f"run-{k}",
            "model": {"name": MODEL},
            "corpus": {"path": "sample", "attribute": "stance"},
            "task": {"scope": "all"},
            "generate": {"backend": "openai", "server": {"base_url": address}, "plans": {"nucleus": plan}},
            "judges": {"recall": {"kind": "rouge"}, "contract": {"kind": "contract"}},
            "reward": {"judges": ["recall"], "combine": "mean"},
            "evaluation": {"judges": ["contract"]},
            "rounds": 0,
        }
    )


def asked_of(topic: int, serial: int, n_documents: int) -> DocumentsRequest:
    """So many documents of sets of the sample, each of which begins unlike those of all other requests.

    Args:
        topic: place of the first set.
        serial: number of the request.
        n_documents: of the request.
    """
    sets = _sets()
    following = (each for place in counted(topic) for each in sets[place % len(sets)].documents)
    documents = tuple(
        GivenDocument(text=f"Letter {serial}. {each.text}", attributes=each.attributes)
        for each in islice(following, n_documents)
    )
    return DocumentsRequest(id=f"request-{serial}", documents=documents)


def _prompt_tokens(model: str, n_documents: int, folder: Path) -> int:
    """Most tokens of a prompt of so many documents."""
    tokenizer = open_chat_tokenizer(str(locate(model)), f"benchmark '{NAME}'")
    recipe = recipe_of(1, f"http://{HOST}/v1", 1, folder)
    prompts = [request_of(asked_of(topic, 1000, n_documents), recipe).prompt for topic in range(len(_sets()))]
    chats = [[{"role": each.role, "content": each.content} for each in prompt] for prompt in prompts]
    return max(len(tokenizer.encode(chat_text(tokenizer, chat), add_special_tokens=False)) for chat in chats)


@cache
def _sets() -> list[DocumentSet]:
    return load_corpus(CorpusSection(attribute="stance"))


def _chosen(client: Any, k: int) -> Ask:
    def ask(topic: int, serial: int, n_documents: int) -> float:
        given = asked_of(topic, serial, n_documents).model_dump(mode="json", include={"id", "documents"})
        begun = time.perf_counter()
        answer = client.chat.completions.create(model=NAME, messages=[], extra_body=given)
        took = time.perf_counter() - begun
        if answer.evenhand["n_candidates"] != k:
            raise DataError(f"{answer.evenhand['n_candidates']} candidates in place of {k}")
        return took

    return ask


def _alone(client: Any, k: int, recipe: Recipe, n_tokens: int) -> Ask:
    def ask(topic: int, serial: int, n_documents: int) -> float:
        request: SummaryRequest = request_of(asked_of(topic, serial, n_documents), recipe)
        messages = [{"role": each.role, "content": each.content} for each in request.prompt]
        begun = time.perf_counter()
        answer = client.chat.completions.create(
            model=MODEL, messages=messages, n=k, max_tokens=n_tokens, seed=serial, **SAMPLING
        )
        took = time.perf_counter() - begun
        if len(answer.choices) != k:
            raise DataError(f"{len(answer.choices)} answers in place of {k}")
        return took

    return ask


def free_port() -> int:
    with socket.socket() as free:
        free.bind((HOST, 0))
        return int(free.getsockname()[1])


@contextmanager
def serving(
    command: Sequence[str], environment: Mapping[str, str], log: Path, health: str
) -> Iterator["subprocess.Popen[bytes]"]:
    """A server that answers at that address; it is ended with the block.

    Raises:
        DataError: it ends, or does not answer in time; with the end of its log.
    """
    httpx = need("httpx", f"benchmark '{NAME}'")
    with started(command, log, environment, patience=30) as process:
        try:
            until = time.monotonic() + START
            while not _answers(httpx, health):
                if process.poll() is not None or time.monotonic() > until:
                    raise DataError(f"{' '.join(command)}: does not serve:\n{_end(log)}")
                time.sleep(0.2)
            yield process
        except Exception as error:
            # the log goes with its folder
            error.add_note(f"the end of {log.name}:\n{_end(log)}")
            raise


def _end(log: Path) -> str:
    return log.read_text(encoding="utf-8", errors="replace")[-2000:]


def _answers(httpx: Any, address: str) -> bool:
    try:
        return bool(httpx.get(address, timeout=2).status_code == 200)
    except httpx.HTTPError:
        return False


if __name__ == "__main__":
    run_bench(main)
