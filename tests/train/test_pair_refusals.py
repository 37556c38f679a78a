"""What the drop-in for trl.DPOTrainer refuses or warns of, before the step that would meet it."""

import logging
from pathlib import Path
from typing import Any

import pytest

from evenhand.errors import DataError, EvenhandError, RecipeError

torch = pytest.importorskip("torch")
trl = pytest.importorskip("trl")
peft = pytest.importorskip("peft")
transformers = pytest.importorskip("transformers")
datasets = pytest.importorskip("datasets")
dpo_trainer = pytest.importorskip("trl.trainer.dpo_trainer")
trl_script = pytest.importorskip("trl_script")

from evenhand.train import SharedPrefixDPOTrainer, pair_trainer  # noqa: E402 - needs torch

pytestmark = pytest.mark.usefixtures("fresh_accelerate")


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "padding_free": ({"padding_free": True}, "padding_free=True of DPOConfig: packed sequences have no padding"),
    "torch_compile": ({"torch_compile": True}, "Dynamo gives up"),
    "noise": ({"neftune_noise_alpha": 5.0}, "neftune_noise_alpha=5.0"),
    "liger": ({"use_liger_kernel": True}, "liger"),
    "virtual tokens": (
        {"peft_config": peft.PromptTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=4)},
        "virtual tokens have no place",
    ),
    "tokens that switch an adapter on": (
        {"peft_config": trl_script.lora(alora_invocation_tokens=[1])},
        "peft_config: alora_invocation_tokens are looked for in rows",
    ),
    "a way to cut": ({"truncation_mode": "keep_middle"}, "'keep_middle' is none of keep_start, keep_end"),
    "copied layers": (
        {"peft_config": trl_script.lora(layer_replication=[[0, 2], [1, 2]])},
        "model: copied layers have a configuration of their own(.|\n)*or use trl.DPOTrainer",
    ),
    "order": ({"group_by_prompt": True, "train_sampling_strategy": "sequential"}, "leave one of the two out"),
    "values": (
        {"learning_rate": "fast", "save_steps": -1, "beta": 0.0},
        "learning_rate of DPOConfig: needs a number(.|\n)*save_steps of DPOConfig(.|\n)*beta of DPOConfig: needs a number",
    ),
    "three": (
        {"padding_free": True, "torch_compile": True, "use_liger_kernel": True},
        "padding_free(.|\n)*torch_compile(.|\n)*liger(.|\n)*Or use trl.DPOTrainer",
    ),
}


@pytest.mark.parametrize(("options", "message"), WRONG.values(), ids=WRONG.keys())
def test_what_a_packed_sequence_cannot_have_is_refused_in_words(
    options: dict[str, Any], message: str, tiny_model: Path, tmp_path: Path
) -> None:
    with pytest.raises(EvenhandError, match=message):
        trl_script.open_trainer(SharedPrefixDPOTrainer, tiny_model, tmp_path, **options)


