"""The adapter, and how the training process is run."""

from collections.abc import Iterator, Mapping
from functools import partial
from operator import eq
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from ..doors import absence
from ..records import is_none
from ..text import did_you_mean
from ..text.shown import shortened
from .model import AUTO_ATTENTION, TORCH_VARLEN, ModelSection
from .reward import PairsSection
from .section import Section, refuse_without_effect
from .trainer_keys import BOUND_KEYS, IDLE_KEYS, OWNED_TRAINER_KEYS, POSITIVE_KEYS, RENAMED_TRAINER_KEYS, TRACKERS

# largest rank of an adapter that vLLM serves; larger ones have to be merged
MOST_SERVED_RANK = 512


class LoraSection(Section):
    """The adapter; names follow peft.LoraConfig."""

    # rank of the adapter, and what its output is scaled by (lora_alpha / r)
    r: int = Field(default=16, ge=1)
    lora_alpha: int = Field(default=32, ge=1)
    # used only with trainer.disable_dropout: false
    lora_dropout: float = Field(default=0.0, ge=0, lt=1)
    # layers of the model that are adapted
    target_modules: tuple[str, ...] | Literal["all-linear"] = ("q_proj", "k_proj", "v_proj", "o_proj")


# keys of trl.DPOConfig that would do nothing with a shared prefix -> why
PAIRWISE_KEYS = {
    "train_sampling_strategy": "requests are shared out by their tokens",
    "dataloader_drop_last": "no request is left out of an epoch",
    "precompute_ref_batch_size": "the reference runs request by request",
    "auto_find_batch_size": "train.max_tokens_per_pass bounds the memory",
    "include_num_input_tokens_seen": "it would count other tokens than those that run; num_tokens counts those",
    "torch_compile": "a packed sequence has a shape of its own, and Dynamo gives up after eight of them",
    "torch_compile_backend": "a packed sequence has a shape of its own, and Dynamo gives up after eight of them",
    "torch_compile_mode": "a packed sequence has a shape of its own, and Dynamo gives up after eight of them",
    "router_aux_loss_coef": "the auxiliary loss of experts would be made of other tokens than stock TRL's, and is left out",
}
# values of trainer.loss_type that TRL 1.16 knows; listed here so that a recipe is checked without importing it
LOSS_TYPES = (
    "sigmoid", "hinge", "ipo", "exo_pair", "nca_pair", "robust", "bco_pair", "sppo_hard", "aot", "aot_unpaired", "apo_zero",
    "apo_down", "discopop", "sft", "sigmoid_norm",
)  # fmt: skip
# attention implementations whose kernels take sequences of variable length, on CUDA and in half precision
VARLEN_ATTENTION = ("flash_attention_2", "flash_attention_3", TORCH_VARLEN)
# attention implementations that can keep the candidates of a prompt from seeing each other
PACKED_ATTENTION = ("sdpa", "flex_attention", *VARLEN_ATTENTION)


class FairPOSection(Section):
    """FairPO's weights of chosen and rejected summaries, by what the policy has favoured so far."""

    # what stays of the running state at each optimiser step
    decay: float = Field(default=0.75, ge=0, le=1)
    # "released": power that the averages are raised to; "paper": divisor of the exponent
    temperature: float = Field(default=1.0, gt=0)
    # exponent of the ratio of averages: standardised over all pairs, as published code has it, or the raw C_k of the paper
    exponent: Literal["released", "paper"] = "released"


