"""Trainings in processes of their own, under accelerate's launcher."""

import json
import math
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from launched import distance, forget_after, logged, need_deepspeed, record, two_processes
from preference_groups import make_fair_pairs, make_ranked_pairs

from evenhand.config import TrainSection
from evenhand.errors import DataError, ModelError, RecipeError, StorageError
from evenhand.runfolder.phases import Phase
from evenhand.storage import file_digest, write_jsonl
from evenhand.train import train
from evenhand.train.launch import SHIPPED, accelerate_config, n_processes, srun

OpenRound = Callable[..., Phase]
LN2 = math.log(2)
# a training process has its first checkpoint by then, on a busy machine too
START_SECONDS = 120


def test_name_of_a_shipped_configuration_is_found() -> None:
    assert accelerate_config("zero2") == SHIPPED / "zero2.yaml"


def test_path_of_a_configuration_is_taken_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("distributed_type: 'NO'\n")
    assert accelerate_config(str(tmp_path / "mine.yaml")) == tmp_path / "mine.yaml"


def test_unknown_configuration_is_refused_with_the_shipped_names() -> None:
    with pytest.raises(
        RecipeError,
        match=r"'zero4' is neither shipped \(cpu, cpu_multi_node, fsdp2, fsdp2_multi_node, multi_gpu, multi_node,",
    ):
        accelerate_config("zero4")


@pytest.mark.parametrize("config", sorted(SHIPPED.glob("*.yaml")), ids=lambda path: path.stem)
def test_shipped_configuration_is_one_that_accelerate_reads(config: Path) -> None:
    pytest.importorskip("accelerate")
    from accelerate.commands.config.config_args import load_config_from_file
    from accelerate.commands.launch import launch_command_parser

    loaded = load_config_from_file(str(config))
    assert loaded.num_processes >= 1
    # the first comment line is the command; accelerate's own parser accepts it
    command = config.read_text().splitlines()[0].removeprefix("# ").removeprefix("on every machine: ")
    # as the shell writes what `evenhand recipes accelerate NAME` prints
    command = command.replace(f"$(evenhand recipes accelerate {config.stem})", str(accelerate_config(config.stem)))
    words = ["0" if word == "RANK" else word for word in shlex.split(command)]
    assert words[:2] == ["accelerate", "launch"]
    parsed = launch_command_parser().parse_args(words[2:])
    assert parsed.config_file == str(config)
    assert parsed.module
    assert parsed.training_script == "evenhand.train.dpo"


@pytest.mark.parametrize(
    ("name", "asked", "started"), [("cpu", None, 1), ("zero2", None, 8), ("zero2", 4, 4), ("zero2_cpu", None, 2)]
)
def test_number_of_processes_is_the_recipes_else_the_files(name: str, asked: int | None, started: int) -> None:
    assert n_processes(TrainSection(num_processes=asked), accelerate_config(name)) == started


def test_several_processes_of_a_single_process_configuration_are_refused() -> None:
    with pytest.raises(RecipeError, match=r"4 processes, but .*cpu\.yaml starts one"):
        n_processes(TrainSection(num_processes=4), accelerate_config("cpu"))


@pytest.mark.parametrize("name", ["cpu_multi_node", "multi_node", "zero3_multi_node", "fsdp2_multi_node"])
def test_several_machines_are_started_by_hand(name: str) -> None:
    with pytest.raises(
        RecipeError, match=r"asks for 2 machines, .*run on every machine: accelerate launch .*--main_process_ip"
    ):
        n_processes(TrainSection(), accelerate_config(name))


@pytest.mark.parametrize(
    ("machines", "each", "asked", "started"), [(2, 16, None, 16), (4, 16, None, 32), (4, None, None, 4), (2, 16, 6, 6)]
)
def test_processes_of_more_machines_than_the_file_says_are_as_many_on_each(
    tmp_path: Path, machines: int, each: int | None, asked: int | None, started: int
) -> None:
    config = tmp_path / "many.yaml"
    config.write_text(json.dumps({"distributed_type": "MULTI_GPU", "num_machines": 2, "num_processes": each}))
    section = TrainSection(launcher="srun", num_machines=machines, num_processes=asked)
    assert n_processes(section, config) == started


