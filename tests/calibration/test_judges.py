"""Villains are caught and fair judges are not accused: `python -m evenhand.benchmarks.villains`, and a fast part of it."""

import pytest

from evenhand.benchmarks.villains import FAIR, VILLAINS, Trial, count


def test_villains_are_caught_and_fair_judges_are_not_accused():
    fair = {name: FAIR[name] for name in ("weak, grades, coverage", "good, continuous, faithfulness")}
    found = count(range(5), fair, VILLAINS)
    assert {name: found[name].hits for name in VILLAINS if found[name].hits < 4} == {}
    assert {name: found[name].hits for name in fair if found[name].hits > 1} == {}


def test_a_villain_is_accused_of_its_fault_alone():
    found = Trial(3).calibrations({name: judge for name, (judge, _) in VILLAINS.items()})
    for name in ("length lover", "left lover", "first-position lover", "injectable", "self-lover"):
        assert [each.name for each in found[name].accusations] == [VILLAINS[name][1]]


def test_simulations_are_the_same_twice():
    judges = {"coin": VILLAINS["coin"][0]}
    assert Trial(1).calibrations(judges) == Trial(1).calibrations(judges)


@pytest.mark.campaign
def test_of_200_judges_of_each_kind():
    n = 200
    found = count(range(n), FAIR, VILLAINS)
    assert {name: found[name].hits for name in VILLAINS if found[name].hits < 0.95 * n} == {}
    # 5 %, and two standard errors of a rate of 5 % in as many trials
    most = 0.05 * n + 2 * (n * 0.05 * 0.95) ** 0.5
    assert {name: found[name].hits for name in FAIR if found[name].hits > most} == {}
