"""The adapter, and how the training process is run."""

from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from .section import Section


class LoraSection(Section):
    """The adapter; names follow peft.LoraConfig."""

    r: int = Field(default=16, ge=1)
    lora_alpha: int = Field(default=32, ge=1)
    lora_dropout: float = Field(default=0.0, ge=0, lt=1)
    target_modules: tuple[str, ...] | Literal["all-linear"] = ("q_proj", "k_proj", "v_proj", "o_proj")


# keys of trl.DPOConfig that would do nothing with a shared prefix -> why
PAIRWISE_KEYS = {
    "train_sampling_strategy": "requests are shared out by their tokens",
    "dataloader_drop_last": "no request is left out of an epoch",
    "precompute_ref_batch_size": "the reference runs request by request",
    "auto_find_batch_size": "train.max_tokens_per_pass bounds the memory",
    "include_num_input_tokens_seen": "it would count other tokens than those that run; num_tokens counts those",
}
# attention implementations that can keep the candidates of a prompt from seeing each other
PACKED_ATTENTION = ("sdpa", "flex_attention")


class FairPOSection(Section):
    """FairPO's weights of chosen and rejected summaries, by what the policy has favoured so far."""

    # what stays of the running state at each optimiser step
    decay: float = Field(default=0.75, ge=0, le=1)
    # "released": power that the averages are raised to; "paper": divisor of the exponent
    temperature: float = Field(default=1.0, gt=0)
    # exponent of the ratio of averages: standardised over all pairs, as published code has it, or the raw C_k of the paper
    exponent: Literal["released", "paper"] = "released"


# values of trainer.loss_type without a loss of each pair that a weight could multiply: the first two sort the pairs, the last
# averages tokens
WITHOUT_PAIRS = ("aot", "aot_unpaired", "sft")
# keys of trl.DPOConfig that change the loss, and the one value that FairPO knows of each
FAIRNESS_KEYS: dict[str, tuple[Any, ...]] = {
    "loss_type": ("sigmoid", ["sigmoid"]),
    "loss_weights": (None, [1.0]),
    "label_smoothing": (0, None),
    "f_divergence_type": ("reverse_kl",),
    "ld_alpha": (None,),
    "use_weighting": (False,),
}


class TrainSection(Section):
    """How the training process is run and what it is held to."""

    # "shared-prefix": each prompt once for all of its candidates and pairs; "pairwise": stock TRL, the prompt twice for each pair
    trainer: Literal["shared-prefix", "pairwise"] = "shared-prefix"
    # shared-prefix: most tokens that run through the model side by side. A micro-batch beyond it runs in several passes, a long
    # request split by candidates, with the same loss; lower it when memory is short
    max_tokens_per_pass: int = Field(default=16384, ge=16)
    # accelerate configuration file: a path, or a name from accelerate_configs/
    accelerate_config: str = "cpu"
    # processes, when the file should not decide
    num_processes: int | None = Field(default=None, ge=1)
    # reference policy of every round: the untrained model, or the policy that the round starts from
    reference: Literal["initial", "previous"] = "initial"
    # rows longer than trainer.max_length: stop, or leave them out and count them by side
    excess_length_strategy: Literal["raise", "drop"] = "raise"
    # pair file to train on instead of the run folder's
    pairs: Path | None = None
    # weigh the two summaries of each pair by FairPO; None is plain DPO
    fairness: FairPOSection | None = None
    # interpreter of the training process
    python: str | None = None
