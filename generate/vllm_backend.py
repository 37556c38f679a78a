"""vLLM as a backend: paged attention, prefix caching, continuous batching.

The engine lives in the stage's own process and is stepped by it, so a batch of asks is scheduled the same way every time;
with the prefix cache emptied before each batch, equal batches give equal texts, also after an interruption.

Within a batch the engine stays full: it gets all asks at once, in their order, and where one ends the next takes its place. At
the end of a batch it runs empty, which is the price of that promise. On two cores that hardly shows, because a step of few rows
is a short one; on an accelerator it takes as long as a step of many, so `requests_per_batch` should be several hundred there.
"""

import logging
import math
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..config import BackendSection, ModelSection
from ..config.train import MOST_SERVED_RANK
from ..errors import ModelError
from ..extras import LEVELS, need, verbosity
from ..models import adapter_digest, cache_folder, locate
from ..models import signature as model_signature
from ..models.files import adapter_settings
from ..models.switches import set_switches
from ..models.wholeness import refuse_strange_numbers, strange_numbers, told
from ..runfolder.timing import booked
from ..text.digests import digest
from .backend import Ask, Reply, Usage, failed, normalised, refuse_no_numbers
from .causal_lm import check_causal_lm
from .work import ReplyInProgress, read_asks

log = logging.getLogger(__name__)

# what Linux says of the processor
PROCESSOR = Path("/proc/cpuinfo")
# variables that must be set before vLLM is imported; a value of the user's wins
VARIABLES = {
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_CPU_KVCACHE_SPACE": "4",
    # the other runner takes logits processors of another kind, before the temperature, and has no place for our draws
    "VLLM_USE_V2_MODEL_RUNNER": "0",
}
FEATURE = "backend 'vllm'"
# keys of generate.engine with which vLLM takes a model for something else than its folder says
OTHERWISE = frozenset({"config_format", "hf_overrides", "load_format", "model_loader_extra_config", "tokenizer"})
# vLLM hands adapters of these ranks to its kernels
LORA_RANKS = (8, 16, 32, 64, 128, 256, 320, MOST_SERVED_RANK)


