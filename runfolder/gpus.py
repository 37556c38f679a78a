"""The GPUs that a process may use, told without loading a library that takes seconds, and how replicas share them."""

import os
import shutil
import subprocess

from ..config.model import ReplicatedSection
from ..errors import RecipeError

VISIBLE = "CUDA_VISIBLE_DEVICES"
# seconds that the driver has to say which GPUs there are
PATIENCE_SECONDS = 30


def visible_gpus() -> list[str]:
    """The GPUs that a process may use, as CUDA_VISIBLE_DEVICES names them; none where the driver's nvidia-smi finds none."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return []
    try:
        said = subprocess.run([program, "-L"], capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=True)
    except (OSError, subprocess.SubprocessError):
        # the driver does not answer, so that no library would find a GPU either
        return []
    n = sum(line.startswith("GPU ") for line in said.stdout.splitlines())
    chosen = os.environ.get(VISIBLE)
    if chosen is None or n == 0:
        return [str(number) for number in range(n)]
    names: list[str] = []
    for name in filter(None, map(str.strip, chosen.split(","))):
        # as CUDA does: what stands behind a number that no GPU has is not seen
        if name.lstrip("-").isdigit() and not 0 <= int(name) < n:
            break
        names.append(name)
    return names


def n_replicas(section: ReplicatedSection) -> int:
    """How many engines are to run side by side; "auto" is as many as the GPUs hold, and 1 without any."""
    if section.replicas != "auto":
        return section.replicas
    each = section.gpus_each
    return max(1, len(visible_gpus()) // each) if each else 1


def refuse_too_many(section: ReplicatedSection) -> None:
    """Refuse more replicas than the GPUs of this machine hold; without a GPU there may be any number.

    Raises:
        RecipeError: how many there may be.
    """
    if section.replicas in {1, "auto"} or not section.gpus_each:
        return
    n, each, gpus = n_replicas(section), section.gpus_each, visible_gpus()
    if gpus and n * each > len(gpus):
        fitting = len(gpus) // each
        raise RecipeError(
            f"{n} replicas of {each} GPU{'s' if each > 1 else ''} each need {n * each}, and {len(gpus)} "
            f"{'are' if len(gpus) > 1 else 'is'} visible here; write "
            + (f"replicas: {fitting}, or replicas: auto" if fitting else "replicas: 1, and fewer GPUs for an engine")
        )


def share_of(section: ReplicatedSection, number: int) -> dict[str, str]:
    """The variables that keep a replica to GPUs of its own; none without GPUs.

    Threads of the processor are not shared out: an engine gives other numbers with another number of them.

    Args:
        section: says how many replicas there are.
        number: of the replica, from 0.
    """
    each = section.gpus_each
    if each and (gpus := visible_gpus()):
        return {VISIBLE: ",".join(gpus[number * each : (number + 1) * each])}
    return {}
