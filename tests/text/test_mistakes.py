"""What does not fit a record is named with its field, and a list of mistakes is as long as can be read."""

import json

import pytest
from pydantic import BaseModel

from evenhand.errors import DataError
from evenhand.storage import parse_line
from evenhand.text.mistakes import listed


class Line(BaseModel):
    number: int
    text: str = ""


def test_a_wrong_line_says_field_value_and_problem():
    with pytest.raises(DataError) as caught:
        parse_line('{"number": "five", "text": 3}', Line)
    assert str(caught.value) == (
        "'number': should be a valid integer, unable to parse string as an integer, got 'five'; "
        "'text': should be a valid string, got 3"
    )


def test_a_long_wrong_value_is_shortened():
    with pytest.raises(DataError) as caught:
        parse_line(json.dumps({"number": "x" * 5000}), Line)
    assert len(str(caught.value)) < 200


def test_a_missing_field_is_named():
    with pytest.raises(DataError, match=r"^'number': is missing$"):
        parse_line("{}", Line)


def test_a_list_of_mistakes_is_cut_in_both_ways():
    text = listed(["x" * 5000] * 100)
    assert text.endswith("\n... and 80 more")
    assert len(text) < 20 * 1001 + 20
