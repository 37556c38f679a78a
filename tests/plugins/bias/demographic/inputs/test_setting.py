import numpy as np
import pytest

from evenhand.errors import DataError
from evenhand.plugins.bias.demographic.inputs.setting import (
    NameInventory,
    NamePool,
    NamesRanOut,
    Setting,
    common_inventory,
    gender_setting,
    race_setting,
    read_inventory,
    read_vocabulary,
)
from evenhand.plugins.bias.demographic.inputs.template import TemplateEntity


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


TABLE = """Name,First_last,gender,ethnicity,source,info
Bo,first,M,Black,a,
Lark,last,,Black,a,
Wim,first,m,White,a,
Xena,first,F,White,a,
Kit,first_only,F,,b,
"""


def table(tmp_path, text):
    path = tmp_path / "names.csv"
    path.write_text(text)
    return path


def test_vocabulary_is_read_by_source_and_gender(tmp_path):
    found = read_vocabulary(table(tmp_path, TABLE))
    assert found.first == {
        "black": {"male": ("Bo",)},
        "white": {"female": ("Xena",), "male": ("Wim",)},
        "common": {"female": ("Kit",)},
    }
    assert found.last == {"black": ("Lark",)}


def test_a_workbook_of_names_says_the_same(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for line in TABLE.splitlines():
        book.active.append([cell or None for cell in line.split(",")])
    book.save(tmp_path / "names.xlsx")
    assert read_vocabulary(tmp_path / "names.xlsx") == read_vocabulary(table(tmp_path, TABLE))


def test_rows_that_are_no_names_are_listed_by_line(tmp_path):
    text = "Name,First_last,gender,ethnicity\nBo,middle,M,Black\nWim,first,M,White\nLee,first,X,White\n"
    with pytest.raises(DataError, match=r"(?s)csv:2: 'Bo', 'middle'.*csv:4: 'Lee', 'first', 'X'"):
        read_vocabulary(table(tmp_path, text))


def test_table_without_its_columns_is_refused(tmp_path):
    with pytest.raises(DataError, match="has no column 'First_last', 'ethnicity'; its columns are 'Name', 'gender'"):
        read_vocabulary(table(tmp_path, "Name,gender\nBo,M\n"))


def test_json_form_is_read_and_wrong_keys_are_listed():
    found = read_inventory({"black": {"female": ["Ayla", "Ayla"], "last": ["Lark"]}})
    assert (found.first["black"], found.last) == ({"female": ("Ayla",)}, {"black": ("Lark",)})
    with pytest.raises(DataError, match=r"x\.surname: is not one of.*; x\.male: has no names"):
        read_inventory({"x": {"surname": ["a"], "male": []}})


def test_common_names_come_fifty_a_gender():
    assert {gender: len(names) for gender, names in common_inventory().first["common"].items()} == {
        "male": 50,
        "female": 50,
    }


def test_pool_gives_each_name_once_and_then_runs_out():
    pool = NamePool(
        NameInventory({"s": {"male": ("A", "B", "C"), "female": ("C", "D")}}), np.random.default_rng(0), {"B"}
    )
    given = {pool.first_name("s", "male"), pool.first_name("s", "male")}
    # B is no longer to be given; C stands in both lists
    assert given == {"A", "C"}
    assert pool.first_name("s", "female") == "D"
    with pytest.raises(NamesRanOut, match="source 's', female, ran out: the list has 2"):
        pool.first_name("s", "female")
    with pytest.raises(NamesRanOut, match="source 's', last"):
        pool.last_name("s")


def test_order_of_names_depends_on_the_seed():
    inventory = common_inventory()
    drawn = [NamePool(inventory, np.random.default_rng(seed)).first_name("common", "male") for seed in (0, 0, 1, 2, 3)]
    assert drawn[0] == drawn[1]
    assert len(set(drawn)) > 1
