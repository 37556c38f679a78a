"""Train a round's adapter with DPO: the entry point that `accelerate launch` starts in every process.

    accelerate launch --config_file accelerate_configs/zero2.yaml -m evenhand.train.dpo --config RECIPE --phase round-00

The recipe is read and checked before torch is imported. Started by hand, the main process keeps the stage (reuse,
receipt); started by `evenhand.train.train`, that process keeps it and passes --stage-key.
"""

import argparse
import logging
import os
import socket
import sys
from collections.abc import Sequence
from pathlib import Path

from ..config.command_line import SingleValues, repeated_keys
from ..config.recipe_file import load_recipe
from ..config.trl_words import with_overrides
from ..errors import EvenhandError, RecipeError, StorageError
from ..extras import start_logging
from ..models.dates import dated
from ..runfolder.dates import run_date
from ..runfolder.phases import Phase, hold_run, open_phase
from ..runfolder.processes import environment, failure_path, follow_parent, report_failure
from ..runfolder.tracking import tracker_variables
from .stage import training_stage

log = logging.getLogger(__name__)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; its exit code."""
    parser = _parser()
    try:
        words = with_overrides(sys.argv[1:] if arguments is None else arguments, parser.option_strings)
    except RecipeError as error:
        parser.error(str(error))
    options = parser.parse_args(words)
    if mistake := repeated_keys("--set", options.set):
        parser.error(mistake)
    is_main = int(os.environ.get("RANK", "0")) == 0
    start_logging("%(message)s", None if is_main else "quiet")
    # TRL would report the kind of training to its authors
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    follow_parent()
    phase = None
    try:
        phase = open_phase(load_recipe(options.config, options.set), options.phase)
        # by hand the main process holds the folder for all; as children of a command all of them do
        with hold_run(phase.recipe) if is_main or options.stage_key else dated(run_date(phase.recipe.output)):
            _run(phase, options.stage_key, is_main=is_main)
    except EvenhandError as error:
        if is_main and options.stage_key and phase is not None:
            report_failure(failure_path(phase.folder, "train"), error)
        elif is_main:
            log.error("%s", error)
        elif os.environ.get("LOCAL_RANK") == "0":
            # of another machine, which may not see what the first one does
            log.error("%s: %s", socket.gethostname(), error)
        return error.exit_code
    except KeyboardInterrupt:
        log.error("interrupted; the same command continues")
        return 130
    return 0


def _run(phase: Phase, stage_key: str | None, *, is_main: bool) -> None:
    processes = int(os.environ.get("WORLD_SIZE", "1"))
    stage = training_stage(phase, processes)
    if stage_key and stage.key != stage_key:
        raise StorageError(
            f"{phase.folder}: recipe, pairs or number of processes ({processes} here) are not those that the training was "
            "started with; start it again, and check train.accelerate_config when it asks for another number"
        )
    from .training import run_training

    with environment(**tracker_variables(phase.recipe, f"{phase.name}-{stage.key}")):
        if stage_key:
            run_training(phase, stage)
        elif is_main:
            stage.run(lambda: run_training(phase, stage))
        elif stage.receipt() is None:
            run_training(phase, stage)


def _parser() -> SingleValues:
    parser = SingleValues(
        prog="python -m evenhand.train.dpo",
        description="Train a round's LoRA adapter with DPO on its preference pairs.",
        epilog="example: accelerate launch --config_file accelerate_configs/zero2.yaml -m evenhand.train.dpo "
        "--config recipes/quickstart.yaml --phase round-00 --set train.reference=previous --learning_rate 1e-4",
        # an option that is cut short is not told from one of TRL's
        allow_abbrev=False,
    )
    parser.add_argument("--config", type=Path, required=True, metavar="RECIPE", help="the recipe, a YAML file")
    parser.add_argument("--phase", default="round-00", help="the round to train (default: %(default)s)")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="override a value of the recipe; may be repeated. The options of TRL's script are taken, too: --learning_rate 1e-4 "
        "is --set trainer.learning_rate=1e-4, and --lora_r 8 is --set lora.r=8",
    )
    # given by the process that keeps the stage; see launch.py
    parser.add_argument("--stage-key", help=argparse.SUPPRESS)
    return parser


if __name__ == "__main__":
    sys.exit(main())
