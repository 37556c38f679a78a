"""Weights & Biases: one small run for each stage, grouped by the recipe's name. Off unless the recipe has a `wandb` section.

TRL logs the training itself under its own names; here the other stages' counts are added under gen/, judge/ and pairs/.
"""

from typing import Any

from .extras import need
from .run import Phase
from .stages import Receipt

# stage -> prefix of its logged names
PREFIXES = {"generate": "gen", "judge": "judge", "rerank": "pairs"}


def track(phase: Phase, receipt: Receipt) -> None:
    """Log a finished stage's counts, if the recipe asks for it.

    Raises:
        MissingExtra: wandb is not installed.
    """
    section = phase.recipe.wandb
    prefix = PREFIXES.get(receipt.stage)
    if section is None or prefix is None:
        return
    wandb = need("wandb", "the recipe's 'wandb' section")
    run = wandb.init(
        project=section.project,
        entity=section.entity,
        mode=section.mode,
        group=phase.recipe.name,
        job_type=receipt.stage,
        name=f"{phase.recipe.name}-{phase.name.replace('/', '-')}-{receipt.stage}",
        dir=str(phase.recipe.output),
        config={"phase": phase.name, "inputs": receipt.inputs},
    )
    run.log({f"{prefix}/{name}": value for name, value in {**flat(receipt.counts), "seconds": receipt.seconds}.items()})
    run.finish()


def flat(counts: dict[str, Any]) -> dict[str, float]:
    """The numbers of nested counts, names joined by slashes; rows of what was left out become left_out/SIDE/REASON."""
    found: dict[str, float] = {}
    for name, value in counts.items():
        if isinstance(value, dict):
            found |= {f"{name}/{inner}": number for inner, number in flat(value).items()}
        elif isinstance(value, int | float):
            found[name] = value
    for row in counts.get("left_out", []):
        found[f"left_out/{row['side']}/{row['reason']}"] = row["count"]
    return found
