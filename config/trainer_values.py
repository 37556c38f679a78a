"""What a key of a recipe's `trainer:` section may be, so that another value is refused as the recipe is read.

DPOConfig takes a text for a number, and numbers out of range, without a word: a training ends with them after its launch or in
its middle, or does something else than was meant, as with a beta below 0, which prefers the rejected summaries. Listed so that a
recipe is checked without importing torch; a test compares the tables with the installed TRL.
"""

from collections.abc import Callable, Iterator, Mapping
from numbers import Integral, Real
from typing import Any, NamedTuple

from ..text import did_you_mean
from .keywords import shown

# keys that are true or false; on a command line --bf16, --bf16 false, --no_bf16
FLAGS = frozenset(
    """
    activation_offloading auto_find_batch_size average_tokens_across_devices batch_eval_metrics bf16 bf16_full_eval
    dataloader_drop_last dataloader_in_order dataloader_persistent_workers dataloader_pin_memory ddp_broadcast_buffers
    ddp_find_unused_parameters ddp_static_graph disable_dropout disable_tqdm do_eval do_predict do_train enable_jit_checkpoint
    eval_do_concat_batches eval_on_start eval_use_gather_object fp16 fp16_full_eval full_determinism gradient_checkpointing
    greater_is_better hub_always_push hub_private_repo ignore_data_skip include_num_input_tokens_seen load_best_model_at_end
    log_on_each_node logging_first_step logging_nan_inf_filter padding_free precompute_ref_log_probs prediction_loss_only
    push_to_hub remove_unused_columns restore_callback_states_from_checkpoint save_on_each_node save_only_model
    skip_memory_metrics sync_ref_model tf32 torch_compile trust_remote_code use_cache use_cpu use_liger_kernel use_weighting
    """.split()
)
# keys whose null TRL reads; of the others it takes out what a recipe that is extended says
NULLS = frozenset(
    """
    accelerator_config bf16 dataloader_multiprocessing_context dataloader_prefetch_factor dataset_num_proc ddp_backend
    ddp_broadcast_buffers ddp_bucket_cap_mb ddp_find_unused_parameters ddp_static_graph disable_tqdm eval_accumulation_steps
    eval_steps gradient_checkpointing_kwargs greater_is_better hub_model_id hub_private_repo hub_revision label_names ld_alpha
    liger_kernel_config loss_weights lr_scheduler_kwargs max_grad_norm max_length metric_for_best_model neftune_noise_alpha
    optim_args optim_target_modules pad_to_multiple_of pad_token precompute_ref_batch_size report_to router_aux_loss_coef
    save_total_limit tf32 torch_compile_backend torch_compile_mode torch_empty_cache_steps trackio_bucket_id trackio_space_id
    trackio_static_space_id
    """.split()
)
# keys that may be `auto`
AUTOMATIC = {"gradient_checkpointing", "pad_to_multiple_of", "per_device_train_batch_size"}
# keys with words besides true and false
SWITCHED = {"include_num_input_tokens_seen": ("all", "non_padding", "no")}
# what transformers calls its levels
LOG_LEVELS = ("detail", "debug", "info", "warning", "error", "critical", "passive")
# key -> the words that it may be
CHOICES: dict[str, tuple[str, ...]] = {
    "dataloader_multiprocessing_context": ("fork", "spawn", "forkserver"),
    "ddp_backend": ("nccl", "gloo", "mpi", "xccl", "hccl", "cncl", "mccl"),
    "debug": ("", "underflow_overflow", "tpu_metrics_debug"),
    "eval_strategy": ("no", "steps", "epoch"),
    "f_divergence_type": ("reverse_kl", "forward_kl", "js_divergence", "alpha_divergence"),
    "log_level": LOG_LEVELS,
    "log_level_replica": LOG_LEVELS,
    "logging_strategy": ("no", "steps", "epoch"),
    "lr_scheduler_type": (
        "linear", "cosine", "cosine_with_restarts", "polynomial", "constant", "constant_with_warmup", "inverse_sqrt",
        "reduce_lr_on_plateau", "cosine_with_min_lr", "cosine_warmup_with_min_lr", "warmup_stable_decay", "greedy",
    ),
    "optim": (
        "adamw_torch", "adamw_torch_fused", "adamw_torch_xla", "adamw_torch_npu_fused", "adafactor", "adamw_anyprecision",
        "adamw_torch_4bit", "adamw_torch_8bit", "ademamix", "sgd", "adagrad", "adamw_bnb_8bit", "adamw_8bit", "ademamix_8bit",
        "lion_8bit", "lion_32bit", "paged_adamw_32bit", "paged_adamw_8bit", "paged_ademamix_32bit", "paged_ademamix_8bit",
        "paged_lion_32bit", "paged_lion_8bit", "rmsprop", "rmsprop_bnb", "rmsprop_bnb_8bit", "rmsprop_bnb_32bit",
        "galore_adamw", "galore_adamw_8bit", "galore_adafactor", "galore_adamw_layerwise", "galore_adamw_8bit_layerwise",
        "galore_adafactor_layerwise", "lomo", "adalomo", "grokadamw", "schedule_free_radam", "schedule_free_adamw",
        "schedule_free_sgd", "apollo_adamw", "apollo_adamw_layerwise", "stable_adamw",
    ),
    "save_strategy": ("no", "steps", "epoch", "best"),
    "train_sampling_strategy": ("random", "sequential", "group_by_length", "batch_rebalance"),
}  # fmt: skip


