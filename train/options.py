"""What is passed to trl.DPOConfig: the recipe's `trainer:` section over defaults that suit LoRA."""

import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from ..config import Recipe
from ..config.train import trackers
from ..config.trainer_keys import EFFECTIVE_KEYS, PUBLISHED
from ..errors import RecipeError
from ..extras import need
from ..runfolder.tracking import refuse_absent_trackers

log = logging.getLogger(__name__)

# of trainer.gradient_checkpointing: where memory asks for it; of trainer.per_device_train_batch_size: what fits into a pass
AUTO: Literal["auto"] = "auto"
SIZE = "per_device_train_batch_size"
PUBLISHING = set(EFFECTIVE_KEYS[PUBLISHED].split())
DEFAULTS: dict[str, Any] = {
    # TRL's default of 1e-6 is meant for training all weights; an adapter learns next to nothing with it
    "learning_rate": 1e-5,
    # times the processes: the effective batch, which training.json states
    SIZE: 2,
    "gradient_accumulation_steps": 4,
    "num_train_epochs": 1,
    "logging_steps": 1,
    # a loss that is not a number must show (and stops the run); transformers would log the mean of earlier ones instead
    "logging_nan_inf_filter": False,
    # a tenth of all steps: what an interruption can lose
    "save_steps": 0.1,
    # the second one is whole when a kill tears the first
    "save_total_limit": 2,
    # seconds that processes wait for each other, for example while one converts a model
    "ddp_timeout": 7200,
}


def trainer_options(recipe: Recipe) -> dict[str, Any]:
    """The keyword arguments of trl.DPOConfig that decide what is learnt, on whatever machine."""
    options = {
        **DEFAULTS,
        "bf16": recipe.model.dtype == "bfloat16",
        "fp16": recipe.model.dtype == "float16",
        **recipe.trainer,
    }
    if is_auto(recipe):
        # until `micro_batch` has seen the texts
        options[SIZE] = 1
    if recipe.train.global_batch_size:
        # the number of processes decides it
        options.pop("gradient_accumulation_steps")
    # TRL's own limit is 1024 tokens, and rows beyond it vanish without a word
    if options.get("max_length") is None:
        options["max_length"] = recipe.generate.max_model_len
    if options.get("eval_strategy") == "steps":
        # TRL's own are those of the log, which is each step here
        options.setdefault("eval_steps", options["save_steps"])
    if recipe.model.attn_implementation == "flex_attention":
        # its kernel is compiled for the shapes that it meets, and works in blocks of 128
        options.setdefault("pad_to_multiple_of", 128)
    return options


def is_auto(recipe: Recipe) -> bool:
    """Whether a micro-batch has as many requests as fit into a pass."""
    return bool(recipe.trainer.get(SIZE) == AUTO)


def asked_checkpointing(recipe: Recipe) -> bool | Literal["auto"]:
    """What the recipe says of gradient checkpointing; "auto" where it says nothing."""
    setting: bool | Literal["auto"] = recipe.trainer.get("gradient_checkpointing", AUTO)
    return setting


