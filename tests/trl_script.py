"""A script with TRL's own trainer, as users have it; its import line is the only difference between the two kinds.

    accelerate launch trl_script.py stock|shared-prefix MODEL FOLDER OPTIONS

OPTIONS is a JSON object of DPOConfig's arguments. FOLDER/out gets the adapter, FOLDER/log.json the log.
"""

import json
import sys
from pathlib import Path
from typing import Any

TEXTS = (
    "The Left wants the ferry kept.",
    "Ferries float.",
    "The Left says nurses need the ferry at night.",
    "The Right wants a bridge that pays for itself.",
    "The Left calls the ferry cheap.",
    "It is about taxes, mostly.",
)


def make_pairs(form: str, n_prompts: int = 6) -> list[dict[str, Any]]:
    """Prompts with 1, 3 and 6 pairs in turn, in one of TRL's forms: "plain" or "turns", "explicit" or "implicit"."""
    rows = []
    for number in range(n_prompts):
        prompt = f"Summarise what is said about ferry {'and bridge ' * number}number {number}.\n"
        texts = [TEXTS[(number + place) % 6] for place in range(2 + number % 3)]
        for better in range(len(texts)):
            for worse in range(better + 1, len(texts)):
                rows.append(_row(form, prompt, texts[better], texts[worse]))
    return rows


def lora(**options: Any) -> Any:
    """An adapter that does something from the first step on."""
    import peft

    return peft.LoraConfig(task_type="CAUSAL_LM", r=4, target_modules=["q_proj"], init_lora_weights=False, **options)


def _row(form: str, prompt: str, chosen: str, rejected: str) -> dict[str, Any]:
    sides: dict[str, Any] = {"chosen": chosen, "rejected": rejected}
    before: Any = prompt
    if form.startswith("turns"):
        before = [{"role": "user", "content": prompt}]
        sides = {side: [{"role": "assistant", "content": text}] for side, text in sides.items()}
    if form.endswith("implicit"):
        return {side: before + text for side, text in sides.items()}
    return {"prompt": before, **sides}


def open_trainer(DPOTrainer: Any, model: Any, folder: Path, form: str = "turns explicit", **options: Any) -> Any:  # noqa: N803 - as in a script
    """The trainer of these pairs on the CPU, with an adapter that begins away from zero."""
    import datasets
    import peft
    import trl
    from transformers import AutoTokenizer

    further = {
        name: options.pop(name)
        for name in (
            "eval_dataset",
            "callbacks",
            "ref_model",
            "peft_config",
            "group_by_prompt",
            "attention",
            "train_dataset",
        )
        if name in options
    }
    arguments = trl.DPOConfig(
        **{
            "output_dir": str(folder), "max_steps": 4, "per_device_train_batch_size": 5, "learning_rate": 1e-2,
            "logging_steps": 1, "seed": 7, "use_cpu": True, "bf16": False, "gradient_checkpointing": False,
            "save_strategy": "no", "report_to": "none", "disable_tqdm": True, "model_init_kwargs": {"dtype": "float32"},
        } | options,
    )  # fmt: skip
    lora = peft.LoraConfig(task_type="CAUSAL_LM", r=4, target_modules=["q_proj", "v_proj"], init_lora_weights=False)
    if not isinstance(model, (str, Path)):
        arguments.model_init_kwargs = None
        tokenizer = AutoTokenizer.from_pretrained(model.config.name_or_path)
    else:
        model = str(model)
        tokenizer = AutoTokenizer.from_pretrained(model)
    return DPOTrainer(
        **{
            "model": model, "args": arguments, "processing_class": tokenizer, "peft_config": lora,
            "train_dataset": datasets.Dataset.from_list(make_pairs(form)),
        } | further
    )  # fmt: skip


def main() -> None:
    kind, model, folder, options = sys.argv[1], sys.argv[2], Path(sys.argv[3]), json.loads(sys.argv[4])
    if options.pop("fsdp2", False):
        from evenhand.benchmarks.gpu.fsdp2_on_cpu import allow_fsdp2

        allow_fsdp2()
    if kind == "stock":
        from trl import DPOTrainer
    else:
        from evenhand.train import SharedPrefixDPOTrainer as DPOTrainer
    trainer = open_trainer(DPOTrainer, model, folder / "out", **options)
    trainer.train()
    trainer.save_model()
    if trainer.is_world_process_zero():
        (folder / "log.json").write_text(json.dumps(trainer.state.log_history))
    trainer.accelerator.end_training()


if __name__ == "__main__":
    main()
