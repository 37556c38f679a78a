"""What keys of `trainer:` may be: the tables held against the installed TRL, and values against their tables."""

import dataclasses
from typing import Any, get_args

import pytest

from evenhand.config.train import contradictory
from evenhand.config.trainer_keys import BOUND_KEYS, EFFECTIVE_KEYS, OWNED_TRAINER_KEYS, TRAINER_KEYS
from evenhand.config.trainer_values import AUTOMATIC, CHOICES, FLAGS, KINDS, NULLS, SWITCHED, wrong_values

EFFECTIVE = {*(key for keys in EFFECTIVE_KEYS.values() for key in keys.split()), *BOUND_KEYS}
# what these may be is said with the losses and trackers that there are
ELSEWHERE = {"loss_type", "report_to"}


def fields() -> dict[str, Any]:
    trl = pytest.importorskip("trl", reason="compares with the installed TRL")
    return {field.name: field for field in dataclasses.fields(trl.DPOConfig)}


def test_each_key_stands_in_one_table() -> None:
    keys = [*CHOICES, *ELSEWHERE, *(key for kind in KINDS for key in kind.keys if key in EFFECTIVE)]
    assert len(keys) == len(set(keys))
    assert set(keys) == EFFECTIVE
    assert {*AUTOMATIC, *SWITCHED} < EFFECTIVE


def test_kinds_are_those_of_the_installed_trl() -> None:
    types = {name: {field.type, *get_args(field.type)} for name, field in fields().items()}
    for kind in KINDS:
        for key in kind.keys & types.keys():
            needed = {"a text": {str}, "a list of numbers": {list[float]}}.get(kind.name) or (
                {bool}
                if kind.keys == FLAGS
                else {int, float}
                if "number" in kind.name or "steps" in kind.name
                else None
            )
            assert needed is None or types[key] & needed, (key, kind.name)
    assert {
        name
        for name, kinds in types.items()
        if type(None) in kinds and name in TRAINER_KEYS - OWNED_TRAINER_KEYS.keys()
    } | {"max_grad_norm"} == NULLS


def test_words_are_those_of_the_installed_libraries() -> None:
    installed = fields()
    from transformers.debug_utils import DebugOption

    for key, words in CHOICES.items():
        field = installed[key]
        enumerations = [kind for kind in get_args(field.type) if hasattr(kind, "__members__")]
        if key == "debug":
            expected = {"", *(option.value for option in DebugOption)}
        elif enumerations:
            expected = {option.value for option in enumerations[0]}
        elif key == "f_divergence_type":
            import inspect
            import re

            from trl import DPOTrainer

            expected = set(re.findall(r'f_divergence_type == "(\w+)"', inspect.getsource(DPOTrainer)))
        else:
            expected = set(field.metadata["choices"])
        assert set(words) == expected, key


def test_what_trl_has_without_a_key_is_taken() -> None:
    for key, field in fields().items():
        default = field.default if field.default_factory is dataclasses.MISSING else field.default_factory()
        if key in EFFECTIVE:
            assert list(wrong_values({key: default})) == [], key


