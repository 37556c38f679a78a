import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from evenhand.config import Recipe
from evenhand.errors import MissingExtra, RecipeError
from evenhand.runfolder.phases import Phase
from evenhand.train.options import (
    DEFAULTS,
    accumulation,
    splits,
    step_size,
    trainer_config,
    trainer_options,
    training_arguments,
)
from evenhand.train.stage import round_seed

OpenRound = Callable[..., Phase]


def test_recipe_wins_over_the_defaults(open_round: OpenRound) -> None:
    options = trainer_options(open_round(trainer={"learning_rate": 3e-4, "beta": 0.2}).recipe)
    assert (options["learning_rate"], options["beta"]) == (3e-4, 0.2)
    assert options["save_total_limit"] == DEFAULTS["save_total_limit"]


def test_max_length_is_that_of_generation_unless_the_recipe_says_it(open_round: OpenRound) -> None:
    assert trainer_options(open_round().recipe)["max_length"] == 256
    assert trainer_options(open_round(trainer={"max_length": None}).recipe)["max_length"] == 256
    assert trainer_options(open_round(trainer={"max_length": 77}).recipe)["max_length"] == 77


@pytest.mark.parametrize(
    ("dtype", "bf16", "fp16"), [("float32", False, False), ("bfloat16", True, False), ("float16", False, True)]
)
def test_mixed_precision_follows_the_models_dtype(open_round: OpenRound, dtype: str, bf16: bool, fp16: bool) -> None:
    options = trainer_options(open_round(model={"dtype": dtype}).recipe)
    assert (options["bf16"], options["fp16"]) == (bf16, fp16)


@pytest.mark.usefixtures("fresh_accelerate")
def test_arguments_leave_nothing_to_trls_silent_defaults(
    open_round: OpenRound, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("trl")
    # an accelerate configuration that asks for bf16 does not win over a float32 recipe
    monkeypatch.setenv("ACCELERATE_MIXED_PRECISION", "bf16")
    monkeypatch.setenv("ACCELERATE_USE_CPU", "true")
    made = training_arguments(open_round().recipe, "round-00", 5, tmp_path / "checkpoints")
    assert made.mixed_precision == "no"
    assert made.max_length == 256
    assert made.report_to == []
    assert made.run_name == "tiny-round-00-train"
    assert (made.seed, made.data_seed) == (5, 5)
    assert not made.gradient_checkpointing
    assert not made.logging_nan_inf_filter


@pytest.mark.parametrize(
    ("module", "said"),
    [
        (None, "use_liger_kernel. needs liger_kernel, which is not installed: pip install 'evenhand.liger.'"),
        (ModuleType("liger_kernel"), "on a GPU alone"),
    ],
)
def test_ligers_kernels_are_refused_where_they_cannot_run(
    open_round: OpenRound, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: ModuleType | None, said: str
) -> None:
    pytest.importorskip("trl")
    monkeypatch.setenv("ACCELERATE_USE_CPU", "true")
    # None hides a package
    monkeypatch.setitem(sys.modules, "liger_kernel", module)
    with pytest.raises((RecipeError, MissingExtra), match=said):
        trainer_config(open_round(trainer={"use_liger_kernel": True}).recipe, "round-00", 5, tmp_path)


@pytest.mark.usefixtures("fresh_accelerate")
def test_experts_are_trained_without_a_loss_that_other_tokens_would_change(
    open_round: OpenRound, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("trl")
    monkeypatch.setenv("ACCELERATE_USE_CPU", "true")
    shared, pairwise = (
        trainer_config(open_round(name, train={"trainer": name}).recipe, "round-00", 5, tmp_path)
        for name in ("shared-prefix", "pairwise")
    )
    assert (shared.router_aux_loss_coef, pairwise.router_aux_loss_coef) == (0.0, None)


@pytest.mark.usefixtures("fresh_accelerate")
def test_a_file_that_trl_cannot_read_is_a_recipe_error(open_round: OpenRound, tmp_path: Path) -> None:
    pytest.importorskip("trl")
    with pytest.raises(RecipeError, match="section 'trainer': "):
        training_arguments(open_round(trainer={"accelerator_config": "x"}).recipe, "round-00", 5, tmp_path)


def test_seed_depends_on_run_seed_and_round_and_nothing_else(open_round: OpenRound) -> None:
    recipe = open_round().recipe
    seeds = {
        round_seed(recipe, 0),
        round_seed(recipe, 1),
        round_seed(open_round(seed=1).recipe, 0),
        round_seed(open_round(**{"name": "a"}).recipe, 0),
    }
    # another folder is no other run
    assert len(seeds) == 3
    assert all(0 <= seed < 2**31 for seed in seeds)


@pytest.mark.parametrize(("processes", "accumulated"), [(1, 8), (2, 4), (4, 2), (8, 1)])
def test_global_batch_is_kept_whatever_the_number_of_processes(
    open_round: OpenRound, processes: int, accumulated: int
) -> None:
    recipe = global_batch(open_round, 16)
    assert accumulation(recipe, processes) == accumulated
    assert step_size(recipe, processes) == "16 requests a step"


def test_global_batch_that_processes_do_not_divide_is_refused(open_round: OpenRound) -> None:
    with pytest.raises(RecipeError, match=r"train\.global_batch_size': 16 is not a multiple of 6, which 3 processes"):
        accumulation(global_batch(open_round, 16), 3)


def test_global_batch_and_accumulation_are_not_both_for_the_recipe_to_say(open_round: OpenRound) -> None:
    with pytest.raises(ValueError, match="write one of the two"):
        open_round(train={"global_batch_size": 16})


def test_an_accumulation_of_null_is_left_to_the_global_batch(open_round: OpenRound) -> None:
    trainer = {"gradient_accumulation_steps": None, "per_device_train_batch_size": 2}
    # 16 requests are four times two processes' two
    assert accumulation(open_round(train={"global_batch_size": 16}, trainer=trainer).recipe, 2) == 4


def test_a_launch_that_splits_sequences_is_refused(open_round: OpenRound, monkeypatch: pytest.MonkeyPatch) -> None:
    """As `accelerate launch` by hand hands on its configuration."""
    assert splits({"parallelism_config_cp_size": None}) is None
    monkeypatch.setenv("PARALLELISM_CONFIG_CP_SIZE", "1")
    trainer_config(open_round().recipe, "round-00", 1, Path("checkpoints"))
    monkeypatch.setenv("PARALLELISM_CONFIG_CP_SIZE", "4")
    with pytest.raises(
        RecipeError, match="accelerate launch`: PARALLELISM_CONFIG_CP_SIZE 4: no sequence is split over"
    ):
        trainer_config(open_round().recipe, "round-00", 1, Path("checkpoints"))


def global_batch(open_round: OpenRound, size: int) -> Recipe:
    """A recipe of this global batch, two requests at a time on each process."""
    values = open_round().recipe.model_dump(mode="json")
    values["trainer"].pop("gradient_accumulation_steps")
    values["train"]["global_batch_size"] = size
    return Recipe.model_validate(values)
