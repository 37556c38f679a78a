"""Journals: what was appended is read back, whenever the writer was killed, and nothing else is taken for it."""

import os
import random
import signal
import subprocess
import sys
import time
import tracemalloc

import pytest
from pydantic import BaseModel

from evenhand.errors import StorageError
from evenhand.runfolder.journal import Journal


class Line(BaseModel):
    number: int
    text: str = ""


def journal_of(path, *numbers):
    """A journal of these lines on the disk; its path."""
    Journal(path, Line).append([Line(number=number) for number in numbers])
    return path


def numbers_in(path):
    return [line.number for line in Journal(path, Line)]


def test_a_journal_hands_back_what_an_earlier_process_appended(tmp_path):
    path = tmp_path / "new" / "journal.jsonl"
    first = Journal(path, Line)
    assert (len(first), list(first)) == (0, [])
    first.append([Line(number=1), Line(number=2, text="\u2028 ä")])
    first.append([Line(number=3)])
    again = Journal(path, Line)
    assert list(again) == list(first) == [Line(number=1), Line(number=2, text="\u2028 ä"), Line(number=3)]
    assert len(again) == 3
    assert (again[1], again[-1]) == (Line(number=2, text="\u2028 ä"), Line(number=3))


def test_each_line_has_its_number_and_a_digest_of_the_line_before_and_of_its_record(tmp_path):
    path = journal_of(tmp_path / "journal.jsonl", 7, 8)
    # printf '{"number":7,"text":""}' | sha256sum; the second with the first's digest before the record
    assert path.read_text().splitlines() == [
        '{"line":0,"digest":"d678eacf07759b15","record":{"number":7,"text":""}}',
        '{"line":1,"digest":"45823d333811955b","record":{"number":8,"text":""}}',
    ]


def test_a_torn_last_line_is_cut_off_and_the_journal_goes_on(tmp_path):
    path = journal_of(tmp_path / "journal.jsonl", 1)
    with path.open("ab") as file:
        # torn in the middle of a character of two bytes
        file.write(b'{"line":1,"digest":"0123456789abcdef","record":{"number":2,"text":"\xc3')
    journal = Journal(path, Line)
    assert list(journal) == [Line(number=1)]
    journal.append([Line(number=3)])
    assert numbers_in(path) == [1, 3]


def test_wherever_the_file_is_torn_the_whole_lines_before_are_kept(tmp_path):
    data = journal_of(tmp_path / "whole.jsonl", 1, 2).read_bytes()
    path = tmp_path / "journal.jsonl"
    for cut in range(len(data) + 1):
        path.write_bytes(data[:cut])
        assert len(Journal(path, Line)) == data[:cut].count(b"\n")


def lost(lines):
    del lines[1]


def doubled(lines):
    lines.insert(2, lines[1])


def exchanged(lines):
    lines[1], lines[2] = lines[2], lines[1]


def altered(lines):
    lines[1] = lines[1].replace('"number":2', '"number":9')


def altered_with_its_digest(lines):
    lines[1] = lines[1].replace('"number":2', '"number":9').replace(lines[1][20:36], "0123456789abcdef")


def renumbered(lines):
    del lines[1]
    lines[1] = lines[1].replace('"line":2', '"line":1')


def cut_short(lines):
    lines[1] = lines[1][:30] + "\n"


def of_another_journal(lines):
    lines[1] = lines[1].replace(lines[1][20:36], "0123456789abcdef")


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (lost, "has the number 2 where 1 is expected: lines before it are lost"),
        (doubled, "has the number 1 where 2 is expected: it occurs there twice"),
        (exchanged, "has the number 2 where 1 is expected"),
        (altered, "was altered"),
        (altered_with_its_digest, "was altered"),
        (renumbered, "was altered"),
        (cut_short, "is damaged"),
        (of_another_journal, "was altered"),
    ],
)
def test_a_line_lost_doubled_exchanged_or_altered_is_refused_with_its_place_and_mended_as_said(
    tmp_path, damage, problem
):
    path = journal_of(tmp_path / "journal.jsonl", 1, 2, 3, 4)
    lines = path.read_text().splitlines(keepends=True)
    damage(lines)
    path.write_text("".join(lines))
    with pytest.raises(StorageError, match=problem) as caught:
        Journal(path, Line)
    assert path.read_text() == "".join(lines), "nothing was deleted"
    place, _, remedy = str(caught.value).partition(": ")
    name, _, line = place.rpartition(":")
    assert name == str(path)
    assert "Delete the line named and all lines after it" in remedy
    path.write_text("".join(lines[: int(line) - 1]))
    kept = numbers_in(path)
    assert kept == [1, 2, 3, 4][: len(kept)]
    assert len(kept) >= 1


def test_a_journal_without_digests_is_named_as_another_versions_and_kept(tmp_path):
    path = tmp_path / "journal.jsonl"
    path.write_text('{"number":1}\n{"number":2}\n{"numb')
    with pytest.raises(
        StorageError, match=r"journal\.jsonl:1: is not a line of this version's journals.*move the file"
    ):
        Journal(path, Line)
    assert path.read_text() == '{"number":1}\n{"number":2}\n{"numb'


def test_a_record_of_another_shape_is_named_with_its_line(tmp_path):
    class Other(BaseModel):
        name: str

    journal = Journal(journal_of(tmp_path / "journal.jsonl", 1), Other)
    with pytest.raises(StorageError, match=r"journal\.jsonl:1: 'name': is missing"):
        list(journal)


def test_a_closed_journal_takes_no_more_lines(tmp_path):
    journal = Journal(tmp_path / "journal.jsonl", Line)
    journal.append([Line(number=1)])
    journal.close()
    with pytest.raises(AssertionError, match="is closed"):
        journal.append([Line(number=2)])
    assert numbers_in(journal.path) == [1]


def test_a_place_that_cannot_be_written_is_named_with_a_way_out(tmp_path):
    # below a file no folder can be made, not even by root
    (tmp_path / "file").touch()
    place = tmp_path / "file" / "x" / "out.jsonl"
    with pytest.raises(StorageError, match=r"out\.jsonl: cannot be written: Not a directory.*same command again"):
        Journal(place, Line).append([Line(number=1)])


def test_records_are_not_held_in_memory(tmp_path):
    path = tmp_path / "journal.jsonl"
    # 20 MB in 20 appends
    journal = Journal(path, Line)
    for start in range(0, 2000, 100):
        journal.append([Line(number=start + i, text="x" * 10_000) for i in range(100)])
    tracemalloc.start()
    try:
        assert sum(line.number for line in Journal(path, Line)) == 1999 * 1000
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2**20


WRITER = """
import sys
from pathlib import Path
from pydantic import BaseModel
from evenhand.runfolder.journal import Journal

class Line(BaseModel):
    number: int
    text: str

journal = Journal(Path(sys.argv[1]), Line)
while True:
    journal.append([Line(number=len(journal), text="ä" * 20_000)])
"""


def test_a_kill_in_the_middle_of_appending_leaves_a_readable_journal(tmp_path):
    path = tmp_path / "journal.jsonl"
    moments = random.Random(0)  # noqa: S311
    n_before = 0
    for _ in range(5):
        child = subprocess.Popen([sys.executable, "-c", WRITER, str(path)])
        while not path.exists() or path.stat().st_size <= n_before * 40_100:
            assert child.poll() is None
            time.sleep(0.005)
        time.sleep(moments.uniform(0, 0.05))
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        numbers = numbers_in(path)
        assert numbers == list(range(len(numbers)))
        assert len(numbers) >= n_before, "a line that was flushed is lost"
        n_before = len(numbers)
    assert n_before > 0
