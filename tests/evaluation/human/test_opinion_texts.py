"""The file of texts behind people's labels of opinions."""

import json

import pytest

from evenhand.errors import DataError
from evenhand.evaluation.human.opinion_texts import read_opinion_texts

LABELLED = [("us", "us/1"), ("us", "us/2"), ("uk", "uk/1")]


def read(folder, *lines):
    path = folder / "texts.jsonl"
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
    return read_opinion_texts(path, LABELLED)


def test_lines_of_three_kinds_are_read_in_any_order(tmp_path):
    found = read(
        tmp_path,
        {"set_id": "us", "summary_id": "us/1", "summary": ""},
        {"set_id": "us", "units": ["a", "a"]},
        {"set_id": "uk", "gold": ["g"]},
    )
    assert found.units == {"us": ("a", "a")}
    assert found.gold == {"uk": ("g",)}
    assert found.summaries == {("us", "us/1"): ""}


def test_mistakes_are_told_together_with_their_lines(tmp_path):
    with pytest.raises(DataError) as error:
        read(
            tmp_path,
            {"set_id": "us", "units": ["a"]},
            {"set_id": "us", "units": ["b"]},
            {"set_id": "fr", "gold": ["g"]},
            {"set_id": "us", "summary_id": "us/3", "summary": "s"},
            {"set_id": "us", "units": []},
            {"set_id": "us", "unit": ["a"]},
            "[",
        )
    said = str(error.value)
    for line, text in enumerate(
        [
            "'us' has its 'units' already; give it once",
            "nobody labelled summaries of set 'fr'",
            "nobody labelled summary 'us/3' of set 'us'; did you mean 'us/",
            "'units': tuple should have at least 1 item",
            "'unit': is not a key of this record",
            "one object a line is expected",
        ],
        start=2,
    ):
        assert any(f"texts.jsonl:{line}: " in each and text in each for each in said.splitlines()), text
