"""Where a run is followed: Weights & Biases for every stage, and any tracker that `trainer.report_to` names for trainings.

Of wandb there is one small run for each stage, grouped by the recipe's name, and none unless the recipe has a `wandb` section.

TRL logs the training itself under its own names; here the other stages' counts are added under gen/, judge/ and pairs/, and
the report's numbers under eval/. Every run has the recipe for its configuration, and an id that follows from its folder and
its inputs, so that a stage which is resumed goes on in its run. WANDB_MODE, WANDB_PROJECT, WANDB_ENTITY, WANDB_RUN_GROUP and
WANDB_DIR win over the recipe. A stage that is logged leaves a mark beside its receipt. Logging never stops a study: a stage
that could not be logged is logged the next time it is met, run or reused; only a training that could not be logged is not
logged later.
"""

import logging
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from ..config import Recipe
from ..config.recipe import WandbSection
from ..config.train import trackers
from ..config.trainer_keys import TRACKERS
from ..errors import MissingExtra, RecipeError
from ..extras import missing_extra, need
from ..storage import read_text, write_text
from ..text.digests import digest
from ..text.mistakes import listed
from .phases import Phase
from .stages import Receipt

log = logging.getLogger(__name__)

# what WANDB_MODE may say, by its older words too -> wandb's mode
MODES = {
    "online": "online",
    "offline": "offline",
    "disabled": "disabled",
    "shared": "shared",
    "run": "online",
    "dryrun": "offline",
}
# stage -> prefix of its logged names
PREFIXES = {"generate": "gen", "judge": "judge", "rerank": "pairs", "report": "eval"}
# stage -> type of its job, where it is not the stage's name
JOBS = {"report": "evaluate"}


def check(recipe: Recipe) -> None:
    """Refuse a `wandb` section that cannot log from here; the server is not asked.

    Raises:
        MissingExtra: wandb is not installed.
        RecipeError: the mode is online, and nobody is logged in; or WANDB_MODE is none of wandb's modes.
    """
    if recipe.wandb is None:
        return
    wandb = _wandb()
    if _mode(recipe.wandb) == "online" and not wandb.login(prompt=False, verify=False):
        raise RecipeError(
            "key 'wandb.mode': 'online' needs a login; run `wandb login`, set WANDB_API_KEY, or write mode: offline"
        )


def refuse_absent_trackers(recipe: Recipe) -> None:
    """Refuse trackers of `trainer.report_to` that this interpreter does not have.

    Raises:
        MissingExtra: names their libraries.
    """
    absent = [name for name in trackers(recipe.trainer) if not any(map(find_spec, TRACKERS[name]))]
    if absent:
        raise MissingExtra(
            listed([str(missing_extra(TRACKERS[name][0], f"key 'trainer.report_to': {name}")) for name in absent])
        )


def tracker_variables(recipe: Recipe, place: str) -> dict[str, str]:
    """Variables that put what trackers write into the run folder, and all rounds into one project; the user's own win.

    Args:
        recipe: the run's.
        place: the training's own folder, so that rounds are told apart.
    """
    folder = recipe.output.absolute()
    variables = {
        "TENSORBOARD_LOGGING_DIR": str(folder / "tensorboard" / place),
        "MLFLOW_EXPERIMENT_NAME": recipe.name,
        "SWANLAB_PROJECT": recipe.name,
        "SWANLAB_LOG_DIR": str(folder / "swanlog"),
    }
    return {name: value for name, value in variables.items() if name not in os.environ}


def track(phase: Phase, receipt: Receipt) -> None:
    """Log a finished stage's counts, if the recipe asks for it and they are not logged yet.

    What wandb refuses becomes a warning.

    Raises:
        MissingExtra: wandb is not installed.
    """
    track_report(phase.recipe, phase.folder, receipt, flat(receipt.counts) | left_out(receipt))


def run_id(recipe: Recipe, place: str, inputs: str) -> str:
    """Id of a stage's run: the same when the same stage goes on in the same folder, another when its inputs are others."""
    return digest([str(recipe.output.absolute()), place, inputs])


