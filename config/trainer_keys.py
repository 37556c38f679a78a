"""The keys of trl.DPOConfig 1.16 that a recipe's `trainer:` section may have, by what they do here.

A key is taken where it is known what it does. All others are refused, except with the value that TRL has without them. Listed so
that a recipe is checked without importing torch; a test demands that each key of the installed TRL stands in exactly one table.
"""

from typing import Any

# an effect that evenhand has by itself
PUBLISHED = "what is published"
# effect -> keys that have it here
EFFECTIVE_KEYS: dict[str, str] = {
    "loss": """
        beta discopop_tau disable_dropout f_alpha_divergence_coef f_divergence_type label_smoothing ld_alpha loss_type
        loss_weights neftune_noise_alpha router_aux_loss_coef use_weighting
    """,
    "optimiser and schedule": """
        adam_beta1 adam_beta2 adam_epsilon learning_rate lr_scheduler_kwargs lr_scheduler_type max_grad_norm max_steps
        num_train_epochs optim optim_args warmup_steps weight_decay
    """,
    "rows of a step and their order": """
        accelerator_config auto_find_batch_size dataloader_drop_last gradient_accumulation_steps max_length
        per_device_train_batch_size train_sampling_strategy
    """,
    "numbers and their rounding": "bf16 fp16 full_determinism tf32",
    "memory and speed": """
        activation_offloading gradient_checkpointing gradient_checkpointing_kwargs liger_kernel_config pad_to_multiple_of
        precompute_ref_batch_size precompute_ref_log_probs torch_compile torch_compile_backend torch_compile_mode
        torch_empty_cache_steps use_liger_kernel
    """,
    "loading of rows": """
        dataloader_in_order dataloader_multiprocessing_context dataloader_num_workers dataloader_persistent_workers
        dataloader_pin_memory dataloader_prefetch_factor
    """,
    "several processes": """
        ddp_backend ddp_broadcast_buffers ddp_bucket_cap_mb ddp_find_unused_parameters ddp_static_graph ddp_timeout
    """,
    "checkpoints": "save_on_each_node save_only_model save_steps save_total_limit",
    "evaluation while it trains": """
        eval_delay eval_steps eval_strategy greater_is_better load_best_model_at_end metric_for_best_model
        per_device_eval_batch_size
    """,
    PUBLISHED: "hub_model_id hub_private_repo hub_revision push_to_hub",
    "what is logged": """
        debug disable_tqdm include_num_input_tokens_seen log_level log_level_replica log_on_each_node logging_first_step
        logging_nan_inf_filter logging_steps logging_strategy report_to skip_memory_metrics
    """,
}
# why nothing here reads a key -> such keys, and the value of each that asks for nothing: TRL's default
IDLE_KEYS: dict[str, dict[str, Any]] = {
    "DPO does not read it; label_smoothing is read by some losses": {"label_smoothing_factor": 0.0},
    "the reference does not move": {"ref_model_mixup_alpha": 0.6, "ref_model_sync_steps": 512},
    "nothing is cut; train.excess_length_strategy says what becomes of long pairs": {"truncation_mode": "keep_start"},
    "trainer.eval_strategy says when it is evaluated while it trains": {"do_eval": False, "do_predict": False},
    "an evaluation while it trains makes no logits, but TRL's numbers, as precise as the training's": {
        "batch_eval_metrics": False, "bf16_full_eval": False, "eval_accumulation_steps": None,
        "eval_do_concat_batches": True, "eval_use_gather_object": False, "fp16_full_eval": False, "include_for_metrics": [],
        "label_names": None, "prediction_loss_only": False,
    },
    "a training always trains": {"do_train": False},
    "push_to_hub publishes the finished adapter of each round, and no checkpoint": {
        "hub_always_push": False, "hub_strategy": "every_save",
    },
    "trackio's own variables (TRACKIO_SPACE_ID) say where it publishes": {
        "trackio_bucket_id": None, "trackio_space_id": None, "trackio_static_space_id": None,
    },
    "evenhand tokenises and pads the pairs itself": {
        "dataset_num_proc": None, "length_column_name": "length", "pad_token": None,
    },
    "TRL switches it off; train.trainer: shared-prefix runs without padding": {"padding_free": False},
    "nothing is generated while it trains": {"use_cache": False},
    "the loss is the mean over the pairs of a step on however many devices": {"average_tokens_across_devices": True},
    "the optimisers that read it train whole weights, and here an adapter is trained": {"optim_target_modules": None},
    "evenhand's callbacks keep their state themselves": {"restore_callback_states_from_checkpoint": False},
    "an interrupted training continues from the checkpoints of trainer.save_steps alone": {"enable_jit_checkpoint": False},
    "the launcher says it to each process": {"local_rank": -1},
}  # fmt: skip
# keys with a value that would break what evenhand promises -> that value, and what it would do
BOUND_KEYS: dict[str, tuple[Any, str]] = {
    "ignore_data_skip": (
        True, "would continue an interrupted training with other pairs than the undisturbed one has: leave it out"
    ),
    "save_strategy": (
        "best", "would save the best step alone, and an interruption would lose all that follow it: write steps or epoch; "
        "load_best_model_at_end keeps the best one"
    ),
}  # fmt: skip

