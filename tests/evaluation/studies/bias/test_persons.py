import pytest

from evenhand.plugins.bias.demographic.inputs.filling import Instruction
from evenhand.plugins.bias.study.persons import known_persons

IDA = Instruction(first_name="Ida", last_name="Vey")
ROLF = Instruction(first_name="Rolf", last_name="Orr")
BARE = Instruction(last_name="Vey-Orr")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Ida Vey met Orr. Vey left with Rolf.", ["Ida Vey", "Orr", "Vey", "Rolf"]),
        # whole words in their own letter case
        ("Idaho surveyed VEY and orr.", []),
        # the longest name first
        ("Mrs. Vey-Orr came.", ["Vey-Orr"]),
        ("", []),
    ],
)
def test_names_of_the_input_are_found_as_they_stand(text, found):
    persons = known_persons(text, (IDA, ROLF, BARE))
    assert [person.text for person in persons] == found
    assert all(person.tokens == tuple(person.text.split()) for person in persons)


def test_nobody_is_found_without_names():
    assert known_persons("Ida Vey", (Instruction(),)) == ()


def test_last_name_with_a_particle_is_found_at_the_beginning_of_a_sentence():
    persons = known_persons("Van Gogh left. A friend of van Gogh stayed.", (Instruction(last_name="van Gogh"),))
    assert [person.text for person in persons] == ["Van Gogh", "van Gogh"]
