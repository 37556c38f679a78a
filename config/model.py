"""A language model and what runs it."""

import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from operator import not_
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field, PlainValidator, SerializeAsAny, ValidationInfo, field_validator

from ..doors import Door
from ..errors import PluginError
from ..models.cache import KeptTable
from ..records import is_none
from .keywords import Keywords
from .remote import RemoteSection
from .section import Section, one_of, refuse_without_effect

# the place that is this machine
LOCAL = "local"
# variables of chat templates that come from evenhand, the chat or the tokenizer
OWNED_SWITCHES = frozenset(
    """
    add_generation_prompt bos_token continue_final_message date_string documents eos_token messages return_dict
    strftime_now tokenize tools
    """.split()
)
# torch's own flash kernel (torch.nn.attention.varlen) in training, of which transformers knows nothing
TORCH_VARLEN = "torch_varlen"
# in training that kernel where it runs, on a GPU in half precision, and sdpa elsewhere
AUTO_ATTENTION = "auto"


class ModelSection(Section):
    """A language model and how it is loaded."""

    # Hugging Face id, local folder, GGUF file, or "embedded:smollm2-135m-instruct"
    name: str
    # branch, tag or commit of a Hugging Face id
    revision: str | None = None
    # number format of the weights
    dtype: Literal["float32", "bfloat16", "float16"] = "bfloat16"
    # load the frozen weights in 4 bits (NF4, bitsandbytes) for training
    quantise: Literal["nf4"] | None = None
    # attention implementation of transformers; "torch_varlen" is torch's own flash kernel in training and sdpa elsewhere, and
    # "auto" the same where that kernel runs: with a shared prefix, on a GPU and in half precision
    attn_implementation: str = AUTO_ATTENTION
    # adapter folder that the first round starts from
    adapter: Path | None = None
    # variables of the model's chat template and their values, for whatever writes its prompts, in training too; one that thinks
    # unless it is told not to takes {enable_thinking: false}
    chat_template_kwargs: dict[str, bool | int | float | str] = Field(default_factory=dict, exclude_if=not_)

    @field_validator("chat_template_kwargs")
    @classmethod
    def _names_of_variables(cls, switches: dict[str, bool | int | float | str]) -> dict[str, bool | int | float | str]:
        for name in switches:
            if not name.isidentifier():
                raise ValueError(f"{name!r} is no name of a variable in a chat template")
            if name in OWNED_SWITCHES:
                raise ValueError(f"{name!r} is not for a recipe: evenhand gives it to the chat template")
        return switches

    @property
    def answers_with(self) -> str:
        """The attention implementation where nothing is trained."""
        return "sdpa" if self.attn_implementation in (TORCH_VARLEN, AUTO_ATTENTION) else self.attn_implementation

    @property
    def has_masks_on_gpu(self) -> bool:
        """Whether training with a shared prefix may attend by explicit masks on a GPU, which take memory."""
        is_float32 = self.attn_implementation == AUTO_ATTENTION and self.dtype == "float32"
        return is_float32 or self.attn_implementation == "sdpa"


def refuse_for_training(model: ModelSection) -> None:
    """Refuse what training alone reads, of a model that is only asked."""
    refuse_without_effect(model, ("quantise",), False, "in training")


# keyword arguments of vllm.LLM that a recipe must not set -> where it says so, or why not
OWNED_ENGINE_KEYS: dict[str, str] = {
    "model": "write it in the 'model' section",
    "tokenizer": "the model's own tokenizer is used, so that training sees the same tokens",
    "tokenizer_mode": "the model's own tokenizer is used, so that training sees the same tokens",
    "revision": "write it in the 'model' section",
    "dtype": "write it in the 'model' section",
    "max_model_len": "write max_model_len next to 'engine'",
    "trust_remote_code": "remote code is never run",
    "hf_token": "secrets do not belong in a recipe; set HF_TOKEN in the environment",
    "logits_processors": "evenhand's own carries the repetition penalty",
    "enable_lora": "the adapter of the phase is served or merged; write adapter: serve next to 'engine'",
    "max_lora_rank": "it is read from the adapter",
}
# engine arguments that change speed and memory but nothing that a model is meant to say; any other one counts
ONLY_SPEED = frozenset(
    """
    block_size cpu_offload_gb disable_log_stats enable_chunked_prefill enable_prefix_caching enforce_eager
    gpu_memory_utilization kv_cache_memory_bytes max_num_batched_tokens max_num_seqs pipeline_parallel_size
    seconds_per_batch swap_space tensor_parallel_size
    """.split()
)
# keys of a backend section that say the same of the section itself
ONLY_WAYS = frozenset({"requests_per_batch", "replicas"})


