"""Real trainings of the tiny model in this process: losses, references, resuming."""

import json
import math
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from preference_groups import make_fair_pairs, make_ranked_pairs

from evenhand.config import ModelSection
from evenhand.errors import DataError, ModelError, RecipeError
from evenhand.runfolder.phases import Phase
from evenhand.runfolder.progress import read_progress
from evenhand.runfolder.stages import Receipt
from evenhand.runfolder.tracking import run_id
from evenhand.storage import file_digest, write_json, write_jsonl
from evenhand.train.policy import load_base
from evenhand.train.rehearse import rehearse
from evenhand.train.stage import eval_file, training_stage
from evenhand.train.training import run_training

pytest.importorskip("trl")
pytestmark = pytest.mark.usefixtures("fresh_accelerate")

LN2 = math.log(2)
OpenRound = Callable[..., Phase]


def train(phase: Phase) -> Receipt:
    stage = training_stage(phase, processes=1)
    return stage.run(lambda: run_training(phase, stage))[0]


def history(phase: Phase) -> list[dict[str, float]]:
    record = json.loads((phase.folder / "training.json").read_text())
    return [entry for entry in record["log_history"] if "loss" in entry]


def losses(phase: Phase) -> list[float]:
    return [entry["loss"] for entry in history(phase)]


def weights(folder: Path) -> dict[str, Any]:
    from safetensors.torch import load_file

    return load_file(folder / "adapter_model.safetensors")


def forget_after(phase: Phase, step: int) -> None:
    """Leave what a kill between this step's checkpoint and the next would have left."""
    shutil.rmtree(phase.folder / "adapter")
    (phase.folder / "training.json").unlink()
    (phase.folder / "receipts" / "train.json").unlink()
    for checkpoint in phase.folder.glob("checkpoints/*/checkpoint-*"):
        if int(checkpoint.name.partition("-")[2]) > step:
            shutil.rmtree(checkpoint)


def after_round_0(open_round: OpenRound, **sections: Any) -> Phase:
    """Round 1, whose policy starts from a trained adapter."""
    train(open_round("run", **sections))
    return open_round("run", number=1, **sections)


def test_fresh_round_starts_at_ln2_and_learns(open_round: OpenRound) -> None:
    phase = open_round()
    receipt = train(phase)
    assert losses(phase)[0] == pytest.approx(LN2, abs=1e-6)
    assert losses(phase)[-1] < 0.6
    assert receipt.counts["steps"] == 6  # 12 pairs, batch 2
    assert receipt.counts["kept"] == {"left": 6, "right": 6}
    # LoRA's B begins at zero; every one of them moved
    assert all(w.abs().max() > 0 for name, w in weights(phase.folder / "adapter").items() if "lora_B" in name)


@pytest.mark.slow
def test_adapter_folder_holds_what_peft_reads_and_nothing_else(open_round: OpenRound, tiny_model: Path) -> None:
    phase = after_round_0(open_round, train={"reference": "previous"})
    train(phase)
    names = {path.name for path in (phase.folder / "adapter").iterdir()}
    tokenizer = {"tokenizer.json", "tokenizer_config.json", "chat_template.jinja"}
    assert names == {"adapter_config.json", "adapter_model.safetensors", "README.md", "base.json", *tokenizer}
    config = json.loads((phase.folder / "adapter" / "adapter_config.json").read_text())
    assert config["base_model_name_or_path"] == str(tiny_model)
    assert not [path for path in phase.folder.iterdir() if path.name.startswith(".adapter")]


def test_adapter_folder_is_all_that_others_need_to_open(
    open_round: OpenRound, tokenizer: Any, tiny_model: Path
) -> None:
    peft, transformers = pytest.importorskip("peft"), pytest.importorskip("transformers")
    phase = open_round("run")
    train(phase)
    folder = phase.folder / "adapter"
    saved = transformers.AutoTokenizer.from_pretrained(folder)
    turn = [{"role": "user", "content": "Is the ferry cheap?"}]
    assert saved.apply_chat_template(turn) == tokenizer.apply_chat_template(turn)
    assert saved.pad_token == tokenizer.pad_token
    assert isinstance(peft.AutoPeftModelForCausalLM.from_pretrained(folder), peft.PeftModel)
    reply = transformers.pipeline("text-generation", model=str(folder))(turn, max_new_tokens=2, do_sample=False)
    assert reply[0]["generated_text"][-1]["role"] == "assistant"
    # its settings say where the base lies, since this one has no other name
    files = [path for path in folder.iterdir() if path.suffix == ".json" and path.name != "adapter_config.json"]
    assert not [path.name for path in files if str(tiny_model) in path.read_text("utf-8")]


