"""One training, in the process that does it: rows, policy, trainer, checkpoints, adapter."""

import logging
import math
import os
import sys
import time
from dataclasses import replace
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from ..errors import RecipeError
from ..extras import installed_versions, need, verbosity
from ..records import LeftOut
from ..runfolder.own_files import own_files
from ..runfolder.phases import ADAPTER, CHECKPOINTS, TRAINING, Phase
from ..runfolder.stages import RECORDED, Counts, Stage
from ..runfolder.tracking import training_run
from ..storage import read_json, write_json
from .callbacks import CHECKPOINT, first_loss_rule, last_complete, step_counter, token_counter, training_callbacks
from .examples import SIDELESS, TrainingPairs
from .guards import guard
from .held_out import read_examples
from .micro_batch import with_micro_batch
from .options import training_arguments
from .policy import UNSHARDED, Policy, fill_adapter, load_tokenizer, open_policy, sharding, widen_adapter
from .publishing import publish, refuse_unpublishable
from .saving import save_adapter
from .stage import pair_file, round_seed
from .trainer import Material, prepare_material

if TYPE_CHECKING:
    from .checkpointing import Checkpointing

log = logging.getLogger(__name__)


class TrainCounts(Counts):
    """What a training read and did."""

    # pairs by side: in the file, trained on
    pairs: dict[str, int]
    kept: dict[str, int]
    left_out: tuple[LeftOut, ...]
    # of the summaries, by side of the pair
    mean_tokens: dict[str, float]
    # rows of an epoch, and what one is
    rows: int
    unit: str
    tokens_per_epoch: int
    # what it would be with the prompt of every pair run apart
    tokens_per_epoch_pairwise: int
    # of the optimiser
    steps: int
    first_loss: float | None
    last_loss: float | None
    # what was odd about it
    cautions: tuple[str, ...] = ()


def run_training(phase: Phase, stage: Stage) -> TrainCounts:
    """Train the round's adapter; leaves adapter/ and training.json in the phase folder, and returns what was counted.

    Every process of a distributed training calls this; the main one writes. An interrupted training with the same inputs
    continues from its last whole checkpoint.

    Raises:
        DataError: the pairs cannot be trained on as they are.
        RecipeError: TRL or PEFT refuses what the recipe says, or the adapter could not be published.
        ModelError: model or adapter cannot be opened, or the first loss shows a wrong reference.
    """
    # its estimate needs torch, which nothing else of this module does before it trains
    from .checkpointing import settle_checkpointing

    start = time.monotonic()
    recipe = phase.recipe
    # of a training that is launched by hand nobody else has looked
    refuse_unpublishable(recipe)
    checkpoints = phase.folder / CHECKPOINTS / f"{stage.key}-{sharding()}"
    tokenizer = load_tokenizer(recipe.model)
    examples, held_out = read_examples(recipe, pair_file(phase), tokenizer)
    recipe = with_micro_batch(recipe, examples, int(os.environ.get("WORLD_SIZE", "1")))
    phase = replace(phase, recipe=recipe)
    arguments = training_arguments(recipe, phase.name, round_seed(recipe, phase.round or 0), checkpoints)
    material = prepare_material(phase, arguments, tokenizer, examples, held_out)
    own_files(checkpoints)
    resume = last_complete(checkpoints)
    if resume is not None:
        _know_numbered_cpu()
    checkpointing = settle_checkpointing(phase, arguments, material, resume)
    plugin = arguments.deepspeed_plugin
    policy = open_policy(phase, zero3=plugin is not None and plugin.zero_stage == 3)
    _announce(policy, arguments, examples, material, resume)
    trainer = open_trainer(policy, arguments, tokenizer, material, resume)
    trainer.add_callback(step_counter(stage.progress_path, f"steps of {_batch(arguments)} {material.unit}"))
    is_main = trainer.is_world_process_zero()
    with training_run(recipe, f"{phase.name} train", stage.key, is_main=is_main) as is_logged:
        if is_logged:
            trainer.add_callback(need("transformers", "training").integrations.WandbCallback)
        trainer.train(resume_from_checkpoint=str(resume) if resume else None)
        # the fields of the model card
        facts = {
            "policy": policy.line,
            "kept": len(examples.rows),
            "steps": trainer.state.global_step,
            "batch": _batch(arguments),
            "unit": material.unit,
            "learning_rate": arguments.learning_rate,
            "beta": arguments.beta,
        }
        save_adapter(trainer, phase.folder / ADAPTER, recipe, facts)
        record = (
            facts
            | _record(trainer, examples, material, checkpointing)
            | ({"evaluation": _evaluation(trainer, held_out)} if held_out else {})
            | {"seconds": round(time.monotonic() - start, 3)}
        )
        record["counts"]["cautions"] = guard(record)
        for warning in record["counts"]["cautions"]:
            log.warning("%s: %s", phase.name, warning)
        if is_main:
            write_json(phase.folder / TRAINING, record)
            publish(phase)
    trainer.accelerator.end_training()
    return TrainCounts.model_validate(record["counts"])


def read_counts(phase: Phase) -> Counts:
    """What a finished training counted, for the receipt; it may have run with another installation of evenhand."""
    return Counts.model_validate(read_json(phase.folder / TRAINING)["counts"])