# values of trainer.loss_type that weights of pairs cannot multiply in TRL -> why
UNWEIGHTED = {
    "aot": "it sorts the pairs and has no loss of each",
    "aot_unpaired": "it sorts the pairs and has no loss of each",
    "sft": "it averages tokens and has no loss of each pair",
    "hinge": "TRL multiplies it in place, after which it has no gradient",
}
# values of trainer.loss_type that depend on how a step is cut into micro-batches -> how
OF_MICRO_BATCHES = {"aot": "sorts the pairs", "aot_unpaired": "sorts the pairs", "sft": "averages the tokens"}
# losses that are made of the scores of both summaries
OF_SCORES = ("sigmoid", "hinge", "ipo", "exo_pair", "robust", "discopop", "sigmoid_norm")
# keys of trl.DPOConfig that some losses alone read -> the value that asks for nothing, and those losses
KEYS_OF_LOSSES: dict[str, tuple[Any, tuple[str, ...]]] = {
    "label_smoothing": (0, ("exo_pair", "robust", "aot", "aot_unpaired")),
    "discopop_tau": (None, ("discopop",)),
    "f_divergence_type": ("reverse_kl", OF_SCORES),
    "f_alpha_divergence_coef": (None, OF_SCORES),
}
# trainer key of the processes that load rows
WORKERS = "dataloader_num_workers"
# values of trainer.eval_strategy that ask for no evaluation
NEVER = ("no", False, None)
# schedules of the learning rate that read trainer.metric_for_best_model, whether or not the best step is kept
OF_METRIC = ("reduce_lr_on_plateau", "greedy")
# keys of trl.DPOConfig that act only beside another one -> that one, its value in TRL, those without effect, and what to write
DEPENDENT_KEYS: dict[str, tuple[str, Any, tuple[Any, ...], str]] = {
    "dataloader_multiprocessing_context": (WORKERS, 0, (0,), "1 or more"),
    "dataloader_persistent_workers": (WORKERS, 0, (0,), "1 or more"),
    "dataloader_prefetch_factor": (WORKERS, 0, (0,), "1 or more"),
    "eval_delay": ("eval_strategy", "no", NEVER, "steps or epoch"),
    "eval_steps": ("eval_strategy", "no", (*NEVER, "epoch"), "steps"),
    "gradient_checkpointing_kwargs": ("gradient_checkpointing", "auto", (False,), "auto or true"),
    "greater_is_better": ("load_best_model_at_end", False, (False, None), "true"),
    "load_best_model_at_end": ("eval_strategy", "no", NEVER, "steps or epoch"),
    "metric_for_best_model": ("load_best_model_at_end", False, (False, None), "true"),
    "per_device_eval_batch_size": ("eval_strategy", "no", NEVER, "steps or epoch"),
    "hub_model_id": ("push_to_hub", False, (False, None), "true"),
    "hub_private_repo": ("push_to_hub", False, (False, None), "true"),
    "hub_revision": ("push_to_hub", False, (False, None), "true"),
    "liger_kernel_config": ("use_liger_kernel", False, (False, None), "true"),
    "logging_steps": ("logging_strategy", "steps", ("epoch", "no"), "steps"),
    "precompute_ref_batch_size": ("precompute_ref_log_probs", False, (False, None), "true"),
    "save_steps": ("save_strategy", "steps", ("epoch", "no"), "steps"),
    "save_total_limit": ("save_strategy", "steps", ("no",), "steps or epoch"),
    "warmup_steps": ("lr_scheduler_type", "linear", ("constant",), "constant_with_warmup"),
}
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
    # shared-prefix: what is shuffled, "requests" one by one, or "sets": requests whose prompts begin alike, as both sides of a
    # document set do, then stay together in steps and micro-batches, where that beginning runs once
    shuffle: Literal["requests", "sets"] = Field(default="requests", exclude_if=partial(eq, "requests"))
    # accelerate configuration file: a path, or a name from accelerate_configs/
    accelerate_config: str = "cpu"
    # processes of all machines together, when the file should not decide
    num_processes: int | None = Field(default=None, ge=1)
    # what starts them: "accelerate" on this machine, or SLURM's "srun", which starts accelerate on every machine of a job
    launcher: Literal["accelerate", "srun"] = "accelerate"
    # with launcher: srun, machines, when the file should not decide
    num_machines: int | None = Field(default=None, ge=1)
    # requests (pairwise: pairs) of one optimiser step over all processes: how many micro-batches are accumulated follows from it.
    # None takes trainer.gradient_accumulation_steps as it is, so that more processes make larger steps
    global_batch_size: int | None = Field(default=None, ge=1)
    # reference policy of every round: the untrained model, or the policy that the round starts from
    reference: Literal["initial", "previous"] = "initial"
    # rows longer than trainer.max_length: stop, or leave them out and count them by side
    excess_length_strategy: Literal["raise", "drop"] = "raise"
    # pair file to train on instead of the run folder's: evenhand's own, TRL's chosen and rejected, or ranked lists of completions
    pairs: Path | None = None
    # pairs that are evaluated while a training runs (trainer.eval_strategy) and not trained on: a pair file, or a share of the
    # document sets, those of the seed's choice with all of their pairs
    eval_pairs: Annotated[float, Field(gt=0, lt=1)] | Path | None = Field(default=None, exclude_if=is_none)
    # with pairs: what becomes of texts that are no conversations: "chat", asked and answered in the model's chat template, or
    # "plain", trained as they are, in the very tokens of stock TRL. None is "plain" with trainer: pairwise, else "chat"
    texts: Literal["chat", "plain"] | None = Field(default=None, exclude_if=is_none)
    # weigh the two summaries of each pair by FairPO; None is plain DPO
    fairness: FairPOSection | None = None
    # interpreter of the training process
    python: str | None = None

    @property
    def form(self) -> Literal["chat", "plain"]:
        """Form that texts take which are no conversations."""
        return self.texts or ("plain" if self.trainer == "pairwise" else "chat")

    def refuse(self) -> None:
        """Passes and beginnings that run once are the shared prefix's alone, and several machines srun's."""
        is_shared = self.trainer == "shared-prefix"
        refuse_without_effect(self, ("max_tokens_per_pass", "shuffle"), is_shared, "with trainer: shared-prefix")
        refuse_without_effect(self, ("texts",), self.pairs is not None, "with pairs")
        refuse_without_effect(self, ("num_machines",), self.launcher == "srun", "with launcher: srun")


