"""Sampling plans, their order and their seeds."""

import pytest
from pydantic import ValidationError

from evenhand.config import Plan
from evenhand.generate.plans import draw_seed, draws

PLANS = {"nucleus": Plan(top_p=0.9, candidates=2), "top_k": Plan(top_k=100, candidates=3)}


def test_repeats_are_outermost_and_plans_innermost():
    assert [(d.name, d.repeat, d.index) for d in draws(PLANS)] == [
        ("nucleus", 0, 0), ("top_k", 0, 1), ("nucleus", 1, 2), ("top_k", 1, 3), ("top_k", 2, 4),
    ]  # fmt: skip


def test_seed_depends_on_run_phase_request_and_draw():
    first, second, *_ = draws(PLANS)
    base = draw_seed("run", 1, "round-00", "ferry/left", first)
    assert base == draw_seed("run", 1, "round-00", "ferry/left", first)
    others = [
        draw_seed("other", 1, "round-00", "ferry/left", first),
        draw_seed("run", 2, "round-00", "ferry/left", first),
        draw_seed("run", 1, "round-01", "ferry/left", first),
        draw_seed("run", 1, "round-00", "ferry/right", first),
        draw_seed("run", 1, "round-00", "ferry/left", second),
    ]
    assert len({base, *others}) == 6
    assert 0 <= base < 2**48


def test_seed_of_a_draw_does_not_depend_on_how_many_other_plans_there_are():
    alone = draws({"top_k": PLANS["top_k"]})[1]
    among = draws(PLANS)[3]
    assert (alone.name, alone.repeat) == (among.name, among.repeat)
    assert draw_seed("r", 1, "p", "q", alone) == draw_seed("r", 1, "p", "q", among)


def test_greedy_plan_with_repeats_is_refused():
    with pytest.raises(ValidationError, match="greedy and gives 3 equal candidates"):
        Plan(temperature=0, candidates=3)