def without_speed(values: dict[str, Any]) -> dict[str, Any]:
    """The values of a backend section without those that change speed and memory alone."""
    settings = {key: value for key, value in values.items() if key not in ONLY_WAYS}
    settings["engine"] = {key: value for key, value in values["engine"].items() if key not in ONLY_SPEED}
    if values.get("server"):
        section = BACKEND_TRAITS[values["backend"]].server
        only_where = section.only_where if section else frozenset()
        settings["server"] = {key: value for key, value in values["server"].items() if key not in only_where}
    return settings


@dataclass(frozen=True)
class BackendTraits:
    """What a recipe has to know of a backend."""

    # import names of the libraries that it needs
    libraries: tuple[str, ...] = ()
    # keys of its `engine`; None where it checks them itself
    engine_keys: frozenset[str] | None = None
    # whether a language model answers, and whether its files are read on this machine
    has_model: bool = True
    reads_model: bool = True
    # whether it runs on the GPUs of this machine, where there are any
    on_gpus: bool = True
    # keys of `engine` that a recipe must not set -> where it says so, or why not
    owned_keys: Mapping[str, str] = field(default_factory=lambda: OWNED_ENGINE_KEYS)
    # the keys of `server`, of one that asks another program; None: it has none
    server: type[RemoteSection] | None = None
    # where its answers are kept from run to run; None: nowhere
    cache: KeptTable | None = None
    # keyword arguments of an engine that outlives its stage (keep_engines); None: it ends with the stage
    pooled_keys: Mapping[str, Any] | None = None


# backend -> what a recipe has to know of it
BACKEND_TRAITS: Door[BackendTraits] = Door(
    "backends",
    "backend",
    lambda thing: isinstance(getattr(thing, "traits", None), BackendTraits),
    {
        "vllm": BackendTraits(("vllm",), pooled_keys={"enable_sleep_mode": True}),
        "transformers": BackendTraits(("torch", "transformers"), frozenset()),
        "scripted": BackendTraits(
            (),
            frozenset({"tokenize", "seconds_per_batch"}),
            has_model=False,
            reads_model=False,
            on_gpus=False,
            pooled_keys={},
        ),
    },
    lambda thing: thing.traits,
)


def _read_remote(written: Any, info: ValidationInfo) -> RemoteSection | None:
    """The keys of `server` as the backend's kind has them; of a kind that has none as another's, and they are refused then."""
    # no backend, or one that is not there, is told of by itself
    if written is None or isinstance(written, RemoteSection) or "backend" not in info.data:
        return written if isinstance(written, RemoteSection) else None
    backend = info.data["backend"]
    section = BACKEND_TRAITS[backend].server or next(iter(remote_backends().values()), None)
    if section is None:
        raise ValueError(f"server has no effect with backend: {backend}; leave it out")
    return section.model_validate(written)


def remote_backends() -> dict[str, type[RemoteSection]]:
    """Backend -> its keys of `server`, of those that ask another program and can be imported."""
    return {name: traits.server for name, traits in _known_traits() if traits.server is not None}


def answer_caches() -> list[KeptTable]:
    """Where backends that can be imported keep answers from run to run."""
    return [traits.cache for _, traits in _known_traits() if traits.cache is not None]


def _known_traits() -> Iterator[tuple[str, BackendTraits]]:
    for name in BACKEND_TRAITS:
        with suppress(PluginError):
            yield name, BACKEND_TRAITS[name]