@pytest.mark.slow
def test_same_inputs_give_the_same_bytes(open_round: OpenRound) -> None:
    first, second = open_round("a"), open_round("b")
    train(first)
    train(second)
    assert file_digest(first.folder / "adapter") == file_digest(second.folder / "adapter")


def test_steps_of_a_training_under_way_are_counted(open_round: OpenRound) -> None:
    phase = open_round("run")
    seen, stage = [], training_stage(phase, processes=1)

    def work() -> dict[str, Any]:
        counts = run_training(phase, stage)
        seen.append(read_progress(stage.progress_path))
        return counts

    steps = stage.run(work)[0].counts["steps"]
    assert (seen[0].unit, seen[0].done, seen[0].total) == ("steps of 2 requests", {"": steps}, {"": steps})


@pytest.mark.slow
def test_another_seed_gives_another_adapter(open_round: OpenRound) -> None:
    first, second = open_round("a"), open_round("b", seed=43)
    train(first)
    train(second)
    assert file_digest(first.folder / "adapter") != file_digest(second.folder / "adapter")


def test_record_states_policy_batch_and_rows(open_round: OpenRound) -> None:
    phase = open_round(trainer={"gradient_accumulation_steps": 3})
    train(phase)
    record = json.loads((phase.folder / "training.json").read_text())
    assert record["policy"] == "policy = base + A(new, trainable); reference = base"
    assert record["batch"] == 6  # 2 a device, 3 accumulated, 1 process
    assert record["processes"] == 1
    assert record["counts"]["left_out"] == []
    assert record["dpo_config"]["max_length"] == 256  # generate.max_model_len, not TRL's 1024
    assert record["dpo_config"]["beta"] == 0.1
    assert {"trl", "peft", "torch"} <= record["versions"].keys()


@pytest.mark.slow
def test_previous_reference_is_the_policy_that_the_round_starts_from(open_round: OpenRound) -> None:
    phase = after_round_0(open_round, train={"reference": "previous"})
    train(phase)
    first = history(phase)[0]
    assert first["loss"] == pytest.approx(LN2, abs=1e-6)
    assert first["rewards/chosen"] == 0
    start = weights(phase.recipe.output / "round-00" / "adapter")
    assert any((start[name] != after).any() for name, after in weights(phase.folder / "adapter").items())