class ValueKind(NamedTuple):
    """Values that some keys may be."""

    # as an error says it
    name: str
    keys: frozenset[str]
    fits: Callable[[Any], bool]


def _numbers(name: str, keys: str, within: Callable[[Any], bool], kind: type = Real) -> ValueKind:
    """Numbers within bounds; true and false are none."""
    return ValueKind(
        name,
        frozenset(keys.split()),
        lambda value: isinstance(value, kind) and not isinstance(value, bool) and within(value),
    )


def _is_steps(value: Any) -> bool:
    return value < 1 or float(value).is_integer()


KINDS = (
    ValueKind("true or false", FLAGS, lambda value: isinstance(value, bool)),
    _numbers("a number", "f_alpha_divergence_coef max_grad_norm", lambda _: True),
    _numbers("a number above 0", "beta discopop_tau learning_rate num_train_epochs", lambda value: value > 0),
    _numbers(
        "a number of at least 0",
        "adam_epsilon eval_delay neftune_noise_alpha router_aux_loss_coef weight_decay",
        lambda value: value >= 0,
    ),
    _numbers("a number from 0 to 1", "ld_alpha", lambda value: 0 <= value <= 1),
    _numbers("a number from 0 to below 1", "adam_beta1 adam_beta2", lambda value: 0 <= value < 1),
    _numbers("a number from 0 to below 0.5", "label_smoothing", lambda value: 0 <= value < 0.5),
    _numbers(
        "a number of steps, or a share of all of them below 1",
        "eval_steps logging_steps save_steps",
        lambda value: value > 0 and _is_steps(value),
    ),
    _numbers(
        "0, a number of steps, or a share of all of them below 1",
        "warmup_steps",
        lambda value: value >= 0 and _is_steps(value),
    ),
    # 0 and less delete no checkpoint
    _numbers("a whole number", "save_total_limit", lambda _: True, Integral),
    _numbers("a whole number of at least 0", "dataloader_num_workers", lambda value: value >= 0, Integral),
    _numbers(
        "a whole number of at least 1",
        """
        dataloader_prefetch_factor ddp_bucket_cap_mb ddp_timeout gradient_accumulation_steps max_length pad_to_multiple_of
        per_device_eval_batch_size per_device_train_batch_size precompute_ref_batch_size torch_empty_cache_steps
        """,
        lambda value: value >= 1,
        Integral,
    ),
    _numbers(
        "a whole number of at least 1, or -1 for as many as num_train_epochs has",
        "max_steps",
        lambda value: value >= 1 or value == -1,
        Integral,
    ),
    ValueKind(
        "a list of numbers",
        frozenset({"loss_weights"}),
        lambda value: (
            isinstance(value, list | tuple)
            and all(isinstance(weight, Real) and not isinstance(weight, bool) for weight in value)
        ),
    ),
    ValueKind(
        "keys and values",
        frozenset({"gradient_checkpointing_kwargs", "liger_kernel_config", "lr_scheduler_kwargs"}),
        lambda value: isinstance(value, dict),
    ),
    ValueKind(
        "keys and values, or a file of them",
        frozenset({"accelerator_config"}),
        lambda value: isinstance(value, dict | str),
    ),
    ValueKind(
        "a text",
        frozenset(
            """
            hub_model_id hub_revision metric_for_best_model optim_args torch_compile_backend torch_compile_mode
            """.split()
        ),
        lambda value: isinstance(value, str),
    ),
)


def wrong_values(trainer: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Key and mistake of each value that its key cannot have: ("beta", "needs a number above 0, got -1")."""
    unread = {f"{name}_steps" for name in ("eval", "logging", "save") if trainer.get(f"{name}_strategy") == "no"}
    if isinstance(trainer.get("max_steps"), int) and trainer["max_steps"] > 0:
        unread.add("num_train_epochs")
    for key, value in trainer.items():
        if (value is None and key in NULLS) or (key in unread and value == 0):
            continue
        if words := CHOICES.get(key):
            if value not in words:
                near = did_you_mean(str(value), words)
                yield key, f"{shown(value, key)} is none of {', '.join(filter(None, words))}{near}"
            continue
        kind = next((kind for kind in KINDS if key in kind.keys), None)
        further = SWITCHED.get(key, ()) + ("auto",) * (key in AUTOMATIC)
        if kind and not kind.fits(value) and value not in further:
            yield key, f"needs {', or '.join((kind.name, *further))}, got {shown(value, key)}"
