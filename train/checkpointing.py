"""Whether layers are run again on the way back: as the recipe says, or where memory asks for it.

Running them again costs about a third more time and changes nothing that is learnt. `auto` compares what `evenhand run estimate`
shows of memory with what is free on the device, before the model is loaded; all processes decide alike, by the one with least.
"""

import logging
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from ..errors import ModelError
from ..extras import need
from ..runfolder.phases import Phase
from ..storage import read_json, write_json
from ..text.amounts import GIB
from .memory import USABLE, Pass, Strategy, TrainMemory, fill_pass, train_memory
from .options import AUTO, asked_checkpointing, trainer_options
from .policy import sharding
from .trainer import Material

log = logging.getLogger(__name__)

# in the folder of checkpoints: what was decided when the training was last started
DECIDED = "gradient_checkpointing.json"
# kind of launch -> what it is called in an estimate
SHARDED: dict[str, Strategy] = {"zero2": "ZeRO-2", "zero3": "ZeRO-3", "fsdp": "FSDP2"}


@dataclass(frozen=True)
class Checkpointing:
    """What was decided, and by what."""

    on: bool
    asked: bool | Literal["auto"]
    why: str
    # GiB on the device of each process: what a pass needs with checkpointing and without, and what it may have
    needs_gib: dict[str, float] | None = None
    usable_gib: float | None = None

    @property
    def record(self) -> dict[str, Any]:
        """What training.json says, without what is not known."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def asks_for_checkpointing(memory: TrainMemory, usable: float) -> bool:
    """Whether a training needs its layers run again to fit.

    Args:
        memory: what it takes.
        usable: bytes that it may have on each GPU.
    """
    # ZeRO-3 is for weights that do not fit, and holds all passes of a micro-batch
    return memory.strategy == "ZeRO-3" or memory.total("plain") > usable


def settle_checkpointing(phase: Phase, arguments: Any, material: Material, resume: Path | None) -> Checkpointing:
    """Decide, once for all processes, and put it into the arguments; a resumed training goes on as it was started.

    Args:
        phase: the round.
        arguments: the trl.DPOConfig of a round, whose model is not loaded.
        material: what is trained on.
        resume: the checkpoint that training continues from.
    """
    setting, note = asked_checkpointing(phase.recipe), Path(arguments.output_dir) / DECIDED
    if setting != AUTO:
        decision = Checkpointing(bool(setting), setting, "the recipe says so")
    elif resume is not None and note.is_file():
        decision = Checkpointing(**read_json(note))
    else:
        decision = _decide(phase, arguments, material)
    log.info("gradient checkpointing %s: %s", "on" if decision.on else "off", decision.why)
    arguments.gradient_checkpointing = decision.on
    # the name of the same that transformers 5.24 reads, and makes of the former one only where arguments are made
    if hasattr(arguments, "activation_checkpointing"):
        arguments.activation_checkpointing = decision.on
    if arguments.process_index == 0:
        write_json(note, decision.record)
    return decision


def _decide(phase: Phase, arguments: Any, material: Material) -> Checkpointing:
    processes = max(1, arguments.world_size)
    strategy = SHARDED.get(sharding(), "DDP" if processes > 1 else "one GPU")
    free = free_bytes(arguments.device)
    if strategy == "ZeRO-3":
        # TRL's way of running layers again under ZeRO-3 bears no second pass; on the CPU there is nothing to gain by it
        is_cpu = arguments.device.type == "cpu"
        why = "ZeRO-3 saves nothing on the CPU" if is_cpu else "ZeRO-3 is for models that do not fit"
        return Checkpointing(not is_cpu, AUTO, why)
    if free is None:
        return Checkpointing(True, AUTO, f"nothing tells how much memory {arguments.device.type} has")
    has_copy = phase.recipe.train.reference == "previous" and phase.adapter is not None
    largest = largest_pass(phase, material, processes, is_cpu=arguments.device.type == "cpu")
    try:
        memories = train_memory(phase.recipe, (strategy, processes), largest, has_copy=has_copy)
    except (ModelError, RuntimeError) as error:
        # a model that cannot be run without numbers
        return Checkpointing(True, AUTO, f"its memory cannot be estimated: {type(error).__name__}")
    (memory,) = [memory for memory in memories if memory.is_recipes]
    usable = USABLE * free
    on = asks_for_checkpointing(memory, usable)
    needs = {kind: round(memory.total(kind) / GIB, 2) for kind in ("plain", "checkpointing")}
    why = (
        f"a pass of {largest.n_tokens} tokens needs {needs['plain']:g} GiB without it and {needs['checkpointing']:g} GiB "
        f"with it, of {usable / GIB:.2f} GiB"
    )
    return Checkpointing(on, AUTO, why, needs, round(usable / GIB, 2))


def free_bytes(device: Any) -> int | None:
    """Bytes that are free for each process, those of the process that has least; None where the device does not tell.

    All processes must call this.
    """
    torch = need("torch", "training")
    if device.type == "cuda":
        free = torch.cuda.mem_get_info(device)[0]
    elif device.type == "cpu":
        # which the processes of this machine share
        free = need("psutil", "training").virtual_memory().available // int(os.environ.get("LOCAL_WORLD_SIZE", "1"))
    else:
        return None
    if torch.distributed.is_initialized():
        smallest = torch.tensor(free, device=device)
        torch.distributed.all_reduce(smallest, torch.distributed.ReduceOp.MIN)
        free = int(smallest)
    return int(free)


def largest_pass(phase: Phase, material: Material, processes: int, *, is_cpu: bool) -> Pass:
    """The pass that takes most memory, at most.

    Args:
        phase: the round.
        material: its rows.
        processes: that share them.
        is_cpu: where it runs.
    """
    section = phase.recipe.train
    size = int(trainer_options(phase.recipe)["per_device_train_batch_size"])
    if section.trainer == "pairwise":
        # both summaries of each pair, padded to the longest
        longest = max(_pair_tokens(row) for row in material.rows)
        scored = max(max(len(row[f"{side}_ids"]) for side in ("chosen", "rejected")) for row in material.rows)
        return Pass((longest,) * 2 * size, 2 * size * scored)
    # where the last step of an epoch has few requests, some processes take two of them at once
    size = max(size, 2) if processes > 1 else size
    rows = sorted(
        (sum(map(len, ids)) - len(ids) + len(prompt), sum(map(len, ids)))
        for prompt, ids in ((row["prompt_ids"], row["candidate_ids"]) for row in material.rows)
    )[-size:]
    sequences = fill_pass([n_tokens for n_tokens, _ in reversed(rows)], section.max_tokens_per_pass)
    has_masks = phase.recipe.model.has_masks_on_gpu and not is_cpu
    return Pass(sequences, min(sum(sequences), sum(scored for _, scored in rows)), has_masks)


def _pair_tokens(row: Any) -> int:
    return len(row["prompt_ids"]) + max(len(row["chosen_ids"]), len(row["rejected_ids"]))
