"""Weights & Biases: one small run for each stage, grouped by the recipe's name. Off unless the recipe has a `wandb` section.

TRL logs the training itself under its own names; here the other stages' counts are added under gen/, judge/ and pairs/, and the
report's numbers under eval/. Every run has the recipe for its configuration, and an id that follows from its folder and its
inputs, so that a stage which is resumed goes on in its run. A stage that is logged leaves a mark beside its receipt. Logging
never stops a study: a stage that could not be logged is logged the next time it is met, run or reused.
"""

import logging
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from ..config import Recipe
from ..errors import RecipeError
from ..extras import need
from ..storage import digest, read_text, write_text
from .phases import Phase
from .stages import Receipt

log = logging.getLogger(__name__)

# stage -> prefix of its logged names
PREFIXES = {"generate": "gen", "judge": "judge", "rerank": "pairs", "report": "eval"}
# stage -> type of its job, where it is not the stage's name
JOBS = {"report": "evaluate"}


def check(recipe: Recipe) -> None:
    """Refuse a `wandb` section that cannot log from here; the server is not asked.

    Raises:
        MissingExtra: wandb is not installed.
        RecipeError: the mode is online, and nobody is logged in.
    """
    section = recipe.wandb
    if section is None:
        return
    wandb = _wandb()
    if section.mode == "online" and not wandb.login(prompt=False, verify=False):
        raise RecipeError(
            "key 'wandb.mode': 'online' needs a login; run `wandb login`, set WANDB_API_KEY, or write mode: offline"
        )


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
    section = recipe.wandb
    if section is None or receipt.stage not in PREFIXES:
        return
    wandb, place = _wandb(), f"{folder.relative_to(recipe.output).as_posix()} {receipt.stage}"
    mark = folder / "receipts" / f"{receipt.stage}.tracked"
    # of the whole receipt: a stage that was done again has counted anew
    content = digest(receipt)
    try:
        if mark.exists() and read_text(mark) == content:
            return
        with wandb.init(
            project=section.project,
            entity=section.entity,
            mode=section.mode,
            group=recipe.name,
            job_type=JOBS.get(receipt.stage, receipt.stage),
            name=f"{recipe.name}-{place.replace('/', '-').replace(' ', '-')}",
            id=run_id(recipe, place, receipt.inputs),
            # without a server there is nothing to go on with
            resume="allow" if section.mode == "online" else None,
            dir=str(recipe.output),
            config={"place": place, "inputs": receipt.inputs, "recipe": recipe.model_dump(mode="json")},
        ) as run:
            values = {**numbers, "seconds": receipt.seconds}
            run.log({f"{PREFIXES[receipt.stage]}/{name}": value for name, value in values.items()})
        write_text(mark, content)
    except (wandb.errors.Error, OSError) as error:
        log.warning("%s: not logged with wandb: %s; the next run tries again", place, error)


def _wandb() -> ModuleType:
    return need("wandb", "the recipe's 'wandb' section")


def flat(counts: dict[str, Any]) -> dict[str, float]:
    """The numbers of nested counts, names joined by slashes."""
    found: dict[str, float] = {}
    for name, value in counts.items():
        if isinstance(value, dict):
            found |= {f"{name}/{inner}": number for inner, number in flat(value).items()}
        elif isinstance(value, int | float):
            found[name] = value
    return found


def left_out(receipt: Receipt) -> dict[str, float]:
    """What a stage left out as left_out/SIDE/REASON, summed."""
    found = Counter[str]()
    for row in receipt.left_out:
        found[f"left_out/{row.side}/{row.reason}"] += row.count
    return dict(found)
