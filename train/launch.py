"""Training as a stage: this process keeps the stage, and `accelerate launch` does the work in processes of its own."""

import logging
import os
import shlex
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from ..config import Recipe, TrainSection
from ..config.plain_yaml import read_yaml
from ..errors import ModelError, RecipeError, StorageError
from ..runfolder.phases import Phase, hold_run, resolved_recipe
from ..runfolder.processes import failure_path, run_attached
from ..runfolder.stages import Counts, Receipt
from ..storage import as_given
from ..text.mistakes import explain, listed
from .options import AUTO, asked_checkpointing, splits
from .stage import training_stage
from .training import read_counts

log = logging.getLogger(__name__)

SHIPPED = Path(__file__).parents[1] / "accelerate_configs"
# builds of DeepSpeed's extensions take minutes; a lock that is older than this was left by one that was killed
BUILD_SECONDS = 1800


def train(phase: Phase) -> tuple[Receipt, bool]:
    """Train a round's adapter; the receipt, and whether it was there already.

    Args:
        phase: a round; the training processes read the resolved recipe in its run folder.

    Raises:
        DataError: there are no pairs, or they cannot be trained on as they are.
        RecipeError: the phase is not a round, or the accelerate configuration cannot be started from here.
        ModelError: model or adapter cannot be opened, or the training processes ended without saying why.
        StorageError: another command writes in the run folder, or a killed build of DeepSpeed's extensions has left its lock.
    """
    config = accelerate_config(phase.recipe.train.accelerate_config)
    processes = n_processes(phase.recipe.train, config)
    stage = training_stage(phase, processes)

    def work() -> Counts:
        if read_accelerate(config).distributed_type.upper() == "DEEPSPEED":
            refuse_stale_locks(phase.recipe.train.python)
        _launch(phase, config, processes, stage.key)
        return read_counts(phase)

    # held for the training processes, which are not children of one another
    with hold_run(phase.recipe):
        return stage.run(work)


class AccelerateConfig(BaseModel):
    """What is read of an accelerate configuration; the rest is accelerate's."""

    distributed_type: str
    num_machines: int | None = Field(default=None, ge=1)
    num_processes: int | None = Field(default=None, ge=1)
    use_cpu: bool | None = False
    mixed_precision: str | None = "no"
    deepspeed_config: dict[str, Any] | None = None
    parallelism_config: dict[str, Any] | None = None


def accelerate_config(name: str, asked_by: str = "key 'train.accelerate_config'") -> Path:
    """The accelerate configuration of that name: one that evenhand ships, or the file at that path.

    Raises:
        RecipeError: neither exists; the shipped names are listed.
    """
    shipped = SHIPPED / f"{name}.yaml"
    path = shipped if shipped.is_file() else Path(name)
    if not path.is_file():
        known = ", ".join(sorted(p.stem for p in SHIPPED.glob("*.yaml")))
        raise RecipeError(f"{asked_by}: {name!r} is neither shipped ({known}) nor a file")
    return path


def n_processes(section: TrainSection, config: Path) -> int:
    """Training processes that the configuration starts on all machines together, unless the recipe gives another number.

    Raises:
        RecipeError: the file is not an accelerate configuration, asks for machines that nothing here starts, or for one process
            where more are asked for; or processes cannot be shared out evenly over machines.
    """
    values, machines = read_accelerate(config), n_machines(section, config)
    if values.distributed_type.upper() == "NO":
        if machines > 1 or (section.num_processes or 1) > 1:
            setting = (
                f"'train.num_processes': {section.num_processes} processes"
                if machines == 1
                else f"'train.num_machines': {machines} machines"
            )
            raise RecipeError(
                f"key {setting}, but {config} starts one process; name another train.accelerate_config, for example zero2"
            )
        return 1
    configured = values.num_machines or 1
    started = values.num_processes or configured
    if section.num_processes is None and started % configured:
        raise RecipeError(
            f"key 'train.accelerate_config': {config} starts {started} processes, which cannot be shared out evenly over its "
            f"{configured} machines; mend its num_processes, or write train.num_processes"
        )
    processes = section.num_processes or started * machines // configured
    if processes > 1 and values.distributed_type.upper() == "MULTI_CPU":
        # accelerate leaves it to mpirun to start the others
        raise RecipeError(
            f"key 'train.accelerate_config': of {config}, whose distributed_type is MULTI_CPU, accelerate starts one process "
            f"instead of {processes}; write distributed_type: MULTI_GPU there with use_cpu: true, which starts all of them "
            "on the CPU"
        )
    if processes % machines:
        raise RecipeError(
            f"key 'train.num_processes': {processes} processes cannot be shared out evenly over {machines} machines; write a "
            f"multiple of {machines}"
        )
    return processes


