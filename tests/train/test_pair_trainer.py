"""The drop-in for trl.DPOTrainer: a stock script whose import line is changed trains the same, in fewer tokens."""

import importlib.util
import itertools
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from launched import MOST_SECONDS, need_deepspeed, two_processes

from evenhand.errors import EvenhandError, RecipeError

torch = pytest.importorskip("torch")
trl = pytest.importorskip("trl")
peft = pytest.importorskip("peft")
transformers = pytest.importorskip("transformers")
datasets = pytest.importorskip("datasets")
dpo_trainer = pytest.importorskip("trl.trainer.dpo_trainer")
trl_script = pytest.importorskip("trl_script")

from evenhand.train import SharedPrefixDPOTrainer  # noqa: E402 - needs torch
from evenhand.train.pair_collator import PairCollator  # noqa: E402

pytestmark = pytest.mark.usefixtures("fresh_accelerate")
KINDS = {"stock": trl.DPOTrainer, "shared": SharedPrefixDPOTrainer}


def losses(trainer: Any, name: str = "loss") -> list[float]:
    return [entry[name] for entry in trainer.state.log_history if name in entry]


def weights(trainer: Any) -> dict[str, Any]:
    return {name: p.detach().clone() for name, p in trainer.model.named_parameters() if p.requires_grad}


def assert_same_training(stock: Any, shared: Any) -> None:
    assert losses(shared) == pytest.approx(losses(stock), abs=1e-4)
    assert losses(shared, "rewards/margins") == pytest.approx(losses(stock, "rewards/margins"), abs=1e-4)
    trained = weights(shared)
    for name, weight in weights(stock).items():
        assert (trained[name] - weight).norm() <= 1e-3 * weight.norm(), name


def both(model: Any, folder: Path, **options: Any) -> tuple[Any, Any]:
    """The stock trainer and ours after the same training."""
    trainers = {}
    for kind, trainer_class in KINDS.items():
        each = {name: value() if callable(value) else value for name, value in options.items()}
        opened = model() if callable(model) else model
        trainers[kind] = trl_script.open_trainer(trainer_class, opened, folder / kind, **each)
        trainers[kind].train()
    return trainers["stock"], trainers["shared"]


@pytest.mark.parametrize("form", ["turns explicit", "turns implicit", "plain explicit", "plain implicit"])
def test_each_form_of_pairs_trains_as_in_trl_with_fewer_tokens(form: str, tiny_model: Path, tmp_path: Path) -> None:
    stock, shared = both(tiny_model, tmp_path, form=form)
    assert len(losses(stock)) == 4
    assert_same_training(stock, shared)
    assert losses(shared, "num_tokens")[-1] < 0.6 * losses(stock, "num_tokens")[-1]


OPTIONS: dict[str, dict[str, Any]] = {
    "accumulation": {"gradient_accumulation_steps": 2, "per_device_train_batch_size": 2},
    "checkpointing": {"gradient_checkpointing": True},
    "cut at the end": {"max_length": 40},
    "cut at the beginning": {"max_length": 24, "truncation_mode": "keep_end"},
    "not even the prompt's end is left": {"max_length": 6, "truncation_mode": "keep_end", "loss_type": ["ipo"]},
    "reference beforehand": {"precompute_ref_log_probs": True},
    "mixed losses": {"loss_type": ["sigmoid", "sft"], "loss_weights": [1.0, 0.3]},
    "sorted pairs": {"loss_type": ["aot"]},
    "mean of tokens": {"loss_type": ["sigmoid_norm"]},
    "weighed": {"use_weighting": True},
    "full": {"peft_config": None, "learning_rate": 1e-3},
    # the reference has the base model's, too
    "whole modules": {"peft_config": lambda: trl_script.lora(modules_to_save=["embed_tokens"])},
    # they hold the model's configuration, as attention does
    "whole layers": {"peft_config": lambda: trl_script.lora(modules_to_save=["mlp"])},
    "one process reads rows": {"accelerator_config": {"dispatch_batches": True}},
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS.keys())
def test_options_of_trl_mean_what_they_mean_there(options: dict[str, Any], tiny_model: Path, tmp_path: Path) -> None:
    assert_same_training(*both(tiny_model, tmp_path, **options))


def test_full_training_holds_to_a_reference_model_and_saves_a_plain_configuration(
    tiny_model: Path, tmp_path: Path
) -> None:
    def reference() -> Any:
        torch.manual_seed(5)
        return transformers.AutoModelForCausalLM.from_config(
            transformers.AutoConfig.from_pretrained(tiny_model), dtype=torch.float32
        )

    stock, shared = both(tiny_model, tmp_path, ref_model=reference, peft_config=None, learning_rate=1e-3)
    assert_same_training(stock, shared)
    shared.save_model(tmp_path / "saved")
    assert "evenhand" not in (tmp_path / "saved" / "config.json").read_text()
    transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "saved")


