"""The folder of a result: what is refused, what is replaced and said, and what is left alone."""

import json
import os

import pytest
from pydantic import BaseModel

from evenhand.errors import DataError
from evenhand.evaluation.pages.blocks import Page
from evenhand.evaluation.pages.folder import Result, check_folder, has

RESULT = Result(
    "trial", "trial.json", "trial.md", is_ours=has("subject", "n"), named=lambda found: f"the trial of {found['subject']}",
    key=lambda found: (found["subject"], found["n"]), others=("lines.jsonl",),
)  # fmt: skip
PAGE = Page("trial", "about", "A title", (), (), (), (), "The end.")


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
    with pytest.raises(DataError, match=f"holds {name}, which no trial wrote; name another folder"):
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


def test_what_is_ours_is_for_the_caller_to_say(tmp_path):
    (tmp_path / "best.jsonl").write_text("")
    check_folder(tmp_path, ["best.jsonl"], "score", is_ours=True)
    with pytest.raises(DataError, match=r"holds best\.jsonl, which no score wrote"):
        check_folder(tmp_path, ["best.jsonl"], "score", is_ours=False)
