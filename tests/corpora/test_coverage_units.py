"""Units that somebody else split are taken as they are, or every mistake is told."""

import json

import pytest

from evenhand.corpora.coverage_units import read_units
from evenhand.errors import DataError


def write(folder, content):
    path = folder / "units.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_units_come_in_the_order_of_the_sets_and_sets_without_any_are_left_out(tmp_path):
    path = write(tmp_path, {"b": ["It is  cheap.\n", " "], "x": ["Of another file."], "a": []})
    found = read_units(path, ["a", "b", "c"])
    assert list(found.items()) == [("a", ()), ("b", ("It is cheap.",))]


def test_all_wrong_entries_are_listed(tmp_path):
    path = write(tmp_path, {"a": "One.", "b": ["One.", 2], "c": [None], "d": ["Fine."]})
    with pytest.raises(DataError) as caught:
        read_units(path, ["a"])
    assert str(caught.value).splitlines() == [
        f"{path}: 'a': 'One.' is no list of units",
        f"{path}: 'b': 2 is no text of a unit",
        f"{path}: 'c': None is no text of a unit",
    ]


@pytest.mark.parametrize(
    ("content", "match"),
    [
        ([["One."]], "holds no JSON object of units"),
        ('{"a": [], "a": []}', "key 'a' twice"),
        ({"setA": ["One."]}, "none of the document sets, but of 'setA'; did you mean 'set-A'"),
        ({}, "none of the document sets"),
    ],
)
def test_a_file_of_something_else_is_refused(tmp_path, content, match):
    with pytest.raises(DataError, match=match):
        read_units(write(tmp_path, content), ["set-A"])