def is_zero3(config: Path) -> bool:
    """Whether the configuration spreads the weights by DeepSpeed.

    Raises:
        RecipeError: the file is not an accelerate configuration.
    """
    values = read_accelerate(config)
    return values.distributed_type.upper() == "DEEPSPEED" and (values.deepspeed_config or {}).get("zero_stage") == 3


def loses_passes(recipe: Recipe) -> bool:
    """Whether a micro-batch of several passes would be refused, as far as the recipe says it; see `options.refuse_passes`.

    Raises:
        RecipeError: the accelerate configuration cannot be started from here.
    """
    config, setting = accelerate_config(recipe.train.accelerate_config), asked_checkpointing(recipe)
    values, zero3 = read_accelerate(config), is_zero3(config)
    # `auto` runs layers again under ZeRO-3 on GPUs
    on = (zero3 and not values.use_cpu) if setting == AUTO else setting
    reentrant = zero3 or (recipe.trainer.get("gradient_checkpointing_kwargs") or {}).get("use_reentrant")
    shared = values.distributed_type.upper() in {"DEEPSPEED", "FSDP"} or n_processes(recipe.train, config) > 1
    return recipe.train.trainer == "shared-prefix" and bool(on and reentrant and shared)


def n_machines(section: TrainSection, config: Path) -> int:
    """Machines that the training is spread over.

    Raises:
        RecipeError: the file is not an accelerate configuration, or asks for machines that nothing here starts; or the recipe
            asks for several machines where the file starts one.
    """
    configured = read_accelerate(config).num_machines or 1
    machines = section.num_machines or configured
    if configured > 1 and section.launcher != "srun":
        raise RecipeError(
            f"{config}: asks for {configured} machines, which cannot be started from one; write train.launcher: srun where SLURM "
            f"is, or run on every machine: accelerate launch --config_file {config} --machine_rank RANK --main_process_ip "
            "ADDRESS_OF_RANK_0 -m evenhand.train.dpo --config RECIPE"
        )
    if configured == 1 and machines > 1:
        raise RecipeError(
            f"key 'train.num_machines': {machines} machines, but {config} is for one; name another train.accelerate_config, for "
            "example multi_node or fsdp2_multi_node"
        )
    return machines


def read_accelerate(config: Path) -> AccelerateConfig:
    """What an accelerate configuration says, as far as it is looked at.

    Raises:
        RecipeError: the file is not an accelerate configuration.
    """
    with as_given():
        values = read_yaml(config)
    try:
        read = AccelerateConfig.model_validate(values if isinstance(values, dict) else {})
    except ValidationError as error:
        raise RecipeError(
            f"{config}: is not an accelerate configuration ({explain(error)}); `accelerate config` writes one"
        ) from error
    if ways := splits(read.parallelism_config or {}):
        raise RecipeError(f"key 'train.accelerate_config': {config}: {ways}")
    return read


def refuse_stale_locks(python: str | None = None) -> None:
    """Refuse locks that killed builds of DeepSpeed's extensions left behind, and warn of younger ones.

    Whoever compiles an extension keeps a file `lock` beside it meanwhile, and other processes wait without a word for as long
    as it is there: after a build that was killed, forever. Source: torch.utils.cpp_extension and torch.utils.file_baton.

    Args:
        python: interpreter of the training, whose extensions have a folder of their own; None for this one.

    Raises:
        StorageError: names every lock that is older than half an hour.
    """
    stale = []
    for lock in lock_files(python):
        try:
            age = time.time() - lock.stat().st_mtime
        except FileNotFoundError:
            # its build has just ended
            continue
        report = f"{lock}: is {age / 60:.0f} minutes old"
        if age >= BUILD_SECONDS:
            stale.append(f"{report}, so a build that was killed has probably left it")
        else:
            log.warning("%s; DeepSpeed waits until it is gone. If nothing compiles extensions, delete the file", report)
    if stale:
        raise StorageError(
            f"{listed(stale)}\nDeepSpeed waits until they are gone. Delete these files, unless a process, another machine or "
            "another user compiles in the same folder, then give the same command again"
        )


