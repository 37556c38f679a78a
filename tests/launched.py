"""Trainings in two processes under `accelerate launch`, on one machine or on two that are both this one, and what they leave."""

import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from evenhand.runfolder.phases import Phase
from evenhand.storage import write_json
from evenhand.train.launch import SHIPPED

# a training ends by then, on a busy machine too
MOST_SECONDS = 900
FSDP2 = Path(__file__).parent / "train" / "fsdp2_on_two_processes.py"
# DeepSpeed keeps small weights on all processes; as those of a real model, none of these is small
ALL_SPREAD = {
    "stage": 3,
    "stage3_param_persistence_threshold": 0,
    "stage3_gather_16bit_weights_on_model_save": True,
}
AUTO = dict.fromkeys(("train_batch_size", "train_micro_batch_size_per_gpu", "gradient_accumulation_steps"), "auto")


def need_deepspeed() -> None:
    """Skip the test where DeepSpeed cannot run."""
    pytest.importorskip("deepspeed")
    if shutil.which("c++") is None:
        pytest.skip("DeepSpeed compiles its CPU communication when it is first used, and there is no C++ compiler")


def on_two_processes(name: str, folder: Path) -> Path:
    """A shipped accelerate configuration on two CPU processes, whatever number of machines it is for."""
    values = yaml.safe_load((SHIPPED / f"{name}.yaml").read_text())
    return _written(values | {"use_cpu": True, "num_processes": 2}, folder / f"{name}.yaml")


def two_processes(kind: str, folder: Path) -> Path:
    """An accelerate configuration of two CPU processes: "ddp", "zero2", "zero3" or "fsdp2"."""
    if kind == "fsdp2":
        return on_two_processes("fsdp2", folder)
    values = yaml.safe_load((SHIPPED / "zero2_cpu.yaml").read_text())
    if kind == "ddp":
        values["distributed_type"] = "MULTI_GPU"  # what starts torchrun; use_cpu makes it gloo on the CPU
        del values["deepspeed_config"]
    elif kind == "zero3":
        write_json(folder / "deepspeed.json", AUTO | {"zero_optimization": ALL_SPREAD})
        values["deepspeed_config"] = {"deepspeed_config_file": str(folder / "deepspeed.json"), "zero3_init_flag": True}
        del values["mixed_precision"]
    return _written(values, folder / f"{kind}.yaml")


def _written(values: dict[str, Any], path: Path) -> Path:
    path.write_text(yaml.safe_dump(values))
    return path


def launch_by_hand(phase: Phase, config: Path) -> str:
    """Train a round with one `accelerate launch` for each machine of the configuration; what they all said."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    values = yaml.safe_load(config.read_text())
    command = [
        sys.executable, "-m", "accelerate.commands.launch", "--config_file", str(config),
        "--main_process_ip", "127.0.0.1", "--main_process_port", str(port), "--machine_rank", "RANK",
        *([str(FSDP2)] if values["distributed_type"] == "FSDP" else ["-m", "evenhand.train.dpo"]),
        "--config", str(phase.recipe.output / "recipe.yaml"), "--phase", phase.name,
    ]  # fmt: skip
    # DeepSpeed compiles with the environment's own ninja, which is beside its interpreter
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PATH": path}
    said = [phase.recipe.output / f"machine-{rank}.txt" for rank in range(values["num_machines"])]
    machines = []
    try:
        for rank, log in enumerate(said):
            words = [str(rank) if word == "RANK" else word for word in command]
            with log.open("wb") as out:
                machines.append(subprocess.Popen(words, env=environment, stdout=out, stderr=out))
        codes = [machine.wait(timeout=MOST_SECONDS) for machine in machines]
    finally:
        for machine in machines:
            machine.kill()
    everything = "".join(log.read_text() for log in said)
    assert codes == [0] * len(said), everything[-5000:]
    return everything


def record(phase: Phase) -> dict[str, Any]:
    """training.json."""
    found: dict[str, Any] = json.loads((phase.folder / "training.json").read_text())
    return found


def logged(phase: Phase, name: str = "loss") -> list[float]:
    """What was logged of each step."""
    return [entry[name] for entry in record(phase)["log_history"] if "loss" in entry]


def distance(phase: Phase, other: Phase) -> float:
    """The largest difference between a weight of two rounds' adapters."""
    from safetensors.torch import load_file

    ours, theirs = (load_file(each.folder / "adapter" / "adapter_model.safetensors") for each in (phase, other))
    assert ours.keys() == theirs.keys()
    return max(float((ours[name] - theirs[name]).abs().max()) for name in ours)


def forget_after(phase: Phase, step: int) -> None:
    """Leave what a kill between this step's checkpoint and the next would have left."""
    for left in ("training.json", "receipts/train.json"):
        (phase.folder / left).unlink()
    shutil.rmtree(phase.folder / "adapter")
    for checkpoint in phase.folder.glob("checkpoints/*/checkpoint-*"):
        if int(checkpoint.name.partition("-")[2]) > step:
            shutil.rmtree(checkpoint)