def loss_types(trainer: Mapping[str, Any]) -> list[str]:
    """The losses that a recipe's `trainer` section asks for; TRL's own without one."""
    losses = trainer.get("loss_type") or "sigmoid"
    return list(losses) if isinstance(losses, list) else [losses]


def trackers(trainer: Mapping[str, Any]) -> list[str]:
    """The trackers that a recipe's `trainer` section names, by transformers' names."""
    names = trainer.get("report_to") or "none"
    return [name for name in (names if isinstance(names, list) else [names]) if name != "none"]


def unknown_trackers(trainer: Mapping[str, Any]) -> Iterator[str]:
    """Mistakes: trackers that are none, or that another key asks for."""
    for name in trackers(trainer):
        where = f"trainer.report_to {shortened(name)}"
        if name == "wandb":
            yield f"{where}: write the section wandb, which logs the other stages, too: `wandb: {{mode: online}}`."
        elif name == "all":
            yield f"{where} would be another thing on each machine: write the names."
        elif name not in TRACKERS:
            near = did_you_mean(str(name), TRACKERS)
            yield f"{where} is no tracker of transformers{near} There are {', '.join(TRACKERS)}."


def without_nulls(trainer: Mapping[str, Any]) -> dict[str, Any]:
    """The `trainer` section without the nulls by which a recipe takes out keys of one that it extends.

    A null that TRL reads itself stays, as max_length's.
    """
    taken_out = {
        "eval_strategy",
        *RENAMED_TRAINER_KEYS,
        *OWNED_TRAINER_KEYS,
        *BOUND_KEYS,
        *DEPENDENT_KEYS,
        *KEYS_OF_LOSSES,
        *PAIRWISE_KEYS,
    }
    taken_out |= {key for keys in IDLE_KEYS.values() for key, default in keys.items() if default is not None}
    return {key: value for key, value in trainer.items() if value is not None or key not in taken_out}


