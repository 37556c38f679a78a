"""Results are written whole or not at all: on a full disk, under kills, and by several commands at once."""

import os
import resource
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from pydantic import BaseModel

from evenhand.errors import DataError, StorageError
from evenhand.evaluation.pages.blocks import Page, Prose
from evenhand.evaluation.pages.folder import Result, has
from evenhand.runfolder.journal import Journal
from evenhand.runfolder.processes import COMMAND, hold
from evenhand.storage import write_together


class Found(BaseModel):
    number: int
    of_it: str = "x"


RESULT = Result("trial", "trial.json", "trial.md", has("of_it"), lambda found: "a trial", lambda found: found["number"])


def page(number):
    return Page(
        kind="trial",
        title=f"Number {number}",
        about="a trial",
        findings=(),
        warnings=(),
        main=(),
        body=(Prose(f"number {number}"),),
        footer="f",
    )


def write(out, number):
    RESULT.write(out, Found(number=number), page(number), {"records.jsonl": [Found(number=number)]})


@contextmanager
def room(n_bytes):
    """No file of this process grows beyond that."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("n_bytes", [0, 1, 30, 100])
def test_a_full_disk_is_said_and_leaves_the_earlier_result_whole(tmp_path, n_bytes):
    write(tmp_path, 1)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with room(n_bytes), pytest.raises(DataError, match=r"cannot be written: .*; make room, or name another folder"):
        write(tmp_path, 2)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_a_lock_on_a_full_disk_is_said(tmp_path):
    with room(0), pytest.raises(StorageError, match=r"\.lock: cannot be written: .*; make room"), hold(tmp_path):
        pytest.fail("it cannot be held")
    with hold(tmp_path):
        pass


def test_a_journal_on_a_full_disk_is_said_and_goes_on_later(tmp_path):
    path = tmp_path / "s.0123456789abcdef.partial.jsonl"
    Journal(path, Found).append([Found(number=0)])
    with room(200), pytest.raises(StorageError, match=r"cannot be written: .*; make room"):
        Journal(path, Found).append([Found(number=n) for n in range(9)])
    journal = Journal(path, Found)
    journal.append([Found(number=9)])
    assert [each.number for each in journal][-1] == 9


KILLED = """
import os, pathlib, sys
from evenhand.storage import write_together
path, stop, renames = pathlib.Path(sys.argv[1]), int(sys.argv[2]), []
def audit(event, args):
    if event == "os.rename":
        renames.append(args)
        if len(renames) > stop:
            os._exit(9)
sys.addaudithook(audit)
write_together({path / name: ["new"] for name in ("a.json", "b.jsonl", "index.html")})
"""


@pytest.mark.parametrize("n_renames", [0, 1, 2, 3])
def test_a_page_is_never_beside_files_of_another_result(tmp_path, n_renames):
    write_together({tmp_path / name: ["old"] for name in ("a.json", "b.jsonl", "index.html")})
    root = Path(sys.modules["evenhand"].__path__[0]).parent
    run = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path), str(n_renames)], cwd=root, check=False)
    assert run.returncode == (9 if n_renames < 3 else 0)
    left = {path.name: path.read_text() for path in tmp_path.glob("[!.]*")}
    if "index.html" in left:
        assert set(left.values()) == {"new"}
    else:
        assert n_renames < 3


def test_of_two_commands_in_one_folder_one_is_refused(tmp_path):
    with RESULT.begun(tmp_path / "out", 1, None):
        other = "import sys, pathlib\nfrom evenhand.runfolder.processes import hold\nwith hold(pathlib.Path(sys.argv[1])): pass"
        root = Path(sys.modules["evenhand"].__path__[0]).parent
        # nobody's child
        environment = {name: value for name, value in os.environ.items() if name != COMMAND}
        command = [sys.executable, "-c", other, str(tmp_path / "out")]
        run = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    assert "is at work there, another command may not write" in run.stderr
    with RESULT.begun(tmp_path / "out", 1, None):
        pass


def test_a_folder_made_for_nothing_is_gone_and_others_stay(tmp_path):
    (tmp_path / "mine").mkdir()
    for name in ("new", "mine"):
        with pytest.raises(DataError), RESULT.begun(tmp_path / name, 1, None):
            raise DataError("nothing to measure")
    assert not (tmp_path / "new").exists()
    assert (tmp_path / "mine").is_dir()