def test_further_arguments_that_cannot_be_had_are_refused(
    tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = datasets.Dataset.from_list(trl_script.make_pairs("turns explicit"))
    with monkeypatch.context() as launched:
        launched.setenv("PARALLELISM_CONFIG_CP_SIZE", "2")
        with pytest.raises(RecipeError, match="accelerate launch`: PARALLELISM_CONFIG_CP_SIZE 2: no sequence is split"):
            SharedPrefixDPOTrainer(str(tiny_model), train_dataset=rows)
    spread = trl.DPOConfig(str(tmp_path), use_cpu=True, bf16=False)
    # as on a machine with two
    spread._n_gpu = 2
    with pytest.raises(RecipeError, match=r"2 GPUs are visible to one process.*; start one process a GPU"):
        SharedPrefixDPOTrainer(str(tiny_model), args=spread, train_dataset=rows)
    with pytest.raises(RecipeError, match="compute_metrics: packed sequences make no logits"):
        SharedPrefixDPOTrainer(str(tiny_model), train_dataset=rows, compute_metrics=len)
    with pytest.raises(RecipeError, match="data_collator: pairs are packed, and DefaultDataCollator would not"):
        SharedPrefixDPOTrainer(str(tiny_model), train_dataset=rows, data_collator=transformers.DefaultDataCollator())

    class Collator(dpo_trainer.DataCollatorForPreference):
        """One of a script's own, whose batches would not be made."""

    with pytest.raises(RecipeError, match="data_collator: pairs are packed, and Collator would not"):
        SharedPrefixDPOTrainer(str(tiny_model), train_dataset=rows, data_collator=Collator(0))
    collator = dpo_trainer.DataCollatorForPreference(0, truncation_mode="keep_middle")
    with pytest.raises(
        RecipeError, match="truncation_mode of data_collator: 'keep_middle' is none of keep_start, keep_end"
    ):
        SharedPrefixDPOTrainer(str(tiny_model), train_dataset=rows, data_collator=collator)
    with pytest.raises(RecipeError, match="group_by_prompt: a data set that is streamed"):
        SharedPrefixDPOTrainer(str(tiny_model), train_dataset=rows.to_iterable_dataset(), group_by_prompt=True)
    with pytest.raises(TypeError, match="group_by_prompts"):
        SharedPrefixDPOTrainer(str(tiny_model), train_dataset=rows, group_by_prompts=True)
    with pytest.raises(TypeError, match="got `DatasetDict`"):
        trl_script.open_trainer(
            SharedPrefixDPOTrainer, tiny_model, tmp_path, train_dataset=datasets.DatasetDict(train=rows)
        )


def test_a_kind_of_model_that_cannot_run_packed_is_refused_before_its_rows_are_tokenised(
    tiny_model: Path, tmp_path: Path
) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny_model)
    config = transformers.FalconConfig(
        vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=1, num_attention_heads=2
    )
    model = transformers.FalconForCausalLM(config)
    model.config.name_or_path = str(tiny_model)
    for part in (model, tokenizer):
        part.save_pretrained(tmp_path / "falcon")
    for named in (model, str(tmp_path / "falcon")):
        with pytest.raises(
            RecipeError, match=r"Trainer: model: 'falcon' models cannot .*: its attention .*\nOr use trl\.DPOTrainer"
        ):
            trl_script.open_trainer(SharedPrefixDPOTrainer, named, tmp_path, peft_config=None, train_dataset=None)
    with pytest.raises(EvenhandError, match=r"SharedPrefixDPOTrainer: ref_model: 'falcon' models cannot"):
        trl_script.open_trainer(SharedPrefixDPOTrainer, tiny_model, tmp_path, peft_config=None, ref_model=model)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"prompt": "a", "completion": "b", "label": True}, "lacks chosen and rejected; TRL's pairs have"),
        ({"prompt": "a", "chosen": "b"}, "columns chosen, prompt and lacks rejected"),
        (
            {"prompt": "a", **{side: [{"role": "user", "content": side}] for side in ("chosen", "rejected")}},
            "prompt is a text, chosen is turns, rejected is turns; write all as texts, or all as turns",
        ),
        (
            {"chosen": [{"from": "gpt", "value": "a"}], "rejected": [{"from": "gpt", "value": "b"}]},
            r"chosen is \[\{'from': 'gpt', 'value': 'a'\}\], rejected is",
        ),
        (
            {"prompt": None, "chosen": "a", "rejected": "b"},
            "in row 0 of the train data set prompt is None, chosen is a text",
        ),
        (
            {side: [{"role": "user", "content": side}] for side in ("chosen", "rejected")},
            "in row 0 of the train data set chosen and rejected begin with different turns .* write what was asked as 'prompt'",
        ),
    ],
)
def test_rows_that_are_no_pairs_are_refused(
    row: dict[str, Any], message: str, tiny_model: Path, tmp_path: Path
) -> None:
    with pytest.raises(DataError, match=message):
        trl_script.open_trainer(
            SharedPrefixDPOTrainer, tiny_model, tmp_path, train_dataset=datasets.Dataset.from_list([row])
        )
    with pytest.raises(DataError, match="has no rows"):
        trl_script.open_trainer(
            SharedPrefixDPOTrainer, tiny_model, tmp_path, train_dataset=datasets.Dataset.from_list([])
        )