def lock_files(python: str | None = None) -> list[Path]:
    """The locks of an interpreter's extensions; of all interpreters' when it is another one, whose version is not known.

    Only where Linux has them: $TORCH_EXTENSIONS_DIR, else torch_extensions in $XDG_CACHE_HOME or ~/.cache.
    """
    chosen = os.environ.get("TORCH_EXTENSIONS_DIR")
    if chosen is not None:
        return sorted(Path(chosen).glob("*/lock"))
    version = f"py{sys.version_info.major}{sys.version_info.minor}" if python in (None, sys.executable) else "py"
    chosen = os.environ.get("XDG_CACHE_HOME")
    try:
        cache = Path.home() / ".cache" if chosen is None else Path(chosen)
    except RuntimeError:
        return []
    return sorted(Path(cache, "torch_extensions").glob(f"{version}*_*/*/lock"))


# what srun starts on each machine; $0 is the interpreter. All processes meet at the first machine of the step, whose address
# SLURM knows, at a port that is another one for another job
ON_EACH_MACHINE = """
set -euo pipefail
first=$(scontrol show hostnames "$SLURM_STEP_NODELIST" | sed -n 1p)
address=$(scontrol show node --oneliner "$first" | sed -n 's/.* NodeAddr=\\([^ ]*\\).*/\\1/p')
[ -n "$address" ] || { echo "evenhand: scontrol does not tell the address of $first" >&2; exit 1; }
exec -- "$0" -m accelerate.commands.launch --num_machines "$SLURM_STEP_NUM_NODES" --machine_rank "$SLURM_PROCID" \\
    --main_process_ip "$address" --main_process_port "$((20000 + SLURM_JOB_ID % 12000))" "$@"
"""


def srun(python: str, machines: int, arguments: Sequence[str], variables: Mapping[str, str] = os.environ) -> list[str]:
    """The command that starts `accelerate launch` on every machine of a SLURM job, or of one that srun waits for.

    Args:
        python: interpreter on every machine.
        machines: how many.
        arguments: what accelerate is told besides where the machines are.
        variables: of the job.
    """
    # srun has not taken this over from the job since SLURM 22.05, and would bind all processes of a machine to one core
    cpus = variables.get("SLURM_CPUS_PER_TASK")
    cores = [f"--cpus-per-task={cpus}"] if cpus else []
    return [*on_each_node(machines), *cores, "bash", "-c", ON_EACH_MACHINE, python, *arguments]


def on_each_node(n: int) -> list[str]:
    """What makes a command run once on each of so many nodes, with the variables and the standard input of this process."""
    return [
        "srun", f"--nodes={n}", f"--ntasks={n}", "--ntasks-per-node=1", "--kill-on-bad-exit=1", "--export=ALL", "--input=all",
    ]  # fmt: skip


def _launch(phase: Phase, config: Path, processes: int, key: str) -> None:
    recipe = resolved_recipe(phase.recipe, "the training processes")
    python = phase.recipe.train.python or sys.executable
    # said also of one process, where the file would start more
    is_distributed = read_accelerate(config).distributed_type.upper() != "NO"
    options = [
        "--config_file",
        str(config.absolute()),
        *(["--num_processes", str(processes)] if is_distributed else []),
        "--quiet",
    ]
    training = ["-m", "evenhand.train.dpo", "--config", str(recipe), "--phase", phase.name, "--stage-key", key]
    if phase.recipe.train.launcher == "srun":
        command = srun(python, n_machines(phase.recipe.train, config), [*options, *training])
    else:
        # a free port, so that two trainings on one machine do not meet
        port = ["--main_process_port", "0"] if is_distributed else []
        command = [python, "-m", "accelerate.commands.launch", *port, *options, *training]
    log.info("%s", shlex.join(command))
    # DeepSpeed compiles with the environment's own ninja, which is beside its interpreter
    folders = [str(Path(python).parent)] if Path(python).is_absolute() else []
    path = os.pathsep.join([*folders, os.environ.get("PATH", os.defpath)])
    try:
        code = run_attached(command, failure_path(phase.folder, "train"), PATH=path)
    except OSError as error:
        program = f"train.python': {python!r}" if command[0] == python else "train.launcher': 'srun'"
        raise RecipeError(f"key '{program} cannot be started: {error.strerror}") from error
    if code != 0:
        raise ModelError(
            f"{phase.name}: training ended with exit code {code}; its output is above. The same command continues from "
            "the last checkpoint. When memory was short: write trainer.gradient_checkpointing: true, "
            "lower train.max_tokens_per_pass (pairwise: trainer.per_device_train_batch_size), or shorten the prompts"
        )
