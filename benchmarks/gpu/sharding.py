"""A training by evenhand's own command on one card, killed in its fifth step and started again, against an undisturbed one.

By DeepSpeed ZeRO-2, ZeRO-3, FSDP2, and of a model in four bits (NF4); with Liger's layers, against plain ones. The model is a
Llama of two layers that knows a few words. With --tiny FSDP2 has two processes: of one alone accelerate makes no FSDP on the CPU.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from ...config import Recipe
from ...config.plain_yaml import dump_yaml, read_yaml
from ...config.recipe_file import dump_recipe
from ...runfolder.phases import ADAPTER, CHECKPOINTS, RESOLVED, TRAINING, Phase, round_name
from ...storage import file_digest, read_json, write_jsonl, write_text
from ...train.launch import SHIPPED, refuse_stale_locks
from ...train.trial import made_up, write_toy
from .fsdp2_on_cpu import KILLED
from .killed import KILLED_IN
from .part import NotHere, Rows

# kind -> accelerate configuration that is shipped
CONFIGS = {"zero2": "zero2", "zero3": "zero3", "fsdp2": "fsdp2", "nf4": "cpu", "liger": "cpu"}
# two steps an epoch, of a request for each process; a checkpoint every other step
EPOCHS, SAVE_STEPS = 4, 2
# of losses of one training in two runs: atomic sums of a GPU come in any order
TOLERANCE = 1e-3
# Liger's layers round otherwise, in bfloat16
LIGER_TOLERANCE = 0.02


def measure(rows: Rows, *, is_tiny: bool, kind: str) -> None:
    """Add the row."""
    if kind == "liger":
        rows.check("liger, beside plain layers", partial(liger_beside_plain, is_tiny=is_tiny))
        return
    rows.check(f"{kind}, killed and continued", partial(killed_and_continued, kind, is_tiny=is_tiny))


def killed_and_continued(kind: str, *, is_tiny: bool) -> dict[str, Any]:
    """Losses of both trainings.

    Raises:
        NotHere: the library is not installed, or does not run on this device.
        AssertionError: a training failed, did not learn, or the continued one went another way.
    """
    refuse_where_absent(kind, is_tiny=is_tiny)
    n_processes = 2 if is_tiny and kind == "fsdp2" else 1
    if kind.startswith("zero"):
        # DeepSpeed would wait for them until the limit
        refuse_stale_locks()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tokenizer = write_toy(folder / "toy", n_layers=2, width=64)
        write_jsonl(
            folder / "pairs.jsonl", [made_up(tokenizer, number, is_fair=False) for number in range(2 * n_processes)]
        )
        config = write_config(kind, folder, n_processes, is_tiny=is_tiny)
        whole, torn = (write_recipe(kind, folder, name) for name in ("whole", "torn"))
        launch(config, whole)
        code = launch(config, torn, is_killed=True)
        assert code != 0, f"it was to be killed in step {KILLED_IN}, and ended well"
        assert list(torn.folder.glob(f"{CHECKPOINTS}/*/checkpoint-*")), "the killed training left no checkpoint"
        launch(config, torn)
        wanted, found = losses(whole), losses(torn)
        assert wanted[-1] < wanted[0], f"it did not learn: {wanted}"
        assert len(found) == len(wanted), f"{len(found)} steps, and {len(wanted)} undisturbed"
        furthest = max(abs(one - other) for one, other in zip(found, wanted, strict=True))
        assert furthest <= TOLERANCE, f"continued losses {found}, undisturbed {wanted}"
        same = file_digest(whole.folder / ADAPTER) == file_digest(torn.folder / ADAPTER)
    return {
        "losses": wanted,
        "furthest": furthest,
        "shown": {"losses off by": f"{furthest:.2g}", "same bits": str(same)},
    }


def liger_beside_plain(*, is_tiny: bool) -> dict[str, Any]:
    """Losses of a training with Liger's layers and of one without.

    Raises:
        NotHere: it is not installed, or there is no GPU.
        AssertionError: a training failed, did not learn, or the other went another way.
    """
    refuse_where_absent("liger", is_tiny=is_tiny)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tokenizer = write_toy(folder / "toy", n_layers=2, width=64)
        write_jsonl(folder / "pairs.jsonl", [made_up(tokenizer, number, is_fair=False) for number in range(2)])
        config = write_config("liger", folder, 1, is_tiny=is_tiny)
        plain = write_recipe("liger", folder, "plain")
        liger = write_recipe("liger", folder, "liger", use_liger_kernel=True)
        for phase in (plain, liger):
            launch(config, phase)
        wanted, found = losses(plain), losses(liger)
    assert wanted[-1] < wanted[0], f"it did not learn: {wanted}"
    furthest = max(abs(one - other) for one, other in zip(found, wanted, strict=True))
    assert furthest <= LIGER_TOLERANCE, f"losses with Liger {found}, without {wanted}"
    return {"losses": wanted, "furthest": furthest, "shown": {"losses off by": f"{furthest:.2g}"}}


def refuse_where_absent(kind: str, *, is_tiny: bool) -> None:
    """Say why a kind cannot be tried on this machine."""
    if kind == "liger" and is_tiny:
        raise NotHere("its kernels need a GPU")
    library = {"zero2": "deepspeed", "zero3": "deepspeed", "nf4": "bitsandbytes", "liger": "liger_kernel"}.get(kind)
    for each in filter(None, (library, "trl", "peft", "datasets")):
        if importlib.util.find_spec(each) is None:
            raise NotHere(f"{each} is not installed")
    if library == "deepspeed" and is_tiny and shutil.which("c++") is None:
        raise NotHere("DeepSpeed compiles its CPU communication, and there is no C++ compiler")


def write_config(kind: str, folder: Path, n_processes: int, *, is_tiny: bool) -> Path:
    """The configuration for so many processes; on the CPU with --tiny."""
    values = read_yaml(SHIPPED / f"{CONFIGS[kind]}.yaml")
    write_text(folder / "accelerate.yaml", dump_yaml(values | {"use_cpu": is_tiny, "num_processes": n_processes}))
    return folder / "accelerate.yaml"


def write_recipe(kind: str, folder: Path, name: str, **trainer: Any) -> Phase:
    """The recipe of a run in the folder of that name; its only round. The seed of a training comes of the recipe's name."""
    recipe = Recipe.model_validate(
        {
            "name": kind,
            "output": str(folder / name),
            "model": {"name": str(folder / "toy"), "dtype": "bfloat16", "quantise": "nf4" if kind == "nf4" else None},
            "generate": {"plans": {"nucleus": {"top_p": 0.9}}, "max_model_len": 256},
            "judges": {"rouge": {"kind": "rouge"}, "words": {"kind": "length"}},
            "reward": {"judges": ["rouge"]},
            "evaluation": {"judges": ["words"]},
            "lora": {"r": 4, "lora_alpha": 8, "target_modules": "all-linear"},
            "train": {"pairs": str(folder / "pairs.jsonl")},
            "trainer": {
                "learning_rate": 1e-2, "per_device_train_batch_size": 1, "gradient_accumulation_steps": 1,
                "num_train_epochs": EPOCHS, "save_steps": SAVE_STEPS, "logging_steps": 1, **trainer,
            },
        }
    )  # fmt: skip
    phase = Phase(recipe, round_name(0), None)
    phase.folder.mkdir(parents=True)
    write_text(recipe.output / RESOLVED, dump_recipe(recipe))
    return phase


