"""What watches a training: continued adapters resume exactly, the first loss is ln 2, checkpoints are marked when whole, tokens
are counted on.

transformers writes a checkpoint file by file under its final name, so its newest folder may be torn. A training here
leaves a mark in a checkpoint after all processes have written theirs; only marked ones are continued from.
"""

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ModelError
from ..extras import need
from ..models.files import ADAPTER_WEIGHTS
from ..runfolder.progress import Progress
from ..storage import file_digest
from .fairpo import FairPO, fairness_callback
from .policy import fill_adapter

if TYPE_CHECKING:
    from transformers import TrainerCallback

LN2 = math.log(2)
CHECKPOINT = re.compile(r"checkpoint-(\d+)")
MARK = "complete"
# what the state of a training calls the tokens that it has seen
TOKENS = "num_tokens"
# TRL's name of the frozen copy that a continued adapter is held to
REFERENCE = "ref"


def last_complete(folder: Path) -> Path | None:
    """The marked checkpoint with most steps; None when there is none."""
    checkpoints = {
        int(match.group(1)): path
        for path in folder.glob("checkpoint-*")
        if (match := CHECKPOINT.fullmatch(path.name)) and (path / MARK).is_file()
    }
    return checkpoints[max(checkpoints)] if checkpoints else None


@dataclass(frozen=True)
class LossRule:
    """What the first logged loss must, or must not, be."""

    # True: ln 2, because policy and reference are equal; False: anything but `equal`, because they differ
    is_ln2: bool
    # distance that still counts as equal
    tolerance: float
    # the loss where policy and reference are equal: ln 2, and 0 of FairPO after its first step
    equal: float = LN2

    def mistake(self, loss: float) -> str | None:
        """What is wrong with this first loss; None when nothing is."""
        near = abs(loss - self.equal) <= self.tolerance
        if self.is_ln2 and not near:
            return (
                f"the first loss is {loss:.6f}, but policy and reference are equal before the first step, so it must be "
                f"ln 2 = {LN2:.6f} within {self.tolerance:g}: the reference is not the policy that the round starts from. "
                "Compare the versions of trl and peft with those that evenhand asks for"
            )
        if near and not self.is_ln2:
            name = "ln 2" if self.equal == LN2 else f"{self.equal:g}"
            return (
                f"the first loss after resuming is {loss:.7f}, which is {name}, but the adapter had moved: its weights were "
                "not restored from the checkpoint. Remove the checkpoint and start the round again"
            )
        return None


def first_loss_rule(
    arguments: Any, *, starts_at_reference: bool, resume: Path | None, is_fair: bool = False
) -> LossRule | None:
    """What is known of the first loss; None when nothing is.

    Only the plain sigmoid loss (Rafailov et al. 2023, equation 7) is known to be ln 2 where policy and reference are equal.

    Args:
        arguments: the trl.DPOConfig.
        starts_at_reference: policy and reference are equal before the first step.
        resume: the checkpoint that training continues from.
        is_fair: FairPO's loss takes the place of the plain one after the first step.
    """
    plain = (
        arguments.loss_type == ["sigmoid"] and arguments.loss_weights in (None, [1.0]) and not arguments.use_weighting
    )
    # noise on the embeddings differs from the policy's pass to the reference's, as dropout does
    if not plain or not arguments.disable_dropout or arguments.neftune_noise_alpha:
        return None
    if resume is not None:
        # a continued adapter has moved when it differs from the frozen copy that lies beside it
        reference = resume / REFERENCE / ADAPTER_WEIGHTS
        has_moved = reference.is_file() and file_digest(reference) != file_digest(resume / ADAPTER_WEIGHTS)
        return LossRule(is_ln2=False, tolerance=1e-6, equal=0.0 if is_fair else LN2) if has_moved else None
    if not starts_at_reference:
        return None
    # the two passes may differ by rounding: 0.002 nats of a pair's log-probabilities in float32, 0.4 in half precision
    nats = 0.4 if arguments.bf16 or arguments.fp16 else 0.002
    return LossRule(is_ln2=True, tolerance=arguments.beta * nats / 2)


def training_callbacks(
    rule: LossRule | None, resume: Path | None, *, sharded: bool, fairness: FairPO | None = None
) -> "list[TrainerCallback]":
    """The callbacks of one training.

    Args:
        rule: what the first loss must be.
        resume: the checkpoint that training continues from.
        sharded: DeepSpeed or FSDP restores all weights from files of its own.
        fairness: FairPO, whose running state moves with the steps; None without it.
    """
    transformers = need("transformers", "training")

    class Watch(transformers.TrainerCallback):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            self.rule = rule

        def on_train_begin(self, args: Any, state: Any, control: Any, model: Any = None, **_: Any) -> None:
            # a checkpoint with two adapters has the frozen one in a sub-folder; transformers then reads the sub-folders only,
            # and the trained adapter would go on from where the round started
            if resume is not None and not sharded and (resume / REFERENCE).is_dir():
                fill_adapter(model, resume)
            if args.load_best_model_at_end and state.best_global_step:
                # transformers forgets the best checkpoint where the run folder has moved since
                state.best_model_checkpoint = str(Path(args.output_dir) / f"checkpoint-{state.best_global_step}")

        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> Any:
            if self.rule is not None:
                control.should_log = True
            return control

        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
            loss = (logs or {}).get("loss")
            if loss is None:
                return
            if not math.isfinite(loss):
                raise ModelError(f"the loss at step {state.global_step} is {loss}; lower trainer.learning_rate")
            mistake = self.rule.mistake(loss) if self.rule else None
            self.rule = None
            if mistake:
                raise ModelError(mistake)

        def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            args.distributed_state.wait_for_everyone()
            if state.is_world_process_zero and not args.save_only_model:
                (Path(args.output_dir) / f"checkpoint-{state.global_step}" / MARK).touch()

    # a checkpoint is marked last, when the other one has written its part
    return [*([fairness_callback(fairness)] if fairness else []), Watch()]


def step_counter(path: Path, unit: str) -> "TrainerCallback":
    """Says in a file which step of all the training has reached; see `progress`."""
    transformers = need("transformers", "training")

    class CountSteps(transformers.TrainerCallback):  # type: ignore[misc, name-defined]
        def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            if state.is_world_process_zero:
                self.progress = Progress(path, unit, {"": state.max_steps}, {"": state.global_step})

        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            if state.is_world_process_zero:
                self.progress.add()

    return CountSteps()


def token_counter(trainer: Any) -> "TrainerCallback":
    """Keeps what TRL logs as num_tokens in the state that a checkpoint has, so that an interrupted training goes on counting."""
    transformers = need("transformers", "training")

    class CountTokens(transformers.TrainerCallback):  # type: ignore[misc, name-defined]
        def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            trainer._total_train_tokens = state.stateful_callbacks.get(TOKENS, 0)

        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            state.stateful_callbacks[TOKENS] = trainer._total_train_tokens

    return CountTokens()
