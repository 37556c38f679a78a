"""The GPUs of a machine or a cluster, told without loading a library that takes seconds, and how replicas share them."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from ..config.model import Executor, ReplicatedSection
from ..errors import RecipeError
from . import ray_workers
from .workers import Launch, LocalWorker

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


class Engines(NamedTuple):
    """Engines of one model."""

    n: int
    # GPUs of each where there are any; 0 where it needs none
    gpus_each: int


def machines_of(executor: Executor) -> list[int]:
    """GPUs of each machine that engines may run on.

    Raises:
        RecipeError: no Ray cluster can be joined.
    """
    return ray_workers.machines() if executor == "ray" else [len(visible_gpus())]


def engines_of(section: ReplicatedSection, executor: Executor) -> Engines:
    """Those that a section asks for; "auto" is as many as the GPUs hold, and 1 without any.

    Raises:
        RecipeError: no Ray cluster can be joined, and it is to be asked.
    """
    each = section.gpus_each
    if section.replicas != "auto":
        return Engines(section.replicas, each)
    return Engines(max(1, sum(gpus // each for gpus in machines_of(executor))) if each else 1, each)


def refuse_too_many(section: ReplicatedSection) -> None:
    """Refuse more replicas than the GPUs of this machine hold; without a GPU there may be any number.

    Raises:
        RecipeError: how many there may be.
    """
    if section.replicas in {1, "auto"} or not section.gpus_each:
        return
    (n, each), gpus = engines_of(section, "local"), visible_gpus()
    if gpus and n * each > len(gpus):
        fitting = len(gpus) // each
        raise RecipeError(
            f"{n} replicas of {each} GPU{'s' if each > 1 else ''} each need {n * each}, and {len(gpus)} "
            f"{'are' if len(gpus) > 1 else 'is'} visible here; write "
            + (f"replicas: {fitting}, or replicas: auto" if fitting else "replicas: 1, and fewer GPUs for an engine")
        )


def refuse_small_cluster(sections: Sequence[ReplicatedSection]) -> None:
    """Refuse engines that no machine of the Ray cluster holds. How many it holds is left open: others wait, and machines come.

    Raises:
        RecipeError: which engine that is, or no cluster can be joined.
    """
    gpus, needed = max(machines_of("ray"), default=0), max((each.gpus_each for each in sections), default=0)
    if 0 < gpus < needed:
        raise RecipeError(
            f"an engine of {needed} GPUs needs a machine that has them, and no machine of the Ray cluster has more than {gpus}; "
            "lower tensor_parallel_size or pipeline_parallel_size"
        )


def waves(models: Sequence[Engines], executor: Executor) -> list[list[tuple[int, list[Launch]]]]:
    """Which models run side by side, wave after wave, and what starts each of their engines.

    On a cluster each model has all of it to itself.

    Returns:
        Of each wave the places of its models, and what starts each of their engines.

    Raises:
        RecipeError: no Ray cluster can be joined.
    """
    if executor == "local":
        return [
            [(place, [partial(LocalWorker, variables=share) for share in shares]) for place, shares in wave]
            for wave in shared_out(models)
        ]
    has_gpus = any(machines_of(executor))
    return [
        [(place, [partial(ray_workers.RayWorker, gpus=each * has_gpus)] * n)] for place, (n, each) in enumerate(models)
    ]


def shared_out(models: Sequence[Engines]) -> list[list[tuple[int, list[dict[str, str]]]]]:
    """Which models run side by side on this machine, wave after wave, and the variables that keep each engine to GPUs of its own.

    Models whose GPUs are free together share a wave. Without GPUs a model has the machine's memory to itself, unless it needs
    none. Threads of the processor are not shared out: an engine gives other numbers with another number of them.

    Returns:
        Of each wave the places of its models, and the variables of each of their engines.
    """
    gpus = visible_gpus() if any(each.gpus_each for each in models) else []
    found: list[list[tuple[int, list[dict[str, str]]]]] = []
    n_taken = 0
    for place, (n, each) in enumerate(models):
        # what does not fit is refused by its library, or has what there is
        needed = min(n * each, max(len(gpus), 1))
        if not found or n_taken + needed > max(len(gpus), 1):
            found.append([])
            n_taken = 0
        mine, n_taken = gpus[n_taken : n_taken + needed], n_taken + needed
        is_shared_out = each and len(mine) == n * each
        shares = [{VISIBLE: ",".join(mine[i * each : (i + 1) * each])} if is_shared_out else {} for i in range(n)]
        found[-1].append((place, shares))
    return found