def open_trainer(policy: Policy, arguments: Any, tokenizer: Any, material: Material, resume: Path | None) -> Any:
    """The DPOTrainer of a round, its adapter filled and its callbacks in place.

    Raises:
        RecipeError: TRL or PEFT refuses what the recipe says.
        ModelError: the adapter to start from does not fit, or the checkpoint lacks the running state of FairPO.
    """
    rule = first_loss_rule(
        arguments,
        starts_at_reference=policy.starts_at_reference,
        resume=resume,
        is_fair=material.fairness is not None,
    )
    dataset = need("datasets", "training").Dataset
    rows, eval_rows = (dataset.from_list(rows) for rows in (material.rows, material.eval_rows))
    if material.fairness is not None and resume is not None:
        material.fairness.restore(resume)
    try:
        trainer: Any = material.trainer(
            model=policy.model,
            args=arguments,
            train_dataset=rows,
            eval_dataset=eval_rows if len(eval_rows) else None,
            processing_class=tokenizer,
            peft_config=policy.peft_config,
            callbacks=training_callbacks(rule, resume, sharded=sharding() != UNSHARDED, fairness=material.fairness),
            **material.options,
        )
    except (ValueError, NotImplementedError) as error:
        raise RecipeError(f"TRL or PEFT refuses the recipe: {error}") from error
    if sharding() == "fsdp" and not trainer.is_fsdp_enabled:
        raise RecipeError(
            "accelerate has no FSDP without an accelerator and would train with DDP; use zero2_cpu on the CPU"
        )
    if sys.stdout.isatty() and verbosity() != "verbose":
        # its lines would run through the bar of whoever shows one
        trainer.remove_callback(need("transformers", "training").PrinterCallback)
    widen_adapter(trainer.model)
    if policy.start is not None:
        fill_adapter(trainer.model, policy.start)
    trainer.add_callback(token_counter(trainer))
    assert len(trainer.train_dataset) == len(rows), "TRL trains on other rows than it was given"
    return trainer


@cache
def _know_numbered_cpu() -> None:
    """Let torch read checkpoints back on "cpu:0", as accelerate calls the CPU of several processes without DeepSpeed or FSDP."""

    def on_cpu(storage: Any, place: str) -> Any:
        return storage if place.startswith("cpu:") else None

    # before torch's own for the CPU (10), which knows "cpu" alone; it names no places when something is saved
    need("torch", "training").serialization.register_package(9, lambda _: None, on_cpu)


def _announce(policy: Policy, arguments: Any, examples: TrainingPairs, material: Material, resume: Path | None) -> None:
    """Say what is about to be trained, before the first step."""
    log.info("%s", policy.line)
    log.info(
        "%d pairs; %d tokens an epoch (pair by pair: %d)", len(examples.rows), material.n_tokens, examples.n_tokens
    )
    log.info(
        "%d %s; effective batch %d = %d a device x %d accumulated x %d processes",
        len(material.rows),
        material.unit,
        _batch(arguments),
        arguments.per_device_train_batch_size,
        arguments.gradient_accumulation_steps,
        arguments.world_size,
    )
    for row in examples.left_out:
        of_side = f"of side {row.side!r}" if row.side else SIDELESS
        log.warning("%d pairs %s left out: %s", row.count, of_side, row.reason)
    if resume is not None:
        log.info("continuing from %s", resume)


def _batch(arguments: Any) -> int:
    """Requests (pairwise: pairs) of one optimiser step."""
    size: int = arguments.per_device_train_batch_size * arguments.gradient_accumulation_steps * arguments.world_size
    return size


def _counts(trainer: Any, examples: TrainingPairs, material: Material) -> TrainCounts:
    losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    return TrainCounts(
        pairs=examples.n_by_side,
        kept=examples.kept,
        left_out=examples.left_out,
        mean_tokens={
            "chosen": round(fmean(len(row.chosen_ids) for row in examples.rows), 2),
            "rejected": round(fmean(len(row.rejected_ids) for row in examples.rows), 2),
        },
        rows=len(material.rows),
        unit=material.unit,
        tokens_per_epoch=material.n_tokens,
        tokens_per_epoch_pairwise=examples.n_tokens,
        steps=trainer.state.global_step,
        first_loss=losses[0] if losses else None,
        last_loss=losses[-1] if losses else None,
    )


def _evaluation(trainer: Any, held_out: TrainingPairs) -> dict[str, Any]:
    """What training.json says of the pairs that were evaluated meanwhile, and of the step whose adapter was kept."""
    record: dict[str, Any] = {"pairs": len(held_out.rows), "rows": len(trainer.eval_dataset)}
    if trainer.args.load_best_model_at_end:
        best = trainer.state.best_model_checkpoint
        step = CHECKPOINT.fullmatch(Path(best).name) if best else None
        record |= {"best_step": int(step[1]) if step else None, "best_metric": trainer.state.best_metric}
    return record


def _record(
    trainer: Any, examples: TrainingPairs, material: Material, checkpointing: "Checkpointing"
) -> dict[str, Any]:
    """What training.json says besides the facts of the model card."""
    arguments = trainer.args
    return {
        "processes": arguments.world_size,
        "sharding": sharding(),
        "per_device_train_batch_size": arguments.per_device_train_batch_size,
        "gradient_accumulation_steps": arguments.gradient_accumulation_steps,
        "seed": arguments.seed,
        "counts": _counts(trainer, examples, material).model_dump(mode="json"),
        "gradient_checkpointing": checkpointing.record,
        **({"attention": trainer.attention} if hasattr(trainer, "attention") else {}),
        **({"fairness": material.fairness.record()} if material.fairness else {}),
        "log_history": [
            {
                name: None if isinstance(value, float) and not math.isfinite(value) else value
                for name, value in entry.items()
            }
            for entry in trainer.state.log_history
        ],
        "dpo_config": {key: value for key, value in arguments.to_dict().items() if not key.endswith("_token")},
        "versions": installed_versions(RECORDED),
    }
