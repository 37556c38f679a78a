"""A calibration that contradicts itself is not read: whatever acts on its words acts on its figures."""

import ast
import json
from pathlib import Path

import pytest
from calibrated import make_judge, write_calibration

from evenhand.errors import DataError
from evenhand.judges import calibration
from evenhand.judges.calibration import known_of, read_calibration

BARE = {"value": 0.2, "low": None, "high": None}
BELOW = {"value": -0.1, "low": -0.2, "high": -0.05}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (lambda judge: judge.update(beside=[]), "'judges.0.beside'"),
        (lambda judge: judge["beside"][0].update(of="rouge2-recall"), "and must be length"),
        (lambda judge: judge["beside"][0].update(difference=BARE), "the difference says 'no clear difference'"),
        (lambda judge: judge["beside"][0].update(difference=BELOW), "the difference says 'below'"),
        (lambda judge: judge["own"]["within"].update(low=0.55), "0.5 does not lie in an interval from 0.55"),
        (lambda judge: judge["own"]["within"].update(low=0.9), "an interval from 0.9 to 0.6 has no number in it"),
        (lambda judge: judge["own"]["pooled"].update(value=2, high=3), "a correlation lies between -1 and 1"),
        (lambda judge: judge.update(unscored=200), "left 200 of 199 summaries unscored"),
        (lambda judge: judge.update(unscored=199), "scored nothing, and agrees by 0.5"),
        (lambda judge: judge.pop("cost"), "'judges.0.cost': is missing"),
    ],
)
def test_what_contradicts_itself_is_refused(tmp_path, changes, said):
    path = write_calibration(tmp_path / "calibration.json", make_judge("fit|v:1"))
    whole = json.loads(path.read_text())
    changes(whole["judges"][0])
    path.write_text(json.dumps(whole))
    with pytest.raises(DataError) as caught:
        read_calibration(path)
    assert said in str(caught.value) and "evenhand judges audit SETS" in str(caught.value)


@pytest.mark.parametrize("text", ["", "{", '{"format": NaN}'])
def test_what_is_no_json_is_said_by_its_line(tmp_path, text):
    path = tmp_path / "calibration.json"
    path.write_text(text)
    with pytest.raises(DataError, match=r"calibration.json:1: .*judges audit"):
        read_calibration(path)


def test_a_judge_is_known_by_its_signature_and_what_it_is_to_measure(tmp_path):
    found = read_calibration(write_calibration(tmp_path / "calibration.json", make_judge("fit|v:1")))
    assert [*known_of({"a": "fit|v:1"}, [found], {"a": "coverage"})] == ["a"]
    assert known_of({"a": "fit|v:1"}, [found], {"a": "faithfulness"}) == {}
    # where its section does not say, it is what it was audited for
    assert [*known_of({"a": "fit|v:1"}, [found], {"a": None})] == ["a"]


def test_a_file_of_an_earlier_format_is_refused_with_what_writes_it_again(tmp_path):
    path = write_calibration(tmp_path / "calibration.json", make_judge("fit|v:1"))
    path.write_text(path.read_text().replace("evenhand-calibration/3", "evenhand-calibration/2"))
    with pytest.raises(DataError, match=r"evenhand-calibration/3.*`evenhand judges audit SETS .*` writes it again"):
        read_calibration(path)


def test_numbers_of_judges_have_one_record():
    root = Path(calibration.__file__).parents[1]
    files = [root / "judges" / "calibration.py", *(root / "plugins" / "judge_studies").glob("*.py")]
    classes = (
        each for file in files for each in ast.walk(ast.parse(file.read_text())) if isinstance(each, ast.ClassDef)
    )
    fields = {each.name: {x.target.id for x in each.body if isinstance(x, ast.AnnAssign)} for each in classes}
    assert [name for name, its in fields.items() if {"low", "high"} <= its] == []
