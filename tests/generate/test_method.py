"""Sampling plans, their order and their seeds."""

import pytest
from pydantic import ValidationError

from evenhand.config import Plan
from evenhand.generate.method import draw_seed, draws

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


def test_plan_without_a_ban_has_the_seeds_that_it_had_before_there_was_one():
    hybrid = {"temperature": 1.2, "top_p": 0.9, "top_k": 50, "repetition_penalty": 1.2}
    (plain, *_), (banned, *_) = (
        draws({"hybrid": Plan(**hybrid, **new)}) for new in ({}, {"no_repeat_ngram_size": 3, "include_prompt": True})
    )
    # the last version without these keys gave it
    assert draw_seed("run", 1, "round-00", "ferry/left", plain) == 46540389052420
    assert draw_seed("run", 1, "round-00", "ferry/left", banned) != 46540389052420
    # what candidates record
    assert banned.plan.sampling.model_dump()["no_repeat_ngram_size"] == 3
    assert not {"no_repeat_ngram_size", "include_prompt"} & plain.plan.sampling.model_dump().keys()


def test_prompt_that_nothing_would_look_at_is_refused():
    with pytest.raises(ValidationError, match=r"neither is set; set one, or leave include_prompt out"):
        Plan(include_prompt=True)
