"""Stages: what is done is not done again, what changed is put aside, and a kill loses only what was in flight."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from pydantic import BaseModel

from evenhand.errors import StorageError
from evenhand.runfolder.journal import Journal
from evenhand.runfolder.stages import Counts, Stage, read_receipt
from evenhand.runfolder.timing import booked
from evenhand.storage import read_jsonl, write_text


def stage(folder, inputs="a", outputs=("out.txt",), name="generate"):
    return Stage(name, folder, inputs, outputs)


def writer(folder, text="made", name="out.txt"):
    """A stage's work; how often it ran is the number of lines in `ran`."""

    def work():
        write_text(folder / name, text)
        with (folder / "ran").open("a") as file:
            file.write("x\n")
        return Counts.model_validate({"made": 1})

    return work


def times_ran(folder):
    return (folder / "ran").read_text().count("\n")


def test_a_stage_works_once_and_is_reused_after_that(tmp_path):
    receipt, reused = stage(tmp_path).run(writer(tmp_path))
    again, reused_again = stage(tmp_path).run(writer(tmp_path))
    assert (reused, reused_again) == (False, True)
    assert again == receipt
    assert times_ran(tmp_path) == 1
    assert receipt.counts == {"made": 1}
    assert receipt.versions["evenhand"]


def test_what_the_same_stage_made_elsewhere_is_copied_and_not_made_again(tmp_path):
    here, there = tmp_path / "here", tmp_path / "there"
    made, _ = stage(there).run(writer(there))
    assert stage(here).adopt(there)
    receipt, reused = stage(here).run(writer(here))
    assert (receipt, reused) == (made, True)
    assert (here / "out.txt").read_text() == "made"
    # a copy: what happens to it there changes nothing here
    write_text(there / "out.txt", "changed")
    assert stage(here).receipt() == made


def test_a_folder_is_copied_whole(tmp_path):
    here, there = tmp_path / "here", tmp_path / "there"
    adapter = Stage("train", there, "a", ("adapter",))
    adapter.run(lambda: write_text(there / "adapter" / "in" / "weights", "w") or Counts())
    # half a copy, as a kill would leave it, and a file of something else
    write_text(here / "adapter" / "in" / "weights", "")
    write_text(here / "adapter" / "stale", "")
    assert Stage("train", here, "a", ("adapter",)).adopt(there)
    assert (here / "adapter" / "in" / "weights").read_text() == "w"
    assert Stage("train", here, "a", ("adapter",)).receipt()


@pytest.mark.parametrize("spoil", ["inputs", "file", "receipt", "damage"])
def test_nothing_is_taken_over_that_was_made_from_other_inputs_or_changed_since(tmp_path, spoil):
    here, there = tmp_path / "here", tmp_path / "there"
    stage(there, inputs="b" if spoil == "inputs" else "a").run(writer(there))
    if spoil == "file":
        write_text(there / "out.txt", "changed")
    if spoil == "receipt":
        stage(there).receipt_path.unlink()
    if spoil == "damage":
        write_text(stage(there).receipt_path, "{")
    assert not stage(here).adopt(there)
    assert not here.exists()


def test_what_is_done_is_not_replaced_and_what_is_old_is_put_aside(tmp_path):
    here, there = tmp_path / "here", tmp_path / "there"
    stage(there).run(writer(there))
    stage(here).run(writer(here, "own"))
    assert not stage(here).adopt(there)
    assert (here / "out.txt").read_text() == "own"
    stage(there, inputs="b").run(writer(there, "new"))
    assert stage(here, inputs="b").adopt(there)
    assert (here / "out.txt").read_text() == "new"
    assert [path.read_text() for path in (here / "superseded").rglob("out.txt")] == ["own"]


def test_a_receipt_says_how_long_models_took(tmp_path):
    def work():
        with booked("models"):
            time.sleep(0.02)
        return writer(tmp_path)()

    receipt, _ = stage(tmp_path).run(work)
    assert receipt.spent.keys() == {"models"}
    assert 0.02 <= receipt.spent["models"] <= receipt.seconds


