"""Generation: nine candidates of a long prompt through evenhand, against the engines' own calls.

| backend | contenders |
| --- | --- |
| vllm | evenhand; `LLM.generate` for n candidates of each prompt on the same engine; the same on an engine of vLLM's defaults |
| transformers | evenhand; `generate(num_return_sequences=n)`; `generate` once for each candidate |

Every contender writes the same number of tokens for the same prompts, with the same sampling parameters: the end token is
ignored or forbidden. The bare engines get their prompts as tokens and give no log-probabilities; evenhand tokenises, seeds each
candidate, and brings them back.
"""

import argparse
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import partial
from typing import Any

from ..config import BackendSection, ModelSection
from ..extras import need
from ..generate.backend import Ask, Backend, read_prompts
from ..generate.backends import backend_signature
from ..generate.transformers_backend import TransformersBackend
from ..generate.vllm_backend import VllmBackend
from ..models import locate, signature
from ..records import Message, Sampling
from .judging import long_documents
from .measure import Contender, Counts, Extrapolated, Table, compare
from .report import Report, bench_options, count, run_bench

EVENHAND = "evenhand"
BARE = "LLM.generate"
BARE_DEFAULTS = "LLM.generate, defaults"
RETURN_SEQUENCES = "num_return_sequences"
ONE_BY_ONE = "one call each"

# room for the chat template, the task and the part of a document that exceeds its least length
MARGIN = 600


class EndlessTransformers(TransformersBackend):
    """The transformers backend, going on after the end token."""

    def __init__(self, section: BackendSection, model: ModelSection) -> None:
        super().__init__(section, model, None, backend_signature(section, model))
        self._end_ids = set()


class EndlessVllm(VllmBackend):
    """The vLLM backend, going on after the end token."""

    def __init__(self, section: BackendSection, model: ModelSection) -> None:
        super().__init__(section, model, None, backend_signature(section, model))

    def _parameters(self, work: Any) -> Any:
        parameters = super()._parameters(work)
        parameters.ignore_eos = True
        return parameters

    def bare(self, prompts: Sequence[Sequence[int]], n: int, sampling: Sampling) -> Counts:
        """The engine's own call for the same work."""
        self.empty_cache()
        return _generate(self._engine, prompts, n, sampling)


def main(argv: Sequence[str] | None = None) -> None:
    """Run the benchmark."""
    options = bench_options(
        "generation",
        __doc__,
        argv,
        {"prompts": 2, "candidates": 2, "tokens": 100, "new_tokens": 4, "repeats": 1, "one_by_one": 1},
        "backends",
        "model",
        "engine",
        dtypes={
            "nargs": "+",
            "choices": ("bfloat16", "float32"),
            "default": ["bfloat16", "float32"],
            "help": "(both; vLLM and --quick run the first)",
        },
        prompts=count(6, "prompts for vLLM; transformers has one"),
        candidates=count(9, "of each prompt"),
        tokens=count(1400, "least length of a document"),
        new_tokens=count(64, "length of a candidate"),
        one_by_one=count(3, "candidates that are written one call at a time; the seconds are scaled to all of them"),
        defaults={
            "action": argparse.BooleanOptionalAction,
            "default": True,
            "help": "compare with an engine of vLLM's own settings as well (yes)",
        },
    )
    report = Report("generation", vars(options) | {"model": signature(options.model)})
    for backend in options.backends:
        # an engine of vLLM gives its memory back only when the process ends
        for dtype in options.dtypes[:1] if backend == "vllm" or options.quick else options.dtypes:
            report.add({"vllm": vllm_table, "transformers": transformers_table}[backend](dtype, options))
    report.finish()


def vllm_table(dtype: str, options: argparse.Namespace) -> Table:
    """evenhand on vLLM against vLLM alone."""
    section, model = _sections("vllm", dtype, options)
    sampling = _sampling(options)
    with closing(EndlessVllm(section, model)) as backend, ExitStack() as engines:
        asks = _asks(backend, options.prompts, options)
        prompts = _distinct(backend, asks)
        contenders = [
            Contender(EVENHAND, partial(_complete, backend, asks)),
            Contender(BARE, partial(backend.bare, prompts, options.candidates, sampling)),
        ]
        if options.defaults:
            engine = need("vllm", "benchmark 'generation'").LLM(
                locate(model.name), dtype=dtype, max_model_len=section.max_model_len, **_shared_memory()
            )
            engines.callback(engine.llm_engine.engine_core.shutdown)
            run = partial(_generate, engine, prompts, options.candidates, sampling)
            contenders.append(Contender(BARE_DEFAULTS, run, prepare=engine.reset_prefix_cache))
        baselines = [each.name for each in contenders[1:]]
        return _compare(f"{len(prompts)} prompts, vllm, {dtype}", contenders, baselines, options)


def _shared_memory() -> dict[str, float]:
    """Two engines stand side by side; on an accelerator each would take nearly all of its memory."""
    on_gpu = need("torch", "benchmark 'generation'").cuda.is_available()
    return {"gpu_memory_utilization": 0.4} if on_gpu else {}