@pytest.mark.parametrize(
    ("key", "value", "mistake"),
    [
        ("learning_rate", "fast", "needs a number above 0, got 'fast'"),
        ("learning_rate", "5e-6 ", "needs a number above 0, got '5e-6 '"),
        ("learning_rate", -1.0, "needs a number above 0, got -1.0"),
        ("learning_rate", True, "needs a number above 0, got True"),
        ("learning_rate", None, "needs a number above 0, got None"),
        ("beta", 0.0, "needs a number above 0, got 0.0"),
        ("beta", -0.1, "needs a number above 0, got -0.1"),
        ("num_train_epochs", 0, "needs a number above 0, got 0"),
        ("num_train_epochs", float("nan"), "needs a number above 0, got nan"),
        ("adam_beta1", 1, "needs a number from 0 to below 1, got 1"),
        ("label_smoothing", 0.5, "needs a number from 0 to below 0.5, got 0.5"),
        ("ld_alpha", 1.5, "needs a number from 0 to 1, got 1.5"),
        ("f_alpha_divergence_coef", "1", "needs a number, got '1'"),
        ("save_steps", -1, "needs a number of steps, or a share of all of them below 1, got -1"),
        ("save_steps", 0, "needs a number of steps, or a share of all of them below 1, got 0"),
        ("eval_steps", 2.5, "needs a number of steps, or a share of all of them below 1, got 2.5"),
        ("logging_steps", float("inf"), "needs a number of steps, or a share of all of them below 1, got inf"),
        ("warmup_steps", 1.5, "needs 0, a number of steps, or a share of all of them below 1, got 1.5"),
        ("max_steps", 0, "needs a whole number of at least 1, or -1 for as many as num_train_epochs has, got 0"),
        ("per_device_train_batch_size", 0, "needs a whole number of at least 1, or auto, got 0"),
        ("per_device_train_batch_size", "atuo", "needs a whole number of at least 1, or auto, got 'atuo'"),
        ("gradient_accumulation_steps", 1.5, "needs a whole number of at least 1, got 1.5"),
        ("dataloader_num_workers", -2, "needs a whole number of at least 0, got -2"),
        ("learning_rate", 0, "needs a number above 0, got 0"),
        ("save_total_limit", 0.5, "needs a whole number, got 0.5"),
        ("gradient_checkpointing", "sometimes", "needs true or false, or auto, got 'sometimes'"),
        ("gradient_checkpointing", 3, "needs true or false, or auto, got 3"),
        ("include_num_input_tokens_seen", "some", "needs true or false, or all, or non_padding, or no, got 'some'"),
        ("bf16", "yes", "needs true or false, got 'yes'"),
        ("loss_weights", 1.0, "needs a list of numbers, got 1.0"),
        ("loss_weights", ["a"], "needs a list of numbers, got ['a']"),
        ("lr_scheduler_kwargs", [1], "needs keys and values, got [1]"),
        ("metric_for_best_model", 5, "needs a text, got 5"),
        ("save_strategy", "epochs", "'epochs' is none of no, steps, epoch, best; did you mean 'epoch'?"),
        ("save_strategy", True, "True is none of no, steps, epoch, best."),
        ("eval_strategy", ["steps"], "['steps'] is none of no, steps, epoch; did you mean 'steps'?"),
        ("debug", "all", "'all' is none of underflow_overflow, tpu_metrics_debug."),
    ],
)
def test_a_value_that_its_key_cannot_have(key: str, value: Any, mistake: str) -> None:
    assert list(wrong_values({"report_to": "none", key: value})) == [(key, mistake)]


def test_values_at_the_ends_of_their_ranges_are_taken() -> None:
    values = {
        "adam_beta1": 0, "beta": 5e-324, "eval_steps": 0.5, "gradient_checkpointing": "auto", "label_smoothing": 0,
        "ld_alpha": 1, "learning_rate": 1e-9, "logging_steps": 1, "max_grad_norm": None, "max_length": None, "max_steps": -1,
        "num_train_epochs": 0.5, "optim": "sgd", "per_device_train_batch_size": "auto", "save_steps": 2.0, "warmup_steps": 0.1,
    }  # fmt: skip
    assert list(wrong_values(values)) == []


@pytest.mark.parametrize(
    "values",
    [
        {"save_total_limit": 0}, {"max_grad_norm": -1}, {"num_train_epochs": 0, "max_steps": 5}, {"loss_weights": (1.0, 0.5)},
        *({f"{name}_strategy": "no", f"{name}_steps": 0} for name in ("eval", "logging", "save")),
    ],
)  # fmt: skip
def test_values_that_mean_something_to_trl_are_taken(values: dict[str, Any]) -> None:
    assert list(wrong_values(values)) == []


@pytest.mark.parametrize(
    ("trainer", "mistake"),
    [
        ({"loss_weights": [1.0, 2.0]}, "trainer.loss_weights has 2 weights for loss_type sigmoid"),
        ({"loss_type": "exo_pair"}, "exo_pair needs label_smoothing"),
        ({"lr_scheduler_type": "greedy"}, "greedy follows an evaluation"),
        ({"eval_strategy": "epoch", "load_best_model_at_end": True}, "write save_strategy: epoch"),
        ({"bf16": True, "fp16": True}, "a training has one of the two"),
    ],
)
def test_values_that_contradict_each_other(
    trainer: dict[str, Any], mistake: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (text,) = contradictory(trainer)
    assert mistake in text
    monkeypatch.setenv("ACCELERATE_USE_CPU", "true")
    trl = pytest.importorskip("trl", reason="asks the installed TRL")
    if "exo_pair" not in trainer.values():  # which the trainer itself refuses
        with pytest.raises(ValueError):
            trl.DPOConfig("out", use_cpu=True, **{"bf16": False} | trainer)


@pytest.mark.parametrize(
    "trainer",
    [
        {"loss_type": ["sigmoid", "sft"], "loss_weights": [1.0, 1.0]},
        {"loss_type": "exo_pair", "label_smoothing": 0.001},
        {"lr_scheduler_type": "greedy", "eval_strategy": "steps", "load_best_model_at_end": True},
        {"eval_strategy": "epoch", "save_strategy": "epoch", "load_best_model_at_end": True},
        {"bf16": True, "fp16": False},
        {},
    ],
)
def test_values_that_go_together(trainer: dict[str, Any]) -> None:
    assert list(contradictory(trainer)) == []
