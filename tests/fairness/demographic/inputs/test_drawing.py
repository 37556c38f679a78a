import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import DataError
from evenhand.fairness.demographic.inputs import (
    NameInventory,
    TemplateEntity,
    balanced_inputs,
    common_inventory,
    gender_setting,
    race_setting,
    read_inventory,
    uniform_inputs,
)

RACE = read_inventory({
    source: {kind: [f"{source}-{kind}-{i}" for i in range(12)] for kind in ("female", "male", "last")}
    for source in ("black", "white")
})  # fmt: skip
# first name, last name, gendered by a pronoun
KINDS = [("Ida", "Vey", False), (None, "Orr", True), (None, "Hale", False), (None, None, True)]


def persons(kinds) -> list[TemplateEntity]:
    mention = {"start": 0, "end": 1, "class": "last_name"}
    return [
        TemplateEntity.model_validate({
            "id": str(i), "first_name": first, "last_name": last, "mentions": [mention],
            "gendered": gendered or first is not None,
        })
        for i, (first, last, gendered) in enumerate(kinds)
    ]  # fmt: skip


PEOPLE = st.lists(st.sampled_from(KINDS), min_size=1, max_size=8).map(persons)
SETTINGS = st.sampled_from([(gender_setting(), common_inventory()), (race_setting(), RACE)])


def new(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@settings(max_examples=50)
@given(PEOPLE, SETTINGS, st.integers(0, 99))
def test_balanced_inputs_are_balanced_as_published(people, chosen, seed):
    setting, inventory = chosen
    found = balanced_inputs(people, setting, inventory, new(seed), assignments=2)
    n = sum(map(setting.takes_part, people))
    if n == 0:
        assert (found.inputs, found.dropped) == ((), "nobody in it takes part")
        return
    assert [(made.assignment_id, made.pair_id, made.group) for made in found.inputs] == [
        (0, 0, None), (0, 1, None), (1, 0, None), (1, 1, None),
    ]  # fmt: skip
    for first, second in (found.inputs[:2], found.inputs[2:]):
        for made in (first, second):
            categories = [each.category for each in made.instructions.values() if each.category is not None]
            assert len(categories) == n
            # no category has more than its half, rounded up
            assert max(map(categories.count, setting.categories)) <= -(-n // 2)
            names = [each.first_name for each in made.instructions.values() if each.category is not None]
            assert len(set(names)) == n
        for person in people:
            a, b = first.instructions[person.id], second.instructions[person.id]
            if setting.takes_part(person):
                assert {a.category, b.category} == set(setting.categories)
                assert (a.gender is None) == (not person.gendered)
            else:
                assert a == b
                assert a.category is None


@settings(max_examples=30)
@given(PEOPLE, SETTINGS, st.integers(0, 99))
def test_uniform_inputs_have_one_category_each(people, chosen, seed):
    setting, inventory = chosen
    found = uniform_inputs(people, setting, inventory, new(seed), assignments=2)
    for made in found.inputs:
        assert {each.category for each in made.instructions.values()} - {None} == {made.group}
    assert [made.group for made in found.inputs] in ([], list(setting.categories) * 2)


def test_last_names_of_an_input_are_all_different():
    people = persons([KINDS[0], KINDS[1], KINDS[2], KINDS[2]])
    inventory = NameInventory(common_inventory().first, {"common": tuple("ABCD")})
    for draw in (balanced_inputs, uniform_inputs):
        for made in draw(people, gender_setting(replace_last_names=True), inventory, new(), assignments=5).inputs:
            assert {each.last_name for each in made.instructions.values()} == set("ABCD")
            # two take no part, but their last names are replaced
            assert [each.category for each in made.instructions.values()][2:] == [None, None]
            assert all(each.modified for each in made.instructions.values())


def test_document_is_dropped_whole_when_names_run_out():
    # four persons need two names of each gender; the list of men has one
    inventory = NameInventory({"common": {"male": ("Ivo",), "female": ("Ida", "Eve")}})
    found = balanced_inputs(persons([KINDS[0]] * 4), gender_setting(), inventory, new())
    assert found.inputs == ()
    assert found.dropped == "names of source 'common', male, ran out: the list has 1; add names"


def test_same_seed_gives_the_same_inputs():
    people = persons(KINDS)
    assert balanced_inputs(people, race_setting(), RACE, new(1)) == balanced_inputs(
        people, race_setting(), RACE, new(1)
    )
    assert balanced_inputs(people, race_setting(), RACE, new(1)) != balanced_inputs(
        people, race_setting(), RACE, new(2)
    )


def test_ten_assignments_and_two_categories_give_twenty_inputs():
    people = persons([KINDS[0]])
    assert len(balanced_inputs(people, gender_setting(), common_inventory(), new()).inputs) == 20
    assert len(uniform_inputs(people, gender_setting(), common_inventory(), new()).inputs) == 20


def test_genders_of_the_race_setting_are_drawn_for_each_person():
    people = persons([KINDS[0]] * 6)
    made = balanced_inputs(people, race_setting(), RACE, new(), assignments=1).inputs[0]
    assert {each.gender for each in made.instructions.values()} == {"male", "female"}
    assert all(f"-{each.gender}-" in each.first_name for each in made.instructions.values())
    assert all(each.first_name.startswith(each.category) for each in made.instructions.values())


def test_no_assignment_is_refused():
    with pytest.raises(DataError, match="at least 1 assignment"):
        balanced_inputs(persons(KINDS), gender_setting(), common_inventory(), new(), assignments=0)
