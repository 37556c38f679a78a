"""The folder of a result: what is refused, what is replaced and said, and what is left alone."""

import dataclasses
import json
import os
from pathlib import Path

import pytest
from pydantic import BaseModel

from evenhand.errors import DataError
from evenhand.evaluation.pages.blocks import Page
from evenhand.evaluation.pages.folder import Result, check_folder, has

RESULT = Result(
    "trial", "trial.json", "trial.md", is_ours=has("subject", "n"), named=lambda found: f"the trial of {found['subject']}",
    key=lambda found: (found["subject"], found["n"]), others=("lines.jsonl",),
)  # fmt: skip
PAGE = Page("trial", "about", "A title", (), (), (), "The end.")


class Found(BaseModel):
    subject: str
    n: int


def write(folder, subject="pines", n=1):
    RESULT.write(folder, Found(subject=subject, n=n), PAGE, {"lines.jsonl": [Found(subject=subject, n=n)]})


def test_a_folder_that_is_there_and_one_that_is_not_yet_are_taken(tmp_path):
    RESULT.check(tmp_path)
    RESULT.check(tmp_path / "a" / "b")
    assert not (tmp_path / "a").exists()


def test_a_file_in_the_way_is_told_before_anything_is_measured(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(DataError, match=r"--out .*file: is not a folder"):
        RESULT.check(tmp_path / "file")
    with pytest.raises(DataError, match=r"--out .*trial: .*file is not a folder; name a folder"):
        RESULT.check(tmp_path / "file" / "deep" / "trial")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_rights_is_told(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(DataError, match="cannot be written; name another folder, or mend its rights"):
        RESULT.check(tmp_path / "trial")


@pytest.mark.parametrize("name", ["trial.json", "trial.md", "index.html", "tables", "lines.jsonl"])
def test_files_that_it_did_not_write_are_not_overwritten(tmp_path, name):
    (tmp_path / name).write_text('{"subject": "a letter"}')
    unsure = "" if name == "trial.json" else ", as far as can be told without its trial.json"
    with pytest.raises(DataError, match=f"holds {name}, which no trial wrote{unsure}; name another folder"):
        write(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_result_of_something_else_is_named_and_the_same_again_is_not(tmp_path):
    assert RESULT.replaced(tmp_path, ("pines", 1)) == ""
    write(tmp_path)
    assert RESULT.replaced(tmp_path, ("pines", 1)) == ""
    assert RESULT.replaced(tmp_path, ("pines", 2)) == f"{tmp_path} holds the trial of pines; it will be replaced."


def test_its_own_files_are_replaced_and_others_stay(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    write(tmp_path)
    write(tmp_path, "firs")
    assert json.loads((tmp_path / "trial.json").read_text()) == {"subject": "firs", "n": 1}
    assert {path.name for path in tmp_path.iterdir()} == {
        "notes.txt", "trial.json", "trial.md", "index.html", "lines.jsonl"
    }  # fmt: skip


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_number_that_json_has_not_is_written_as_null(tmp_path, number):
    RESULT.write(tmp_path, Found.model_construct(subject=number, n=1), PAGE, {})
    assert json.loads((tmp_path / "trial.json").read_text(), parse_constant=pytest.fail) == {"subject": None, "n": 1}


def test_what_is_ours_is_for_the_caller_to_say(tmp_path):
    (tmp_path / "best.jsonl").write_text("")
    check_folder(tmp_path, ["best.jsonl"], "score", "scores.csv", is_ours=True)
    with pytest.raises(
        DataError, match=r"best\.jsonl, which no score wrote, as far as can be told without its scores\.csv;"
    ):
        check_folder(tmp_path, ["best.jsonl"], "score", "scores.csv", is_ours=False)


@pytest.mark.parametrize(
    ("name", "text", "command"),
    [
        ("benchmark.json", '{"signatures": {}, "ties": "half", "rows": []}', "judges benchmark"),
        ("calibration.json", '{"format": "evenhand-calibration/0"}', "judges audit"),
        ("training.json", '{"judge": {}, "benchmark": {}, "gaps": [], "penalties": {}}', "judges train"),
        ("comparison.json", '{"entries": [], "budgets": [], "tests": []}', "compare"),
        ("audit.json", '{"schema_name": "evenhand-audit/2"}', "audit"),
        ("audit.json", '{"format": "evenhand-audit/9"}', "audit"),
        ("comparison.json", '{"format": "evenhand-comparison/3"}', "compare"),
        ("report.json", '{"format": "evenhand-bias-study/6"}', "bias-study"),
        ("scores.csv", "set,side,text,words,unscored,id\n", "score"),
    ],
)
def test_another_commands_result_is_said_to_be_that_commands(tmp_path, name, text, command):
    (tmp_path / name).write_text(text)
    (tmp_path / "lines.jsonl").write_text("")
    with pytest.raises(
        DataError, match=rf"holds lines\.jsonl, and the result of `evenhand {command}` lies there; name another"
    ):
        write(tmp_path)


@pytest.mark.parametrize("text", ['{"subject": "pines"}', '["subject", "n"]', '{"subject": "pines", "n": '])
def test_a_json_file_of_something_else_is_no_result(tmp_path, text):
    (tmp_path / "trial.json").write_text(text)
    with pytest.raises(DataError, match=r"holds trial\.json, which no trial wrote;"):
        RESULT.check(tmp_path)


def test_an_earlier_versions_result_that_lacks_keys_is_replaced_and_said(tmp_path):
    result = dataclasses.replace(RESULT, is_ours=has("n"))
    (tmp_path / "trial.json").write_text('{"n": 1}')
    result.check(tmp_path)
    assert result.replaced(tmp_path, ("pines", 1)) == f"{tmp_path} holds an earlier trial; it will be replaced."


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="there is no /proc")
@pytest.mark.parametrize("folder", ["/proc/trial", "/proc"])
def test_a_folder_that_takes_no_files_is_told_whatever_its_rights(folder):
    with pytest.raises(DataError, match=r"/proc cannot be written; name another folder"):
        RESULT.check(Path(folder))
