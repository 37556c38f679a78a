"""A run folder that somebody else has made changes no file outside of it, whatever links lie in it."""

import os
import sys
from pathlib import Path

import pytest

from evenhand.errors import EvenhandError, StorageError
from evenhand.records import Record
from evenhand.runfolder.journal import Journal
from evenhand.runfolder.own_files import own_files
from evenhand.runfolder.processes import LOCK, hold, holder_of, run_child
from evenhand.runfolder.stages import Counts, Stage
from evenhand.storage import write_json, write_jsonl, write_text

VALUABLE = "not evenhand's, without an end of its line"


class Line(Record):
    text: str


def lock(path):
    with hold(path.parent):
        pass


def journal(path):
    Journal(path, Line).append([Line(text="a")])


def log(path):
    run_child([sys.executable, "-c", "print('said')"], path)


# what writes in place, and the name of its file
IN_PLACE = {
    "lock": (lock, LOCK),
    "log": (log, "logs/round-00.generate.log"),
    "journal": (journal, "receipts/generate.0123456789abcdef.partial.jsonl"),
    "account": (journal, "costs.jsonl"),
}
# what writes a file whole
WHOLE = {
    "text": (lambda path: write_text(path, "a"), "recipe.yaml"),
    "receipt": (lambda path: write_json(path, {}), "receipts/generate.json"),
    "lines": (lambda path: write_jsonl(path, [Line(text="a")]), "round-00/candidates.jsonl"),
    "progress": (lambda path: write_text(path, "{}"), "receipts/generate.progress"),
}


def put(path, kind, outside):
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "link":
        path.symlink_to(outside)
    elif kind == "link of a link":
        between = path.with_name("between")
        between.symlink_to(outside)
        path.symlink_to(between)
    elif kind == "hard link":
        os.link(outside, path)
    elif kind == "link to nothing":
        path.symlink_to(outside.with_name("created"))
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/null")


@pytest.fixture
def outside(tmp_path):
    path = tmp_path / "valuable.txt"
    path.write_text(VALUABLE)
    yield path
    assert path.read_text() == VALUABLE
    assert not path.with_name("created").exists()


@pytest.mark.parametrize("kind", ["link", "link of a link", "link to nothing", "pipe", "device"])
@pytest.mark.parametrize("name", IN_PLACE)
def test_what_is_written_in_place_follows_no_link(name, kind, tmp_path, outside):
    write, place = IN_PLACE[name]
    path = tmp_path / "run" / place
    put(path, kind, outside)
    with pytest.raises(StorageError, match=r"is a link or no file.*delete it"):
        write(path)


@pytest.mark.parametrize("kind", ["link", "hard link", "link to nothing", "pipe"])
@pytest.mark.parametrize("name", WHOLE)
def test_what_is_written_whole_takes_the_place_of_a_link(name, kind, tmp_path, outside):
    write, place = WHOLE[name]
    path = tmp_path / "run" / place
    put(path, kind, outside)
    # a name that can be known before
    put(path.with_name(f".{path.name}.{os.getpid()}.evenhand.tmp"), kind if kind != "pipe" else "link", outside)
    write(path)
    assert path.is_file()
    assert not path.is_symlink()


@pytest.mark.parametrize("name", [*IN_PLACE, *WHOLE])
def test_a_folder_on_another_disk_is_written_as_usual(name, tmp_path):
    write, place = (IN_PLACE | WHOLE)[name]
    (tmp_path / "disk").mkdir()
    (tmp_path / "runs").symlink_to(tmp_path / "disk")
    for _ in range(2):
        write(tmp_path / "runs" / "run" / place)
    assert (tmp_path / "disk" / "run" / place).is_file()


@pytest.mark.parametrize("kind", ["link", "hard link"])
def test_adopted_files_replace_links(kind, tmp_path, outside):
    finished, new = (Stage("s", tmp_path / name, {}, ("out.txt",)) for name in ("finished", "new"))
    finished.run(lambda: write_text(finished.folder / "out.txt", "made") or Counts())
    put(new.folder / "out.txt", kind, outside)
    assert new.adopt(finished.folder)
    assert (new.folder / "out.txt").read_text() == "made"


@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_a_folder_that_a_library_writes_in_has_no_links(kind, tmp_path, outside):
    folder = tmp_path / "checkpoints"
    (folder / "checkpoint-1").mkdir(parents=True)
    (folder / "checkpoint-1" / "state.json").write_text("{}")
    own_files(folder)
    own_files(tmp_path / "nowhere")
    put(folder / "checkpoint-2" / "model.safetensors", kind, outside)
    with pytest.raises(StorageError, match=r"model\.safetensors: is a link"):
        own_files(folder)


