"""Processes: one command at a time in a folder; children, their logs, their end, and that they do not outlive their parent."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time

import pytest
from filelock import FileLock, Timeout

from evenhand.errors import RecipeError, StorageError
from evenhand.runfolder.processes import COMMAND, LOCK, followed_environment, hold, last_lines, refuse_held, run_child

# a parent whose child locks a file, as a stage does its folder, and works for two minutes
PARENT = """
import sys
from pathlib import Path
from evenhand.runfolder.processes import run_child
child = (
    "import sys, time; from filelock import FileLock; from evenhand.runfolder.processes import follow_parent; follow_parent();"
    "lock = FileLock(sys.argv[1]); lock.acquire(); print('at work', flush=True); time.sleep(120)"
)
run_child([sys.executable, "-c", child, sys.argv[1]], Path(sys.argv[2]))
"""


def wait_until(holds, seconds=30):
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


def is_free(lock):
    try:
        with FileLock(lock, timeout=0):
            return True
    except Timeout:
        return False


HEARD = """
import time
from queue import SimpleQueue
from evenhand.runfolder.processes import follow_parent
lines = SimpleQueue()
follow_parent(lines.put)
heard = [lines.get() for _ in range(3)]
print([(len(line), line[:1], line[-2:]) for line in heard], round(time.process_time()))
"""


def test_a_line_of_many_megabytes_is_heard_whole_and_at_once():
    command, long = [sys.executable, "-c", HEARD], b"x" * (1 << 26)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=followed_environment()) as child:
        assert child.stdin is not None and child.stdout is not None
        child.stdin.write(b"a\n" + long + b"\nb\n")
        child.stdin.flush()
        *heard, seconds = child.stdout.readline().decode().rpartition("]")
    assert "".join(heard) == "[(2, b'a', b'a\\n'), (67108865, b'x', b'x\\n'), (2, b'b', b'b\\n')]"
    # copied anew with each block it took 30 seconds of the processor
    assert int(seconds) < 10


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_child_ends_with_its_parent_however_that_ended(tmp_path, how):
    lock, log = tmp_path / "lock", tmp_path / "child.log"
    # a shell that starts the tests in the background has its children ignore interrupts
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, str(lock), str(log)],
        stderr=subprocess.DEVNULL,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    ) as parent:
        wait_until(lambda: log.exists() and log.read_text() == "at work\n")
        assert not is_free(lock)
        parent.send_signal(how)
    # it would have gone on for two minutes
    wait_until(lambda: is_free(lock), seconds=10)


def test_exit_status_is_the_childs_and_its_output_is_appended(tmp_path):
    log = tmp_path / "logs" / "step.log"
    for text, status in (("first", 0), ("second", 3)):
        code = f"import sys; print({text!r}); print('error', file=sys.stderr); sys.exit({status})"
        assert run_child([sys.executable, "-c", code], log) == status
    assert sorted(log.read_text().split()) == ["error", "error", "first", "second"]


def test_killed_child_has_a_negative_status(tmp_path):
    code = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    assert run_child([sys.executable, "-c", code], tmp_path / "log") == -signal.SIGKILL


def test_output_is_heard_once_as_it_comes_and_that_of_earlier_children_not_at_all(tmp_path):
    heard = []
    code = "import time; print('half way', flush=True); time.sleep(0.7); print('done')"
    (tmp_path / "log").write_text("long ago\n")
    run_child([sys.executable, "-c", code], tmp_path / "log", on_output=heard.append)
    assert "half way\n" in heard
    assert "".join(heard) == "half way\ndone\n"


def test_interpreter_that_cannot_be_started_is_named_with_its_keys(tmp_path):
    with pytest.raises(
        RecipeError, match=r"'/no/such/python' cannot be started: No such file.*generate\.python"
    ) as caught:
        run_child(["/no/such/python", "-c", ""], tmp_path / "generate.log")
    assert "train.python" in str(caught.value)
    assert "generate.log" not in str(caught.value)


def test_log_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "logs").write_text("a file where the folder should be")
    with pytest.raises(StorageError, match=r"logs/step\.log: cannot be written"):
        run_child([sys.executable, "-c", ""], tmp_path / "logs" / "step.log")


@pytest.mark.parametrize(
    ("text", "count", "expected"),
    [
        ("one\ntwo\nthree\n", 2, "two\nthree"),
        ("one\n\n  \n", 1, "one"),
        # a progress bar: what was last written over the line
        ("start\n 10%\r 50%\r100%\ndone\n", 2, "100%\ndone"),
        (" 10%\r 50%", 1, " 50%"),
        # lines that end as on Windows
        ("one\r\ntwo\r\n", 2, "one\ntwo"),
        ("", 3, ""),
    ],
)
def test_last_lines_are_those_a_terminal_would_show(tmp_path, text, count, expected):
    log = tmp_path / "log"
    log.write_bytes(text.encode())
    assert last_lines(log, count) == expected


def test_last_lines_are_none_of_an_earlier_command(tmp_path):
    log = tmp_path / "log"
    log.write_text("of yesterday\n")
    before = log.stat().st_size
    assert last_lines(log, 5, before) == ""
    log.write_text("of yesterday\nof today\n")
    assert last_lines(log, 5, before) == "of today"


def test_bar_that_ends_with_a_return_shows_its_last_state(tmp_path):
    log = tmp_path / "log"
    log.write_bytes(b"start\n 10%\r 50%\r")
    assert last_lines(log, 1) == " 50%"


def test_last_lines_of_a_long_log_are_its_end(tmp_path):
    log = tmp_path / "log"
    log.write_text("".join(f"line {i} é\n" for i in range(20_000)))
    assert last_lines(log, 1) == "line 19999 é"


# holds a folder by a recipe, says whether it is a child, and works until its standard input ends
HOLDER = """
import sys
from pathlib import Path
from evenhand.runfolder.processes import hold
with hold(Path(sys.argv[1]), sys.argv[2]) as is_child:
    print("child" if is_child else "command", flush=True)
    sys.stdin.read()
