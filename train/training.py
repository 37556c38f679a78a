"""One training, in the process that does it: rows, policy, trainer, checkpoints, adapter."""

import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..extras import installed_versions, need
from ..records import PreferencePair
from ..run import ADAPTER, CHECKPOINTS, Phase
from ..stages import RECORDED, Stage
from ..storage import read_jsonl, write_json
from .callbacks import first_loss_rule, training_callbacks
from .checkpoints import last_complete
from .examples import Examples, build_examples
from .options import prepare_wandb, training_arguments
from .policy import Policy, fill_adapter, load_tokenizer, open_policy
from .saving import save_adapter
from .stage import TRAINING, pair_file, round_seed
from .trainer import tokenised_trainer

log = logging.getLogger(__name__)


def run_training(phase: Phase, stage: Stage) -> dict[str, Any]:
    """Train the round's adapter; leaves adapter/ and training.json in the phase folder, and returns what was counted.

    Every process of a distributed training calls this; the main one writes. An interrupted training with the same inputs
    continues from its last whole checkpoint.

    Raises:
        DataError: the pairs cannot be trained on as they are.
        RecipeError: TRL refuses a value of the 'trainer' section.
        ModelError: model or adapter cannot be opened, or the first loss shows a wrong reference.
    """
    start = time.monotonic()
    recipe = phase.recipe
    pairs = read_jsonl(pair_file(phase), PreferencePair)
    prepare_wandb(recipe)
    arguments = training_arguments(
        recipe, phase.name, round_seed(recipe, phase.round or 0), phase.folder / CHECKPOINTS / stage.key
    )
    checkpoints = Path(arguments.output_dir)
    tokenizer = load_tokenizer(recipe.model)
    examples = build_examples(pairs, tokenizer, arguments.max_length, recipe.train.excess_length_strategy)
    policy = open_policy(phase, zero3=_zero_stage(arguments) == 3)
    log.info("%s", policy.line)
    resume = last_complete(checkpoints)
    if resume is not None:
        log.info("continuing from %s", resume)
    trainer = open_trainer(policy, arguments, tokenizer, examples, resume)
    trainer.train(resume_from_checkpoint=str(resume) if resume else None)
    facts = _facts(trainer, policy, examples)
    save_adapter(trainer, phase.folder / ADAPTER, recipe, facts)
    if trainer.is_world_process_zero():
        write_json(phase.folder / TRAINING, _report(trainer, examples, facts, time.monotonic() - start))
    trainer.accelerator.end_training()
    return _counts(examples, facts)
