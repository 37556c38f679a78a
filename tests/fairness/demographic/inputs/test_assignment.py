import pytest

from evenhand.errors import DataError
from evenhand.fairness.demographic import InputEntity
from evenhand.fairness.demographic.inputs import (
    DrawnIdentity,
    Instruction,
    Setting,
    TemplateEntity,
    gender_setting,
    paired_assignment,
    source_entities,
    uniform_assignment,
)


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
