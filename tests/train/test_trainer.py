"""Guards against a TRL that changes underneath: our rows, stock TRL's losses."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from evenhand.errors import RecipeError
from evenhand.records import PreferencePair
from evenhand.runfolder.phases import Phase
from evenhand.storage import write_jsonl
from evenhand.train.examples import build_examples, read_rows
from evenhand.train.shared_prefix import Unrounded
from evenhand.train.stage import training_stage
from evenhand.train.trainer import prepare_material, tokenised_trainer

# no line break after the last turn: here stock TRL's summary is text + end token, as ours is
TEMPLATE = (
    "{% for m in messages %}{% if not loop.first %}\n{% endif %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>"
    "{% endfor %}{% if add_generation_prompt %}\n<|im_start|>assistant\n{% endif %}"
)


def losses(
    trainer_class: Any, rows: list[dict[str, Any]], parts: tuple[Path, Any, Path]
) -> tuple[list[float], list[Any]]:
    datasets = pytest.importorskip("datasets")
    import peft
    import torch
    import trl
    from transformers import AutoModelForCausalLM

    model, tokenizer, folder = parts
    arguments = trl.DPOConfig(
        output_dir=str(folder), max_steps=3, per_device_train_batch_size=2, learning_rate=1e-2, logging_steps=1, seed=7,
        use_cpu=True, bf16=False, gradient_checkpointing=False, save_strategy="no", report_to="none", disable_tqdm=True,
    )  # fmt: skip
    trainer = trainer_class(
        model=AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32),
        args=arguments,
        train_dataset=datasets.Dataset.from_list(rows),
        processing_class=tokenizer,
        peft_config=peft.LoraConfig(r=4, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM"),
    )
    trainer.train()
    kept = [[list(row[c]) for c in ("prompt_ids", "chosen_ids", "rejected_ids")] for row in trainer.train_dataset]
    return [entry["loss"] for entry in trainer.state.log_history if "loss" in entry], kept


@pytest.mark.usefixtures("fresh_accelerate")
def test_losses_are_those_of_stock_trl(pairs: list[PreferencePair], tiny_model: Path, tmp_path: Path) -> None:
    trl = pytest.importorskip("trl")
    from transformers import AutoTokenizer

    from evenhand.generate.backend import prompt_tokens, tokens_digest

    tokenizer = AutoTokenizer.from_pretrained(tiny_model)
    tokenizer.chat_template = TEMPLATE
    pairs = [
        pair.model_copy(update={"prompt_digest": tokens_digest(prompt_tokens(tokenizer, pair.prompt))})
        for pair in pairs
    ]
    write_jsonl(tmp_path / "pairs.jsonl", pairs)
    ours = [row.columns for row in read_rows(tmp_path / "pairs.jsonl", tokenizer)]
    stock = [pair.model_dump(mode="json", include={"prompt", "chosen", "rejected"}) for pair in pairs]
    parts = (tiny_model, tokenizer, tmp_path)
    stock_losses, stock_rows = losses(trl.DPOTrainer, stock, parts)
    our_losses, our_rows = losses(tokenised_trainer(), ours, parts)
    assert our_rows == stock_rows
    assert our_losses == stock_losses
    assert len(our_losses) == 3


def test_stock_trl_keeps_reference_log_probabilities_unrounded() -> None:
    pytest.importorskip("trl")
    assert issubclass(tokenised_trainer(), Unrounded)


def test_what_is_shuffled_reaches_the_trainer_and_decides_whether_an_adapter_is_made_anew(
    open_round: Callable[..., Phase], tokenizer: Any
) -> None:
    found = {}
    for asked in ({}, {"shuffle": "requests"}, {"shuffle": "sets"}):
        phase = open_round(train=asked)
        examples = build_examples(read_rows(phase.folder / "pairs.jsonl", tokenizer), 256, "raise")
        material = prepare_material(phase, SimpleNamespace(pad_to_multiple_of=None), tokenizer, examples)
        found[asked.get("shuffle")] = material.options["together"], training_stage(phase, 1).key
    assert found[None] == found["requests"]
    assert not found[None][0]
    assert found["sets"][0]
    assert found["sets"][1] != found[None][1]


def test_stock_reference_beforehand_is_refused_where_fsdp_spreads_the_weights(
    open_round: Callable[..., Phase], tokenizer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    phase = open_round(train={"trainer": "pairwise"}, trainer={"precompute_ref_log_probs": True})
    examples = build_examples(read_rows(phase.folder / "pairs.jsonl", tokenizer), 256, "raise")
    assert prepare_material(phase, None, tokenizer, examples).unit == "pairs"
    monkeypatch.setenv("ACCELERATE_USE_FSDP", "true")
    with pytest.raises(RecipeError, match=r"precompute_ref_log_probs.*before FSDP has spread .*shared-prefix"):
        prepare_material(phase, None, tokenizer, examples)
