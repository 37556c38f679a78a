"""true and false are no numbers, in any key of any section."""

import pytest

from evenhand.config.generate import METHOD_SECTIONS
from evenhand.config.judges import JUDGE_SECTIONS
from evenhand.config.recipe import Recipe
from evenhand.config.section import Section, is_number


def sections(kind=Section):
    for below in kind.__subclasses__():
        yield below
        yield from sections(below)


# those of plug-ins are defined once they are asked for
BROUGHT = [door[name] for door in (JUDGE_SECTIONS, METHOD_SECTIONS) for name in door]
NUMBERS = [
    (section, key)
    for section in sorted({*sections()}, key=lambda each: each.__qualname__)
    if section.__module__.startswith(("evenhand.config", "evenhand.plugins"))
    for key, field in section.model_fields.items()
    if is_number(field.annotation)
]


@pytest.mark.parametrize("value", [True, False])
def test_no_key_takes_true_for_a_number(value):
    assert (Recipe, "seed") in NUMBERS
    assert len(NUMBERS) > 45
    for section, key in NUMBERS:
        with pytest.raises(ValueError, match=f"{key} needs a number, got {str(value).lower()}"):
            section.model_validate({key: value})


def test_keys_that_take_true_still_do():
    class Mixed(Section):
        switch: bool = False
        either: bool | int = 1
        number: int | None = None
        name: str = ""

    assert Mixed(switch=True, either=True).either is True
    assert Mixed(number=1).number == 1
    assert Mixed(number=None).number is None
