"""A recipe's models, work, memory and hours, put together."""

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial
from math import ceil
from typing import Any

from ..config import Recipe
from ..config.model import LOCAL, LanguageModel, ReplicatedSection
from ..errors import EvenhandError
from ..models.flops import step_flops
from ..models.sizes import Sizes, meta_model, parameters, sizes_of
from ..runfolder.engines import refuse_small_cluster, refuse_small_nodes
from ..runfolder.places import PLACES
from ..text.amounts import GIB
from ..train.checkpointing import asks_for_checkpointing
from ..train.memory import (
    BYTES,
    FLOAT,
    USABLE,
    TrainMemory,
    longest_sequence,
    train_memory,
    trainable,
    with_adapter,
)
from ..train.options import AUTO, accumulation, asked_checkpointing
from .devices import Device
from .needs import EngineMemory, Model, RecipeEstimate, StageEstimate
from .train_work import TrainSequence, largest_pass, rhythm, strategy_of
from .work import Assumed, PhaseWork, Split, splits

FEATURE = "an estimate"
# requests that vLLM runs side by side at most, unless the recipe says so
SIDE_BY_SIDE = 256


@dataclass(frozen=True)
class Cluster:
    """The machines that requests are spread over, as shards; training has the recipe's number of processes."""

    nodes: int = 1
    # GPUs of each; None where that was not said, and `replicas: auto` counts as one engine
    gpus_each: int | None = None

    def engines(self, model: LanguageModel, executor: str) -> int:
        """Engines of a model on all machines together; elsewhere than here a number is that of all, otherwise of each."""
        replicas, gpus = (
            model.backend.replicas if isinstance(model.backend, ReplicatedSection) else 1,
            engine_gpus(model),
        )
        per_machine = max(1, (self.gpus_each or 1) // gpus) if replicas == "auto" else replicas
        if executor != LOCAL and replicas != "auto":
            # more than there are places for wait
            return replicas if self.gpus_each is None else min(replicas, self.nodes * max(1, self.gpus_each // gpus))
        return self.nodes * per_machine

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
        RecipeError: a machine has too few GPUs, the accelerate configuration is not one, or its processes cannot share a step.
        MissingExtra: torch, transformers or accelerate is not installed.
    """
    cluster.refuse_small(recipe)
    known = _Known(recipe)
    all_splits = list(splits(recipe, assumed))
    machine = _Machine(device, utilisation, cluster, recipe.executor)
    strategy, gpus = strategy_of(recipe)
    if recipe.rounds:
        # processes that cannot share a step have no hours
        accumulation(recipe, gpus)
    stages = [
        served(split, work) or machine.stage(split, work, known.sizes(work.model.model.name, work.model))
        for split in all_splits
        for work in split.work
    ]
    kept_models = {
        work.model.model.name
        for split in all_splits
        for work in split.work
        if recipe.keep_engines and work.model.backend.traits.pooled_keys is not None
    }
    notes = list(dict.fromkeys(note for split in all_splits for note in split.notes))
    training: list[TrainMemory] = []
    n_pass, longest, setting = None, None, asked_checkpointing(recipe)
    for split in all_splits:
        if split.train is None:
            continue
        sizes = known.sizes(recipe.model.name, LanguageModel(recipe.model, recipe.generate))
        largest = largest_pass(recipe, split.train)
        n_pass, checkpoints = largest.n_tokens, setting is not False
        if sizes is not None:
            has_copy = recipe.train.reference == "previous" and recipe.rounds > 1
            training = train_memory(recipe, (strategy, gpus), largest, has_copy=has_copy)
            (memory,) = [memory for memory in training if memory.is_recipes]
            usable = USABLE * device.memory * GIB
            if setting == AUTO:
                checkpoints = asks_for_checkpointing(memory, usable)
            if recipe.train.trainer == "shared-prefix":
                longest = longest_sequence(recipe, memory, largest, usable)
        stages.append(machine.training(recipe, split, sizes, gpus, checkpoints=checkpoints))
    order = {"train": 0, "test": 1}
    stages.sort(key=lambda stage: order[stage.split])
    return RecipeEstimate(
        recipe=recipe.name,
        device=device,
        utilisation=utilisation,
        models=known.models(),
        stages=_with_starts(stages, kept_models),
        pass_tokens=n_pass,
        checkpointing=setting,
        training=training,
        longest=longest,
        engines=_engines(all_splits, known, device),
        files=_all_files(all_splits),
        notes=notes,
    )


def _with_starts(stages: Sequence[StageEstimate], kept_models: Set[str]) -> list[StageEstimate]:
    """Stages with how often each starts its model: for each phase, or once in the first that asks one whose engine is kept."""
    running: set[tuple[str, str]] = set()
    rows = []
    for stage in stages:
        engine = stage.name, stage.model
        n = 0 if stage.server is not None or engine in running else stage.phases
        if stage.name != "train" and stage.model in kept_models:
            running.add(engine)
            n = min(n, 1)
        rows.append(replace(stage, starts=n))
    return rows


def _all_files(all_splits: Sequence[Split]) -> dict[str, float]:
    names = dict.fromkeys(name for split in all_splits for name in split.files)
    return {name: sum(len(split.phases) * split.files.get(name, 0.0) for split in all_splits) for name in names}


class _Known:
    """The models of a recipe, each made once on the meta device."""

    def __init__(self, recipe: Recipe) -> None:
        self._recipe = recipe
        self._sizes: dict[tuple[str, str | None], Sizes | None] = {}
        self._problems: dict[str, str] = {}

    def sizes(self, name: str, model: LanguageModel) -> Sizes | None:
        """Sizes of a language model; None where they are not known."""
        key = (name, model.model.revision)
        if key not in self._sizes:
            try:
                self._sizes[key] = sizes_of(self.make(name, model.model.revision, model.model.dtype))
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
        recipe, rows = self._recipe, []
        language_models: dict[str, tuple[LanguageModel, list[str], list[str]]] = {}
        uses = (["generate"] if recipe.generate.has_model else []) + (["train"] if recipe.rounds else [])
        if uses:
            language_models[recipe.model.name] = (LanguageModel(recipe.model, recipe.generate), uses, ["model.name"])
        other_models: dict[str, tuple[list[str], list[str]]] = {}
        for name, options in recipe.judges.items():
            for below, language_model in options.language_models.items():
                key = ".".join(filter(None, ("judges", name, below, "model.name")))
                _, by, keys = language_models.setdefault(language_model.model.name, (language_model, [], []))
                by.append(name)
                keys.append(key)
            for below, model in options.models.items():
                by, keys = other_models.setdefault(model, ([], []))
                by.append(name)
                keys.append(f"judges.{name}.{below}")
        for name, (language_model, by, keys) in language_models.items():
            if language_model.backend.server is not None and "train" not in by:
                rows.append(Model(name, tuple(by)))
                continue
            sizes = self.sizes(name, language_model)
            if sizes is None:
                rows.append(Model(name, tuple(by), problem=_remedied(self._problems[name], keys)))
                continue
            trained = trainable(self.adapted()) if "train" in by else None
            weights = sizes.parameters * BYTES[language_model.model.dtype]
            rows.append(Model(name, tuple(by), sizes.parameters, weights, trained))
        for name, (by, keys) in other_models.items():
            try:
                n = parameters(meta_model(name, None, FEATURE, is_causal=False))
            except EvenhandError as error:
                problem = _remedied(str(error), keys)
                rows.append(Model(name, tuple(by), problem=problem, is_language_model=False))
            else:
                rows.append(Model(name, tuple(by), n, n * FLOAT, is_language_model=False))
        return rows


def _remedied(problem: str, keys: Sequence[str]) -> str:
    return f"{problem}: {' '.join(f'--set {key}=FOLDER' for key in dict.fromkeys(keys))}"


def _engines(all_splits: Sequence[Split], known: _Known, device: Device) -> list[EngineMemory]:
    engines: dict[tuple[str, int, int], EngineMemory] = {}
    for work in (work for split in all_splits for work in split.work):
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


def engine_gpus(model: LanguageModel) -> int:
    """GPUs that a model is spread over, at least 1."""
    return max(1, model.backend.gpus_each)


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
        tokens.generated, flops=None, gpus=0, hours=None, server=server.address,
        cost=server.cost(round(tokens.paid), round(tokens.generated)),
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
        limit = int(work.model.backend.engine.get("max_num_seqs", SIDE_BY_SIDE))
        rows = max(1.0, min(limit, room, work.tokens.calls / n_engines))
        n = max(0.0, tokens.generated - tokens.calls)
        moved = weights * n / rows + kv * tokens.seen_by_generated
        reading = moved / (gpus * self.device.bandwidth * self.utilisation)
        seconds = (prefill / peak + max(decode / peak, reading)) / n_engines
        return make(flops=prefill + decode, hours=seconds / 3600)

    def training(
        self, recipe: Recipe, split: Split, sizes: Sizes | None, gpus: int, *, checkpoints: bool
    ) -> StageEstimate:
        """All rounds of training, each request in pairs, and what is evaluated meanwhile."""
        train, rounds = split.train, len(split.phases)
        assert train is not None, "a split of rounds"
        known = bool(recipe.trainer.get("precompute_ref_log_probs")) or recipe.train.fairness is not None
        often = rhythm(recipe, train.sequences, gpus)
        n_tokens = partial(_summed, lambda sequence: sequence.length)
        tokens = rounds * (often.epochs * n_tokens(train.sequences) + often.evaluations * n_tokens(train.held_out))
        make: Callable[..., StageEstimate] = partial(
            StageEstimate, "train", split.name, rounds, recipe.model.name, (), split.n_requests, tokens, 0.0, gpus=gpus
        )
        if sizes is None:
            return make(flops=None, hours=None)

        flops_of = partial(step_flops, sizes)

        def count(sequence: TrainSequence, reference: int) -> float:
            return flops_of(sequence.prompt, sequence.run, sum(sequence.candidates), reference=reference)

        def forward(sequence: TrainSequence) -> float:
            return count(sequence, 1) - count(sequence, 0)

        policy = often.epochs * _summed(partial(count, reference=0), train.sequences)
        evaluated = _summed(forward, train.held_out) if often.evaluations else 0.0
        # of the reference, each time or beforehand
        reference = _summed(forward, train.sequences) * (1 if known else often.epochs)
        reference += evaluated * (1 if known else often.evaluations)
        flops = rounds * (policy + reference + evaluated * often.evaluations)
        # layers that are run again on the way back take time, and are no operations of the model
        again = rounds * often.epochs * _summed(forward, train.sequences) if checkpoints else 0.0
        peak = gpus * self.device.peak * self.utilisation
        return make(flops=flops, hours=(flops + again) / peak / 3600)


def _summed(quantity: Callable[[TrainSequence], float], sequences: Sequence[TrainSequence]) -> float:
    """A quantity of all sequences together."""
    return sum(sequence.count * quantity(sequence) for sequence in sequences)
