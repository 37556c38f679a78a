"""A recipe's models, work, memory and hours, put together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil
from typing import Any, Literal

from ..config import Recipe
from ..config.model import LOCAL, LanguageModel, ReplicatedSection
from ..errors import EvenhandError
from ..models.flops import step_flops
from ..models.sizes import Sizes, meta_model, parameters, sizes_of
from ..runfolder.engines import refuse_small_cluster, refuse_small_nodes
from ..runfolder.places import PLACES
from ..train.checkpointing import asks_for_checkpointing
from ..train.launch import accelerate_config, read_accelerate
from ..train.memory import (
    BYTES,
    FLOAT,
    USABLE,
    Pass,
    Strategy,
    TrainMemory,
    fill_pass,
    train_memory,
    trainable,
    with_adapter,
)
from ..train.options import AUTO, accumulation, asked_checkpointing, trainer_options
from .devices import Device
from .work import Assumed, PhaseWork, Split, TrainWork, splits

FEATURE = "an estimate"
# requests that vLLM runs side by side at most, unless the recipe says so
SIDE_BY_SIDE = 256
GIB = 2**30


@dataclass(frozen=True)
class Model:
    """A model that the recipe names."""

    name: str
    used_by: tuple[str, ...]
    parameters: int | None = None
    # bytes
    weights: float | None = None
    # weights of the adapter, where it is trained
    trained: int | None = None
    # why its sizes are not known
    problem: str | None = None
    # whether it is a language model, as tokens and memory are counted of
    is_language_model: bool = True


@dataclass(frozen=True)
class StageEstimate:
    """A stage over all phases of its kind; numbers that rest on a model that is not here are None."""

    name: str
    # "train" or "test", and how many phases
    split: str
    phases: int
    model: str
    judges: tuple[str, ...]
    requests: int
    # prompt tokens that run, and generated ones at most; of training, tokens that run, and 0
    prompt_tokens: float
    generated_tokens: float
    flops: float | None
    gpus: int
    hours: float | None
    # address of the server that does it, and what it is paid at most; None for an engine, and where prices are not known
    server: str | None = None
    cost: float | None = None


@dataclass(frozen=True)
class EngineMemory:
    """Bytes on each GPU of an engine."""

    model: str
    gpus: int
    weights: float
    # of a token's keys and values, over all GPUs
    kv_of_token: float
    max_model_len: int
    # tokens that the device has room for, on all GPUs together
    room: float

    @property
    def least(self) -> float:
        """Bytes on each GPU with a single request of the greatest length."""
        return self.weights + self.kv_of_token * self.max_model_len / self.gpus


@dataclass(frozen=True)
class Cluster:
    """The machines that requests are spread over, as shards; training has the recipe's number of processes."""

    nodes: int = 1
    # GPUs of each; None where that was not said, and `replicas: auto` counts as one engine
    gpus_each: int | None = None

    def engines(self, asked: LanguageModel, executor: str) -> int:
        """Engines of a model on all machines together; elsewhere than here a number is that of all, otherwise of each."""
        said, gpus = asked.backend.replicas if isinstance(asked.backend, ReplicatedSection) else 1, engine_gpus(asked)
        each = max(1, (self.gpus_each or 1) // gpus) if said == "auto" else said
        if executor != LOCAL and said != "auto":
            # more than there are places for wait
            return said if self.gpus_each is None else min(said, self.nodes * max(1, self.gpus_each // gpus))
        return self.nodes * each

    def refuse_small(self, recipe: Recipe) -> None:
        """Refuse engines that a machine does not hold.

        Raises:
            RecipeError: which those are.
        """
        if self.gpus_each is None:
            return
        if recipe.executor != LOCAL:
            refuse_small_cluster(list(recipe.replicated.values()), [self.gpus_each], PLACES[recipe.executor].where)
        else:
            refuse_small_nodes(recipe.replicated, self.gpus_each)


ONE_MACHINE = Cluster()


@dataclass(frozen=True)
class RecipeEstimate:
    """What a recipe needs."""

    recipe: str
    device: Device
    utilisation: float
    models: list[Model]
    stages: list[StageEstimate]
    # tokens of the largest pass of training
    pass_tokens: int | None
    # whether training checkpoints; auto: where it does not fit without
    checkpointing: bool | Literal["auto"]
    training: list[TrainMemory]
    engines: list[EngineMemory]
    # file of a phase's folder -> its bytes in all phases
    files: dict[str, float]
    notes: list[str]

    @property
    def gpus(self) -> int:
        """That the recipe asks for; 0 where no language model runs here."""
        return max([each.gpus for each in self.stages], default=0)

    @property
    def memory(self) -> float | None:
        """GiB that each of them must have for the language models; None where one of these is not known."""
        if any(each.problem and each.is_language_model for each in self.models):
            return None
        kind = "checkpointing" if self.checkpointing else "plain"
        found = [each.total(kind) for each in self.training if each.is_recipes] + [each.least for each in self.engines]
        return max(found) / USABLE / GIB if found else 0.0

    @property
    def hours(self) -> float | None:
        """Of all stages that run here, one after another."""
        here = [each.hours for each in self.stages if each.server is None]
        return None if None in here else sum(each or 0 for each in here)

    @property
    def gpu_hours(self) -> float | None:
        """Hours of all GPUs together, each stage's while it runs."""
        here = [None if each.hours is None else each.hours * each.gpus for each in self.stages if each.server is None]
        return None if None in here else sum(each or 0 for each in here)

    @property
    def cost(self) -> float | None:
        """What servers are paid at most, in the currency of their prices; None where one of them is not known."""
        there = [each.cost for each in self.stages if each.server is not None]
        return None if None in there else sum(each or 0 for each in there)

    @property
    def problems(self) -> list[str]:
        """Why models are not known."""
        return [each.problem for each in self.models if each.problem]


def estimate(
    recipe: Recipe, device: Device, utilisation: float, assumed: Assumed, cluster: Cluster = ONE_MACHINE
) -> RecipeEstimate:
    """What a recipe needs on a device.

    Args:
        recipe: its documents and tokenizers are read where they are here.
        device: of all GPUs.
        utilisation: share of its peak and of its bandwidth that is reached.
        assumed: of documents that are not here.
        cluster: what generates and judges.

    Raises:
        RecipeError: a machine has too few GPUs, the accelerate configuration is not one, its processes cannot share a step, or
            trainer.gradient_checkpointing is of a wrong kind.
        MissingExtra: torch, transformers or accelerate is not installed.
    """
    cluster.refuse_small(recipe)
    known = _Known(recipe)
    found = list(splits(recipe, assumed))
    machine = _Machine(device, utilisation, cluster, recipe.executor)
    strategy, gpus = strategy_of(recipe)
    if recipe.rounds:
        # processes that cannot share a step have no hours
        accumulation(recipe, gpus)
    stages = [
        served(split, work) or machine.stage(split, work, known.sizes(work.model.model.name, work.model))
        for split in found
        for work in split.work
    ]
    notes = list(dict.fromkeys(note for split in found for note in split.notes))
    training: list[TrainMemory] = []
    n_pass, asked = None, asked_checkpointing(recipe)
    for split in found:
        if split.train is None:
            continue
        sizes = known.sizes(recipe.model.name, LanguageModel(recipe.model, recipe.generate))
        largest = largest_pass(recipe, split.train)
        n_pass, checkpoints = largest.n_tokens, asked is not False
        if sizes is not None:
            has_copy = recipe.train.reference == "previous" and recipe.rounds > 1
            training = train_memory(recipe, (strategy, gpus), largest, has_copy=has_copy)
            if asked == AUTO:
                (own,) = [each for each in training if each.is_recipes]
                checkpoints = asks_for_checkpointing(own, USABLE * device.memory * GIB)
        stages.append(machine.training(recipe, split, sizes, gpus, checkpoints=checkpoints))
    order = {"train": 0, "test": 1}
    stages.sort(key=lambda each: order[each.split])
    return RecipeEstimate(
        recipe=recipe.name,
        device=device,
        utilisation=utilisation,
        models=known.models(),
        stages=stages,
        pass_tokens=n_pass,
        checkpointing=asked,
        training=training,
        engines=_engines(found, known, device),
        files=_all_files(found),
        notes=notes,
    )


def _all_files(found: Sequence[Split]) -> dict[str, float]:
    names = dict.fromkeys(name for split in found for name in split.files)
    return {name: sum(len(split.phases) * split.files.get(name, 0.0) for split in found) for name in names}


class _Known:
    """The models of a recipe, each made once on the meta device."""

    def __init__(self, recipe: Recipe) -> None:
        self._recipe = recipe
        self._sizes: dict[tuple[str, str | None], Sizes | None] = {}
        self._problems: dict[str, str] = {}

    def sizes(self, name: str, asked: LanguageModel) -> Sizes | None:
        """Sizes of a language model; None where they are not known."""
        key = (name, asked.model.revision)
        if key not in self._sizes:
            try:
                self._sizes[key] = sizes_of(self.make(name, asked.model.revision, asked.model.dtype))
            except EvenhandError as error:
                self._sizes[key] = None
                self._problems[name] = str(error)
        return self._sizes[key]

    def make(self, name: str, revision: str | None, dtype: str) -> Any:
        """The model on the meta device."""
        return meta_model(name, revision, FEATURE, dtype=dtype)

    def adapted(self) -> Any:
        """The model that is trained, with its adapter."""
        section = self._recipe.model
        return with_adapter(self.make(section.name, section.revision, section.dtype), self._recipe.lora)

    def models(self) -> list[Model]:
        """All models with what they are for."""
        recipe, found = self._recipe, []
        asked: dict[str, tuple[LanguageModel, list[str], list[str]]] = {}
        own = (["generate"] if recipe.generate.has_model else []) + (["train"] if recipe.rounds else [])
        if own:
            asked[recipe.model.name] = (LanguageModel(recipe.model, recipe.generate), own, ["model.name"])
        others: dict[str, tuple[list[str], list[str]]] = {}
        for name, options in recipe.judges.items():
            for below, each in options.language_models.items():
                key = ".".join(filter(None, ("judges", name, below, "model.name")))
                _, by, keys = asked.setdefault(each.model.name, (each, [], []))
                by.append(name)
                keys.append(key)
            for below, model in options.models.items():
                by, keys = others.setdefault(model, ([], []))
                by.append(name)
                keys.append(f"judges.{name}.{below}")
        for name, (each, by, keys) in asked.items():
            if each.backend.server is not None and "train" not in by:
                found.append(Model(name, tuple(by)))
                continue
            sizes = self.sizes(name, each)
            if sizes is None:
                found.append(Model(name, tuple(by), problem=_remedied(self._problems[name], keys)))
                continue
            trained = trainable(self.adapted()) if "train" in by else None
            weights = sizes.parameters * BYTES[each.model.dtype]
            found.append(Model(name, tuple(by), sizes.parameters, weights, trained))
        for name, (by, keys) in others.items():
            try:
                n = parameters(meta_model(name, None, FEATURE, is_causal=False))
            except EvenhandError as error:
                problem = _remedied(str(error), keys)
                found.append(Model(name, tuple(by), problem=problem, is_language_model=False))
            else:
                found.append(Model(name, tuple(by), n, n * FLOAT, is_language_model=False))
        return found


def _remedied(problem: str, keys: Sequence[str]) -> str:
    return f"{problem}: {' '.join(f'--set {key}=FOLDER' for key in dict.fromkeys(keys))}"


def strategy_of(recipe: Recipe) -> tuple[Strategy, int]:
    """How training is spread, and over how many GPUs.

    Raises:
        RecipeError: the accelerate configuration is not one.
    """
    if not recipe.rounds:
        return "one GPU", 1
    values = read_accelerate(accelerate_config(recipe.train.accelerate_config))
    gpus = recipe.train.num_processes or values.num_processes or 1
    kind = values.distributed_type.upper()
    if kind == "DEEPSPEED":
        stage = int((values.deepspeed_config or {}).get("zero_stage", 2))
        return ("ZeRO-3" if stage == 3 else "ZeRO-2"), gpus
    return ("FSDP2", gpus) if kind == "FSDP" else ("one GPU", 1) if kind == "NO" else ("DDP", gpus)


def largest_pass(recipe: Recipe, train: TrainWork) -> Pass:
    """The largest pass of training on GPUs."""
    size = int(trainer_options(recipe)["per_device_train_batch_size"])
    if recipe.train.trainer == "pairwise":
        # the longest prompt twice, for both summaries of a pair
        return Pass((train.longest + train.answer,) * 2 * size, 2 * size * train.answer)
    own = train.answer - 1
    sequences = fill_pass([train.longest + train.candidates * own] * size, recipe.train.max_tokens_per_pass)
    n_candidates = min(size * train.candidates, max(1, (sum(sequences) - train.longest) // max(1, own)))
    return Pass(sequences, n_candidates * train.answer, has_masks=recipe.model.attn_implementation == "sdpa")


def _engines(found: Sequence[Split], known: _Known, device: Device) -> list[EngineMemory]:
    engines: dict[tuple[str, int, int], EngineMemory] = {}
    for work in (work for split in found for work in split.work):
        section, backend = work.model
        if backend.server is not None:
            continue
        sizes = known.sizes(section.name, work.model)
        if sizes is None:
            continue
        gpus = engine_gpus(work.model)
        key = (section.name, gpus, backend.max_model_len)
        weights = sizes.parameters * BYTES[section.dtype] / gpus
        kv = kv_of_token(sizes, section.dtype)
        share = float(backend.engine.get("gpu_memory_utilization", USABLE))
        room = max(0.0, (share * device.memory * GIB - weights) * gpus / kv)
        engines[key] = EngineMemory(section.name, gpus, weights, kv, backend.max_model_len, room)
    return list(engines.values())


def engine_gpus(asked: LanguageModel) -> int:
    """GPUs that a model is spread over, at least 1."""
    return max(1, asked.backend.gpus_each)


def kv_of_token(sizes: Sizes, dtype: str) -> float:
    """Bytes of a token's keys and values in all layers."""
    return 2 * sizes.layers * sizes.kv_width * BYTES[dtype]


def served(split: Split, work: PhaseWork) -> StageEstimate | None:
    """A stage that a server does, over all phases of the split; None for one that runs here."""
    server = work.model.backend.server
    if server is None:
        return None
    tokens = work.tokens.times(len(split.phases))
    return StageEstimate(
        work.stage, split.name, len(split.phases), work.model.model.name, work.judges, split.n_requests, tokens.paid,
        tokens.generated, flops=None, gpus=0, hours=None, server=server.base_url,
        cost=server.price.cost(round(tokens.paid), 0, round(tokens.generated)) if server.price else None,
    )  # fmt: skip


@dataclass(frozen=True)
class _Machine:
    device: Device
    utilisation: float
    cluster: Cluster
    executor: str

    def stage(self, split: Split, work: PhaseWork, sizes: Sizes | None) -> StageEstimate:
        """A stage that asks a model, over all phases of the split."""
        gpus, tokens = engine_gpus(work.model), work.tokens.times(len(split.phases))
        # work is handed out in batches
        n_batches = ceil(split.n_requests / work.model.backend.requests_per_batch)
        n_engines = max(1, min(self.cluster.engines(work.model, self.executor), n_batches))
        make: Callable[..., StageEstimate] = partial(
            StageEstimate,
            work.stage, split.name, len(split.phases), work.model.model.name, work.judges, split.n_requests,
            tokens.prefilled, tokens.generated, gpus=gpus * n_engines,
        )  # fmt: skip
        if sizes is None:
            return make(flops=None, hours=None)
        peak = gpus * self.device.peak * self.utilisation
        prefill, decode = tokens.prefill_flops(sizes), tokens.decode_flops(sizes)
        # every token of an answer has the weights read once for all that run side by side, and its own keys and values
        weights, kv = sizes.parameters * BYTES[work.model.model.dtype], kv_of_token(sizes, work.model.model.dtype)
        room = (USABLE * self.device.memory * GIB * gpus - weights) / kv / max(1, work.longest)
        most = int(work.model.backend.engine.get("max_num_seqs", SIDE_BY_SIDE))
        rows = max(1.0, min(most, room, work.tokens.calls / n_engines))
        n = max(0.0, tokens.generated - tokens.calls)
        moved = weights * n / rows + kv * tokens.seen_by_generated
        reading = moved / (gpus * self.device.bandwidth * self.utilisation)
        seconds = (prefill / peak + max(decode / peak, reading)) / n_engines
        return make(flops=prefill + decode, hours=seconds / 3600)

    def training(
        self, recipe: Recipe, split: Split, sizes: Sizes | None, gpus: int, *, checkpoints: bool
    ) -> StageEstimate:
        """All rounds of training, each request in pairs."""
        train, rounds = split.train, len(split.phases)
        assert train is not None, "a split of rounds"
        known = bool(recipe.trainer.get("precompute_ref_log_probs")) or recipe.train.fairness is not None
        n, own = train.candidates, train.answer - 1
        alone = recipe.train.trainer == "pairwise"
        runs = 2 * train.pairs if alone else 1
        candidates = [own] if alone else [own] * n
        times = rounds * train.factor * runs
        tokens = times * train.epochs * sum(each + sum(candidates) for each in train.prompts)
        make: Callable[..., StageEstimate] = partial(
            StageEstimate, "train", split.name, rounds, recipe.model.name, (), split.n_requests, tokens, 0.0, gpus=gpus
        )
        if sizes is None:
            return make(flops=None, hours=None)
        count = partial(step_flops, sizes, n_candidates=candidates, n_logits=len(candidates) * train.answer)
        policy = times * train.epochs * sum(count(each, reference=0) for each in train.prompts)
        both = times * sum(count(each, reference=1) - count(each, reference=0) for each in train.prompts)
        flops = policy + both * (1 if known else train.epochs)
        # layers that are run again on the way back take time, and are no operations of the model
        again = both * train.epochs if checkpoints else 0.0
        peak = gpus * self.device.peak * self.utilisation
        return make(flops=flops, hours=(flops + again) / peak / 3600)