def test_a_receipt_is_a_file_a_person_can_read(tmp_path):
    stage(tmp_path, inputs={"b": 1, "a": 2}).run(writer(tmp_path))
    found = json.loads((tmp_path / "receipts" / "generate.json").read_text())
    assert found["stage"] == "generate"
    # printf made | sha256sum
    assert found["outputs"] == {"out.txt": "ea0890697a77af0a"}
    # the order of keys does not matter, and nothing but the inputs does
    assert found["inputs"] == stage(tmp_path / "elsewhere", inputs={"a": 2, "b": 1}).key


def test_changed_inputs_put_the_old_files_aside_and_delete_nothing(tmp_path):
    first = stage(tmp_path, inputs="a")
    first.run(writer(tmp_path, "one"))
    stage(tmp_path, inputs="b").run(writer(tmp_path, "two"))
    aside = tmp_path / "superseded" / f"generate-{first.key}"
    assert (tmp_path / "out.txt").read_text() == "two"
    assert (aside / "out.txt").read_text() == "one"
    assert read_receipt(aside / "generate.json").inputs == first.key
    # back to the first inputs, and to the second again: each time all earlier files are kept
    stage(tmp_path, inputs="a").run(writer(tmp_path, "three"))
    stage(tmp_path, inputs="b").run(writer(tmp_path, "four"))
    kept = sorted(path.read_text() for path in tmp_path.rglob("out.txt"))
    assert kept == ["four", "one", "three", "two"]


def test_folders_are_put_aside_too(tmp_path):
    def work():
        write_text(tmp_path / "adapter" / "weights", "w")
        return Counts()

    stage(tmp_path, "a", ("adapter",)).run(work)
    stage(tmp_path, "b", ("adapter",)).run(work)
    assert len(list(tmp_path.rglob("weights"))) == 2


@pytest.mark.parametrize("damage", ["changed", "removed"])
def test_a_damaged_output_is_noticed_and_made_again(tmp_path, damage):
    stage(tmp_path).run(writer(tmp_path))
    if damage == "changed":
        (tmp_path / "out.txt").write_text("mada")
    else:
        (tmp_path / "out.txt").unlink()
    assert stage(tmp_path).receipt() is None
    _, reused = stage(tmp_path).run(writer(tmp_path))
    assert not reused
    assert (tmp_path / "out.txt").read_text() == "made"
    if damage == "changed":
        assert [p.read_text() for p in (tmp_path / "superseded").rglob("out.txt")] == ["mada"]


def test_a_stage_that_came_to_make_another_file_is_run_anew(tmp_path):
    stage(tmp_path).run(writer(tmp_path))
    assert stage(tmp_path, outputs=("out.txt", "more.txt")).receipt() is None


def test_stages_of_one_phase_have_receipts_of_their_own(tmp_path):
    stage(tmp_path).run(writer(tmp_path))
    _, reused = stage(tmp_path, name="judge", outputs=("judged.txt",)).run(writer(tmp_path, name="judged.txt"))
    assert not reused
    assert stage(tmp_path).receipt() is not None


def test_a_failed_stage_leaves_no_receipt_and_can_be_started_again(tmp_path):
    def fail():
        write_text(tmp_path / "out.txt", "half")
        raise StorageError("disk full")

    with pytest.raises(StorageError, match="disk full"):
        stage(tmp_path).run(fail)
    assert stage(tmp_path).receipt() is None
    _, reused = stage(tmp_path).run(writer(tmp_path))
    assert not reused


def test_a_stage_that_does_not_make_its_output_fails(tmp_path):
    with pytest.raises(StorageError, match=r"out\.txt: cannot be read"):
        stage(tmp_path).run(Counts)
    assert stage(tmp_path).receipt() is None