def accumulation(recipe: Recipe, processes: int) -> int:
    """Micro-batches that a process adds up in a step.

    Raises:
        RecipeError: train.global_batch_size is not a multiple of what all processes take at once.
    """
    options, size = trainer_options(recipe), recipe.train.global_batch_size
    if size is None:
        return int(options["gradient_accumulation_steps"])
    at_once = options[SIZE] * processes
    if size % at_once:
        raise RecipeError(
            f"key 'train.global_batch_size': {size} is not a multiple of {at_once}, which {processes} processes with "
            f"trainer.per_device_train_batch_size {options[SIZE]} take at once; write {at_once} or a "
            "multiple of it, or fewer a device"
        )
    return int(size // at_once)


def step_size(recipe: Recipe, processes: int) -> str:
    """What one optimiser step rests on, in words: "16 requests a step".

    Raises:
        RecipeError: as `accumulation`.
    """
    unit = "requests" if recipe.train.trainer == "shared-prefix" else "pairs"
    batch_size = trainer_options(recipe)[SIZE]
    return f"{batch_size * processes * accumulation(recipe, processes)} {unit} a step"


def refuse_early_reference(recipe: Recipe, *, is_fsdp: bool) -> None:
    """Refuse stock TRL's reference beforehand where FSDP spreads the weights.

    Raises:
        RecipeError: the recipe asks for both.
    """
    if is_fsdp and recipe.train.trainer == "pairwise" and recipe.trainer.get("precompute_ref_log_probs"):
        raise RecipeError(
            "key 'trainer.precompute_ref_log_probs': with train.trainer: pairwise, stock TRL runs the reference before FSDP "
            "has spread the weights, when most processes have none; leave it out, or write train.trainer: shared-prefix"
        )


def refuse_passes(largest: int, allowed: int, *, is_zero3: bool) -> None:
    """Refuse several passes with re-entrant checkpointing where processes share gradients.

    Re-entrant checkpointing gives a weight's gradient once for each pass. DeepSpeed and FSDP take the first one they get and lose
    the others without a word; DDP stops at the second.

    Args:
        largest: tokens of the largest micro-batch.
        allowed: tokens of a pass.
        is_zero3: TRL writes use_reentrant: true by itself for it.

    Raises:
        RecipeError: the micro-batch needs several passes.
    """
    if largest > allowed:
        alternative = (
            "use zero2 or fsdp2" if is_zero3 else "write gradient_checkpointing_kwargs: {use_reentrant: false}"
        )
        raise RecipeError(
            f"key 'train.max_tokens_per_pass': a micro-batch of {largest} tokens needs several passes of {allowed}, and with "
            "re-entrant gradient checkpointing the gradients of all but one of them would be lost; raise it to that number, "
            f"lower trainer.per_device_train_batch_size, write trainer.gradient_checkpointing: false, or {alternative}"
        )


def training_arguments(recipe: Recipe, round_name: str, seed: int, checkpoints: Path) -> Any:
    """The trl.DPOConfig of a round. Made before the model is loaded: DeepSpeed must know of it first.

    Raises:
        RecipeError: TRL refuses a value, or several GPUs are visible to a single process.
    """
    arguments = trainer_config(recipe, round_name, seed, checkpoints)
    if arguments.n_gpu > 1:
        raise RecipeError(
            f"{arguments.n_gpu} GPUs are visible to one process; start one process a GPU with accelerate launch "
            f"--config_file accelerate_configs/multi_gpu.yaml --num_processes {arguments.n_gpu} -m evenhand.train.dpo ..., "
            "or show it one GPU with CUDA_VISIBLE_DEVICES=0"
        )
    return arguments


def uses_cpu() -> bool:
    """Whether accelerate keeps this process from a GPU that may be here."""
    return os.environ.get("ACCELERATE_USE_CPU", "").lower() == "true"


def splits(settings: Mapping[str, Any]) -> str | None:
    """What is wrong with accelerate's settings of parallelism; None where no sequence, and no layer, would be split.

    Args:
        settings: by accelerate's names in a configuration, parallelism_config_cp_size and so on, or in the environment.
    """
    ways = [
        f"{name} {size}"
        for kind in ("CP", "SP", "TP")
        for name, size in settings.items()
        if name.upper() == f"PARALLELISM_CONFIG_{kind}_SIZE" and size is not None and str(size) != "1"
    ]
    if not ways:
        return None
    return (
        f"{', '.join(ways)}: no sequence is split over devices here, since all candidates see the prompt that they share; leave "
        "parallelism_config out. `evenhand run estimate` says how long a sequence fits"
    )


def trainer_config(recipe: Recipe, round_name: str, seed: int, checkpoints: Path) -> Any:
    """The trl.DPOConfig that the recipe describes, on whatever machine.

    Raises:
        RecipeError: TRL refuses a value, or Liger's kernels have no GPU.
        MissingExtra: `use_liger_kernel` needs liger_kernel, or `report_to` a tracker, which is not installed.
    """
    trl = need("trl", "training")
    torch = need("torch", "training")
    use_cpu = uses_cpu() or not torch.accelerator.is_available()
    if ways := splits(os.environ):
        raise RecipeError(f"the configuration of this `accelerate launch`: {ways}")
    setting = asked_checkpointing(recipe)
    refuse_absent_trackers(recipe)
    options = {
        # steps are counted for our own bar
        "disable_tqdm": True,
        "use_cpu": use_cpu,
        # stock TRL would make it of the tokens of each pair, prompts again and again
        **({"router_aux_loss_coef": 0.0} if recipe.train.trainer == "shared-prefix" else {}),
        **trainer_options(recipe),
        # `auto` is settled when the texts are known
        "gradient_checkpointing": not use_cpu if setting == AUTO else setting,
        "gradient_accumulation_steps": accumulation(recipe, int(os.environ.get("WORLD_SIZE", "1"))),
        "output_dir": str(checkpoints),
        "seed": seed,
        "data_seed": seed,
        # `tracking.training_run` opens wandb's run, with the callback for it
        "report_to": trackers(recipe.trainer) or "none",
        "project": recipe.name,
        "run_name": f"{recipe.name}-{round_name}-train",
    }
    if options.get("use_liger_kernel"):
        refuse_liger("key 'trainer.use_liger_kernel'", use_cpu=use_cpu)
    # an accelerate configuration that asks for bf16 would win over a float32 recipe
    os.environ["ACCELERATE_MIXED_PRECISION"] = "bf16" if options["bf16"] else "fp16" if options["fp16"] else "no"
    try:
        # TRL itself would publish checkpoints, too
        return trl.DPOConfig(**{key: value for key, value in options.items() if key not in PUBLISHING})
    # a text of some sections is a file
    except (TypeError, ValueError, OSError) as error:
        raise RecipeError(f"section 'trainer': TRL refuses it: {error}") from error


def refuse_liger(key: str, *, use_cpu: bool) -> None:
    """Refuse Liger's layer kernels where they cannot run; transformers would do so when the model is loaded.

    Args:
        key: what asks for them.
        use_cpu: the training runs on the CPU.

    Raises:
        RecipeError: it does.
        MissingExtra: liger_kernel is not installed.
    """
    need("liger_kernel", key)
    if use_cpu:
        raise RecipeError(f"{key}: Liger's kernels run on a GPU alone; leave it out here")