# keys of older recipes that TRL 1.16 and transformers 5 refuse -> what to write instead
RENAMED_TRAINER_KEYS: dict[str, str] = {
    "torch_dtype": "write dtype in the 'model' section",
    "warmup_ratio": "write warmup_steps; a number below 1 is a ratio",
    "max_prompt_length": "only max_length is left, for prompt and summary together",
    "max_completion_length": "only max_length is left, for prompt and summary together",
    "max_target_length": "only max_length is left, for prompt and summary together",
    "overwrite_output_dir": "leave it out; a finished stage is reused, a changed one is put aside",
    "logging_dir": "leave it out; logs lie in the run folder",
    "evaluation_strategy": "write eval_strategy",
    "rpo_alpha": "write loss_type: [sigmoid, sft] and loss_weights: [1.0, 1.0]",
    "reference_free": "leave it out; it was removed",
    "model_adapter_name": "leave it out; write train.reference: initial or previous",
    "ref_adapter_name": "leave it out; write train.reference: initial or previous",
    "generate_during_eval": "leave it out; evenhand evaluates after training",
    "tokenizer": "leave it out; the model's own tokenizer is used",
    "group_by_length": "write train_sampling_strategy: group_by_length",
    "use_reentrant": "write gradient_checkpointing_kwargs: {use_reentrant: false}",
}

# keys that evenhand sets itself -> where the recipe says it
OWNED_TRAINER_KEYS: dict[str, str] = {
    # names since transformers 5.24
    "activation_checkpointing": "it is 'trainer.gradient_checkpointing'",
    "activation_checkpointing_kwargs": "they are 'trainer.gradient_checkpointing_kwargs'",
    "output_dir": "the run folder is the recipe's 'output'",
    "seed": "it is derived from the recipe's 'seed' and the round",
    "data_seed": "it is derived from the recipe's 'seed' and the round",
    "trust_remote_code": "remote code is never run",
    "hub_token": "secrets do not belong in a recipe",
    "resume_from_checkpoint": "an interrupted training continues from its last checkpoint by itself",
    "model_init_kwargs": "write them in the 'model' section",
    "run_name": "it is the recipe's name and the round",
    "project": "it is the recipe's name; that of wandb is 'wandb.project'",
    "remove_unused_columns": "the trainer needs its own columns only",
    "eval_on_start": "leave it out; before the first step the loss is known",
    "sync_ref_model": "write train.reference: initial or previous; TRL cannot move the reference of an adapter",
    "deepspeed": "name an accelerate configuration in train.accelerate_config",
    "fsdp": "name an accelerate configuration in train.accelerate_config",
    "fsdp_config": "name an accelerate configuration in train.accelerate_config",
    "parallelism_config": "name an accelerate configuration in train.accelerate_config",
    "use_cpu": "name the accelerate configuration 'cpu' in train.accelerate_config",
}

# trackers of trainer.report_to, by transformers' names -> the libraries of which one must be there
TRACKERS: dict[str, tuple[str, ...]] = {
    "azure_ml": ("azureml",), "clearml": ("clearml",), "codecarbon": ("codecarbon",), "comet_ml": ("comet_ml",),
    "dagshub": ("dagshub",), "dvclive": ("dvclive",), "flyte": ("flytekit",), "mlflow": ("mlflow",), "swanlab": ("swanlab",),
    "tensorboard": ("tensorboard", "tensorboardX"), "trackio": ("trackio",),
}  # fmt: skip

# every key of trl.DPOConfig, once in one of these
TRAINER_KEYS: frozenset[str] = frozenset(
    {key for keys in EFFECTIVE_KEYS.values() for key in keys.split()}
    | {key for keys in IDLE_KEYS.values() for key in keys}
    | BOUND_KEYS.keys()
    | OWNED_TRAINER_KEYS.keys()
)