def test_an_adapter_of_ones_own_is_continued_and_is_the_reference(tiny_model: Path, tmp_path: Path) -> None:
    def model() -> Any:
        torch.manual_seed(3)
        base = transformers.AutoModelForCausalLM.from_pretrained(tiny_model, dtype=torch.float32)
        return peft.get_peft_model(base, trl_script.lora())

    stock, shared = both(model, tmp_path, peft_config=None)
    assert losses(stock)[0] == pytest.approx(0.6931, abs=1e-4)
    assert_same_training(stock, shared)


def test_evaluation_callbacks_and_trackers_are_those_of_trl(tiny_model: Path, tmp_path: Path) -> None:
    seen: list[tuple[str, int]] = []

    class Noting(transformers.TrainerCallback):
        def on_evaluate(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            seen.append(("evaluation", state.global_step))

    has_board = importlib.util.find_spec("tensorboard") is not None
    held_out = datasets.Dataset.from_list(trl_script.make_pairs("turns explicit", 3))
    stock, shared = both(
        tiny_model, tmp_path, eval_dataset={"held": held_out}, eval_strategy="steps", eval_steps=2, callbacks=lambda: [Noting()],
        save_strategy="steps", save_steps=2, load_best_model_at_end=True, metric_for_best_model="eval_held_loss",
        report_to="tensorboard" if has_board else "none", precompute_ref_log_probs=True, max_length=512,
    )  # fmt: skip
    assert_same_training(stock, shared)
    for name in ("eval_held_loss", "eval_rewards/accuracies", "eval_entropy"):
        assert losses(shared, name) == pytest.approx(losses(stock, name), abs=1e-4), name
        assert len(losses(shared, name)) == 2
    assert seen == [("evaluation", 2), ("evaluation", 4)] * 2
    assert shared.state.best_metric == pytest.approx(stock.state.best_metric, abs=1e-4)
    assert bool(list((tmp_path / "shared").rglob("events.out.tfevents.*"))) == has_board
    assert shared.evaluate(held_out)["eval_loss"] == pytest.approx(stock.evaluate(held_out)["eval_loss"], abs=1e-4)


def test_streamed_rows_train_and_are_evaluated(tiny_model: Path, tmp_path: Path) -> None:
    def stream(n_prompts: int) -> Any:
        return datasets.Dataset.from_list(trl_script.make_pairs("turns explicit", n_prompts)).to_iterable_dataset()

    evaluation = {"eval_strategy": "steps", "eval_steps": 2, "per_device_eval_batch_size": 5}
    rows = {"train_dataset": lambda: stream(6), "eval_dataset": lambda: stream(3)}
    stock, shared = both(tiny_model, tmp_path, **rows, **evaluation)
    assert_same_training(stock, shared)
    assert losses(shared, "eval_loss") == pytest.approx(losses(stock, "eval_loss"), abs=1e-4)
    # here accelerate would cut what is evaluated
    whole, streamed = (
        trl_script.open_trainer(SharedPrefixDPOTrainer, tiny_model, tmp_path / name, **evaluation, eval_dataset=held_out)
        for name, held_out in (
            ("a", datasets.Dataset.from_list(trl_script.make_pairs("turns explicit", 3))), ("b", stream(3)),
        )
    )  # fmt: skip
    assert streamed.evaluate()["eval_loss"] == whole.evaluate()["eval_loss"]


def test_predictions_are_numbers_and_no_logits_and_a_streamed_rest_counts_as_in_trl(
    tiny_model: Path, tmp_path: Path
) -> None:
    held_out = datasets.Dataset.from_list(trl_script.make_pairs("turns explicit", 3))
    # ten pairs, the last two of which are a batch
    streamed = {"eval_dataset": held_out.to_iterable_dataset(), "per_device_eval_batch_size": 4}
    losses_by_kind = []
    for trainer_class in KINDS.values():
        trainer = trl_script.open_trainer(trainer_class, tiny_model, tmp_path, prediction_loss_only=True, **streamed)
        losses_by_kind.append(
            [trainer.evaluate()["eval_loss"], trainer.predict(trainer.eval_dataset).metrics["test_loss"]]
        )
    assert losses_by_kind[1] == pytest.approx(losses_by_kind[0], abs=1e-4)
    trainer.args.prediction_loss_only = False
    with pytest.raises(RecipeError, match="make no logits; write prediction_loss_only=True in DPOConfig"):
        trainer.predict(trainer.eval_dataset)


def test_turns_that_call_tools_have_no_content(tiny_model: Path, tmp_path: Path) -> None:
    call = {"role": "assistant", "tool_calls": [{"type": "function", "function": {"name": "f", "arguments": {"a": 1}}}]}
    pairs = trl_script.make_pairs("turns explicit")
    (tmp_path / "pairs.jsonl").write_text(
        "".join(json.dumps(pair | {"prompt": [*pair["prompt"], call]}) + "\n" for pair in pairs)
    )
    rows = datasets.load_dataset(
        "json", data_files=str(tmp_path / "pairs.jsonl"), split="train", cache_dir=str(tmp_path)
    )
    assert_same_training(*both(tiny_model, tmp_path, train_dataset=rows, max_steps=2))


def test_attention_is_chosen_by_itself_where_that_is_asked_for(tiny_model: Path, tmp_path: Path) -> None:
    eager = {"model_init_kwargs": {"dtype": "float32", "attn_implementation": "eager"}, "max_steps": 1}
    with pytest.raises(EvenhandError, match="Trainer: attn_implementation of the model: 'eager' cannot keep"):
        trl_script.open_trainer(SharedPrefixDPOTrainer, tiny_model, tmp_path, **eager)
    for kernel in ("flex_attention", "torch_varlen"):
        with pytest.raises(
            EvenhandError, match=f"^SharedPrefixDPOTrainer: attention: {kernel} has no backward pass on the CPU"
        ):
            trl_script.open_trainer(SharedPrefixDPOTrainer, tiny_model, tmp_path, **eager, attention=kernel)
    trainers = [
        trl_script.open_trainer(trainer_class, tiny_model, tmp_path, **eager, **choice)
        for trainer_class, choice in ((trl.DPOTrainer, {}), (SharedPrefixDPOTrainer, {"attention": "auto"}))
    ]
    for trainer in trainers:
        trainer.train()
    assert_same_training(*trainers)


@pytest.mark.parametrize("group_by_prompt", [False, True])
def test_interrupted_training_goes_on_as_itself(group_by_prompt: bool, tiny_model: Path, tmp_path: Path) -> None:
    options = {"save_strategy": "steps", "save_steps": 3, "max_steps": 8, "group_by_prompt": group_by_prompt}
    whole = trl_script.open_trainer(SharedPrefixDPOTrainer, tiny_model, tmp_path / "out", **options)
    whole.train()
    # the second epoch has begun
    again = trl_script.open_trainer(SharedPrefixDPOTrainer, tiny_model, tmp_path / "out", **options)
    again.train(resume_from_checkpoint=str(tmp_path / "out" / "checkpoint-6"))
    assert losses(again) == losses(whole)
    resumed = weights(again)
    assert all(bool((resumed[name] == weight).all()) for name, weight in weights(whole).items())


def test_pairs_of_a_prompt_follow_each_other_when_asked_for(tiny_model: Path, tmp_path: Path) -> None:
    pairs = trl_script.make_pairs("turns explicit")
    # every prompt's pairs are far apart
    apart = datasets.Dataset.from_list(pairs[::2] + pairs[1::2])
    options = {"train_dataset": apart, "per_device_train_batch_size": 6, "num_train_epochs": 2, "max_steps": -1}
    grouped = trl_script.open_trainer(
        SharedPrefixDPOTrainer, tiny_model, tmp_path / "a", group_by_prompt=True, **options
    )
    orders = []
    for epoch in (0.0, 1.0):
        grouped.state.epoch = epoch
        orders.append(list(grouped._get_train_sampler()))
    assert sorted(orders[0]) == sorted(orders[1]) == list(range(20)) and orders[0] != orders[1]
    for order in orders:
        prompts = [apart[place]["prompt"][0]["content"] for place in order]
        assert sum(first != second for first, second in itertools.pairwise(prompts)) == 5
    usual = trl_script.open_trainer(SharedPrefixDPOTrainer, tiny_model, tmp_path / "b", **options)
    for trainer in (grouped, usual):
        trainer.train()
    assert losses(grouped, "num_tokens")[-1] < losses(usual, "num_tokens")[-1]
    assert grouped.state.global_step == usual.state.global_step == 8


def test_a_trained_model_generates_and_is_trained_again_as_any_other(tiny_model: Path, tmp_path: Path) -> None:
    model = transformers.AutoModelForCausalLM.from_pretrained(tiny_model, dtype=torch.float32)
    ids = torch.tensor([[5, 6, 7, 8, 9, 10], [0, 0, 11, 12, 13, 14]])
    asked = {"input_ids": ids, "attention_mask": (ids > 0).long(), "max_new_tokens": 5, "do_sample": False}
    wanted, logits = (
        model.generate(**asked),
        model(**{name: asked[name] for name in ("input_ids", "attention_mask")}).logits,
    )
    trainer = trl_script.open_trainer(SharedPrefixDPOTrainer, model, tmp_path / "a", learning_rate=0.0)
    trainer.train()
    with trainer.model.disable_adapter():
        assert trainer.model.generate(**asked).tolist() == wanted.tolist()
        again = trainer.model(input_ids=ids, attention_mask=asked["attention_mask"]).logits
    assert (again - logits).abs()[ids > 0].max() < 1e-5
    merged = trainer.model.merge_and_unload()
    stock, shared = both(lambda: merged, tmp_path, max_steps=2)
    assert_same_training(stock, shared)


def test_a_padded_row_of_the_collator_is_that_of_trl() -> None:
    """Cut on either side, an empty prompt, equal completions: tokens, masks and who is scored."""
    from trl.trainer.dpo_trainer import DataCollatorForPreference

    pairs = [
        {"prompt_ids": [3, 4, 5, 6], "chosen_ids": [7, 8, 9], "rejected_ids": [9, 8], "ref_chosen_logps": -1.5},
        {"prompt_ids": [], "chosen_ids": [7, 8], "rejected_ids": [9, 8, 4, 2, 5, 1], "ref_chosen_logps": -2.5},
        {"prompt_ids": [3, 4, 5, 6], "chosen_ids": [9, 8], "rejected_ids": [7, 8, 9, 9], "ref_chosen_logps": -3.5},
    ]
    for mode in ("keep_start", "keep_end"):
        for most in (None, 8, 6, 5):
            plain = DataCollatorForPreference(0, most, mode)(pairs)
            packed = PairCollator(0, most, mode)(pairs)
            assert packed["ref_chosen_logps"].tolist() == [-1.5, -2.5, -3.5]
            assert packed["completion_mask"].sum(1).tolist() == plain["completion_mask"].sum(1).tolist()
            targets = torch.cat([each["targets"][0] for each in packed["passes"]])
            for row, places in enumerate(packed["rows"]):
                scored = targets[places[places < len(targets)]].tolist()
                shifted = plain["input_ids"][row, 1:][plain["completion_mask"][row, 1:].bool()].tolist()
                assert scored == shifted
                n = len(scored)
                assert packed["input_ids"][row, 1 : n + 1].tolist() == scored


def test_the_script_of_the_docs_runs(tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (Path(__file__).parents[2] / "docs" / "trainer.md").read_text(encoding="utf-8")
    script = page.split("```python\n")[1].split("```")[0]
    assert "Qwen/Qwen2.5-0.5B-Instruct" in script
    script = script.replace("Qwen/Qwen2.5-0.5B-Instruct", str(tiny_model)).replace(
        'DPOConfig("out"', 'DPOConfig("out", use_cpu=True, bf16=False, report_to="none"'
    )
    monkeypatch.chdir(tmp_path)
    # a process of its own would import TRL for a quarter of a minute; launched ones are below
    exec(compile(script, "trainer.md", "exec"), {"__name__": "__main__"})  # noqa: S102 - of our own page
    assert (tmp_path / "out" / "adapter_model.safetensors").is_file()


def launched(kind: str, config: Path, model: Path, folder: Path, options: dict[str, Any]) -> tuple[list[float], Any]:
    """Losses and adapter of the script on two processes."""
    from safetensors.torch import load_file

    folder.mkdir()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        sys.executable, "-m", "accelerate.commands.launch", "--config_file", str(config), "--main_process_port", str(port),
        trl_script.__file__, kind, str(model), str(folder), json.dumps(options),
    ]  # fmt: skip
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PATH": path}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=MOST_SECONDS)
    assert done.returncode == 0, (done.stdout + done.stderr)[-5000:]
    log = json.loads((folder / "log.json").read_text())
    return [entry["loss"] for entry in log if "loss" in entry], load_file(folder / "out" / "adapter_model.safetensors")


@pytest.mark.slow
@pytest.mark.usefixtures("quick_python")
@pytest.mark.parametrize("kind", ["ddp", "zero2", "zero3", "fsdp2"])
def test_two_processes_train_what_stock_trl_trains_on_them(kind: str, tiny_model: Path, tmp_path: Path) -> None:
    if kind.startswith("zero"):
        need_deepspeed()
    # SGD, because Adam makes a whole step of a gradient that is nothing but rounding
    options = {"optim": "sgd", "learning_rate": 1.0, "max_grad_norm": 0.0, "max_steps": 3, "fsdp2": kind == "fsdp2"}
    config = two_processes(kind, tmp_path)
    stock, weights_of_stock = launched("stock", config, tiny_model, tmp_path / "stock", options)
    shared, weights_of_shared = launched("shared-prefix", config, tiny_model, tmp_path / "shared", options)
    assert len(stock) == 3
    assert shared == pytest.approx(stock, abs=1e-4)
    for name, weight in weights_of_stock.items():
        assert (weights_of_shared[name] - weight).norm() <= 1e-3 * weight.norm(), name
