from pathlib import Path

import pytest

from evenhand.train.checkpoints import last_complete, mark_complete, sharding


def make(folder: Path, *steps: int) -> None:
    for step in steps:
        (folder / f"checkpoint-{step}").mkdir(parents=True)


def test_no_folder_has_no_checkpoint(tmp_path: Path) -> None:
    assert last_complete(tmp_path / "none") is None


def test_unmarked_checkpoints_are_skipped(tmp_path: Path) -> None:
    make(tmp_path, 2, 4, 6)
    assert last_complete(tmp_path) is None
    mark_complete(tmp_path, 2)
    mark_complete(tmp_path, 4)
    assert last_complete(tmp_path) == tmp_path / "checkpoint-4"


def test_most_steps_win_not_the_last_name(tmp_path: Path) -> None:
    make(tmp_path, 9, 10)
    mark_complete(tmp_path, 9)
    mark_complete(tmp_path, 10)
    assert last_complete(tmp_path) == tmp_path / "checkpoint-10"


def test_other_folders_are_not_checkpoints(tmp_path: Path) -> None:
    for name in ("checkpoint-best", "checkpoint-2.tmp"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "complete").touch()
    assert last_complete(tmp_path) is None


@pytest.mark.parametrize(
    ("variables", "kind"),
    [
        ({}, "plain"),
        ({"ACCELERATE_USE_DEEPSPEED": "true", "ACCELERATE_DEEPSPEED_ZERO_STAGE": "2"}, "zero2"),
        ({"ACCELERATE_USE_DEEPSPEED": "true", "ACCELERATE_DEEPSPEED_ZERO_STAGE": "3"}, "zero3"),
        ({"ACCELERATE_USE_FSDP": "true"}, "fsdp"),
    ],
)
def test_kind_of_checkpoints_is_that_of_the_launch(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], kind: str
) -> None:
    for name in ("ACCELERATE_USE_DEEPSPEED", "ACCELERATE_USE_FSDP"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert sharding() == kind