"""


def start_holder(folder, recipe="a", token=None):
    """A process that holds the folder; a stranger unless it is given the token of a command."""
    environment = {name: value for name, value in os.environ.items() if name != COMMAND}
    return subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(folder), recipe],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=environment | ({COMMAND: token} if token else {}),
    )  # fmt: skip


def end(process):
    """End it by closing its input; its last words."""
    _, errors = process.communicate(timeout=60)
    return errors


def snapshot(folder):
    return {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.rglob("*") if path.is_file()}


def holder_of(folder):
    return json.loads((folder / LOCK).read_text())


def test_a_second_command_is_refused_by_name_and_changes_nothing(tmp_path):
    first = start_holder(tmp_path / "run")
    assert first.stdout.readline() == "command\n"
    before = snapshot(tmp_path)
    with (
        pytest.raises(
            StorageError, match=rf"run: '-c {tmp_path}/run' \(process {first.pid}\) or a child of it is at work"
        ),
        hold(tmp_path / "run", "a"),
    ):
        pytest.fail("it is held")
    assert snapshot(tmp_path) == before
    assert end(first) == ""
    with hold(tmp_path / "run", "b") as is_child:
        assert not is_child


def test_a_lock_of_another_machine_counts_though_no_process_of_that_number_is_here(tmp_path):
    first = start_holder(tmp_path)
    assert first.stdout.readline() == "command\n"
    # as a file system that machines share would have it: the number means nothing here
    elsewhere = holder_of(tmp_path) | {"host": "node-7", "pid": 2**22 + 1}
    (tmp_path / LOCK).write_text(json.dumps(elsewhere))
    with pytest.raises(StorageError, match=rf"\(process {2**22 + 1} on node-7\) or a child of it is at work there"):
        refuse_held(tmp_path)
    end(first)
    refuse_held(tmp_path)


@pytest.mark.parametrize(
    ("changes", "counts"),
    [
        ({}, True),
        # its number was given to another process since
        ({"started": "1"}, False),
        ({"pid": 2**22 + 1}, False),
        # a system that does not say it, and a lock of an earlier version
        ({"started": ""}, True),
        ({"started": None}, True),
        ({"started": None, "pid": 2**22 + 1}, False),
    ],
)
def test_a_lock_counts_as_long_as_its_own_process_runs(changes, counts, tmp_path):
    first = start_holder(tmp_path)
    assert first.stdout.readline() == "command\n"
    holder = {name: value for name, value in (holder_of(tmp_path) | changes).items() if value is not None}
    (tmp_path / LOCK).write_text(json.dumps(holder))
    with pytest.raises(StorageError, match="is at work there") if counts else contextlib.nullcontext():
        refuse_held(tmp_path)
    end(first)


def test_of_commands_that_begin_at_once_one_works(tmp_path):
    rivals = [start_holder(tmp_path) for _ in range(6)]
    # all but one end by themselves
    wait_until(lambda: sum(rival.poll() is None for rival in rivals) <= 1, seconds=60)
    assert sum("StorageError" in end(rival) for rival in rivals) == 5


def test_children_of_a_command_work_with_it_by_the_same_recipe_alone(tmp_path):
    with hold(tmp_path, "a"):
        token = os.environ[COMMAND]
        child = start_holder(tmp_path, token=token)
        assert child.stdout.readline() == "child\n"
        assert end(child) == ""
        assert "recipe.yaml: is not what " in end(start_holder(tmp_path, "b", token=token))
        # the command itself again
        with hold(tmp_path, "a") as is_child:
            assert not is_child
        child = start_holder(tmp_path, token=token)
        assert child.stdout.readline() == "child\n"
        end(child)
    assert COMMAND not in os.environ


def test_a_token_of_a_command_that_is_gone_opens_nothing(tmp_path):
    with hold(tmp_path, "a"):
        stale = os.environ[COMMAND]
    first = start_holder(tmp_path, token=stale)
    assert first.stdout.readline() == "command\n"
    assert "at work there" in end(start_holder(tmp_path, token=stale))
    end(first)


def test_the_next_command_waits_until_the_last_child_of_a_killed_one_has_ended(tmp_path):
    killed = start_holder(tmp_path)
    assert killed.stdout.readline() == "command\n"
    child = start_holder(tmp_path, token=holder_of(tmp_path)["token"])
    assert child.stdout.readline() == "child\n"
    killed.kill()
    killed.communicate()
    following = start_holder(tmp_path)
    with pytest.raises(subprocess.TimeoutExpired):
        following.wait(timeout=1.5)
    end(child)
    assert following.stdout.readline() == "command\n"
    end(following)


def test_what_killed_writers_left_is_swept_and_no_file_of_a_user(tmp_path):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    phase = tmp_path / "evaluation" / "base"
    phase.mkdir(parents=True)
    swept = [phase / f".pairs.jsonl.{dead.pid}.evenhand.tmp", tmp_path / f".recipe.yaml.{os.getpid()}.evenhand.tmp"]
    living = tmp_path / f".ledger.json.{os.getppid()}.evenhand.tmp"
    # of a user, of another program that names its files so, and of a command at work in a folder that is none of the run's
    names = ("notes.tmp", ".notes.tmp", f"notes.{dead.pid}.tmp", ".a.b.tmp", "pairs.jsonl", f".notes.{dead.pid}.tmp")
    others = [tmp_path / name for name in names]
    (tmp_path / "audit").mkdir()
    others.append(tmp_path / "audit" / f".audit.json.{dead.pid}.evenhand.tmp")
    # a folder of an earlier version's run, and one where another command may be at work
    (phase / LOCK).touch()
    nested = tmp_path / "runs" / "other"
    nested.mkdir(parents=True)
    (nested / LOCK).write_text("{}")
    others.append(nested / f".pairs.jsonl.{dead.pid}.evenhand.tmp")
    for path in (*swept, living, *others):
        path.touch()
    with hold(tmp_path):
        assert not any(path.exists() for path in swept)
        assert all(path.exists() for path in (living, *others))


def test_a_folder_that_cannot_be_made_is_named_with_a_way_out(tmp_path):
    (tmp_path / "file").touch()
    with (
        pytest.raises(StorageError, match=r"file/run: cannot be written: .*--set output=FOLDER"),
        hold(tmp_path / "file" / "run"),
    ):
        pytest.fail("there is no such folder")