def test_a_configuration_that_does_not_divide_is_named_unless_the_recipe_has_a_number_of_its_own(
    tmp_path: Path,
) -> None:
    config = tmp_path / "three.json"
    config.write_text(json.dumps({"distributed_type": "MULTI_GPU", "num_machines": 2, "num_processes": 3}))
    with pytest.raises(
        RecipeError, match=r"'train.accelerate_config': .*three.json starts 3 processes.* over its 2 machines"
    ):
        n_processes(TrainSection(launcher="srun"), config)
    assert n_processes(TrainSection(launcher="srun", num_processes=4), config) == 4
    with pytest.raises(
        RecipeError, match=r"'train.num_processes': 3 processes cannot be shared out evenly over 2 machines"
    ):
        n_processes(TrainSection(launcher="srun", num_processes=3), config)


def test_machines_without_processes_that_know_each_other_are_refused(tmp_path: Path) -> None:
    config = tmp_path / "none.yaml"
    config.write_text(json.dumps({"distributed_type": "NO", "num_machines": 2}))
    with pytest.raises(RecipeError, match=r"'train.num_machines': 2 machines, but .*none.yaml starts one process"):
        n_processes(TrainSection(launcher="srun"), config)


def test_processes_that_accelerate_leaves_to_mpirun_are_refused(tmp_path: Path) -> None:
    config = tmp_path / "two.yaml"
    config.write_text(json.dumps({"distributed_type": "MULTI_CPU", "num_processes": 2, "use_cpu": True}))
    with pytest.raises(
        RecipeError,
        match=r"'train.accelerate_config': of .*two.yaml,.* one process instead of 2; write .*MULTI_GPU.* use_cpu",
    ):
        n_processes(TrainSection(), config)
    assert n_processes(TrainSection(num_processes=1), config) == 1
    config.write_text(config.read_text().replace("MULTI_CPU", "MULTI_GPU"))
    assert n_processes(TrainSection(), config) == 2


@pytest.mark.parametrize("kind", ["cp", "sp", "tp"])
def test_a_configuration_that_splits_sequences_or_layers_is_refused(kind: str, tmp_path: Path) -> None:
    config = tmp_path / "split.yaml"
    sizes = {f"parallelism_config_{each}_size": 1 for each in ("cp", "sp", "tp", "dp_shard")}
    config.write_text(json.dumps({"distributed_type": "FSDP", "num_processes": 2, "parallelism_config": sizes}))
    assert n_processes(TrainSection(), config) == 2
    values = {"distributed_type": "FSDP", "parallelism_config": sizes | {f"parallelism_config_{kind}_size": 2}}
    config.write_text(json.dumps(values))
    said = (
        rf"'train.accelerate_config': .*split.yaml: parallelism_config_{kind}_size 2: no sequence is split over devices"
    )
    with pytest.raises(RecipeError, match=said):
        n_processes(TrainSection(), config)


def test_srun_hands_over_the_cores_of_the_job() -> None:
    command = srun("python", 2, ["-m", "x"], {"SLURM_CPUS_PER_TASK": "8"})
    assert {"--nodes=2", "--ntasks=2", "--cpus-per-task=8", "--export=ALL"} < set(command)
    assert command[-3:] == ["python", "-m", "x"]
    assert not [word for word in srun("python", 2, [], {}) if word.startswith("--cpus")]


def test_file_that_is_no_configuration_is_refused(tmp_path: Path) -> None:
    (tmp_path / "list.yaml").write_text("- a\n")
    with pytest.raises(RecipeError, match="is not an accelerate configuration"):
        n_processes(TrainSection(), tmp_path / "list.yaml")


def test_missing_resolved_recipe_is_named(open_round: OpenRound) -> None:
    phase = open_round()
    (phase.recipe.output / "recipe.yaml").unlink()
    with pytest.raises(StorageError, match="the resolved recipe is not there"):
        train(phase)


def test_interpreter_that_cannot_be_started_is_named(open_round: OpenRound) -> None:
    with pytest.raises(RecipeError, match=r"'train.python': '/no/such/python' cannot be started"):
        train(open_round(train={"python": "/no/such/python"}))