@pytest.mark.parametrize("name", IN_PLACE)
def test_a_backup_of_hard_links_keeps_what_it_has_and_refuses_nothing(name, tmp_path):
    write, place = IN_PLACE[name]
    path, backup = tmp_path / "run" / place, tmp_path / "backup"
    path.parent.mkdir(parents=True)
    write(path)
    for number in range(2):
        before = path.read_bytes()
        os.link(path, backup.with_suffix(f".{number}"))
        write(path)
        assert backup.with_suffix(f".{number}").read_bytes() == before
        assert path.stat().st_nlink == 1
    assert name == "lock" or path.read_bytes().startswith(before)
    assert sorted(each.name for each in path.parent.iterdir()) == [path.name]


@pytest.mark.parametrize("name", IN_PLACE)
def test_a_foreign_file_of_several_names_is_not_written(name, tmp_path, outside):
    write, place = IN_PLACE[name]
    put(tmp_path / "run" / place, "hard link", outside)
    write(tmp_path / "run" / place)
    assert (tmp_path / "run" / place).stat().st_nlink == 1


def test_a_lock_that_is_held_stays_held_when_a_backup_links_it(tmp_path):
    with hold(tmp_path):
        os.link(tmp_path / LOCK, tmp_path / "backup")
        # a process may hold what it holds
        with hold(tmp_path):
            pass
        before = (tmp_path / "backup").read_bytes()
        token = os.environ.pop("EVENHAND_COMMAND")
        with pytest.raises(StorageError, match="is at work there"), hold(tmp_path):
            pass
        os.environ["EVENHAND_COMMAND"] = token
        assert (tmp_path / "backup").read_bytes() == before


def test_checkpoints_in_a_backup_of_hard_links_are_files_of_their_own(tmp_path, outside):
    folder = tmp_path / "checkpoints"
    put(folder / "checkpoint-2" / "state.json", "hard link", outside)
    own_files(folder)
    (folder / "checkpoint-2" / "state.json").write_text("new")


# what somebody may have put into a lock
LOCKS = {
    "pid a text": '{"host": "HOST", "pid": "12", "command": "c", "token": "t", "recipe": ""}',
    "pid below one": '{"host": "HOST", "pid": -1, "command": "c", "token": "t", "recipe": ""}',
    "pid huge": '{"host": "HOST", "pid": 1000000000000000000000, "command": "c", "token": "t", "recipe": ""}',
    "pid null": '{"host": "HOST", "pid": null, "command": "c", "token": "t", "recipe": ""}',
    "host a list": '{"host": [], "pid": 1, "command": "c", "token": "t", "recipe": ""}',
    "command null": '{"host": "HOST", "pid": 1, "command": null, "token": "t", "recipe": ""}',
    "deep": "[" * 100_000,
    "not UTF-8": b"\xff\xfe",
    "NUL": b"\0" * 100,
    "a list": "[]",
    "long": b" " * 200_000 + b"{}",
}


@pytest.mark.parametrize("content", LOCKS.values(), ids=LOCKS)
def test_a_lock_that_says_nothing_is_taken_and_never_a_traceback(content, tmp_path):
    import fcntl
    import socket

    text = content if isinstance(content, bytes) else content.replace("HOST", socket.gethostname()).encode()
    (tmp_path / LOCK).write_bytes(text)
    with (tmp_path / LOCK).open() as held:
        fcntl.flock(held, fcntl.LOCK_SH)
        assert not holder_of(tmp_path) or "huge" not in str(content)
    with hold(tmp_path) as is_child:
        assert not is_child


@pytest.mark.parametrize("name", ["receipts", "logs", "round-00"])
def test_a_file_in_a_folders_place_is_named(name, tmp_path):
    (tmp_path / name).write_text("")
    with pytest.raises(EvenhandError, match=rf"{name}.*: cannot be written"):
        write_json(Path(tmp_path / name / "a.json"), {})


def test_a_file_that_another_process_moves_meanwhile_is_none(tmp_path, monkeypatch):
    (tmp_path / "kept.bin").write_text("kept")
    listed = [tmp_path / ".state.json.7.evenhand.tmp", tmp_path / "kept.bin"]
    monkeypatch.setattr(Path, "rglob", lambda folder, pattern: iter(listed))
    own_files(tmp_path)
    assert (tmp_path / "kept.bin").read_text() == "kept"