def transformers_table(dtype: str, options: argparse.Namespace) -> Table:
    """evenhand on transformers against transformers' own generation, one prompt."""
    section, model = _sections("transformers", dtype, options)
    torch = need("torch", "benchmark 'generation'")
    transformers = need("transformers", "benchmark 'generation'")
    with closing(EndlessTransformers(section, model)) as backend:
        asks = _asks(backend, 1, options)
        (prompt,) = _distinct(backend, asks)
        bare = transformers.AutoModelForCausalLM.from_pretrained(
            locate(model.name), dtype=getattr(torch, dtype), trust_remote_code=False
        )
        bare = bare.to("cuda" if torch.cuda.is_available() else "cpu").eval()
        n_apart = min(options.one_by_one, options.candidates)
        write = partial(_write, torch, bare, prompt, options.new_tokens)
        contenders = [
            Contender(EVENHAND, partial(_complete, backend, asks)),
            Contender(RETURN_SEQUENCES, partial(write, 1, options.candidates)),
            Contender(
                ONE_BY_ONE,
                partial(write, n_apart, 1),
                extrapolated=Extrapolated(n_apart, options.candidates, "candidates"),
            ),
        ]
        return _compare(f"1 prompt, transformers, {dtype}", contenders, [RETURN_SEQUENCES, ONE_BY_ONE], options)


def _compare(
    what: str, contenders: Sequence[Contender], baselines: Sequence[str], options: argparse.Namespace
) -> Table:
    title = f"{options.candidates} candidates x {options.new_tokens} tokens, {what}"
    return compare(title, contenders, options.repeats, baselines, warm_up=not options.quick)


def _sections(backend: str, dtype: str, options: argparse.Namespace) -> tuple[BackendSection, ModelSection]:
    max_model_len = options.tokens + options.new_tokens + MARGIN
    engine = _shared_memory() | options.engine if backend == "vllm" else {}
    section = BackendSection.model_validate({"backend": backend, "max_model_len": max_model_len, "engine": engine})
    return section, ModelSection.model_validate({"name": options.model, "dtype": dtype})


def _sampling(options: argparse.Namespace) -> Sampling:
    return Sampling(temperature=1.0, top_p=0.95, max_tokens=options.new_tokens)


def _asks(backend: Any, n_prompts: int, options: argparse.Namespace) -> list[Ask]:
    """The asks for all candidates of `n_prompts` prompts, those of one prompt together."""
    documents = long_documents(backend._tokenizer, n_prompts, options.tokens)
    prompts = [
        (Message(role="user", content=f"{text}\n\nSummarise the text above in one sentence."),) for text in documents
    ]
    return [
        Ask(prompt, _sampling(options), seed=i * options.candidates + k)
        for i, prompt in enumerate(prompts)
        for k in range(options.candidates)
    ]


def _distinct(backend: Any, asks: Sequence[Ask]) -> list[tuple[int, ...]]:
    return list(dict.fromkeys(prompt.token_ids for prompt in read_prompts(backend._tokenizer, asks)))


def _complete(backend: Backend, asks: Sequence[Ask]) -> Counts:
    before = replace(backend.usage)
    replies = backend.complete(asks)
    prefilled = backend.usage.prefilled_tokens - before.prefilled_tokens
    return {"written": sum(len(reply.token_ids) for reply in replies), "prefilled": prefilled}


def _generate(engine: Any, prompts: Sequence[Sequence[int]], n: int, sampling: Sampling) -> Counts:
    vllm = need("vllm", "benchmark 'generation'")
    parameters = vllm.SamplingParams(
        n=n, temperature=sampling.temperature, top_p=sampling.top_p, max_tokens=sampling.max_tokens, ignore_eos=True
    )
    outputs = engine.generate([{"prompt_token_ids": list(prompt)} for prompt in prompts], parameters, use_tqdm=False)
    return {"written": sum(len(each.token_ids) for output in outputs for each in output.outputs)}


def _write(torch: Any, model: Any, prompt: Sequence[int], new_tokens: int, calls: int, n: int) -> Counts:
    """`calls` calls of transformers' own generation for n candidates each."""
    ids = torch.tensor([list(prompt)], device=model.device)
    generate: Callable[..., Any] = partial(
        model.generate,
        ids,
        attention_mask=torch.ones_like(ids),
        do_sample=True,
        temperature=1.0,
        top_p=0.95,
        top_k=0,
        num_return_sequences=n,
        min_new_tokens=new_tokens,
        max_new_tokens=new_tokens,
        pad_token_id=0,
    )
    written = 0
    for call in range(calls):
        torch.manual_seed(call)
        found = generate()
        written += found.shape[0] * (found.shape[1] - len(prompt))
    return {"written": written, "prefilled": calls * n * len(prompt)}


if __name__ == "__main__":
    run_bench(main)
