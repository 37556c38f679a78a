"""Engines of a model: how many there are, what machines hold of them, and what gives each its place."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import ceil
from typing import NamedTuple

from ..config import Recipe
from ..config.model import LOCAL, BackendSection, ReplicatedSection
from ..config.section import Check
from ..errors import RecipeError
from ..text import some_of
from ..text.mistakes import listed
from .gpus import VISIBLE, visible_gpus
from .phases import phases
from .places import PLACES
from .workers import Launch, LocalWorker

log = logging.getLogger(__name__)

# set for replicas: which of them each is, from 0
NUMBER = "EVENHAND_REPLICA"
# where the GPUs of this machine are, in words
HERE = "visible here"


class Engines(NamedTuple):
    """Engines of one model."""

    n: int
    # GPUs of each where there are any; 0 where it needs none
    gpus_each: int


# GPUs of each machine that engines may run on
Machines = Sequence[int]


def machines_of(executor: str) -> Machines:
    """GPUs of this machine, or of each machine of the place.

    Raises:
        RecipeError: there are no machines.
    """
    if executor == LOCAL:
        return [len(visible_gpus())]
    machines = PLACES[executor].machines()
    if not machines:
        raise RecipeError(f"no machine of {PLACES[executor].where} has room for a process")
    return machines


def engines_of(section: ReplicatedSection, executor: str, machines: Callable[[str], Machines] = machines_of) -> Engines:
    """Engines that a section asks for; "auto" is as many as the GPUs hold, and 1 without any.

    Raises:
        RecipeError: there are no machines at the place, and it is to be asked.
    """
    gpus_each = section.gpus_each
    if section.replicas != "auto":
        return Engines(section.replicas, gpus_each)
    return Engines(max(1, sum(gpus // gpus_each for gpus in machines(executor))) if gpus_each else 1, gpus_each)


def refuse_large(section: BackendSection, gpus: int | None = None, where: str = HERE) -> None:
    """Refuse an engine that needs more GPUs than a machine has; without a GPU it may be spread over the processor's parts.

    Args:
        section: of the engine.
        gpus: of the machine; None for this one.
        where: they are, in words.

    Raises:
        RecipeError: how many there are.
    """
    # vLLM itself spreads such an engine over machines
    if section.gpus_each <= 1 or section.engine.get("distributed_executor_backend") == "ray":
        return
    gpus = len(visible_gpus()) if gpus is None else gpus
    if 0 < gpus < section.gpus_each:
        raise RecipeError(
            f"an engine of {section.gpus_each} GPUs needs them on one machine, and {_said(gpus, where)}; lower "
            "tensor_parallel_size or pipeline_parallel_size"
        )


def refuse_too_many(section: ReplicatedSection, gpus: int | None = None, where: str = HERE) -> None:
    """Refuse more replicas than the GPUs of a machine hold, where they hold one; without a GPU there may be any number.

    Args:
        section: of the replicas.
        gpus: of the machine; None for this one.
        where: they are, in words.

    Raises:
        RecipeError: how many there may be.
    """
    n, gpus_each = 1 if section.replicas == "auto" else section.replicas, section.gpus_each
    if n == 1 or not gpus_each:
        return
    gpus = len(visible_gpus()) if gpus is None else gpus
    if gpus_each <= gpus < n * gpus_each:
        raise RecipeError(
            f"{n} replicas of {gpus_each} GPU{'s' if gpus_each > 1 else ''} each need {n * gpus_each}, and {_said(gpus, where)}; "
            f"write replicas: {gpus // gpus_each}, or replicas: auto"
        )


def _said(gpus: int, where: str) -> str:
    return f"{gpus} {'are' if gpus > 1 else 'is'} {where}"


def fit_checks(key: str, section: BackendSection) -> Iterator[Check]:
    """Checks that this machine holds the engines of a section, which has that key."""
    yield Check(f"{key}.engine", partial(refuse_large, section), is_here=True)
    if isinstance(section, ReplicatedSection):
        yield Check(f"{key}.replicas", partial(refuse_too_many, section), is_here=True)


def refuse_small_nodes(sections: Mapping[str, ReplicatedSection], gpus: int) -> None:
    """Refuse engines that nodes of a cluster with so many GPUs do not hold, each node all engines of a section; 0 refuses none.

    Args:
        sections: by key.
        gpus: of each node.

    Raises:
        RecipeError: which those are; all are listed.
    """
    mistakes = []
    for key, section in sections.items():
        for below, refuse in (("engine", refuse_large), ("replicas", refuse_too_many)):
            try:
                refuse(section, gpus, "on a node (--gpus-per-node)")
            except RecipeError as error:
                mistakes.append(f"key '{key}.{below}': {error}")
    if mistakes:
        raise RecipeError(listed(mistakes))


def refuse_small_cluster(sections: Sequence[ReplicatedSection], machines: Machines, where: str) -> None:
    """Refuse engines that no machine of a cluster holds. How many it holds is left open: others wait, and machines come.

    Args:
        sections: of the engines.
        machines: of the cluster.
        where: they are, in words.

    Raises:
        RecipeError: which engine that is, or no machine has a GPU and the number of engines is to be that of the GPUs.
    """
    most_gpus, needed = max(machines), max((section.gpus_each for section in sections), default=0)
    if 0 < most_gpus < needed:
        raise RecipeError(
            f"an engine of {needed} GPUs needs a machine that has them, and no machine of {where} has more than {most_gpus}; "
            "lower tensor_parallel_size or pipeline_parallel_size"
        )
    if most_gpus == 0 and any(section.gpus_each and section.replicas == "auto" for section in sections):
        raise RecipeError(
            f"no machine of {where} has a GPU, so that replicas: auto says nothing; wait until they have joined, or write "
            "a number, whose engines then run on the cluster's processors"
        )


def waves(
    models: Sequence[Engines], executor: str, machines: Callable[[str], Machines] = machines_of
) -> list[list[tuple[int, list[Launch]]]]:
    """Which models run side by side, wave after wave, and what gives each of their engines a place.

    On a cluster each model has all of it to itself.

    Returns:
        Of each wave the places of its models, and what gives each of their engines a place.

    Raises:
        RecipeError: there are no machines at the place.
    """
    if executor == LOCAL:
        return [
            [
                (place, [partial(LocalWorker, variables=share | {NUMBER: str(n)}) for n, share in enumerate(shares)])
                for place, shares in wave
            ]
            for wave in shared_out(models)
        ]
    place, has_gpus = PLACES[executor], any(machines(executor))
    if not has_gpus and any(engines.gpus_each for engines in models):
        log.warning("no machine of %s has a GPU: engines run on its processors", place.where)
    return [
        [(number, place.launches(n, gpus_each if has_gpus else 0, gpus_each))]
        for number, (n, gpus_each) in enumerate(models)
    ]


def idle_engines(recipe: Recipe, n_requests: Mapping[str, int], gpus: int | None, shards: int = 1) -> list[str]:
    """Where a stage has fewer batches than engines, so that some have nothing to do; in words.

    Args:
        recipe: servers have engines of their own, and scripted backends none.
        n_requests: of one phase, by split.
        gpus: of a machine; None where that is not known, so that `replicas: auto` is no number.
        shards: that the batches are shared out to, each on a machine.
    """
    # keys of engines -> requests of the smallest split that leaves some idle, and what is wrong; batches for it are for all
    idle_by_key: dict[str, tuple[int, str]] = {}
    for phase in phases(recipe):
        n = n_requests.get(phase.split, 0)
        for key, section in recipe.replicated.items():
            is_asked = recipe.generate.has_model if key == "generate" else key.split(".")[1] in phase.judges
            if not n or not is_asked or section.server is not None or not section.traits.has_model:
                continue
            gpus_each = section.gpus_each
            if section.replicas == "auto" and gpus is None:
                continue
            n_here = (
                section.replicas if section.replicas != "auto" else max(1, (gpus or 0) // gpus_each) if gpus_each else 1
            )
            n_engines, n_batches = n_here * shards, ceil(n / section.requests_per_batch)
            if n_batches < n_engines and (key not in idle_by_key or n < idle_by_key[key][0]):
                n_idle = n_engines - n_batches
                remedy = f": write requests_per_batch: {n // n_engines}" if n >= n_engines else ""
                batches = f"{n_batches} batch{'es' * (n_batches > 1)} of {section.requests_per_batch}"
                idle = f"{n_idle} of {n_engines} engines {'is' if n_idle == 1 else 'are'} idle{remedy}"
                idle_by_key[key] = n, f"{n:,} {phase.split} requests are {batches}, and {idle}"
    alike: dict[str, list[str]] = {}
    for key, (_, text) in idle_by_key.items():
        alike.setdefault(text, []).append(key)
    return [f"{some_of(keys)}: {text}" for text, keys in alike.items()]


def shared_out(models: Sequence[Engines]) -> list[list[tuple[int, list[dict[str, str]]]]]:
    """Which models run side by side on this machine, wave after wave, and the variables that keep each engine to GPUs of its own.

    Models whose GPUs are free together share a wave. Without GPUs a model has the machine's memory to itself, unless it needs
    none. Threads of the processor are not shared out: an engine gives other numbers with another number of them.

    Returns:
        Of each wave the places of its models, and the variables of each of their engines.
    """
    gpus = visible_gpus() if any(engines.gpus_each for engines in models) else []
    schedule: list[list[tuple[int, list[dict[str, str]]]]] = []
    n_taken = 0
    for place, (n, gpus_each) in enumerate(models):
        # what does not fit is refused by its library, or has what there is
        needed = min(n * gpus_each, max(len(gpus), 1))
        if not schedule or n_taken + needed > max(len(gpus), 1):
            schedule.append([])
            n_taken = 0
        model_gpus, n_taken = gpus[n_taken : n_taken + needed], n_taken + needed
        is_shared_out = gpus_each and len(model_gpus) == n * gpus_each
        shares = [
            {VISIBLE: ",".join(model_gpus[i * gpus_each : (i + 1) * gpus_each])} if is_shared_out else {}
            for i in range(n)
        ]
        schedule[-1].append((place, shares))
    return schedule
