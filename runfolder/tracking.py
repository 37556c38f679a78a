"""Weights & Biases: one small run for each stage, grouped by the recipe's name. Off unless the recipe has a `wandb` section.

TRL logs the training itself under its own names; here the other stages' counts are added under gen/, judge/ and pairs/.
A stage that is logged leaves a mark beside its receipt. Logging never stops a study: a stage that could not be logged is
logged the next time it is met, run or reused.
"""

import logging
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
PREFIXES = {"generate": "gen", "judge": "judge", "rerank": "pairs"}


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
    if phase.recipe.wandb is None or receipt.stage not in PREFIXES:
        return
    wandb = _wandb()
    mark = phase.folder / "receipts" / f"{receipt.stage}.tracked"
    # of the whole receipt: a stage that was done again has counted anew
    content = digest(receipt)
    try:
        if mark.exists() and read_text(mark) == content:
            return
        _log(wandb, phase, receipt)
        write_text(mark, content)
    except (wandb.errors.Error, OSError) as error:
        log.warning("%s %s: not logged with wandb: %s; the next run tries again", phase.name, receipt.stage, error)


def _wandb() -> ModuleType:
    return need("wandb", "the recipe's 'wandb' section")


def _log(wandb: ModuleType, phase: Phase, receipt: Receipt) -> None:
    section = phase.recipe.wandb
    assert section is not None, "track looks first"
    values = {**flat(receipt.counts), "seconds": receipt.seconds}
    with wandb.init(
        project=section.project,
        entity=section.entity,
        mode=section.mode,
        group=phase.recipe.name,
        job_type=receipt.stage,
        name=f"{phase.recipe.name}-{phase.name.replace('/', '-')}-{receipt.stage}",
        dir=str(phase.recipe.output),
        config={"phase": phase.name, "inputs": receipt.inputs},
    ) as run:
        run.log({f"{PREFIXES[receipt.stage]}/{name}": value for name, value in values.items()})


def flat(counts: dict[str, Any]) -> dict[str, float]:
    """The numbers of nested counts, names joined by slashes; what was left out becomes left_out/SIDE/REASON, summed."""
    found: dict[str, float] = {}
    for name, value in counts.items():
        if isinstance(value, dict):
            found |= {f"{name}/{inner}": number for inner, number in flat(value).items()}
        elif isinstance(value, int | float):
            found[name] = value
    for row in counts.get("left_out", []):
        name = f"left_out/{row['side']}/{row['reason']}"
        found[name] = found.get(name, 0) + row["count"]
    return found