def unknown_sizes(trainer: Mapping[str, Any], train: TrainSection) -> Iterator[str]:
    """Mistakes: a micro-batch of as many requests as fit, where that cannot be known or would change the loss."""
    if trainer.get("per_device_train_batch_size") != "auto":
        return
    where = "trainer.per_device_train_batch_size auto"
    if train.trainer == "pairwise":
        yield f"{where} fills passes, which train.trainer: pairwise does not have: write a number."
    if train.global_batch_size is None:
        yield f"{where} spreads the requests of a step: write train.global_batch_size, the requests of all processes in it."
    for name in loss_types(trainer):
        if name in OF_MICRO_BATCHES:
            yield f"{where} would change loss_type {name}, which {OF_MICRO_BATCHES[name]} of a micro-batch: write a number."


def unfit_evaluation(trainer: Mapping[str, Any], train: TrainSection) -> Iterator[str]:
    """Mistakes: evaluation while a training runs without pairs for it, pairs without it, and a best step that is not saved."""
    strategy = trainer.get("eval_strategy")
    if strategy not in NEVER and train.eval_pairs is None:
        yield (
            f"trainer.eval_strategy {shortened(strategy)} needs pairs that are not trained on: write train.eval_pairs, a "
            "share of the document sets (0.1) or a file of pairs."
        )
    if strategy in NEVER and train.eval_pairs is not None:
        yield "train.eval_pairs has no effect without trainer.eval_strategy: write steps or epoch there, or leave it out."
    saved, evaluated = (trainer.get(key) for key in ("save_steps", "eval_steps"))
    if trainer.get("load_best_model_at_end") and evaluated not in (None, saved):
        yield (
            f"trainer.eval_steps {shortened(evaluated)}: with load_best_model_at_end the best step must be a saved one: leave "
            "eval_steps out, and steps are evaluated as they are saved (save_steps)."
        )
    # TRL takes 0 for its own, which is each step here
    key = "save_steps" if evaluated is None else "eval_steps"
    steps = trainer.get(key, 1)
    if strategy == "steps" and (isinstance(steps, bool | None) or (isinstance(steps, int | float) and steps <= 0)):
        yield (
            f"trainer.{key} {shortened(steps)} says when it is evaluated: write a number of steps, or a share of all of them "
            f"(0.1){', or eval_steps' if evaluated is None else ''}."
        )
    if strategy not in NEVER and train.trainer == "pairwise" and trainer.get("dataloader_drop_last"):
        yield (
            "trainer.dataloader_drop_last would leave pairs out of the evaluation, too, and all of them where they are fewer "
            "than a batch: leave it out."
        )


def unpackable(trainer: Mapping[str, Any], model: ModelSection) -> Iterator[str]:
    """Mistakes: what a shared prefix has no use for, or cannot run with."""
    attention = model.attn_implementation
    if attention not in (AUTO_ATTENTION, *PACKED_ATTENTION):
        yield (
            f"model.attn_implementation {attention!r} cannot keep the candidates of a prompt from seeing each other: write "
            f"one of {', '.join(PACKED_ATTENTION)}, or train.trainer: pairwise."
        )
    is_half = model.dtype != "float32" or trainer.get("bf16") or trainer.get("fp16")
    if attention in VARLEN_ATTENTION and not is_half:
        yield (
            f"model.attn_implementation {attention} has no kernel for float32: write model.dtype: bfloat16, or "
            "attn_implementation: sdpa."
        )
    if trainer.get("neftune_noise_alpha"):
        yield (
            "trainer.neftune_noise_alpha scales its noise by the length of a row, which a packed sequence is not: leave it out, "
            "or write train.trainer: pairwise."
        )
    for key, why in PAIRWISE_KEYS.items():
        # what is switched off asks for nothing
        if trainer.get(key) not in (None, False):
            yield f"trainer.{key} has no effect, because {why}: leave it out, or write train.trainer: pairwise."


