"""Both layouts of coverage results become one record."""

import json
from pathlib import Path

import pytest

from evenhand.corpora.coverage_results import CoverageResult, read_results
from evenhand.errors import DataError


def write(path: Path, content):
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_both_layouts_of_results_become_one_record(tmp_path):
    path = write(tmp_path / "r.json", {"a": [0.03, [0.01, -0.05], [5, 1], 0.4], "b": [0.5, [[-0.1, 0.1], [4, 4]]]})
    assert read_results(path) == [
        CoverageResult(set_id="a", ec=0.03, difference=(0.01, -0.05), counts=(5, 1), overall=0.4),
        CoverageResult(set_id="b", ec=0.5, difference=(-0.1, 0.1), counts=(4, 4), overall=None),
    ]


def test_what_is_undefined_in_a_result_is_none(tmp_path):
    # an absent value's difference means nothing, whatever number stands there
    path = write(tmp_path / "r.json", '{"a": [NaN, [0.0, -0.2], [0, 8], NaN]}')
    assert read_results(path) == [
        CoverageResult(set_id="a", ec=None, difference=(None, -0.2), counts=(0, 8), overall=None)
    ]


def test_results_in_neither_layout_are_listed(tmp_path):
    path = write(tmp_path / "r.json", {"a": [0.1, 0.2], "b": [0.1, [0.1], [1, 2], 0.3], "c": ["x", [[0.1], [1]]]})
    with pytest.raises(DataError) as caught:
        read_results(path)
    lines = str(caught.value).splitlines()
    assert len(lines) == 3
    assert "'a': [0.1, 0.2] has neither layout" in lines[0]
    assert "'b': has 1 differences and 2 counts" in lines[1]
    assert "'c': 'ec'" in lines[2]


@pytest.mark.parametrize(
    ("entry", "field"),
    [
        ([7, [0.1, -0.1], [1, 1], 0.5], "'ec'"),
        ([True, [0.1, -0.1], [1, 1], 0.5], "'ec'"),
        ([0.1, [0.1, -1.1], [1, 1], 0.5], "'difference.1'"),
        ([0.1, [0.1, -0.1], [1, -1], 0.5], "'counts.1'"),
        ([0.1, [0.1, -0.1], [True, 1], 0.5], "'counts.0'"),
        ([0.1, [0.1, -0.1], [1, 1], 1.5], "'overall'"),
    ],
)
def test_numbers_out_of_their_range_are_refused(tmp_path, entry, field):
    path = write(tmp_path / "r.json", {"a": entry})
    with pytest.raises(DataError) as caught:
        read_results(path)
    assert str(caught.value).startswith(f"{path}: 'a': {field}: should be")


def test_an_id_that_stands_twice_is_refused(tmp_path):
    entry = "[0.1, [[0.1], [1]]]"
    path = write(tmp_path / "r.json", f'{{"a": {entry}, "a": {entry}}}')
    with pytest.raises(DataError, match="the key 'a' twice"):
        read_results(path)


def test_what_is_no_object_is_refused(tmp_path):
    with pytest.raises(DataError, match="holds no JSON object of results"):
        read_results(write(tmp_path / "l.json", [["a"]]))
