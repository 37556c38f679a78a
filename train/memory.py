"""Memory of a training on each GPU, before there is one.

Weights, adapter and optimiser are counted. What a pass holds on its way forward and back is run: the model itself, adapter
included, on tensors that have shapes, types and storages but no numbers (torch's FakeTensorMode), while every storage is counted
from when it is made to when it is freed. Layers are alike, so two and three of them tell what all take.

Sources: ZeRO, Rajbhandari et al. 2020 (arXiv:1910.02054), section 5; NF4 with double quantisation, Dettmers et al. 2023
(arXiv:2305.14314), section 3; DeepSpeed's defaults of reduce_bucket_size and stage3_max_live_parameters.
"""

import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, Literal

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from ..config import LoraSection, Recipe
from ..extras import need
from ..models.sizes import Sizes, layers_name, meta_model, sizes_of
from .packed_attention import masked
from .packing import Layout, PackedSpan
from .policy import new_lora_config

Strategy = Literal["one GPU", "DDP", "ZeRO-2", "ZeRO-3", "FSDP2"]
STRATEGIES: tuple[Strategy, ...] = ("DDP", "ZeRO-2", "ZeRO-3", "FSDP2")
# layers that are run, fewer and more
RUN = (2, 3)
# bytes of a weight in four bits: half a byte, a byte for 64 of them, and a float for 256 of those
NF4 = 1 / 2 + 1 / 64 + 4 / (64 * 256)
# elements of DeepSpeed's buffer for gradients on their way, and weights that ZeRO-3 keeps gathered
BUCKET, LIVE = 500_000_000, 1_000_000_000
FLOAT = 4
BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}
# share of a GPU's memory that a training should fill at most, and that vLLM takes: the rest is the driver's, NCCL's, and gaps
USABLE = 0.9
ATTENTION = "evenhand_counted"
# tokens of a pass that tells how the memory grows
FAR = 16384


@dataclass(frozen=True)
class Trained:
    """What is trained, of which all processes have a share."""

    sizes: Sizes
    # weights of the adapter
    adapter: int
    # bytes of a weight that is not quantised
    dtype_bytes: int
    is_nf4: bool = False
    # bytes that the optimiser keeps of each weight that it trains: two floats of AdamW
    optimiser_bytes: int = 2 * FLOAT
    # whether a frozen copy of the adapter is the reference
    has_copy: bool = False

    @property
    def weights(self) -> float:
        """Bytes of the frozen weights."""
        inner = self.sizes.parameters - self.sizes.outer
        return inner * (NF4 if self.is_nf4 else self.dtype_bytes) + self.sizes.outer * self.dtype_bytes


@dataclass(frozen=True)
class Pass:
    """What runs through the layers side by side."""

    # tokens of each sequence: a prompt with its candidates, or a summary behind its prompt
    sequences: tuple[int, ...]
    # tokens whose logits are made
    n_scored: int
    # whether an explicit mask says what each token of a sequence sees
    has_masks: bool = False

    @property
    def n_tokens(self) -> int:
        """Of all sequences."""
        return sum(self.sequences)


def fill_pass(lengths: Sequence[int], limit: int) -> tuple[int, ...]:
    """The sequences of these lengths that a pass of at most so many tokens has room for; the last one may be cut."""
    ends = [min(end, limit) for end in accumulate(lengths, initial=0)]
    return tuple(end - start for start, end in pairwise(ends) if end > start)


@dataclass(frozen=True)
class TrainMemory:
    """Bytes on each GPU while a pass of training runs."""

    strategy: Strategy
    is_recipes: bool
    gpus: int
    weights: float
    adapter: float
    # of the layers, with checkpointing and without
    activations: dict[str, float]
    logits: float

    def total(self, kind: str) -> float:
        """Of "checkpointing" or "plain"."""
        return self.weights + self.adapter + self.activations[kind] + self.logits


def train_memory(recipe: Recipe, spread: tuple[Strategy, int], largest: Pass, *, has_copy: bool) -> list[TrainMemory]:
    """What a training takes, spread in each way that its processes can be.

    Args:
        recipe: of its model config.json alone is read.
        spread: how it is spread, and over how many processes.
        largest: the pass that takes most.
        has_copy: whether a frozen copy of the adapter is the reference.

    Raises:
        ModelError: the configuration is not here, or transformers knows no such model.
    """
    section, (recipe_strategy, gpus) = recipe.model, spread

    def plain() -> Any:
        return meta_model(section.name, section.revision, "an estimate", dtype=section.dtype)

    def adapted() -> Any:
        return with_adapter(plain(), recipe.lora)

    model, optim = adapted(), str(recipe.trainer.get("optim", "adamw"))
    trained = Trained(
        sizes_of(plain()),
        trainable(model),
        BYTES[section.dtype],
        is_nf4=section.quantise == "nf4",
        # bitsandbytes keeps a byte for each of the two; plain SGD nothing
        optimiser_bytes=2 if "8bit" in optim else 0 if optim == "sgd" else 2 * FLOAT,
        has_copy=has_copy,
    )
    activations = {
        name: float(activation_bytes(adapted, largest, checkpointing=again))
        for name, again in (("checkpointing", True), ("plain", False))
    }
    logits = float(logits_bytes(model.get_base_model(), largest.n_scored))
    memories = []
    for strategy in STRATEGIES if gpus > 1 else ("one GPU",):
        share = shares(strategy, trained, gpus)
        memories.append(
            TrainMemory(
                strategy,
                strategy == recipe_strategy or gpus == 1,
                gpus,
                share.weights,
                share.adapter,
                activations,
                logits,
            )
        )
    return memories