@pytest.mark.slow
def test_initial_reference_stays_the_base_model(open_round: OpenRound) -> None:
    previous = after_round_0(open_round, train={"reference": "previous"})
    train(previous)
    shutil.copytree(previous.recipe.output, previous.recipe.output.parent / "other")
    initial = open_round("other", number=1, train={"reference": "initial"})
    train(initial)
    first, held = history(initial)[0], history(previous)[0]
    # the same policy on the same rows, measured against another reference
    assert first["logps/chosen"] == pytest.approx(held["logps/chosen"], abs=1e-4)
    assert abs(first["rewards/margins"]) > 0.1
    # implicit reward = beta (policy logps - base logps), so the base's logps follow; round 0 began at the base
    assert first["loss"] != pytest.approx(LN2, abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("case", ["new", "initial", "previous"])
def test_interrupted_training_ends_as_an_undisturbed_one(open_round: OpenRound, case: str) -> None:
    section = {"train": {"reference": "previous" if case == "new" else case}, "trainer": {"save_total_limit": 3}}
    phase = open_round(**section) if case == "new" else after_round_0(open_round, **section)
    train(phase)
    undisturbed, adapter = losses(phase), file_digest(phase.folder / "adapter")
    forget_after(phase, step=2)
    train(phase)
    assert losses(phase) == undisturbed
    assert file_digest(phase.folder / "adapter") == adapter


@pytest.mark.slow
@pytest.mark.parametrize("step", [6, 8])
def test_training_interrupted_in_its_second_epoch_goes_on_with_that_epochs_order(
    open_round: OpenRound, step: int
) -> None:
    phase = open_round(trainer={"num_train_epochs": 2, "save_total_limit": 9})
    train(phase)
    undisturbed, adapter = losses(phase), file_digest(phase.folder / "adapter")
    assert len(undisturbed) == 12
    forget_after(phase, step=step)
    train(phase)
    assert losses(phase) == undisturbed
    assert file_digest(phase.folder / "adapter") == adapter


def test_interrupted_fairpo_goes_on_from_the_checkpoints_running_state(open_round: OpenRound, tokenizer: Any) -> None:
    own = open_round().folder / "pairs.jsonl"
    section = {"fairness": {"decay": 0.5}, "pairs": str(own)}
    phase = open_round(train=section, trainer={"num_train_epochs": 2, "save_total_limit": 9})
    write_jsonl(own, make_fair_pairs(tokenizer))
    train(phase)
    undisturbed, adapter = history(phase), file_digest(phase.folder / "adapter")
    record = json.loads((phase.folder / "training.json").read_text())["fairness"]
    assert record["values"] == ["left", "right"]
    assert all(number > 0 for number in record["loss"] + record["count"])
    assert undisturbed[0]["loss"] == pytest.approx(LN2, abs=1e-6)
    assert undisturbed[0]["fairness/weight_chosen"] == 1
    assert len({entry["fairness/weight_chosen"] for entry in undisturbed}) == len(undisturbed) == 8
    forget_after(phase, step=6)
    train(phase)
    assert [entry["loss"] for entry in history(phase)] == [entry["loss"] for entry in undisturbed]
    assert file_digest(phase.folder / "adapter") == adapter
    assert json.loads((phase.folder / "training.json").read_text())["fairness"] == record


def test_fairpo_needs_pairs_that_say_what_is_fair(open_round: OpenRound) -> None:
    own = open_round().folder / "pairs.jsonl"
    with pytest.raises(RecipeError, match="12 of 12 pairs do not say what is fair"):
        train(open_round(train={"fairness": {}, "pairs": str(own)}))


@pytest.mark.slow
def test_training_killed_after_its_last_step_only_saves(open_round: OpenRound) -> None:
    phase = after_round_0(open_round, train={"reference": "previous"})
    train(phase)
    undisturbed, adapter = losses(phase), file_digest(phase.folder / "adapter")
    forget_after(phase, step=6)
    train(phase)
    assert (losses(phase), file_digest(phase.folder / "adapter")) == (undisturbed, adapter)


NF4 = {"model": {"dtype": "bfloat16", "quantise": "nf4"}}


@pytest.mark.parametrize(
    ("number", "sections"),
    [
        (0, {}),
        (0, {"train": {"trainer": "pairwise"}}),
        (0, NF4),
        pytest.param(0, NF4 | {"train": {"trainer": "pairwise"}}, marks=pytest.mark.slow),
        pytest.param(1, NF4 | {"train": {"reference": "previous"}}, marks=pytest.mark.slow),
        pytest.param(1, NF4 | {"train": {"reference": "initial"}}, marks=pytest.mark.slow),
    ],
    ids=["shared", "pairwise", "nf4", "nf4 pairwise", "nf4 previous", "nf4 initial"],
)
def test_interrupted_training_is_the_undisturbed_one_bit_for_bit(
    open_round: OpenRound, number: int, sections: dict[str, Any]
) -> None:
    if "model" in sections:
        pytest.importorskip("bitsandbytes")
    if number:
        train(open_round(**sections))
    phase = open_round(number=number, **sections)
    train(phase)
    undisturbed, adapter = history(phase), file_digest(phase.folder / "adapter")
    forget_after(phase, step=4)
    train(phase)
    assert history(phase) == undisturbed
    assert file_digest(phase.folder / "adapter") == adapter


@pytest.mark.slow
def test_tokens_are_counted_on_from_a_checkpoint_between_two_lines_of_the_log(open_round: OpenRound) -> None:
    # lines of steps 1 and 4, checkpoints of steps 3 and 6
    phase = open_round(trainer={"logging_steps": 4, "save_steps": 3})
    train(phase)
    undisturbed = [entry["num_tokens"] for entry in history(phase)]
    assert undisturbed == sorted(set(undisturbed))
    forget_after(phase, step=3)
    train(phase)
    assert [entry["num_tokens"] for entry in history(phase)] == undisturbed


def test_adapters_of_quantised_weights_are_trained_in_float32_as_others_are(open_round: OpenRound) -> None:
    pytest.importorskip("bitsandbytes")
    phase = open_round(**NF4, trainer={"learning_rate": 1e-5})
    train(phase)
    before = {name: weight for name, weight in weights(phase.folder / "adapter").items() if "lora_A" in name}
    assert {str(weight.dtype) for weight in before.values()} == {"torch.float32"}
    # steps of 1e-5 of weights near 0.1 are a hundredth of what bfloat16 can tell apart there
    assert all((weight != weight.bfloat16().float()).any() for weight in before.values())


def test_weights_that_are_in_four_bits_in_their_files_are_trained_as_the_recipe_makes_them(
    open_round: OpenRound, tiny_model: Path, tmp_path: Path
) -> None:
    pytest.importorskip("bitsandbytes")
    shutil.copytree(tiny_model, tmp_path / "four")
    load_base(ModelSection(name=str(tiny_model), **NF4["model"])).save_pretrained(tmp_path / "four")
    steps = {"trainer": {"max_steps": 2}}
    phase = open_round("four", model=NF4["model"] | {"name": str(tmp_path / "four")}, **steps)
    assert not rehearse(phase.recipe)
    train(phase)
    whole = open_round("whole", **NF4, **steps)
    train(whole)
    assert losses(phase) == losses(whole)
    with pytest.raises(
        RecipeError, match=r"^key 'model\.quantise': .* are quantised \(bitsandbytes, nf4\) .* write model"
    ):
        load_base(ModelSection(name=str(tmp_path / "four")))


@pytest.mark.slow
def test_torn_checkpoint_is_not_continued_from(open_round: OpenRound) -> None:
    phase = open_round(trainer={"save_total_limit": 3})
    train(phase)
    undisturbed = losses(phase)
    forget_after(phase, step=4)
    torn = next(phase.folder.glob("checkpoints/*/checkpoint-4"))
    (torn / "complete").unlink()
    (torn / "trainer_state.json").write_text("{")
    train(phase)
    assert losses(phase) == undisturbed


@pytest.mark.slow
def test_checkpoints_of_other_inputs_are_not_used(open_round: OpenRound) -> None:
    phase = open_round()
    train(phase)
    forget_after(phase, step=4)
    changed = open_round(trainer={"beta": 0.5})
    train(changed)
    assert len(losses(changed)) == 6
    assert losses(changed)[0] == pytest.approx(LN2, abs=1e-6)


def test_a_reference_that_is_not_the_start_stops_the_run(open_round: OpenRound) -> None:
    from evenhand.train.callbacks import first_loss_rule
    from evenhand.train.examples import build_examples, read_rows
    from evenhand.train.options import training_arguments
    from evenhand.train.policy import load_tokenizer, open_policy
    from evenhand.train.trainer import prepare_material
    from evenhand.train.training import open_trainer

    phase = after_round_0(open_round, train={"reference": "initial"})
    arguments = training_arguments(phase.recipe, phase.name, 1, phase.folder / "checkpoints" / "x")
    tokenizer = load_tokenizer(phase.recipe.model)
    examples = build_examples(read_rows(phase.folder / "pairs.jsonl", tokenizer), 256, "raise")
    material = prepare_material(phase, arguments, tokenizer, examples)
    # what TRL would do if it took the base for the reference where the recipe says `previous`
    policy = open_policy(phase, zero3=False)
    wrong = type(policy)(**(vars(policy) | {"starts_at_reference": True}))
    trainer = open_trainer(wrong, arguments, tokenizer, material, None)
    with pytest.raises(ModelError, match=r"must be ln 2 = 0\.693147"):
        trainer.train()
    assert first_loss_rule(arguments, starts_at_reference=False, resume=None) is None


def test_precomputed_reference_changes_nothing(
    open_round: OpenRound, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    plain, precomputed = open_round("a"), open_round("b", trainer={"precompute_ref_log_probs": True})
    train(plain)
    train(precomputed)
    assert losses(precomputed) == pytest.approx(losses(plain), abs=1e-5)


# every step holds all pairs, so that the order of rows does not matter; SGD does not make a step of rounding
ALL_PAIRS = {
    "num_train_epochs": 3, "gradient_accumulation_steps": 1, "optim": "sgd", "learning_rate": 1.0, "max_grad_norm": 0.0,
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_recipe_trains_with_a_shared_prefix_what_pairwise_trains(
    dtype: str, open_round: OpenRound, tokenizer: Any
) -> None:
    pairs = make_ranked_pairs(tokenizer)
    model = {"dtype": dtype}
    shared = open_round("a", model=model, trainer=ALL_PAIRS | {"per_device_train_batch_size": 8})
    pairwise = open_round(
        "b", model=model, trainer=ALL_PAIRS | {"per_device_train_batch_size": 24}, train={"trainer": "pairwise"}
    )
    for phase in (shared, pairwise):
        write_jsonl(phase.folder / "pairs.jsonl", pairs)
    ours, stock = train(shared).counts, train(pairwise).counts
    assert (ours["unit"], ours["rows"]) == ("requests", 8)
    assert (stock["unit"], stock["rows"]) == ("pairs", 24)
    assert ours["tokens_per_epoch_pairwise"] == stock["tokens_per_epoch"] > 3 * ours["tokens_per_epoch"]
    # bfloat16 has eight bits: its rounding moves a loss by some thousandths
    assert losses(shared) == pytest.approx(losses(pairwise), abs=1e-5 if dtype == "float32" else 5e-3)
    assert losses(shared)[-1] < LN2 - 0.003


@pytest.mark.slow
def test_plain_texts_train_with_a_shared_prefix_what_they_train_pairwise(open_round: OpenRound, tmp_path: Path) -> None:
    texts = [{"prompt": f"Ferry {i % 2}:", "chosen": f" cheap {i}", "rejected": f" dear {i}"} for i in range(6)]
    (tmp_path / "texts.jsonl").write_text("".join(json.dumps(line) + "\n" for line in texts))
    section = {"pairs": str(tmp_path / "texts.jsonl"), "texts": "plain"}
    shared = open_round("a", train=section, trainer=ALL_PAIRS | {"per_device_train_batch_size": 2})
    pairwise = open_round(
        "b", train=section | {"trainer": "pairwise"}, trainer=ALL_PAIRS | {"per_device_train_batch_size": 6}
    )
    ours, stock = train(shared).counts, train(pairwise).counts
    assert (ours["rows"], stock["rows"]) == (2, 6)
    assert losses(shared) == pytest.approx(losses(pairwise), abs=1e-5)


@pytest.mark.slow
def test_quantised_weights_train_with_a_shared_prefix_what_they_train_pairwise(
    open_round: OpenRound, tokenizer: Any
) -> None:
    pytest.importorskip("bitsandbytes")
    model = {"dtype": "float32", "quantise": "nf4"}
    shared = open_round("a", model=model, trainer=ALL_PAIRS | {"per_device_train_batch_size": 8})
    pairwise = open_round(
        "b", model=model, trainer=ALL_PAIRS | {"per_device_train_batch_size": 24}, train={"trainer": "pairwise"}
    )
    for phase in (shared, pairwise):
        write_jsonl(phase.folder / "pairs.jsonl", make_ranked_pairs(tokenizer))
        train(phase)
    assert losses(shared) == pytest.approx(losses(pairwise), abs=1e-5)
    assert losses(shared)[-1] < LN2 - 0.003


def test_weights_of_pairs_need_the_shared_prefix(open_round: OpenRound, tokenizer: Any) -> None:
    phase = open_round(train={"trainer": "pairwise"})
    pairs = [pair.model_copy(update={"weight": 2.0}) for pair in make_ranked_pairs(tokenizer)]
    write_jsonl(phase.folder / "pairs.jsonl", pairs)
    with pytest.raises(RecipeError, match="pairwise is stock TRL, where all pairs count alike"):
        train(phase)


def test_less_memory_continues_the_same_training(open_round: OpenRound) -> None:
    """Who ran out of memory lowers train.max_tokens_per_pass and goes on from the last checkpoint."""
    first, second = open_round(), open_round(train={"max_tokens_per_pass": 64})
    assert training_stage(first, 1).key == training_stage(second, 1).key


def test_pass_that_holds_no_candidate_is_refused(open_round: OpenRound) -> None:
    with pytest.raises(RecipeError, match=r"max_tokens_per_pass': 16, but a prompt with one candidate has \d+ tokens"):
        train(open_round(train={"max_tokens_per_pass": 16}))


@pytest.mark.parametrize("text", ["", "\n \n"])
def test_empty_pair_file_is_refused_with_what_to_do(open_round: OpenRound, text: str) -> None:
    phase = open_round()
    (phase.folder / "pairs.jsonl").write_text(text)
    with pytest.raises(DataError, match=r"pairs\.jsonl: has no pairs, so there is nothing to train on$"):
        training_stage(phase, 1)
    evaluated = open_round(train={"eval_pairs": str(phase.folder / "pairs.jsonl")}, trainer={"eval_strategy": "epoch"})
    (phase.folder / "pairs.jsonl").write_text(text)
    with pytest.raises(DataError, match=r"^key 'train\.eval_pairs': .*pairs\.jsonl has no pairs; name another file"):
        eval_file(evaluated.recipe)
    rows = [("left", "equal texts", 1), ("left", "chosen breaks contract", 2), ("right", "equal texts", 4)]
    write_json(
        phase.folder / "ledger.json",
        {"rows": [{"side": side, "reason": reason, "count": count} for side, reason, count in rows]},
    )
    told = r"train on; left out: equal texts \(5\), chosen breaks contract \(2\) \(.*ledger\.json has the sides\)"
    with pytest.raises(DataError, match=told):
        training_stage(phase, 1)


def test_missing_pair_file_is_refused_with_what_to_do(open_round: OpenRound) -> None:
    phase = open_round()
    (phase.folder / "pairs.jsonl").unlink()
    with pytest.raises(DataError, match="no preference pairs yet; make them by generating"):
        training_stage(phase, 1)


def test_missing_adapter_of_the_round_before_is_refused(open_round: OpenRound) -> None:
    with pytest.raises(DataError, match="train the round before round-01 first"):
        training_stage(open_round(number=1), 1)


def test_evaluation_is_not_trained(open_round: OpenRound) -> None:
    phase = open_round()
    with pytest.raises(RecipeError, match="only rounds are trained"):
        training_stage(Phase(phase.recipe, "evaluation/base", None), 1)


def test_fairpo_is_another_training(open_round: OpenRound) -> None:
    own = open_round().folder / "pairs.jsonl"
    keys = {
        training_stage(open_round(train={"pairs": str(own), "fairness": fairness}), 1).key
        for fairness in (None, {}, {"decay": 0.5}, {"exponent": "paper"})
    }
    assert len(keys) == 4


def test_version_of_fairpos_weights_is_no_part_of_other_trainings(open_round: OpenRound) -> None:
    own = open_round().folder / "pairs.jsonl"
    plain, fair = (training_stage(open_round(train={"pairs": str(own), **more}), 1) for more in ({}, {"fairness": {}}))
    assert fair.inputs.keys() - plain.inputs.keys() == {"fairpo"}


def test_more_processes_are_another_training(open_round: OpenRound) -> None:
    phase = open_round()
    assert training_stage(phase, 1).key != training_stage(phase, 2).key


def test_wandbs_run_of_a_training_has_the_recipe_also_after_another_run_in_this_process(open_round: OpenRound) -> None:
    wandb = pytest.importorskip("wandb")
    phase = open_round("run", wandb={"mode": "offline"})
    with wandb.init(mode="disabled"):
        pass
    train(phase)
    (file,) = phase.recipe.output.glob("wandb/offline-run-*/*.wandb")
    assert run_id(phase.recipe, "round-00 train", training_stage(phase, processes=1).key) in file.name
    # wandb's service may write it after the run has ended
    deadline = time.monotonic() + 30
    while b"rewards/margins" not in (content := file.read_bytes()) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert b"least_margin" in content
    assert b"rewards/margins" in content
