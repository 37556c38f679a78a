"""Bias studies of summarizers that see no group seldom say anything, and what is planted is found; a part here."""

import pytest

from evenhand.benchmarks.bias_studies import FAIR, PLANTED, inputs_of, leans, study


def test_inputs_come_in_pairs_with_the_groups_exchanged():
    for one, other in zip(inputs_of(2, 0)[::2], inputs_of(2, 0)[1::2], strict=True):
        assert {each.category for each in one.entities.values()} == {"male", "female"}
        for person, each in one.entities.items():
            assert (each.last_name, each.category) != (
                other.entities[person].last_name,
                other.entities[person].category,
            )
            assert each.last_name == other.entities[person].last_name
        assert len(one.text.split()) == len(other.text.split())


def test_summarizers_that_see_no_group_are_seldom_said_to_lean():
    found = [leans(8, seed, summarizer) for seed in range(3) for summarizer in FAIR.values()]
    # 5 % of 15 and two standard errors are 2.4
    assert sum(map(bool, found)) <= 2


@pytest.mark.parametrize("planted", PLANTED)
def test_what_is_planted_is_found_and_towards_whom(planted):
    summarizer, name = PLANTED[planted]
    measure = next(each for each in study(30, 0, summarizer) if each.name == name)
    assert measure.verdict == "leans"
    # of pronouns of men being left out, women are left
    assert measure.direction == ("female" if planted == "leaves out where men are a pronoun" else "male")


def test_studies_are_the_same_twice():
    summarizer = FAIR["random sentences"]
    assert study(6, 1, summarizer) == study(6, 1, summarizer)
