"""Villains are caught and fair judges are not accused: `python -m evenhand.benchmarks.villains`, and a fast part of it."""

import pytest

from evenhand.benchmarks.villains import FAIR, FAIR_UNTOLD, OF_MINORITIES, UNEVEN, UNTOLD, VILLAINS, Trial, count
from evenhand.evaluation.worth import accused_of


@pytest.mark.slow
def test_villains_are_caught_and_fair_judges_are_not_accused():
    fair = {name: FAIR[name] for name in ("weak, grades, coverage", "good, continuous, faithfulness")}
    found = count(range(5), fair, VILLAINS)
    assert {name: found[name].hits for name in VILLAINS if found[name].hits < 4} == {}
    assert {name: found[name].hits for name in fair if found[name].hits > 1} == {}


def test_a_villain_is_accused_of_its_fault_alone():
    found = Trial(3).calibrations({name: judge for name, (judge, _) in VILLAINS.items()})
    for name in ("length lover", "left lover", "first-position lover", "injectable", "self-lover"):
        assert {each.measure for each in found[name].accusations} == {VILLAINS[name][1]}


@pytest.mark.slow
def test_villains_that_hide_in_a_minority_in_length_or_in_names_are_caught():
    found = count(range(1), FAIR_UNTOLD, OF_MINORITIES, n=50, sides=UNEVEN)
    assert {name: found[name].hits for name in found} == {
        **dict.fromkeys(FAIR_UNTOLD, 0),
        **dict.fromkeys(OF_MINORITIES, 1),
    }
    assert all(each.hits for each in count(range(1), {}, UNTOLD, n=50, sides=UNEVEN, is_told=False).values())


def test_what_could_not_be_tried_is_listed_and_never_passes():
    found = Trial(0, is_told=False).calibrations({"fair": FAIR["good, continuous, coverage"]})["fair"]
    assert {"side words", "agreement by side"} <= set(found.untried) and not found.accusations
    said = accused_of(found)
    assert said.text.startswith("nothing of ") and said.text.endswith(" tried") and "side words" in said.note


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


@pytest.mark.campaign
def test_of_100_pages_with_a_minority():
    n, told = 100, {"n": 50, "sides": UNEVEN}
    found = count(range(n), FAIR_UNTOLD, OF_MINORITIES, **told)
    untold = count(range(n), FAIR_UNTOLD, UNTOLD, **told, is_told=False)
    for villains, counts in ((OF_MINORITIES, found), (UNTOLD, untold)):
        assert {name: counts[name].hits for name in villains if counts[name].hits < 0.9 * n} == {}
        # 5 %, and two standard errors
        assert {name: counts[name].hits for name in FAIR_UNTOLD if counts[name].hits > 9} == {}