@pytest.mark.parametrize(
    ("config", "asked", "started"), [("zero2", 1, 1), ("zero2", 3, 3), ("fsdp2", 1, 1), ("cpu", 1, 1)]
)
def test_as_many_processes_are_started_as_the_recipe_asks_for(
    open_round: OpenRound, tmp_path: Path, config: str, asked: int, started: int
) -> None:
    pytest.importorskip("accelerate")
    from accelerate.commands.config.config_args import load_config_from_file
    from accelerate.commands.launch import launch_command_parser

    # an interpreter that writes down what it was to run
    noting = tmp_path / "python"
    noting.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {tmp_path}/asked\nexit 1\n')
    noting.chmod(0o755)
    with pytest.raises(ModelError, match="training ended with exit code 1"):
        train(open_round(train={"accelerate_config": config, "num_processes": asked, "python": str(noting)}))
    module, *arguments = (tmp_path / "asked").read_text().splitlines()[1:]
    assert module == "accelerate.commands.launch"
    options = launch_command_parser().parse_args(arguments)
    # what is not said is taken from the file
    assert (options.num_processes or load_config_from_file(options.config_file).num_processes) == started


@pytest.mark.slow
@pytest.mark.usefixtures("fresh_accelerate", "quick_python")
def test_zero2_on_two_cpu_processes_trains(open_round: OpenRound) -> None:
    need_deepspeed()
    from safetensors.torch import load_file

    many = open_round("many", train={"accelerate_config": "zero2_cpu"})
    receipt, reused = train(many)
    assert not reused
    made = record(many)
    assert made["processes"] == 2
    assert made["sharding"] == "zero2"
    assert made["batch"] == 4  # 2 a device, 2 processes
    assert receipt.counts["steps"] == 3  # 12 pairs
    weights = load_file(many.folder / "adapter" / "adapter_model.safetensors")
    assert all(w.isfinite().all() for w in weights.values())
    assert all(w.abs().max() > 0 for name, w in weights.items() if "lora_B" in name)
    assert logged(many)[0] == pytest.approx(LN2, abs=1e-6)
    # one process that accumulates two batches takes the same steps
    one = open_round("one", trainer={"gradient_accumulation_steps": 2})
    _train_here(one)
    assert logged(many) == pytest.approx(logged(one), abs=1e-4)
    assert train(many)[1], "a finished training is reused"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["ddp", "zero2", "zero3"])
