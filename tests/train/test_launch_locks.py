"""Locks that killed builds of DeepSpeed's extensions leave behind: refused, or warned of."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from logs import warned

from evenhand.errors import RecipeError, StorageError
from evenhand.runfolder.phases import Phase
from evenhand.train import train
from evenhand.train.launch import lock_files, refuse_stale_locks

OLD, YOUNG = 3600, 5


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the extensions, with that of one extension."""
    monkeypatch.setenv("TORCH_EXTENSIONS_DIR", str(tmp_path / "extensions"))
    (tmp_path / "extensions" / "shm").mkdir(parents=True)
    return tmp_path / "extensions"


def aged(lock: Path, seconds: float) -> Path:
    """The lock, so many seconds old."""
    lock.touch()
    os.utime(lock, (time.time() - seconds,) * 2)
    return lock


def test_old_lock_is_refused_and_a_young_one_warned_of(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    lock = aged(folder / "shm" / "lock", YOUNG)
    refuse_stale_locks()
    (warning,) = warned(caplog)
    assert f"{lock}: is 0 minutes old" in warning
    aged(lock, OLD)
    with pytest.raises(
        StorageError, match=r"shm/lock: is 60 minutes old, so a build that was killed.*\n.*Delete these"
    ):
        refuse_stale_locks()


def test_all_stale_locks_are_named_together(folder: Path) -> None:
    (folder / "adam").mkdir()
    for name in ("shm", "adam"):
        aged(folder / name / "lock", OLD)
    with pytest.raises(StorageError, match=r"adam/lock: (.|\n)*shm/lock: "):
        refuse_stale_locks()


def test_extension_without_a_lock_says_nothing(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    (folder / "shm" / "shm.so").touch()
    refuse_stale_locks()
    assert not warned(caplog)


def test_locks_of_other_interpreters_are_not_in_the_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TORCH_EXTENSIONS_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    mine = f"py{sys.version_info.major}{sys.version_info.minor}_cpu"
    for name in (mine, "py27_cpu"):
        (tmp_path / "torch_extensions" / name / "shm").mkdir(parents=True)
        aged(tmp_path / "torch_extensions" / name / "shm" / "lock", OLD)
    assert [lock.parts[-3] for lock in lock_files()] == [mine]
    # nobody knows that one's version
    assert [lock.parts[-3] for lock in lock_files("/opt/python")] == ["py27_cpu", mine]


@pytest.mark.parametrize("chosen", [True, False], ids=["TORCH_EXTENSIONS_DIR", "default"])
def test_locks_are_looked_for_where_torch_puts_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, chosen: bool
) -> None:
    monkeypatch.delenv("TORCH_EXTENSIONS_DIR", raising=False)
    monkeypatch.setenv("TORCH_EXTENSIONS_DIR" if chosen else "XDG_CACHE_HOME", str(tmp_path))
    # in a process of its own: setuptools, which it imports, will not come after a distutils that another test has read
    asked = "from torch.utils.cpp_extension import _get_build_directory; print(_get_build_directory('shm', False))"
    folder = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True).stdout.strip()
    baton = pytest.importorskip("torch.utils.file_baton").FileBaton(f"{folder}/lock")
    assert baton.try_acquire()
    (lock,) = lock_files()
    assert lock.is_file()
    baton.release()
    assert lock_files() == []


def test_training_with_deepspeed_is_refused_before_it_starts(folder: Path, open_round: Callable[..., Phase]) -> None:
    aged(folder / "shm" / "lock", OLD)
    with pytest.raises(StorageError, match=r"shm/lock: is 60 minutes old"):
        train(open_round("many", train={"accelerate_config": "zero2_cpu"}))
    # other trainings compile nothing: this one gets as far as its interpreter
    with pytest.raises(RecipeError, match=r"'/no/such/python' cannot be started"):
        train(open_round("one", train={"python": "/no/such/python"}))