@pytest.mark.parametrize(
    ("form", "change", "message"),
    [
        ("plain explicit", {"prompt": None}, "in row 7 of the train data set prompt is None, chosen is a text"),
        (
            "turns implicit",
            {"chosen": [{"role": "user", "content": "a"}]},
            "in row 7 of the train data set chosen and rejected",
        ),
        # with which TRL trains, or not, as texts happen to be hashed
        ("turns explicit", {"chosen": []}, r"in row 7 .* chosen is \[\]|1 of 10 pairs .* have a side without a token"),
    ],
)
def test_a_later_row_that_is_no_pair_is_named(
    form: str, change: dict[str, Any], message: str, tiny_model: Path, tmp_path: Path
) -> None:
    rows = trl_script.make_pairs(form, 3)
    rows[7] |= change
    with pytest.raises(DataError, match=message):
        trl_script.open_trainer(
            SharedPrefixDPOTrainer, tiny_model, tmp_path, train_dataset=datasets.Dataset.from_list(rows)
        )


@pytest.mark.parametrize("n_workers", [0, 2])
def test_a_row_of_a_stream_that_is_no_pair_is_named_when_it_comes(
    n_workers: int, tiny_model: Path, tmp_path: Path
) -> None:
    rows = trl_script.make_pairs("plain explicit", 3)
    rows[7] |= {"chosen": None}
    trainer = trl_script.open_trainer(
        SharedPrefixDPOTrainer, tiny_model, tmp_path, dataloader_num_workers=n_workers,
        train_dataset=datasets.Dataset.from_list(rows).to_iterable_dataset(num_shards=2),
    )  # fmt: skip
    with pytest.raises(
        DataError,
        match=r"in the row \{'chosen': None, 'prompt': '.* of the train data set prompt is a text, chosen is None",
    ):
        trainer.train()


def test_pairs_without_a_token_to_score_are_counted() -> None:
    rows = [
        {"prompt": "a", "prompt_ids": [3], "chosen_ids": [1], "rejected_ids": [2]},
        {"prompt": "b", "prompt_ids": [3], "chosen_ids": [1], "rejected_ids": []},
        # nothing comes before its only token
        {"prompt": "", "prompt_ids": [], "chosen_ids": [1], "rejected_ids": [2, 1]},
    ]
    pair_trainer._refuse_empty(datasets.Dataset.from_list(rows[:1]), "eval", 1, None)
    with pytest.raises(
        DataError, match=r"2 of 3 pairs of the eval data set have a side without a token, .* prompt 'b'; leave"
    ):
        pair_trainer._refuse_empty(datasets.Dataset.from_list(rows), "eval", 3, None)


