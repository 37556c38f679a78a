"""Servers: the same candidates from an engine in this process and from vLLM's own server, through evenhand's backends.

| contender | backend |
| --- | --- |
| engine | `vllm`: the engine is in this process |
| tokens | `openai`, `server.prompts: tokens`: token ids go to the server and come back |
| messages | `openai`: chats |

All write the same number of tokens for prompts of the same lengths; the end token is ignored. A number leads each prompt and is
another one in each run, so that neither kept answers nor kept prefixes help.
"""

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from functools import partial
from itertools import count as counted
from pathlib import Path

from ..config import BackendSection, ModelSection
from ..extras import need
from ..generate.backend import Ask, Backend
from ..generate.backends import open_backend
from ..models import locate, signature
from ..models.opening import open_chat_tokenizer
from ..records import Message, Sampling
from ..runfolder.processes import environment
from .generation import EndlessVllm
from .judging import long_documents
from .measure import Contender, Counts, compare
from .programs import end_when_stopped
from .report import Report, bench_options, count, run_bench
from .serving import model_server

ENGINE, TOKENS, MESSAGES = "engine", "tokens", "messages"
# tokens of a prompt beyond those asked of its document: the end of a document, the task, the template
MARGIN = 600
# as many prompts as vLLM's server is asked at once
CONCURRENCY = 16


def main(argv: Sequence[str] | None = None) -> None:
    """Run the benchmark."""
    end_when_stopped()
    options = bench_options(
        "servers",
        __doc__,
        argv,
        {"prompts": 2, "candidates": 2, "tokens": 20, "new_tokens": 4, "repeats": 1},
        "model",
        "dtype",
        prompts=count(6, "prompts of each run"),
        candidates=count(9, "of each prompt"),
        tokens=count(700, "least length of a document"),
        new_tokens=count(64, "length of a candidate"),
        address={"metavar": "URL", "help": "a vLLM server that has the model, up to /v1 (one is started)"},
    )
    report = Report("servers", vars(options) | {"model": signature(options.model)})
    model = ModelSection.model_validate({"name": str(locate(options.model)), "dtype": options.dtype})
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        address = options.address or stack.enter_context(model_server(options, folder))
        # the user's answers are left alone
        stack.enter_context(environment(EVENHAND_CACHE=str(folder / "cache")))
        backends: dict[str, Backend] = {ENGINE: stack.enter_context(closing(_engine(model, options)))}
        for prompts in (TOKENS, MESSAGES):
            backends[prompts] = stack.enter_context(closing(_server(model, address, prompts)))
        documents = long_documents(open_chat_tokenizer(model.name, "a benchmark"), options.prompts, options.tokens)
        serials = counted()
        contenders = [
            Contender(name, partial(_complete, backend, documents, serials, options))
            for name, backend in backends.items()
        ]
        title = (
            f"{options.prompts} prompts, {options.candidates} candidates x {options.new_tokens} tokens, {options.dtype}"
        )
        report.add(compare(title, contenders, options.repeats, ENGINE, warm_up=not options.quick))
    report.finish()


def _engine(model: ModelSection, options: argparse.Namespace) -> Backend:
    on_gpu = need("torch", "benchmark 'servers'").cuda.is_available()
    # the server has a half of it
    engine = {"gpu_memory_utilization": 0.4} if on_gpu else {}
    most = options.tokens + options.new_tokens + MARGIN
    section = BackendSection(max_model_len=most, engine=engine, requests_per_batch=options.prompts)
    return EndlessVllm(section, model)


def _server(model: ModelSection, address: str, prompts: str) -> Backend:
    """evenhand's client of the first model that the server lists."""
    openai = need("openai", "benchmark 'servers'")
    with openai.OpenAI(base_url=address, api_key="none") as client:
        served = client.models.list().data[0].id
    server = {"base_url": address, "model": served, "prompts": prompts, "concurrency": CONCURRENCY, "timeout": 600}
    section = BackendSection.model_validate({"backend": "openai", "server": server, "engine": {"ignore_eos": True}})
    return open_backend(section, model)


def _complete(
    backend: Backend, documents: Sequence[str], serials: Iterator[int], options: argparse.Namespace
) -> Counts:
    sampling = Sampling(temperature=1.0, top_p=0.95, max_tokens=options.new_tokens)
    prompts = [
        (Message(role="user", content=f"Letter {next(serials)}. {text}\n\nSummarise the text above in one sentence."),)
        for text in documents
    ]
    asks = [Ask(prompt, sampling, seed) for prompt in prompts for seed in range(options.candidates)]
    replies = backend.complete(asks)
    return {"answers": len(replies), "cut": sum(reply.finish_reason == "length" for reply in replies)}


if __name__ == "__main__":
    run_bench(main)