def track_report(recipe: Recipe, folder: Path, receipt: Receipt, numbers: Mapping[str, float]) -> None:
    """Log the numbers of a finished report, or of another stage, as `track` does.

    Args:
        recipe: the run's.
        folder: the report's or the phase's.
        receipt: the stage's.
        numbers: by name, parts of which are parted by slashes.

    Raises:
        MissingExtra: wandb is not installed.
    """
    if recipe.wandb is None or receipt.stage not in PREFIXES:
        return
    wandb, place = _wandb(), f"{folder.relative_to(recipe.output).as_posix()} {receipt.stage}"
    mark = folder / "receipts" / f"{receipt.stage}.tracked"
    # of the whole receipt: a stage that was done again has counted anew
    content = digest(receipt)
    try:
        if mark.exists() and read_text(mark) == content:
            return
        # a run that the caller has open stays that, and open
        with _open(recipe, recipe.wandb, place, receipt.stage, receipt.inputs, reinit="create_new") as run:
            values = {**numbers, "seconds": receipt.seconds}
            run.log({f"{PREFIXES[receipt.stage]}/{name}": value for name, value in values.items()})
        write_text(mark, content)
    except (wandb.errors.Error, OSError) as error:
        log.warning("%s: not logged with wandb: %s; the next run tries again", place, error)


@contextmanager
def training_run(recipe: Recipe, place: str, inputs: str, *, is_main: bool) -> Iterator[bool]:
    """Keep the run open that transformers logs a training to.

    Args:
        recipe: the run's.
        place: phase and stage.
        inputs: digest of what the training depends on; the same training goes on in the same run.
        is_main: whether this process is the one that logs.

    Yields:
        whether there is a run; what wandb refuses becomes a warning.

    Raises:
        MissingExtra: the recipe asks for wandb, which is not installed.
        RecipeError: WANDB_MODE is none of wandb's modes.
    """
    if recipe.wandb is None or not is_main:
        yield False
        return
    wandb = _wandb()
    try:
        run = _open(recipe, recipe.wandb, place, "train", inputs)
    except (wandb.errors.Error, OSError) as error:
        log.warning("%s: not logged with wandb: %s", place, error)
        yield False
        return
    failed = True
    try:
        yield True
        failed = False
    finally:
        # not as a context, which would print a traceback before the message of a failed training
        try:
            run.finish(exit_code=int(failed))
        except (wandb.errors.Error, OSError) as error:
            log.warning("%s: not all of it may be logged with wandb: %s", place, error)


def _open(recipe: Recipe, section: WandbSection, place: str, stage: str, inputs: str, **options: Any) -> Any:
    """A run with all that says where it belongs. Nothing is left to wandb's variables, which it reads once in a process."""
    mode = _mode(section)
    return _wandb().init(
        project=os.environ.get("WANDB_PROJECT") or section.project,
        entity=os.environ.get("WANDB_ENTITY") or section.entity,
        mode=mode,
        group=os.environ.get("WANDB_RUN_GROUP") or recipe.name,
        job_type=JOBS.get(stage, stage),
        name=f"{recipe.name}-{place.replace('/', '-').replace(' ', '-')}",
        id=run_id(recipe, place, inputs),
        # without a server there is nothing to go on with
        resume="allow" if mode == "online" else None,
        dir=os.environ.get("WANDB_DIR") or str(recipe.output),
        config={"place": place, "inputs": inputs, "recipe": recipe.model_dump(mode="json")},
        **options,
    )


def _mode(section: WandbSection) -> str:
    mode = os.environ.get("WANDB_MODE") or section.mode
    if mode not in MODES:
        raise RecipeError(
            f"WANDB_MODE is {mode!r}, which is not one of wandb's modes: {', '.join(dict.fromkeys(MODES.values()))}"
        )
    return MODES[mode]


def _wandb() -> ModuleType:
    return need("wandb", "the recipe's 'wandb' section")


def flat(counts: dict[str, Any]) -> dict[str, float]:
    """The numbers of nested counts, names joined by slashes."""
    numbers: dict[str, float] = {}
    for name, value in counts.items():
        if isinstance(value, dict):
            numbers |= {f"{name}/{inner}": number for inner, number in flat(value).items()}
        elif isinstance(value, int | float):
            numbers[name] = value
    return numbers


def left_out(receipt: Receipt) -> dict[str, float]:
    """What a stage left out as left_out/SIDE/REASON, summed."""
    counts = Counter[str]()
    for row in receipt.left_out:
        counts[f"left_out/{row.side}/{row.reason}"] += row.count
    return dict(counts)