def test_pairs_that_trl_leaves_out_because_of_their_prompts_are_counted(
    tiny_model: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    trainer = trl_script.open_trainer(SharedPrefixDPOTrainer, tiny_model, tmp_path, max_length=40)
    left_out = 20 - len(trainer.train_dataset)
    assert 0 < left_out < 20
    message = (
        f"train data set: {left_out} of 20 pairs are left out, because their prompts have at least max_length=40 tokens"
    )
    assert message in caplog.text
    with pytest.raises(DataError, match="all 20 prompts of the train data set have at least max_length=5 tokens"):
        trl_script.open_trainer(SharedPrefixDPOTrainer, tiny_model, tmp_path, max_length=5)


def test_evaluation_sets_experts_and_attention_are_refused_before_a_row_is_tokenised(
    tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    experts = transformers.MixtralForCausalLM(
        transformers.MixtralConfig(
            vocab_size=1000, hidden_size=32, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2,
            num_key_value_heads=1, num_local_experts=2,
        )
    )  # fmt: skip
    experts.config.name_or_path = str(tiny_model)
    monkeypatch.setattr(trl.DPOTrainer, "_prepare_dataset", lambda *_: pytest.fail("a row was tokenised"))
    held_out = datasets.Dataset.from_list(trl_script.make_pairs("turns explicit", 2))
    wrong = {"mine": held_out, "other": datasets.Dataset.from_list([{"prompt": "a", "completion": "b"}])}
    with pytest.raises(
        DataError, match="the eval other data set has the columns completion, prompt and lacks chosen and"
    ):
        trl_script.open_trainer(SharedPrefixDPOTrainer, tiny_model, tmp_path, eval_dataset=wrong)
    # the set that is trained on is looked at beside one of its name
    bad = wrong["other"]
    for train, evaluated, name in ((bad, held_out, "train"), (held_out, bad, "eval train")):
        rows = {"train_dataset": train, "eval_dataset": {"train": evaluated}}
        with pytest.raises(DataError, match=f"the {name} data set has the columns completion, prompt and lacks"):
            trl_script.open_trainer(SharedPrefixDPOTrainer, tiny_model, tmp_path, **rows)
    for options in ({}, {"router_aux_loss_coef": 0.1}):
        with pytest.raises(RecipeError, match=r"Trainer: router_aux_loss_coef: .* write router_aux_loss_coef=0\.0"):
            trl_script.open_trainer(SharedPrefixDPOTrainer, experts, tmp_path, **options)
    eager = {"model_init_kwargs": {"attn_implementation": "eager"}}
    stretched = transformers.AutoConfig.from_pretrained(tiny_model)
    stretched.rope_parameters = {"rope_type": "dynamic", "factor": 2.0, "rope_theta": 1e4}
    for model, options, message in (
        (tiny_model, eager, "attn_implementation of the model: 'eager' cannot keep"),
        (transformers.LlamaForCausalLM(stretched), {}, r"model: its rotary embedding \(dynamic\)"),
    ):
        with pytest.raises(RecipeError, match=rf"Trainer: {message}.*\nOr use trl\.DPOTrainer"):
            trl_script.open_trainer(SharedPrefixDPOTrainer, model, tmp_path, **options)


def test_conversations_that_a_table_has_as_texts_are_warned_of(
    tiny_model: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    # as to_csv writes them
    rows = [{name: str(said) for name, said in row.items()} for row in trl_script.make_pairs("turns explicit", 2)]
    rows[0] = trl_script.make_pairs("plain explicit", 1)[0]
    trl_script.open_trainer(
        SharedPrefixDPOTrainer, tiny_model, tmp_path, train_dataset=datasets.Dataset.from_list(rows)
    )
    assert "train data set: 3 of 4 pairs have conversations that were written as text (the first: row 1)" in caplog.text


def test_each_process_reads_its_rows_where_references_are_made_beforehand(
    tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # as TRL comes to it; two processes would be handed packed sequences cut in pieces
    dispatched = []

    def made(trainer: Any, rows: Any, *_: Any) -> Any:
        dispatched.append(trainer.accelerator.dataloader_config.dispatch_batches)
        return rows

    monkeypatch.setattr(trl.DPOTrainer, "_precompute_ref_logps", made)
    options = {"precompute_ref_log_probs": True, "accelerator_config": {"dispatch_batches": True}}
    trl_script.open_trainer(SharedPrefixDPOTrainer, tiny_model, tmp_path, **options)
    assert dispatched == [False]


@pytest.mark.parametrize("form", ["turns explicit", "plain explicit"])
def test_prompts_that_differ_by_white_space_are_warned_of(
    form: str, tiny_model: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    pairs = trl_script.make_pairs(form, 3)
    if form.startswith("turns"):
        pairs[5]["prompt"][0]["content"] = pairs[5]["prompt"][0]["content"].replace(" ", "  ", 1)
    else:
        pairs[5]["prompt"] = " " + pairs[5]["prompt"]
    with caplog.at_level(logging.INFO):
        trl_script.open_trainer(
            SharedPrefixDPOTrainer, tiny_model, tmp_path, train_dataset=datasets.Dataset.from_list(pairs)
        )
    assert "train data set: 10 pairs of 4 prompts" in caplog.text
    assert (
        "prompts of 1 rows differ from an earlier row's by white space alone (the first: rows 4 and 5)" in caplog.text
    )