def without_effect(trainer: Mapping[str, Any], lora: LoraSection) -> Iterator[str]:
    """Mistakes: what a recipe asks of the loss or the adapter, and TRL would not do without a word."""
    losses = loss_types(trainer)
    yield from _idle(trainer)
    for key, (idle, readers) in KEYS_OF_LOSSES.items():
        if trainer.get(key, idle) != idle and not set(losses) & set(readers):
            yield (
                f"trainer.{key} has no effect with loss_type {', '.join(losses)}: leave it out, or write one of "
                f"{', '.join(readers)}."
            )
    if "f_alpha_divergence_coef" in trainer and trainer.get("f_divergence_type") != "alpha_divergence":
        yield "trainer.f_alpha_divergence_coef has no effect: write f_divergence_type: alpha_divergence, or leave it out."
    if lora.lora_dropout and trainer.get("disable_dropout", True):
        yield (
            f"lora.lora_dropout {lora.lora_dropout:g} has no effect, because TRL turns dropout off: write "
            "trainer.disable_dropout: false, or leave it out."
        )
    if trainer.get("use_weighting"):
        for name in losses:
            if name in UNWEIGHTED:
                yield f"trainer.use_weighting cannot weigh loss_type {name}: {UNWEIGHTED[name]}."


def _idle(trainer: Mapping[str, Any]) -> Iterator[str]:
    """Mistakes: keys that nothing reads, or nothing beside another one, and values that break a promise."""
    for why, idle_values in IDLE_KEYS.items():
        for key in trainer.keys() & idle_values.keys():
            if trainer[key] not in (None, idle_values[key]):
                yield f"trainer.{key} has no effect, because {why}: leave it out."
    for key, (value, harm) in BOUND_KEYS.items():
        if trainer.get(key) == value:
            yield f"trainer.{key} {shortened(value)} {harm}."
    for key, harm in POSITIVE_KEYS.items():
        value = trainer.get(key)
        if isinstance(value, int | float) and value <= 0:
            yield f"trainer.{key} {shortened(value)} {harm}: write a number above 0."
    for key, (switch, default, without, remedy) in DEPENDENT_KEYS.items():
        if key == "metric_for_best_model" and trainer.get("lr_scheduler_type") in OF_METRIC:
            continue
        if trainer.get(key) and trainer.get(switch, default) in without:
            yield (
                f"trainer.{key} has no effect with {switch} {trainer.get(switch, default)}: leave it out, or write {switch}: "
                f"{remedy}."
            )


def weight_mistakes(pairs: PairsSection, train: TrainSection, trainer: Mapping[str, Any]) -> Iterator[str]:
    """Mistakes: weights of pairs, by their margins or by FairPO, that the loss or the trainer cannot have."""
    if pairs.margin_weights:
        for name in loss_types(trainer):
            if name in UNWEIGHTED:
                yield f"pairs.margin_weights cannot weigh trainer.loss_type {name!r}: {UNWEIGHTED[name]}."
        if train.trainer == "pairwise":
            yield "pairs.margin_weights needs train.trainer: shared-prefix."
    if train.fairness is None:
        return
    for key, known in FAIRNESS_KEYS.items():
        if key in trainer and trainer[key] not in known:
            yield f"trainer.{key} {trainer[key]!r} changes the loss, but train.fairness weighs the plain one: leave it out."
    if train.trainer == "pairwise":
        yield "train.fairness needs train.trainer: shared-prefix."
    if pairs.judge is None and train.pairs is None:
        yield f"train.fairness needs pairs that say what is fair: write pairs.mode: fairpo{absence('fairpo')}."
    if pairs.margin_weights:
        yield "pairs.margin_weights is the baseline of train.fairness: leave one of them out."
