"""The run folder's phases."""

from pathlib import Path

import pytest

from evenhand.config import Recipe
from evenhand.errors import RecipeError
from evenhand.runfolder.phases import evaluations, open_phase, phases

MINIMAL = {
    "name": "t",
    "output": "out",
    "model": {"name": "m"},
    "generate": {"plans": {"plain": {"candidates": 2}}},
    "judges": {"overlap": {"kind": "rouge"}, "length": {"kind": "length"}},
    "reward": {"judges": ["overlap"]},
    "evaluation": {"judges": ["length", "overlap"]},
}


def recipe(**changes):
    return Recipe.model_validate(MINIMAL | changes)


def test_a_loop_of_two_rounds_has_two_rounds_and_evaluations_of_both_and_of_the_untrained_model():
    assert [phase.name for phase in phases(recipe(rounds=2))] == [
        "round-00", "round-01", "evaluation/base", "evaluation/round-00", "evaluation/round-01",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "evaluated"),
    [("last", [3]), ("ends", [0, 3]), ("all", [0, 1, 2, 3]), ([0, 2], [0, 2, 3]), ([3, 1, 1], [1, 3]), ([], [3])],
)
def test_rounds_that_are_asked_for_are_evaluated_and_the_last_always(asked, evaluated):
    found = [p.after_round for p in evaluations(recipe(rounds=4, evaluation=MINIMAL["evaluation"] | {"rounds": asked}))]
    assert found == [None, *evaluated]


def test_the_first_and_the_last_round_are_evaluated_where_nothing_is_asked_for():
    assert [p.after_round for p in evaluations(recipe(rounds=4))] == [None, 0, 3]
    assert [p.after_round for p in evaluations(recipe(rounds=1))] == [None, 0]


def test_evaluations_draw_by_plans_of_their_own_where_there_are_such():
    own = recipe(evaluation=MINIMAL["evaluation"] | {"plans": {"more": {"candidates": 5}}})
    assert [(p.name, p.n_candidates) for p in phases(own)] == [
        ("round-00", 2), ("evaluation/base", 5), ("evaluation/round-00", 5),
    ]  # fmt: skip
    assert {phase.n_candidates for phase in phases(recipe())} == {2}


def test_no_round_leaves_the_untrained_model_to_evaluate():
    assert [phase.name for phase in phases(recipe(rounds=0))] == ["evaluation/base"]


def test_each_phase_starts_from_the_adapter_of_the_round_before():
    adapters = {phase.name: phase.adapter for phase in phases(recipe(rounds=2))}
    assert adapters == {
        "round-00": None,
        "round-01": Path("out/round-00/adapter"),
        "evaluation/base": None,
        "evaluation/round-00": Path("out/round-00/adapter"),
        "evaluation/round-01": Path("out/round-01/adapter"),
    }


def test_a_recipes_own_adapter_is_where_the_first_round_and_the_base_start():
    found = {p.name: p.adapter for p in phases(recipe(model={"name": "m", "adapter": "start"}))}
    assert found == {
        "round-00": Path("start"), "evaluation/base": Path("start"), "evaluation/round-00": Path("out/round-00/adapter"),
    }  # fmt: skip


def test_rounds_use_the_train_split_and_the_rewards_judges():
    phase = open_phase(recipe(corpus={"train": {"split": "train", "limit": 3}}), "round-00")
    assert (phase.split, phase.round, phase.split_section.limit) == ("train", 0, 3)
    assert phase.judges == ("overlap",)
    assert phase.folder == Path("out/round-00")


def test_evaluations_use_the_test_split_and_the_reports_judges_too_each_once():
    phase = open_phase(recipe(corpus={"test": {"split": "test", "sample": 5}}), "evaluation/round-00")
    assert (phase.split, phase.round, phase.split_section.sample) == ("test", None, 5)
    assert phase.judges == ("overlap", "length")


def test_an_unknown_phase_is_refused_with_the_known_ones():
    with pytest.raises(RecipeError, match=r"phase 'round-7': .* phases round-00, evaluation/base, evaluation/round-00"):
        open_phase(recipe(), "round-7")


@pytest.mark.needs("plugins/fairpo")
def test_rounds_of_fairpo_are_judged_by_the_pairs_judge_and_evaluations_summarise_sets_as_they_are():
    changes = {
        "task": {"scope": "all"},
        "generate": MINIMAL["generate"] | {"method": "thinned"},
        "judges": MINIMAL["judges"] | {"ec": {"kind": "equal-coverage"}},
        "pairs": {"mode": "fairpo", "judge": "ec"},
    }
    trained, tested = (open_phase(recipe(**changes), name) for name in ("round-00", "evaluation/base"))
    assert (trained.method, trained.judges) == ("thinned", ("overlap", "ec"))
    assert (tested.method, tested.judges) == ("zero-shot", ("overlap", "length"))
