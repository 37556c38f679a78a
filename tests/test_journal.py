"""Journals: what was appended is read back, whenever the writer was killed."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest
from pydantic import BaseModel

from evenhand.errors import StorageError
from evenhand.journal import Journal


class Line(BaseModel):
    number: int
    text: str = ""


def test_a_journal_hands_back_what_an_earlier_process_appended(tmp_path):
    path = tmp_path / "new" / "journal.jsonl"
    first = Journal(path, Line)
    first.append([Line(number=1), Line(number=2, text="\u2028 ä")])
    first.append([Line(number=3)])
    again = Journal(path, Line)
    assert again.records == first.records == [Line(number=1), Line(number=2, text="\u2028 ä"), Line(number=3)]


def test_a_torn_last_line_is_cut_off_and_the_journal_goes_on(tmp_path):
    path = tmp_path / "journal.jsonl"
    # torn in the middle of a character of two bytes
    path.write_bytes(b'{"number":1}\n{"number":2,"text":"\xc3')
    journal = Journal(path, Line)
    assert journal.records == [Line(number=1)]
    journal.append([Line(number=3)])
    assert [line.number for line in Journal(path, Line).records] == [1, 3]


@pytest.mark.parametrize("cut", range(28))
def test_wherever_the_file_is_torn_the_whole_lines_before_are_kept(tmp_path, cut):
    # two lines of 14 bytes each
    lines = b'{"number": 1}\n{"number": 2}\n'
    path = tmp_path / "journal.jsonl"
    path.write_bytes(lines[:cut])
    assert len(Journal(path, Line).records) == cut // 14


def test_a_damaged_middle_line_is_named_with_file_line_and_remedy(tmp_path):
    path = tmp_path / "journal.jsonl"
    path.write_text('{"number":1}\n{"numb\n{"number":3}\n')
    with pytest.raises(StorageError) as caught:
        Journal(path, Line)
    assert str(caught.value).startswith(f"{path}:2: is not JSON")
    assert "all lines after it" in str(caught.value)
    assert path.read_text().count("\n") == 3, "nothing was deleted"


def test_a_closed_journal_takes_no_more_lines(tmp_path):
    journal = Journal(tmp_path / "journal.jsonl", Line)
    journal.append([Line(number=1)])
    journal.close()
    with pytest.raises(AssertionError, match="is closed"):
        journal.append([Line(number=2)])
    assert Journal(journal.path, Line).records == [Line(number=1)]


def test_a_place_that_cannot_be_written_is_named_with_a_way_out(tmp_path):
    # below a file no folder can be made, not even by root
    (tmp_path / "file").touch()
    place = tmp_path / "file" / "x" / "out.jsonl"
    with pytest.raises(StorageError, match=r"out\.jsonl: cannot be written: Not a directory.*same command again"):
        Journal(place, Line).append([Line(number=1)])


WRITER = """
import sys
from pathlib import Path
from pydantic import BaseModel
from evenhand.journal import Journal

class Line(BaseModel):
    number: int
    text: str

journal = Journal(Path(sys.argv[1]), Line)
while True:
    journal.append([Line(number=len(journal.records), text="ä" * 20_000)])
"""


def test_a_kill_in_the_middle_of_appending_leaves_a_readable_journal(tmp_path):
    path = tmp_path / "journal.jsonl"
    moments = random.Random(0)  # noqa: S311
    n_before = 0
    for _ in range(5):
        child = subprocess.Popen([sys.executable, "-c", WRITER, str(path)])
        while not path.exists() or path.stat().st_size <= n_before * 40_000:
            assert child.poll() is None
            time.sleep(0.005)
        time.sleep(moments.uniform(0, 0.05))
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        numbers = [line.number for line in Journal(path, Line).records]
        assert numbers == list(range(len(numbers)))
        assert len(numbers) >= n_before, "a line that was flushed is lost"
        n_before = len(numbers)
    assert n_before > 0