class BackendSection(Section):
    """What runs a model."""

    # "vllm", "transformers", "openai", which asks the server of `server`, or "scripted", which answers from the prompt by rules,
    # for trials without a model
    backend: str = "vllm"
    # where a server with OpenAI's interface is; for backend: openai
    server: Annotated[SerializeAsAny[RemoteSection] | None, PlainValidator(_read_remote)] = Field(
        default=None, exclude_if=is_none
    )
    # longest prompt plus answer in tokens; longer prompts are left out and counted before the engine sees them
    max_model_len: int = Field(default=4096, ge=16)
    # requests whose candidates go to the engine together: the unit that an interruption can lose. The engine runs empty at its
    # end; on an accelerator that matters, so write several hundred there
    requests_per_batch: int = Field(default=64, ge=1)
    # "serve" hands the LoRA adapter to the engine, "merge" folds it into the weights first; None: merge on the CPU, else serve
    adapter: Literal["serve", "merge"] | None = None
    # keyword arguments of vllm.LLM, unchanged, or fields of each request to a server (reasoning_effort); the scripted backend
    # has `tokenize` and `seconds_per_batch`
    engine: Keywords = Field(default_factory=dict)

    @field_validator("backend")
    @classmethod
    def _is_there(cls, name: str) -> str:
        return one_of("backend", name, BACKEND_TRAITS)

    @property
    def traits(self) -> BackendTraits:
        """What is known of its backend."""
        return BACKEND_TRAITS[self.backend]

    @property
    def libraries(self) -> tuple[str, ...]:
        """Import names of the libraries that it needs."""
        sends_tokens = self.server is not None and self.server.sends_tokens
        return self.traits.libraries + (("transformers",) if sends_tokens else ())

    @property
    def reads_model(self) -> bool:
        """Whether files of the model are read on this machine."""
        return self.traits.reads_model and (self.server is None or self.server.sends_tokens)

    @property
    def gpus_each(self) -> int:
        """GPUs that one engine takes where there are any; 0 where none is on this machine."""
        sizes = [self.engine.get(key) for key in ("tensor_parallel_size", "pipeline_parallel_size")]
        return math.prod(size for size in sizes if isinstance(size, int)) if self.traits.on_gpus else 0

    def refuse(self) -> None:
        """Keys of the engine must be those of the backend, and a server is there for one that asks it."""
        section, keys = self.traits.server, self.traits.owned_keys
        if section is not None and self.server is None:
            raise ValueError(f"backend: {self.backend} asks a server; write server: {section.example}")
        if section is None and self.server is not None:
            remote = " or ".join(remote_backends())
            raise ValueError(
                f"server has no effect with backend: {self.backend}; write backend: {remote}, or leave it out"
            )
        owned = {key: keys[key] for key in self.engine if key in keys}
        if owned:
            raise ValueError("; ".join(f"engine.{key} is not for a recipe: {why}" for key, why in owned.items()))
        known = self.traits.engine_keys
        unknown = sorted(self.engine.keys() - known) if known is not None else []
        if unknown:
            raise ValueError(
                f"engine.{unknown[0]} is not known to backend {self.backend}, which has {sorted(known or ())}"
            )


# where engines run that are replicas of each other: on this machine, or at a place that a package brings -> its machines' Python
EXECUTORS: Door[str] = Door(
    "places",
    "place",
    lambda thing: isinstance(getattr(thing, "python", None), str),
    {LOCAL: ""},
    lambda thing: thing.python,
)


class ReplicatedSection(BackendSection):
    """What runs a model, in one process or in several side by side."""

    # engines at the same time, which take batches from one queue: a number, or "auto" for as many as the visible GPUs hold, with
    # executor: ray those of the cluster, and 1 without any. Each has its own process and GPUs
    # (engine.tensor_parallel_size); results do not depend on it
    replicas: Literal["auto"] | Annotated[int, Field(ge=1)] = 1

    def refuse(self) -> None:
        """A server has engines of its own."""
        super().refuse()
        if self.server is not None and self.replicas != 1:
            raise ValueError(
                "replicas are engines on this machine, and a server has its own; write server.concurrency instead"
            )


class LanguageModel(NamedTuple):
    """A language model with what runs it."""

    model: ModelSection
    backend: BackendSection


def refuse_lost_settings(language_model: LanguageModel) -> None:
    """Refuse an adapter or switches of a server's model that cannot be handed to it.

    Raises:
        ValueError: the server is sent messages.
    """
    if language_model.backend.server is None or language_model.backend.reads_model:
        return
    if language_model.model.chat_template_kwargs:
        raise ValueError(
            "model.chat_template_kwargs are for prompts that are written on this machine, and a server that is sent messages "
            "writes its own; write engine: {chat_template_kwargs: ...} where it takes them, or server.prompts: tokens"
        )
    if language_model.model.adapter is not None:
        raise ValueError(
            f"model.adapter {str(language_model.model.adapter)!r} cannot be handed to a server that is sent messages; name what "
            "it serves as server.model, or write server.prompts: tokens"
        )


def refuse_no_room(reply_tokens: int, backend: BackendSection, key: str = "most_reply_tokens") -> None:
    """Refuse replies so long that no prompt fits beside one; `key` says how long they may be."""
    if reply_tokens >= backend.max_model_len:
        raise ValueError(
            f"{key} {reply_tokens} leave no room for a prompt in backend.max_model_len {backend.max_model_len}; "
            "write fewer, or raise max_model_len"
        )