def test_a_damaged_receipt_is_named_with_a_way_out(tmp_path):
    stage(tmp_path).run(writer(tmp_path))
    path = tmp_path / "receipts" / "generate.json"
    path.write_text(path.read_text()[:50])
    with pytest.raises(StorageError, match=r"generate\.json: is not a receipt: is not JSON.*delete it"):
        stage(tmp_path).run(writer(tmp_path))


def test_a_folder_that_cannot_be_written_is_named_with_a_way_out(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match=r"file/round-00: cannot be written: .*--set output=FOLDER"):
        stage(tmp_path / "file" / "round-00").run(Counts)


class Line(BaseModel):
    number: int


WORKER = """
import sys, time
from pathlib import Path
from pydantic import BaseModel
from evenhand.runfolder.journal import Journal
from evenhand.runfolder.stages import Counts, Stage
from evenhand.storage import write_jsonl

class Line(BaseModel):
    number: int

folder, pause = Path(sys.argv[1]), float(sys.argv[2])
stage = Stage("generate", folder, "a", ("lines.jsonl",))

def work():
    journal = Journal(stage.journal_path(), Line)
    resumed = len(journal)
    for number in range(resumed, 8):
        time.sleep(pause)
        journal.append([Line(number=number)])
    write_jsonl(folder / "lines.jsonl", list(journal))
    return Counts.model_validate({"resumed": resumed})

receipt, reused = stage.run(work)
print(receipt.counts["resumed"], reused)
"""


def start(folder, pause):
    return subprocess.Popen([sys.executable, "-c", WORKER, str(folder), str(pause)], stdout=subprocess.PIPE, text=True)


def wait_for_lines(folder, count, child):
    path = Stage("generate", folder, "a", ("lines.jsonl",)).journal_path()
    while not path.exists() or path.read_text().count("\n") < count:
        assert child.poll() is None
        time.sleep(0.01)
    return path


def test_a_killed_stage_goes_on_where_it_stopped_and_ends_with_the_same_bytes(tmp_path):
    killed, undisturbed = tmp_path / "killed", tmp_path / "undisturbed"
    child = start(killed, 0.3)
    journal = wait_for_lines(killed, 3, child)
    os.kill(child.pid, signal.SIGKILL)
    child.communicate()
    n_kept = journal.read_text().count("\n")
    said, _ = start(killed, 0).communicate(timeout=60)
    assert said.split() == [str(n_kept), "False"]
    start(undisturbed, 0).communicate(timeout=60)
    assert (killed / "lines.jsonl").read_bytes() == (undisturbed / "lines.jsonl").read_bytes()
    assert [line.number for line in read_jsonl(killed / "lines.jsonl", Line)] == list(range(8))
    assert not journal.exists(), "a finished stage keeps no journal"
    said, _ = start(killed, 0).communicate(timeout=60)
    assert said.split()[1] == "True"


def test_the_journal_outlives_the_finished_file_until_the_receipt_is_there(tmp_path):
    # a kill between the last file and the receipt must not cost the work again
    work_place = stage(tmp_path)
    journal = Journal(work_place.journal_path(), Line)

    def work():
        journal.append([Line(number=1)])
        write_text(tmp_path / "out.txt", "made")
        journal.close()
        assert work_place.journal_path().exists()
        return Counts()

    work_place.run(work)
    assert not work_place.journal_path().exists()


def test_a_journal_that_a_kill_left_beside_the_receipt_is_removed(tmp_path):
    stage(tmp_path).run(writer(tmp_path))
    Journal(stage(tmp_path).journal_path(), Line).append([Line(number=1)])
    assert stage(tmp_path).run(writer(tmp_path))[1]
    assert not stage(tmp_path).journal_path().exists()


def test_a_journal_of_other_inputs_is_not_taken_up(tmp_path):
    assert stage(tmp_path, inputs="a").journal_path() != stage(tmp_path, inputs="b").journal_path()
