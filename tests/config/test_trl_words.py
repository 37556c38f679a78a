"""TRL's names on a command line, held against the installed TRL and the parsers of both commands that take them."""

import dataclasses
import subprocess
import sys

import pytest

from evenhand.cli.app import VERBS
from evenhand.config.trainer_keys import TRAINER_KEYS
from evenhand.config.trl_words import ELSEWHERE, FLAGS, LISTS, MODEL_NAMES, with_overrides
from evenhand.errors import RecipeError

OPTIONS = {"--set", "--phase", "--help", "-q"}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("R --learning_rate 1e-4", "R --set trainer.learning_rate=1e-4"),
        ("--learning-rate=1e-4 R", "--set trainer.learning_rate=1e-4 R"),
        ("--max_steps -1 R", "--set trainer.max_steps=-1 R"),
        ("--bf16 R", "--set trainer.bf16=true R"),
        ("--bf16 False R", "--set trainer.bf16=False R"),
        ("--no_disable_dropout R", "--set trainer.disable_dropout=false R"),
        ("--gradient_checkpointing auto", "--set trainer.gradient_checkpointing=auto"),
        (
            "R --loss_type sigmoid sft --loss_weights 1 .5 -q",
            "R --set trainer.loss_type=[sigmoid,sft] --set trainer.loss_weights=[1,.5] -q",
        ),
        ("--lora_target_modules q_proj --lora_r 8", "--set lora.target_modules=[q_proj] --set lora.r=8"),
        ("--lora_target_modules all-linear", "--set lora.target_modules=all-linear"),
        ("--model_name_or_path a/b --dtype float32", "--set model.name=a/b --set model.dtype=float32"),
        ("R --set beta=.2 --phase p -- --bf16", "R --set beta=.2 --phase p -- --bf16"),
        # refused as in a recipe, with the recipe's reason
        ("--output_dir out --warmup_ratio .1", "--set trainer.output_dir=out --set trainer.warmup_ratio=.1"),
        ("--no_remove_unused_columns", "--set trainer.remove_unused_columns=false"),
    ],
)  # fmt: skip
def test_names_become_overrides(words: str, expected: str) -> None:
    assert [word.replace(", ", ",") for word in with_overrides(words.split(), OPTIONS)] == expected.split()


def test_all_mistakes_are_told_at_once_with_the_nearest_name() -> None:
    words = "R --learnin_rate 1e-4 --beta --phas round-01 --use_peft --max_steps --lora_rank 3".split()
    with pytest.raises(RecipeError) as refusal:
        with_overrides(words, OPTIONS)
    text = str(refusal.value)
    for part in (
        "--learnin_rate is no option here, and not a key of trl.DPOConfig; did you mean '--learning_rate'?",
        "--beta: needs a value", "--max_steps: needs a value", "did you mean '--phase'?", "--use_peft: leave it out",
        "did you mean '--lora_r'?",
    ):  # fmt: skip
        assert part in text


def test_tables_are_those_of_the_installed_trl() -> None:
    trl = pytest.importorskip("trl")
    types = {field.name: str(field.type) for field in dataclasses.fields(trl.DPOConfig)}
    switches = {name for name, kind in types.items() if kind in ("<class 'bool'>", "bool | None", "str | bool")}
    # transformers 5.24 has a new name of a key, which is refused with the one that every version has
    assert (switches & TRAINER_KEYS) - {"activation_checkpointing"} == FLAGS
    model_types = {field.name: str(field.type) for field in dataclasses.fields(trl.ModelConfig)}
    assert MODEL_NAMES.keys() < model_types.keys()
    assert not MODEL_NAMES.keys() & TRAINER_KEYS
    many = {name for name, kind in (types | model_types).items() if "list[" in kind}
    assert many >= LISTS
    assert not ELSEWHERE.keys() & TRAINER_KEYS


@pytest.mark.parametrize("command", ["cli", "train.dpo"])
def test_commands_take_them_and_refuse_them_without_torch(command: str) -> None:
    words = (
        ["quickstart", "--learnin_rate", "1"] if command == "cli" else ["--config", "quickstart", "--output_dir", "out"]
    )
    code = (
        "import atexit, sys\n"
        "atexit.register(lambda: print('torch' in sys.modules))\n"
        f"from evenhand.{'__main__ import main' if command == 'cli' else 'train.dpo import main'}\n"
        f"sys.argv[1:] = {['train', *words] if command == 'cli' else words}\n"
        "sys.exit(main())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert (
        "did you mean '--learning_rate'?" if command == "cli" else "the run folder is the recipe's 'output'"
    ) in done.stderr
    assert done.stdout.strip() == "False"


def test_only_training_takes_them() -> None:
    assert [name for name, verb in VERBS.items() if verb.words is not None] == ["train"]