@pytest.mark.usefixtures("fresh_accelerate", "quick_python")
def test_many_processes_train_what_one_trains(
    kind: str, open_round: OpenRound, tokenizer: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Requests of 1, 3 and 6 pairs, some too long for a pass: processes have unequal work, and each pair counts alike.

    With FairPO, whose first step is plain DPO's, and whose running state must be that of all processes. Three of DDP's share 8
    requests, of which the last step has two: one of them is run twice, and counts once.
    """
    if kind != "ddp":
        need_deepspeed()
    n = 3 if kind == "ddp" else 2
    config = str(two_processes(kind, tmp_path))
    # SGD, because Adam makes a whole step of a gradient that is nothing but rounding
    plain = {"optim": "sgd", "learning_rate": 1.0, "max_grad_norm": 0.0, "num_train_epochs": 2}
    # ZeRO-3 would have it, and then lose the gradients of several passes
    plain["gradient_checkpointing"] = False
    split = {"max_tokens_per_pass": 96, "pairs": str(tmp_path / "pairs.jsonl"), "fairness": {}}
    write_jsonl(tmp_path / "pairs.jsonl", make_fair_pairs(tokenizer))
    # with DeepSpeed the two processes make the reference together beforehand, passes of one request 1, 1, 2 and 1
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    before = {"precompute_ref_log_probs": kind != "ddp"}
    plain["per_device_train_batch_size"] = 4 - n
    spread = {"accelerate_config": config, "num_processes": n}
    many = open_round("many", train=split | spread, trainer=plain | before)
    one = open_round("one", train=split, trainer=plain | {"gradient_accumulation_steps": n})
    receipt, _ = train(many)
    assert receipt.counts["unit"] == "requests"
    assert receipt.counts["steps"] == 2 * (3 if kind == "ddp" else 2)  # 8 requests, 3 or 4 a step, 2 epochs
    _train_here(one)
    assert logged(many)[0] == pytest.approx(LN2, abs=1e-6)
    assert abs(logged(many)[-1] - LN2) > 1e-3, "it has moved"
    assert logged(many) == pytest.approx(logged(one), abs=1e-5)
    states = [record(phase)["fairness"] for phase in (many, one)]
    assert all(states[0][key] == pytest.approx(states[1][key], rel=1e-4) for key in ("loss", "count"))
    assert min(states[0]["count"]) > 0
    assert distance(many, one) < 1e-5


@pytest.mark.slow
@pytest.mark.usefixtures("fresh_accelerate", "quick_python")
def test_two_processes_go_on_in_the_middle_of_the_second_epoch(
    open_round: OpenRound, tokenizer: Any, tmp_path: Path
) -> None:
    need_deepspeed()
    config = str(two_processes("zero2", tmp_path))
    kept = {"num_train_epochs": 2, "save_steps": 1, "save_total_limit": 9}
    phase = open_round(train={"accelerate_config": config}, trainer=kept)
    write_jsonl(phase.folder / "pairs.jsonl", make_ranked_pairs(tokenizer))
    train(phase)
    undisturbed, adapter = logged(phase), file_digest(phase.folder / "adapter")
    assert len(undisturbed) == 4  # 8 requests, 4 a step, 2 epochs
    forget_after(phase, step=3)
    train(phase)
    assert logged(phase) == undisturbed
    assert file_digest(phase.folder / "adapter") == adapter


@pytest.mark.slow
@pytest.mark.usefixtures("fresh_accelerate", "quick_python")
def test_killed_run_takes_its_trainer_along_and_the_next_one_continues(open_round: OpenRound) -> None:
    psutil = pytest.importorskip("psutil")
    longer = {"num_train_epochs": 20, "save_steps": 10}
    undisturbed, killed = open_round("a", trainer=longer), open_round("b", trainer=longer)
    _train_here(undisturbed)
    code = (
        "from pathlib import Path; from evenhand.config.recipe_file import load_recipe\n"
        "from evenhand.runfolder.phases import open_phase\n"
        "from evenhand.train import train; import sys; train(open_phase(load_recipe(Path(sys.argv[1])), 'round-00'))"
    )
    # from nothing, as a user starts it
    parent = subprocess.Popen([sys.executable, "-c", code, str(killed.recipe.output / "recipe.yaml")])
    _wait_for(lambda: list(killed.folder.glob("checkpoints/*/checkpoint-*/complete")), parent)
    family = psutil.Process(parent.pid).children(recursive=True)
    assert family
    parent.kill()
    parent.wait()
    assert psutil.wait_procs(family, timeout=20)[1] == [], "an orphan trains on"
    assert not (killed.folder / "adapter").exists(), "the training was over before it was killed"
    _, reused = train(killed)
    assert not reused
    # not bit for bit: the launcher gives its processes another number of threads
    assert logged(killed) == pytest.approx(logged(undisturbed), abs=1e-4)
    assert len(logged(killed)) == 120  # 20 epochs of 12 pairs, 2 a step


def _train_here(phase: Phase) -> None:
    from evenhand.train.stage import training_stage
    from evenhand.train.training import run_training

    run_training(phase, training_stage(phase, processes=1))


def _wait_for(found: Callable[[], Any], process: "subprocess.Popen[bytes]") -> None:
    end = time.monotonic() + START_SECONDS
    while not found():
        assert process.poll() is None, "the run ended before it could be killed"
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.slow
@pytest.mark.usefixtures("quick_python")
def test_refusal_of_the_training_process_reaches_the_caller(open_round: OpenRound) -> None:
    phase = open_round(trainer={"max_length": 40})
    with pytest.raises(DataError, match=r"12 of 12 pairs are longer than trainer\.max_length 40 \(left: 6, right: 6"):
        train(phase)
    assert not (phase.folder / "adapter").exists()
    assert not (phase.folder / "receipts" / "train.failure.json").exists()


@pytest.mark.slow
@pytest.mark.usefixtures("quick_python")
def test_training_by_hand_leaves_the_same_receipt_and_a_run_of_wandb(open_round: OpenRound) -> None:
    pytest.importorskip("wandb")
    phase = open_round(wandb={"project": "ferries", "mode": "offline"})
    command = [sys.executable, "-m", "evenhand.train.dpo", "--config", str(phase.recipe.output / "recipe.yaml")]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "policy = base + A(new, trainable); reference = base" in done.stderr
    assert list(phase.recipe.output.glob("wandb/offline-run-*/*.wandb"))
    receipt, reused = train(phase)
    assert reused
    assert receipt.counts["steps"] == 6