def longest_sequence(recipe: Recipe, memory: TrainMemory, largest: Pass, usable: float) -> int:
    """Tokens of the longest prompt with a candidate that a pass can hold, with checkpointing, and that the model reads.

    Args:
        recipe: of its model config.json alone is read.
        memory: what a training with the pass `largest` takes.
        largest: the pass that was counted.
        usable: bytes that it may have on each GPU.

    Returns:
        0 where not even the weights fit.

    Raises:
        ModelError: the configuration is not here, or transformers knows no such model.
    """
    section = recipe.model

    def adapted() -> Any:
        return with_adapter(meta_model(section.name, section.revision, "an estimate", dtype=section.dtype), recipe.lora)

    free = usable - memory.weights - memory.adapter - memory.logits
    if free <= 0:
        return 0
    near, far = largest.n_tokens, max(4 * largest.n_tokens, FAR)
    far_bytes = activation_bytes(adapted, Pass((far,), 1, largest.has_masks), checkpointing=True)
    # bytes of a token, and what each adds to those of all others: an explicit mask
    of_near, of_far = memory.activations["checkpointing"] / near, far_bytes / far
    more = max(0.0, (of_far - of_near) / (far - near))
    alone = of_far - more * far
    fitting = int(2 * free / (alone + (alone**2 + 4 * more * free) ** 0.5))
    return min(fitting, getattr(adapted().config, "max_position_embeddings", None) or fitting)


@dataclass(frozen=True)
class MemoryShares:
    """Bytes on each GPU, besides what a pass takes."""

    # frozen, gathered ones included
    weights: float
    # the adapter with its gradients, the optimiser's states, and buffers of gradients on their way
    adapter: float


def shares(strategy: Strategy, trained: Trained, processes: int) -> MemoryShares:
    """What each GPU holds, whatever runs through it.

    PEFT keeps the adapter in float32. DeepSpeed turns it into the model's numbers and keeps a float of each weight for the
    optimiser.
    """
    n, dtype_bytes, states = trained.adapter, trained.dtype_bytes, trained.optimiser_bytes
    copies = 2 if trained.has_copy else 1
    weights = trained.weights
    if strategy in ("one GPU", "DDP"):
        # DDP sends gradients in buckets, which are another copy of them
        sent = FLOAT if strategy == "DDP" else 0
        return MemoryShares(weights, n * (FLOAT * copies + FLOAT + states + sent))
    layer = (weights - trained.sizes.outer * dtype_bytes) / trained.sizes.layers
    spread = weights / processes
    if strategy == "FSDP2":
        # embeddings and head, the layer that runs and the one that comes next are whole
        gathered = trained.sizes.outer * dtype_bytes + 2 * layer
        return MemoryShares(min(weights, spread + gathered), n * (FLOAT * copies + FLOAT + states) / processes)
    optimiser = n * (dtype_bytes + FLOAT + states) / processes
    if strategy == "ZeRO-2":
        return MemoryShares(weights, n * dtype_bytes * copies + optimiser + BUCKET * dtype_bytes)
    gathered = min(weights, LIVE * dtype_bytes) + layer
    return MemoryShares(
        min(weights, spread + gathered), n * dtype_bytes * copies / processes + optimiser + BUCKET * dtype_bytes
    )


def with_adapter(model: Any, lora: LoraSection) -> Any:
    """The model on the meta device with its adapter, as PEFT makes it."""
    peft = need("peft", "an estimate")
    return peft.get_peft_model(model, new_lora_config(peft, lora), low_cpu_mem_usage=True)


def trainable(model: Any) -> int:
    """Weights that are trained."""
    return sum(p.numel() for p in model.parameters() if p.requires_grad)


def activation_bytes(make: Callable[[], Any], largest: Pass, *, checkpointing: bool) -> int:
    """Bytes that the layers take at most on the way forward and back, weights and logits apart.

    Args:
        make: the model with its adapter on the meta device.
        largest: what runs side by side.
        checkpointing: whether layers are run again on the way back.
    """
    model = make()
    layers = model.get_submodule(layers_name(model))
    n_layers = len(layers)
    if n_layers <= RUN[-1]:
        return _pass_bytes(model, n_layers, largest, checkpointing)
    del layers[RUN[-1] :]
    base_bytes, next_bytes = (_pass_bytes(deepcopy(model), n, largest, checkpointing) for n in RUN)
    return base_bytes + (n_layers - RUN[0]) * (next_bytes - base_bytes)


