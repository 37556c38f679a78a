import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from evenhand.errors import ModelError
from evenhand.train.callbacks import MARK, LossRule, first_loss_rule, last_complete, training_callbacks


def arguments(**changes: Any) -> SimpleNamespace:
    values = {
        "loss_type": ["sigmoid"], "loss_weights": None, "use_weighting": False, "disable_dropout": True, "beta": 0.1,
        "bf16": False, "fp16": False, "neftune_noise_alpha": None,
    }  # fmt: skip
    return SimpleNamespace(**(values | changes))


def checkpoint(folder: Path, trained: str, reference: str | None) -> Path:
    folder.mkdir(parents=True)
    (folder / "adapter_model.safetensors").write_text(trained)
    if reference is not None:
        (folder / "ref").mkdir()
        (folder / "ref" / "adapter_model.safetensors").write_text(reference)
    return folder


def test_loss_of_equal_policies_is_ln2() -> None:
    # -log sigmoid(0) = log 2 = 0.693147...
    rule = LossRule(is_ln2=True, tolerance=1e-4)
    assert rule.mistake(0.693147) is None
    assert rule.mistake(0.69320) is None
    assert "must be ln 2 = 0.693147" in (rule.mistake(0.6933) or "")
    assert rule.mistake(0.3) is not None


def test_loss_after_resuming_a_moved_adapter_is_not_ln2() -> None:
    rule = LossRule(is_ln2=False, tolerance=1e-6)
    assert rule.mistake(0.6845) is None
    assert rule.mistake(0.69315) is None  # 3e-6 away: a real loss may come this near
    assert "not restored from the checkpoint" in (rule.mistake(math.log(2)) or "")


def test_tolerance_grows_with_beta_and_in_half_precision() -> None:
    # loss = -log sigmoid(beta d), which moves by beta d / 2 near d = 0: 0.1 x 0.002 / 2 and 0.1 x 0.4 / 2
    full = first_loss_rule(arguments(), starts_at_reference=True, resume=None)
    half = first_loss_rule(arguments(bf16=True), starts_at_reference=True, resume=None)
    assert full is not None
    assert half is not None
    assert (full.tolerance, half.tolerance) == (pytest.approx(1e-4), pytest.approx(0.02))
    doubled = first_loss_rule(arguments(beta=0.2), starts_at_reference=True, resume=None)
    assert doubled is not None
    assert doubled.tolerance == pytest.approx(2e-4)


@pytest.mark.parametrize(
    "changes",
    [
        {"loss_type": ["hinge"]},
        {"loss_type": ["sigmoid", "sft"]},
        {"loss_weights": [2.0]},
        {"use_weighting": True},
        {"disable_dropout": False},
        {"neftune_noise_alpha": 5.0},
    ],
)
def test_nothing_is_known_of_other_losses(changes: dict[str, Any]) -> None:
    assert first_loss_rule(arguments(**changes), starts_at_reference=True, resume=None) is None


def test_nothing_is_known_where_policy_and_reference_differ() -> None:
    assert first_loss_rule(arguments(), starts_at_reference=False, resume=None) is None


def test_resumed_rule_needs_an_adapter_that_moved(tmp_path: Path) -> None:
    moved = checkpoint(tmp_path / "a", "new", "old")
    # warm-up can begin with a learning rate of 0, and then ln 2 is right
    still = checkpoint(tmp_path / "b", "old", "old")
    fresh = checkpoint(tmp_path / "c", "new", None)
    rule = first_loss_rule(arguments(), starts_at_reference=True, resume=moved)
    assert rule == LossRule(is_ln2=False, tolerance=1e-6)
    assert first_loss_rule(arguments(), starts_at_reference=True, resume=still) is None
    assert first_loss_rule(arguments(), starts_at_reference=True, resume=fresh) is None


@pytest.mark.parametrize("loss", [float("nan"), float("inf")])
def test_loss_that_is_no_number_stops_the_run(loss: float) -> None:
    pytest.importorskip("transformers")
    check = training_callbacks(None, None, sharded=False)[-1]
    with pytest.raises(ModelError, match=r"the loss at step 7 is (nan|inf); lower trainer\.learning_rate"):
        check.on_log(None, SimpleNamespace(global_step=7), None, logs={"loss": loss})  # type: ignore[arg-type]


def test_only_the_first_loss_is_checked() -> None:
    pytest.importorskip("transformers")
    check = training_callbacks(LossRule(is_ln2=True, tolerance=1e-4), None, sharded=False)[-1]
    state: Any = SimpleNamespace(global_step=1)
    check.on_log(None, state, None, logs={"learning_rate": 1.0})  # type: ignore[arg-type]
    check.on_log(None, state, None, logs={"loss": math.log(2)})  # type: ignore[arg-type]
    check.on_log(None, state, None, logs={"loss": 0.2})  # type: ignore[arg-type]


def test_fair_loss_after_resuming_a_moved_adapter_is_not_0(tmp_path: Path) -> None:
    moved = checkpoint(tmp_path / "a", "new", "old")
    rule = first_loss_rule(arguments(), starts_at_reference=True, resume=moved, is_fair=True)
    assert rule is not None
    assert "which is 0, but the adapter had moved" in (rule.mistake(0.0) or "")
    assert rule.mistake(-0.01) is None
    assert rule.mistake(math.log(2)) is None
    # the first step is plain DPO's
    first = first_loss_rule(arguments(), starts_at_reference=True, resume=None, is_fair=True)
    assert first is not None
    assert first.mistake(math.log(2)) is None


def make(folder: Path, *steps: int) -> None:
    for step in steps:
        (folder / f"checkpoint-{step}").mkdir(parents=True)


def mark(folder: Path, step: int) -> None:
    (folder / f"checkpoint-{step}" / MARK).touch()


def test_no_folder_has_no_checkpoint(tmp_path: Path) -> None:
    assert last_complete(tmp_path / "none") is None


def test_unmarked_checkpoints_are_skipped(tmp_path: Path) -> None:
    make(tmp_path, 2, 4, 6)
    assert last_complete(tmp_path) is None
    mark(tmp_path, 2)
    mark(tmp_path, 4)
    assert last_complete(tmp_path) == tmp_path / "checkpoint-4"


def test_most_steps_win_not_the_last_name(tmp_path: Path) -> None:
    make(tmp_path, 9, 10)
    mark(tmp_path, 9)
    mark(tmp_path, 10)
    assert last_complete(tmp_path) == tmp_path / "checkpoint-10"


def test_other_folders_are_not_checkpoints(tmp_path: Path) -> None:
    for name in ("checkpoint-best", "checkpoint-2.tmp"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "complete").touch()
    assert last_complete(tmp_path) is None
