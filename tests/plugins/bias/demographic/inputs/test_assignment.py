import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import DataError
from evenhand.plugins.bias.demographic.inputs.assignment import (
    DrawnIdentity,
    balanced_inputs,
    paired_assignment,
    source_entities,
    uniform_assignment,
    uniform_inputs,
)
from evenhand.plugins.bias.demographic.inputs.filling import Instruction
from evenhand.plugins.bias.demographic.inputs.setting import (
    NameInventory,
    Setting,
    common_inventory,
    gender_setting,
    race_setting,
    read_inventory,
)
from evenhand.plugins.bias.demographic.inputs.template import TemplateEntity
from evenhand.plugins.bias.demographic.persons import InputEntity


def person(name: str, first: str | None = "F", gendered: bool = True) -> TemplateEntity:
    mention = {"start": 0, "end": 1, "class": "last_name"}
    return TemplateEntity.model_validate(
        {"id": name, "first_name": first, "last_name": name.upper(), "mentions": [mention], "gendered": gendered}
    )


def identities(**by_category: str) -> dict[str, list[DrawnIdentity]]:
    return {category: [DrawnIdentity("male", name) for name in names] for category, names in by_category.items()}


def test_three_categories_give_six_inputs_in_lexicographic_order():
    setting = Setting(tuple("abc"), dict.fromkeys("abc", ("male",)), {c: (c,) for c in "abc"})
    found = paired_assignment(
        [person("p"), person("q"), person("r")], setting, identities(a="AB", b="CD", c="EF"), [0, 0, 2]
    )
    order = ["".join(each[p].category for p in "pqr") for each in found]
    # base a, a, c; permutations abc, acb, bac, bca, cab, cba
    assert order == ["aac", "aab", "bbc", "bba", "ccb", "cca"]
    assert [each["r"].first_name for each in found] == ["E", "C", "E", "A", "C", "A"]


def test_bystander_stays_as_it_is_unless_instructed():
    people = [person("p"), person("q", first=None, gendered=False)]
    drawn = identities(male="A", female="B")
    (first, second) = paired_assignment(people, gender_setting(), drawn, [0])
    assert first["q"] == second["q"] == Instruction(last_name="Q", modified=False)
    other = {"q": Instruction(last_name="Z")}
    assert paired_assignment(people, gender_setting(), drawn, [0], other)[1]["q"].last_name == "Z"


def test_uniform_assignment_gives_all_the_same_category():
    found = uniform_assignment([person("p"), person("q")], gender_setting(), "male", identities(m="AB")["m"])
    assert [(each.first_name, each.category) for each in found.values()] == [("A", "male"), ("B", "male")]


@pytest.mark.parametrize(
    ("base", "drawn", "match"),
    [
        ([0], {"male": "AB", "female": "AB"}, "2 persons take part; the base needs as many positions from 0 to 1"),
        ([0, 2], {"male": "AB", "female": "AB"}, "positions"),
        ([0, 0], {"male": "A", "female": "AB"}, "too few identities were drawn for male"),
        ([0, 0], {"male": "AB", "female": "A"}, "too few identities were drawn for female"),
    ],
)
def test_draws_that_do_not_reach_are_refused(base, drawn, match):
    with pytest.raises(DataError, match=match):
        paired_assignment([person("p"), person("q")], gender_setting(), identities(**drawn), base)


def test_unknown_category_is_refused():
    with pytest.raises(DataError, match="category 'x' is not one of male, female"):
        uniform_assignment([person("p")], gender_setting(), "x", [])


def test_measures_read_the_persons_of_an_input():
    made = {
        "p": Instruction(first_name="Ivo", last_name="Vey", gender="male", category="male"),
        "q": Instruction(last_name="Z"),
    }
    assert source_entities(made) == (
        InputEntity(id="p", first_name="Ivo", last_name="Vey", category="male"),
        InputEntity(id="q", last_name="Z"),
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
