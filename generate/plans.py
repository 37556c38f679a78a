"""Sampling plans spread out into asks: which candidate is drawn how, with which seed.

Order of a request's candidates: repeats outermost, plans innermost (r0p0, r0p1, r0p2, r1p0, ...); it decides ties.
Source: docs/papers.md#ri-plans.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..config import Plan
from ..storage import digest

# seeds fit a signed 64-bit integer, and every engine's own range
SEEDS = 1 << 48


@dataclass(frozen=True)
class Draw:
    """One candidate to be drawn."""

    # place in the canonical order of the request
    index: int
    # name of the sampling plan
    name: str
    plan: Plan
    # which of the plan's candidates, from 0
    repeat: int


def draws(plans: Mapping[str, Plan]) -> list[Draw]:
    """All draws of one request in canonical order."""
    most = max(plan.candidates for plan in plans.values())
    order = [(name, plan, repeat) for repeat in range(most) for name, plan in plans.items() if repeat < plan.candidates]
    return [Draw(index, name, plan, repeat) for index, (name, plan, repeat) in enumerate(order)]


def seed_from(*parts: Any) -> int:
    """A seed that follows from these parts and nothing else, from 0 to 2**48 - 1."""
    return int(digest(list(parts)), 16) % SEEDS


def draw_seed(run: str, seed: int, phase: str, request_id: str, draw: Draw) -> int:
    """Seed of one draw, from 0 to 2**48 - 1.

    It depends on run, phase, request, plan and repeat alone, so neither sharding nor batching nor the other candidates
    change it.
    """
    setting = draw.plan.sampling.model_dump(mode="json")
    return seed_from(run, seed, phase, request_id, draw.name, setting, draw.repeat)