class VllmBackend:
    """A vLLM engine with a model and, where asked for, a LoRA adapter."""

    def __init__(self, section: BackendSection, model: ModelSection, adapter: Path | None, signature: str) -> None:
        level = logging.getLevelName(LEVELS[verbosity()][1])
        for name, value in {**VARIABLES, "VLLM_LOGGING_LEVEL": level}.items():
            os.environ.setdefault(name, value)
        self._vllm = need("vllm", FEATURE)
        from vllm.platforms import current_platform

        self.signature = signature
        self.usage = Usage()
        self._max_model_len = section.max_model_len
        on_cpu = current_platform.is_cpu()
        if on_cpu and model.dtype == "bfloat16" and converts_bfloat16(PROCESSOR):
            log.warning(
                "model.dtype bfloat16: this processor computes with it by way of float32, which took about three times as long "
                "as model.dtype: float32 where it was measured"
            )
        folder = locate(model.name)
        self._lora: Any = None
        self._is_asleep = False
        if adapter is not None and (section.adapter or ("merge" if on_cpu else "serve")) == "merge":
            from .causal_lm import merge_adapter

            content = digest([model_signature(model.name, model.revision, adapter), model.dtype])
            folder = str(merge_adapter(Path(folder), adapter, cache_folder() / "merged" / content, model.dtype))
            adapter, model = None, model.model_copy(update={"name": folder, "revision": None})
        # one that is merged is part of the model
        self._serves = adapter is not None
        self._model, self._is_foreign = model, bool(OTHERWISE & section.engine.keys())
        self._check(adapter)
        arguments = _engine_arguments(section, model, adapter, on_cpu) | section.engine
        if not current_platform.is_sleep_mode_available():
            # vLLM refuses the key where the platform has no such mode, and an engine that is kept there stays as it is
            arguments.pop("enable_sleep_mode", None)
        self._can_sleep = bool(arguments.get("enable_sleep_mode"))
        with self._refused():
            self._engine = self._vllm.LLM(folder, **arguments)
        self._serve(adapter)
        self._tokenizer = self._engine.get_tokenizer()
        set_switches(self._tokenizer, model.chat_template_kwargs, f"{FEATURE}: model {model.name!r}")

    def _check(self, adapter: Path | None) -> None:
        if not self._is_foreign:
            check_causal_lm(self._model, adapter, FEATURE)

    @contextmanager
    def _refused(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            # of every kind: what an engine lacks shows wherever it is missed first
            raise ModelError(f"{FEATURE} cannot open model {self._model.name!r}: {told(error)}") from error

    def _serve(self, adapter: Path | None) -> None:
        if adapter is not None:
            from vllm.lora.request import LoRARequest

            # a name, number and path of its own: vLLM takes an adapter of a known name for the one it has
            content = adapter_digest(adapter)
            self._lora = LoRARequest(f"evenhand-{content}", int(content[:7], 16) + 1, str(adapter))
            with self._refused():
                self._engine.llm_engine.add_lora(self._lora)
        # the engine read the weights by itself, so they are looked at where it put them
        found = self._engine.apply_model(strange_numbers)
        refuse_strange_numbers({name for names in found for name in names}, f"{FEATURE}: model {self._model.name!r}")

    def sleep(self) -> None:
        """Forget the adapter that is served and, where vLLM can, put the weights into the processor's memory."""
        if self._lora is not None:
            self._engine.llm_engine.remove_lora(self._lora.lora_int_id)
            self._lora = None
        if self._can_sleep:
            self._engine.sleep(level=1)
        self._is_asleep = True

    def wake_up(self, adapter: Path | None) -> None:
        """Be as if just opened with an adapter of the same rank, where one was served; does nothing unless it sleeps.

        Raises:
            ModelError: the adapter cannot be opened, or is not whole.
        """
        if not self._is_asleep:
            return
        if self._can_sleep:
            self._engine.wake_up()
        self._is_asleep = False
        if self._serves:
            self._check(adapter)
            self._serve(adapter)

    def complete(self, asks: Sequence[Ask]) -> list[Reply]:
        """One reply for each ask, in order; equal calls give equal replies, whatever was asked before."""
        self.empty_cache()
        return self.complete_cached(asks)

    def empty_cache(self) -> None:
        """Forget the prompts of earlier calls."""
        self._engine.reset_prefix_cache()

    def complete_cached(self, asks: Sequence[Ask]) -> list[Reply]:
        """One reply for each ask, in order; the prompts of earlier calls are still in the prefix cache."""
        work = read_asks(self._tokenizer, asks)
        found = [each.too_long(self._max_model_len) for each in work]
        replies = {index: refused for index, refused in enumerate(found) if refused}
        self._run([index for index in range(len(work)) if index not in replies], work, replies)
        return [replies[index] for index in range(len(work))]

    def _run(self, indexes: Sequence[int], work: Sequence[ReplyInProgress], replies: dict[int, Reply]) -> None:
        """Answer these asks; when the engine refuses the batch, halve it until the refused ask is found."""
        if not indexes:
            return
        from vllm.exceptions import VLLMValidationError
        from vllm.inputs import TokensPrompt

        try:
            tokens = [TokensPrompt(prompt_token_ids=list(work[index].given)) for index in indexes]
            parameters = [self._parameters(work[index]) for index in indexes]
            with booked("models"):
                outputs = self._engine.generate(tokens, parameters, lora_request=self._lora, use_tqdm=False)
        except VLLMValidationError as error:
            if len(indexes) == 1:
                replies[indexes[0]] = failed(work[indexes[0]].prompt, "refused by the engine", str(error))
                return
            half = len(indexes) // 2
            self._run(indexes[:half], work, replies)
            self._run(indexes[half:], work, replies)
            return
        for index, output in zip(indexes, outputs, strict=True):
            replies[index] = _reply(work[index], output.outputs[0])
            n = len(work[index].given)
            self.usage.add(n, n - (output.num_cached_tokens or 0))

    def _parameters(self, work: ReplyInProgress) -> Any:
        from .vllm_draws import draw_arguments, repetition_arguments

        sampling = work.ask.sampling
        extra = draw_arguments(sampling, work.ask.seed) if sampling.temperature else {}
        if not work.ask.choices:
            extra |= repetition_arguments(sampling)
        arguments: dict[str, Any] = {"temperature": sampling.temperature, "extra_args": extra or None}
        if work.ask.choices:
            ids = list(work.reading.ids)
            arguments |= {"max_tokens": 1, "allowed_token_ids": ids, "logprob_token_ids": ids, "logprobs": len(ids)}
        else:
            arguments |= {"max_tokens": sampling.max_tokens, "logprobs": 0}
        return self._vllm.SamplingParams(**arguments)

    def close(self) -> None:
        """Shut the engine down; the process should end soon after, vLLM gives memory back only then."""
        self._engine.llm_engine.engine_core.shutdown()


def converts_bfloat16(cpuinfo: Path) -> bool:
    """Whether a processor is of x86 and without AVX-512, and so has no instructions for bfloat16; False where it cannot be told.

    Args:
        cpuinfo: what Linux says of the processor.
    """
    try:
        lines = cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return False
    flags = next((line.partition(":")[2].split() for line in lines if line.startswith("flags")), [])
    return bool(flags) and "avx512f" not in flags


def _reply(work: ReplyInProgress, output: Any) -> Reply:
    refuse_no_numbers(math.isfinite(output.cumulative_logprob or 0.0))
    probabilities = {}
    if work.ask.choices:
        found = output.logprobs[0]
        probabilities = normalised(
            {choice: found[i].logprob for choice, i in zip(work.ask.choices, work.reading.ids, strict=True)}
        )
    return Reply(
        text=output.text,
        finish_reason=output.finish_reason or "stop",
        n_prompt_tokens=len(work.prompt.token_ids),
        prompt_digest=work.prompt.digest,
        token_ids=tuple(output.token_ids),
        logps=output.cumulative_logprob,
        choice_probabilities=probabilities,
        begins_in_thought=work.prompt.opens_thought,
    )


def _engine_arguments(
    section: BackendSection, model: ModelSection, adapter: Path | None, on_cpu: bool
) -> dict[str, Any]:
    arguments: dict[str, Any] = {
        "revision": model.revision,
        # Mistral's own formats of tokenizer, configuration and weights, where a folder has them too, would win otherwise
        "tokenizer_mode": "hf",
        "config_format": "hf",
        "load_format": "hf",
        "dtype": model.dtype,
        "max_model_len": section.max_model_len,
        "enable_prefix_caching": True,
        "logits_processors": ["evenhand.generate.vllm_draws:Repetition", "evenhand.generate.vllm_draws:SeededDraw"],
        "seed": 0,
    }
    if on_cpu:
        # copies of a prompt share whole blocks only, and the 128 tokens that are usual here leave too much to each of them
        arguments |= {"block_size": 32, "enforce_eager": True}
    if adapter is not None:
        arguments |= {"enable_lora": True, "max_lora_rank": served_rank(adapter)}
    return arguments


def served_rank(adapter: Path) -> int:
    """The rank for which an engine that serves the adapter is made."""
    settings = adapter_settings(adapter)
    rank = max([settings.get("r", 8), *(settings.get("rank_pattern") or {}).values()])
    return next((served for served in LORA_RANKS if served >= rank), rank)
