"""Engines of a model: how many there are, what machines hold of them, and what gives each its place."""

import logging
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from ..config.model import Executor, ReplicatedSection
from ..errors import RecipeError
from . import ray_workers
from .gpus import VISIBLE, visible_gpus
from .workers import Launch, LocalWorker

log = logging.getLogger(__name__)


class Engines(NamedTuple):
    """Engines of one model."""

    n: int
    # GPUs of each where there are any; 0 where it needs none
    gpus_each: int


# GPUs of each machine that engines may run on
Machines = Sequence[int]


def machines_of(executor: Executor) -> Machines:
    """Those of this machine, or of each machine of the cluster.

    Raises:
        RecipeError: no Ray cluster can be joined.
    """
    return ray_workers.machines() if executor == "ray" else [len(visible_gpus())]


def engines_of(
    section: ReplicatedSection, executor: Executor, machines: Callable[[Executor], Machines] = machines_of
) -> Engines:
    """Those that a section asks for; "auto" is as many as the GPUs hold, and 1 without any.

    Raises:
        RecipeError: no Ray cluster can be joined, and it is to be asked.
    """
    each = section.gpus_each
    if section.replicas != "auto":
        return Engines(section.replicas, each)
    return Engines(max(1, sum(gpus // each for gpus in machines(executor))) if each else 1, each)


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


def refuse_small_cluster(sections: Sequence[ReplicatedSection], machines: Machines) -> None:
    """Refuse engines that no machine of a Ray cluster holds. How many it holds is left open: others wait, and machines come.

    Raises:
        RecipeError: which engine that is, or no machine has a GPU and the number of engines is to be that of the GPUs.
    """
    most, needed = max(machines), max((each.gpus_each for each in sections), default=0)
    if 0 < most < needed:
        raise RecipeError(
            f"an engine of {needed} GPUs needs a machine that has them, and no machine of the Ray cluster has more than {most}; "
            "lower tensor_parallel_size or pipeline_parallel_size"
        )
    if most == 0 and any(each.gpus_each and each.replicas == "auto" for each in sections):
        raise RecipeError(
            "no machine of the Ray cluster has a GPU, so that replicas: auto says nothing; wait until they have joined, or write "
            "a number, whose engines then run on the cluster's processors"
        )


def waves(
    models: Sequence[Engines], executor: Executor, machines: Callable[[Executor], Machines] = machines_of
) -> list[list[tuple[int, list[Launch]]]]:
    """Which models run side by side, wave after wave, and what gives each of their engines a place.

    On a cluster each model has all of it to itself.

    Returns:
        Of each wave the places of its models, and what gives each of their engines a place.

    Raises:
        RecipeError: no Ray cluster can be joined.
    """
    if executor == "local":
        return [
            [(place, [partial(LocalWorker, variables=share) for share in shares]) for place, shares in wave]
            for wave in shared_out(models)
        ]
    has_gpus = any(machines(executor))
    if not has_gpus and any(each.gpus_each for each in models):
        log.warning("no machine of the Ray cluster has a GPU: engines run on its processors")
    return [
        [(place, [partial(ray_workers.RayWorker, needs, ray_workers.Notice(needs))] * n)]
        for place, (n, each) in enumerate(models)
        for needs in [ray_workers.Needs(each if has_gpus else 0, each)]
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
