"""Child processes: their logs, their end, and that they do not outlive their parent."""

import signal
import subprocess
import sys
import time

import pytest
from filelock import FileLock, Timeout

from evenhand.errors import RecipeError, StorageError
from evenhand.processes import last_lines, run_child

# a parent whose child locks a file, as a stage does its folder, and works for two minutes
PARENT = """
import sys
from pathlib import Path
from evenhand.processes import run_child
child = (
    "import sys, time; from filelock import FileLock; from evenhand.processes import follow_parent; follow_parent();"
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


def test_last_line_is_shown_while_the_child_runs(tmp_path):
    shown = []
    code = "import time; print('half way', flush=True); time.sleep(0.7)"
    run_child([sys.executable, "-c", code], tmp_path / "log", on_line=shown.append)
    assert "half way" in shown


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


def test_bar_that_ends_with_a_return_shows_its_last_state(tmp_path):
    log = tmp_path / "log"
    log.write_bytes(b"start\n 10%\r 50%\r")
    assert last_lines(log, 1) == " 50%"


def test_last_lines_of_a_long_log_are_its_end(tmp_path):
    log = tmp_path / "log"
    log.write_text("".join(f"line {i} é\n" for i in range(20_000)))
    assert last_lines(log, 1) == "line 19999 é"