def launch(config: Path, phase: Phase, *, is_killed: bool = False) -> int:
    """Train by accelerate's launcher, as `evenhand train` does; what it says goes to the part's log.

    Raises:
        AssertionError: it ended badly, and was not to be killed.
    """
    values = read_yaml(config)
    module = ["evenhand.benchmarks.gpu.killed" if is_killed else "evenhand.train.dpo"]
    if values["use_cpu"] and values["distributed_type"] == "FSDP":
        module = ["evenhand.benchmarks.gpu.fsdp2_on_cpu", *([KILLED] if is_killed else [])]
    command = [
        sys.executable, "-m", "accelerate.commands.launch", "--config_file", str(config), "--num_processes",
        str(values["num_processes"]), "--main_process_port", "0", "--quiet", "-m", *module, "--config",
        str(phase.recipe.output / RESOLVED), "--phase", phase.name,
    ]  # fmt: skip
    # DeepSpeed compiles with the environment's own ninja, which is beside its interpreter
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    code = subprocess.run(command, env=os.environ | {"PATH": path}, check=False).returncode
    assert is_killed or code == 0, f"the training ended with {code}"
    return code


def losses(phase: Phase) -> list[float]:
    """The loss of every step."""
    return [entry["loss"] for entry in read_json(phase.folder / TRAINING)["log_history"] if "loss" in entry]
