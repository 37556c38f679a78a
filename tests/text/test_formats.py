"""What files call themselves, and what is refused by it."""

import ast
import json
import re
from typing import Literal

import pytest
from sources import ROOT, package, tree_of

from evenhand.doors import absent_names
from evenhand.errors import DataError, FormatError
from evenhand.records import Record
from evenhand.storage import parse_file
from evenhand.text.formats import FORMATS, is_called, refusal


class Audit(Record):
    format: Literal["evenhand-audit/9"]
    n: int


def test_a_file_of_this_format_is_read():
    assert parse_file('{"format": "evenhand-audit/9", "n": 3}', Audit).n == 3


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({}, "does not say that it is evenhand-audit/9"),
        (
            {"format": "evenhand-audit/8"},
            r"an audit of another version \(evenhand-audit/8, and this one writes evenhand-audit/9",
        ),
        ({"schema_name": "evenhand-audit/8"}, "is an audit of another version"),
        ({"schema_name": "evenhand-audit/9"}, "by a key other than `format`"),
        ({"format": "evenhand-audit/10"}, "is an audit of another version"),
        ({"format": "evenhand-audit"}, "is an audit of another version"),
        ({"format": "evenhand-comparison/3"}, "is a comparison, not an audit"),
        ({"format": "else/9"}, "calls itself 'else/9', not 'evenhand-audit/9'"),
        ({"format": 9}, "calls itself '9'"),
        ({"format": None}, "does not say that it is"),
        ({"format": ""}, "does not say that it is"),
    ],
)
def test_a_file_of_another_format_is_called_what_it_is_though_its_keys_fit(content, said):
    with pytest.raises(FormatError, match=said):
        parse_file(json.dumps(content | {"n": 3}), Audit)


@pytest.mark.parametrize("text", ["", "[1", "[]", "3", "null"])
def test_what_is_no_object_is_refused_as_that(text):
    with pytest.raises(DataError, match=r"JSON|object|dictionary"):
        parse_file(text, Audit)


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_is_known_in_whatever_version(name):
    assert is_called({"format": f"{name}/0"}, name) and is_called({"schema_name": f"{name}/99"}, name)
    assert [each for each in FORMATS if is_called({"format": f"{name}/3"}, each)] == [name]
    assert not is_called({"format": f"{name}s/3"}, name)
    assert not any(is_called(content, name) for content in ({}, [], None, "format"))
    assert refusal({"format": f"{name}/3"}, f"{name}/3") == ""


def test_every_format_of_a_record_that_commands_read_again_is_known():
    told = set()
    for path in package():
        if path.relative_to(ROOT).parts[0] == "benchmarks":
            continue
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.AnnAssign) and getattr(node.target, "id", "") == "format":
                told |= set(re.findall(r"Literal\['(evenhand-[\w-]+)/\d+'\]", ast.unparse(node.annotation)))
    # those of a plug-in that was deleted are known all the same
    assert told <= FORMATS.keys() if absent_names() else told == FORMATS.keys()
