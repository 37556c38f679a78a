import pytest

from evenhand.errors import DataError
from evenhand.fairness.demographic.inputs import Setting, TemplateEntity, gender_setting, race_setting


def person(first=None, last=None, gendered=False) -> TemplateEntity:
    mention = {"start": 0, "end": 1, "class": "pron_nom"}
    return TemplateEntity.model_validate(
        {"id": "p", "first_name": first, "last_name": last, "mentions": [mention], "gendered": gendered}
    )


@pytest.mark.parametrize(
    ("setting", "first_only", "last_only", "gendered_last", "nameless"),
    [
        (gender_setting(), True, False, True, False),
        (race_setting(), True, True, True, False),
        # black women and white men: both vary
        (race_setting(black=("female",), white=("male",)), True, True, True, False),
    ],
)
def test_who_takes_part(setting, first_only, last_only, gendered_last, nameless):
    taking_part = [
        setting.takes_part(person("Ida", gendered=True)),
        setting.takes_part(person(last="Vey")),
        setting.takes_part(person(last="Vey", gendered=True)),
        setting.takes_part(person(gendered=True)),
    ]
    assert taking_part == [first_only, last_only, gendered_last, nameless]


def test_names_alone_make_no_one_with_a_last_name_take_part_when_last_names_stay():
    setting = Setting(("a", "b"), {"a": ("male",), "b": ("male",)}, {"a": ("x",), "b": ("y",)})
    assert (setting.gender_varies, setting.names_vary) == (False, True)
    assert not setting.takes_part(person(last="Vey", gendered=True))
    assert setting.takes_part(person("Ida"))


@pytest.mark.parametrize(
    ("genders", "sources"),
    [
        ({"a": ("male",)}, {"a": ("x",), "b": ("x",)}),
        ({"a": ("male",), "b": ()}, {"a": ("x",), "b": ("x",)}),
        ({"a": ("male",), "b": ("female",)}, {"a": ("x",), "b": ("x",), "c": ("x",)}),
        ({"a": ("male",), "b": ("woman",)}, {"a": ("x",), "b": ("x",)}),
    ],
)
def test_settings_that_do_not_hold_together_are_refused(genders, sources):
    with pytest.raises(DataError):
        Setting(("a", "b"), genders, sources)