def _pass_bytes(model: Any, n_layers: int, largest: Pass, checkpointing: bool) -> int:
    layers = model.get_submodule(layers_name(model))
    del layers[n_layers:]
    if checkpointing:
        model.gradient_checkpointing_enable({"use_reentrant": False})
        model.enable_input_require_grads()
    model.train()
    from transformers import AttentionInterface

    AttentionInterface.register(ATTENTION, masked if largest.has_masks else _attend)
    starts = accumulate(largest.sequences, initial=0)
    layout = Layout(tuple(PackedSpan(start, n) for start, n in zip(starts, largest.sequences, strict=False)))
    model.get_base_model().set_attn_implementation(ATTENTION)
    dtype = model.get_input_embeddings().weight.dtype
    with FakeTensorMode(), Live() as live:
        live.forget(_without_numbers(model))
        ids = torch.zeros((1, largest.n_tokens), dtype=torch.long)
        positions = torch.arange(largest.n_tokens)[None]
        with torch.autocast("cpu", torch.bfloat16, enabled=dtype != torch.float32):
            backbone = model.get_base_model().base_model
            options = {"shared_prefix": layout, "use_cache": False}
            hidden = backbone(input_ids=ids, position_ids=positions, **options).last_hidden_state
            hidden.sum().backward()
    n_bytes: int = live.peak
    return n_bytes


def _attend(_module: Any, query: Any, key: Any, value: Any, _mask: Any, scaling: float, **_: Any) -> tuple[Any, None]:
    """What attention of packed sequences keeps: queries, repeated keys and values, and what comes of them; no mask."""
    groups = query.shape[1] // key.shape[1]
    if groups > 1:
        key, value = key.repeat_interleave(groups, dim=1), value.repeat_interleave(groups, dim=1)
    output = torch.nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True, scale=scaling)
    return output.transpose(1, 2).contiguous(), None


def logits_bytes(model: Any, n_scored: int) -> int:
    """Bytes that TRL's head takes at most to score tokens and to go back: it makes the logits tile by tile."""
    from trl.kernels import ChunkedLogProbFunction
    from trl.trainer import utils

    weight = model.get_output_embeddings().weight
    with FakeTensorMode(), Live() as live:
        head = torch.empty(weight.shape, dtype=weight.dtype)
        live.forget([head])
        hidden = torch.empty(n_scored, weight.shape[1], dtype=weight.dtype, requires_grad=True)
        labels = torch.zeros(n_scored, dtype=torch.long)
        tile = utils._CHUNKED_LOGPROB_CHUNK_SIZE
        outputs = ("log_probs", "entropy", "mean_logits", "is_top1")
        scores = ChunkedLogProbFunction.apply(hidden, head, None, labels, 1.0, tile, None, 1.0, outputs)  # type: ignore[no-untyped-call]
        scores[0].sum().backward()
    n_bytes: int = live.peak
    return n_bytes


def _without_numbers(model: Any) -> Iterator[torch.Tensor]:
    """Make the weights of a model on the meta device fake ones of the CPU, whose kernels are those that run; all of them."""
    for module in model.modules():
        for tensors in (module._parameters, module._buffers):
            for name, tensor in tensors.items():
                if tensor is not None:
                    fake = torch.empty(tensor.shape, dtype=tensor.dtype)
                    is_weight = isinstance(tensor, torch.nn.Parameter)
                    tensors[name] = torch.nn.Parameter(fake, tensor.requires_grad) if is_weight else fake
                    yield tensors[name]


class Live(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts the bytes of storages that are made within it, until they are freed."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.live = self.peak = 0
        self._known: dict[int, Any] = {}

    def forget(self, tensors: Iterable[torch.Tensor]) -> None:
        """Do not count these any more."""
        for tensor in tensors:
            storage = tensor.untyped_storage()
            if self._known.get(storage._cdata) is not None:
                self.live -= storage.nbytes()
            self._known[storage._cdata] = None
        self.peak = self.live

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        for leaf in tree_leaves(result):
            if isinstance(leaf, torch.Tensor) and leaf.untyped_storage()._cdata not in self._known:
                self._add(leaf.untyped_storage())
        return result

    def _add(self, storage: Any) -> None:
        key, n_bytes = storage._cdata, storage.nbytes()
        self.live += n_bytes
        self.peak = max(self.peak, self.live)

        def freed(_: Any) -> None:
            self.live -= n_bytes
            self._known.pop(key, None)

        self._known[key] = weakref.ref(storage, freed)
