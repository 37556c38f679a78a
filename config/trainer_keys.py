"""The keys that a recipe's `trainer:` section may have: those of trl.DPOConfig 1.16, by name.

Listed here so that a recipe is checked without importing torch; a test compares the list with the installed TRL.
"""

TRAINER_KEYS = frozenset(
    """
    accelerator_config activation_offloading adam_beta1 adam_beta2 adam_epsilon auto_find_batch_size
    average_tokens_across_devices batch_eval_metrics beta bf16 bf16_full_eval data_seed dataloader_drop_last
    dataloader_in_order dataloader_multiprocessing_context dataloader_num_workers dataloader_persistent_workers
    dataloader_pin_memory dataloader_prefetch_factor dataset_num_proc ddp_backend ddp_broadcast_buffers
    ddp_bucket_cap_mb ddp_find_unused_parameters ddp_static_graph ddp_timeout debug deepspeed disable_dropout
    disable_tqdm discopop_tau do_eval do_predict do_train enable_jit_checkpoint eval_accumulation_steps
    eval_delay eval_do_concat_batches eval_on_start eval_steps eval_strategy eval_use_gather_object
    f_alpha_divergence_coef f_divergence_type fp16 fp16_full_eval fsdp fsdp_config full_determinism
    gradient_accumulation_steps gradient_checkpointing gradient_checkpointing_kwargs greater_is_better
    hub_always_push hub_model_id hub_private_repo hub_revision hub_strategy hub_token ignore_data_skip
    include_for_metrics include_num_input_tokens_seen label_names label_smoothing label_smoothing_factor
    ld_alpha learning_rate length_column_name liger_kernel_config load_best_model_at_end local_rank log_level
    log_level_replica log_on_each_node logging_first_step logging_nan_inf_filter logging_steps logging_strategy
    loss_type loss_weights lr_scheduler_kwargs lr_scheduler_type max_grad_norm max_length max_steps
    metric_for_best_model model_init_kwargs neftune_noise_alpha num_train_epochs optim optim_args
    optim_target_modules output_dir pad_to_multiple_of pad_token padding_free parallelism_config
    per_device_eval_batch_size per_device_train_batch_size precompute_ref_batch_size precompute_ref_log_probs
    prediction_loss_only project push_to_hub ref_model_mixup_alpha ref_model_sync_steps remove_unused_columns
    report_to restore_callback_states_from_checkpoint resume_from_checkpoint router_aux_loss_coef run_name
    save_on_each_node save_only_model save_steps save_strategy save_total_limit seed skip_memory_metrics
    sync_ref_model tf32 torch_compile torch_compile_backend torch_compile_mode torch_empty_cache_steps
    trackio_bucket_id trackio_space_id trackio_static_space_id train_sampling_strategy truncation_mode
    trust_remote_code use_cache use_cpu use_liger_kernel use_weighting warmup_steps weight_decay
    """.split()
)

# keys of older recipes that TRL 1.16 and transformers 5 refuse -> what to write instead
RENAMED_TRAINER_KEYS: dict[str, str] = {
    "torch_dtype": "write dtype in the 'model' section",
    "warmup_ratio": "write warmup_steps; a number below 1 is a ratio",
    "max_prompt_length": "only max_length is left, for prompt and summary together",
    "max_completion_length": "only max_length is left, for prompt and summary together",
    "max_target_length": "only max_length is left, for prompt and summary together",
    "overwrite_output_dir": "leave it out; a finished stage is reused, a changed one is put aside",
    "logging_dir": "leave it out; logs lie in the run folder",
    "evaluation_strategy": "leave it out; evenhand evaluates after training",
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
    "output_dir": "the run folder is the recipe's 'output'",
    "seed": "it is derived from the recipe's 'seed' and the round",
    "data_seed": "it is derived from the recipe's 'seed' and the round",
    "trust_remote_code": "remote code is never run",
    "push_to_hub": "nothing is published; push the adapter folder yourself",
    "hub_token": "secrets do not belong in a recipe",
    "resume_from_checkpoint": "an interrupted training continues from its last checkpoint by itself",
    "model_init_kwargs": "write them in the 'model' section",
    "report_to": "add a 'wandb' section to the recipe",
    "run_name": "it is the recipe's name and the round",
    "project": "write wandb.project",
    "remove_unused_columns": "the trainer needs its own columns only",
    "eval_strategy": "leave it out; evenhand evaluates after training",
    "eval_on_start": "leave it out; evenhand evaluates after training",
    "load_best_model_at_end": "leave it out; evenhand evaluates after training",
    "sync_ref_model": "write train.reference: initial or previous; TRL cannot move the reference of an adapter",
    "deepspeed": "name an accelerate configuration in train.accelerate_config",
    "fsdp": "name an accelerate configuration in train.accelerate_config",
    "fsdp_config": "name an accelerate configuration in train.accelerate_config",
    "use_cpu": "name the accelerate configuration 'cpu' in train.accelerate_config",
}
