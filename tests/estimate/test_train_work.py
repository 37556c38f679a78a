"""What a training runs and evaluates, counted by hand."""

import json
from pathlib import Path
from typing import Any

import pytest

transformers = pytest.importorskip("transformers")

from evenhand.config import Recipe  # noqa: E402 - needs transformers
from evenhand.estimate.devices import DEVICES  # noqa: E402
from evenhand.estimate.recipe import estimate  # noqa: E402
from evenhand.estimate.train_work import TrainSequence, rhythm, work_of_run  # noqa: E402
from evenhand.estimate.work import Assumed  # noqa: E402

# each prompt with its answers, and which of them are pairs
FERRY, BRIDGE, TAXES = "Of the ferry:", "Of the bridge that pays for itself:", "Of taxes:"
ANSWERS = (" It is cheap.", " It floats.", " It is about taxes, mostly.")


def write_pairs(path: Path, prompts: tuple[str, ...]) -> Path:
    """Three pairs of three answers to each prompt."""
    pairs = [
        {"prompt": prompt, "chosen": ANSWERS[better], "rejected": ANSWERS[worse]}
        for prompt in prompts
        for better, worse in ((0, 1), (0, 2), (1, 2))
    ]
    path.write_text("".join(json.dumps(pair) + "\n" for pair in pairs))
    return path


def train_stage(made: Recipe) -> Any:
    (stage,) = (
        stage
        for stage in estimate(made, next(iter(DEVICES.values())), 0.3, Assumed({})).stages
        if stage.name == "train"
    )
    return stage


def made_recipe(tiny_model: Path, folder: Path, train: dict[str, Any], trainer: dict[str, Any]) -> Recipe:
    return Recipe.model_validate(
        {
            "name": "counted", "output": str(folder / "run"), "model": {"name": str(tiny_model), "dtype": "float32"},
            "corpus": {"path": "sample", "sides": ["left", "right"], "test": {"split": "test", "limit": 2}},
            "generate": {
                "backend": "transformers", "max_model_len": 2048, "plans": {"p": {"candidates": 3, "max_tokens": 4}},
            },
            "judges": {"rouge": {"kind": "rouge"}, "words": {"kind": "length"}}, "reward": {"judges": ["rouge"]},
            "evaluation": {"judges": ["words"]}, "rounds": 1, "train": train, "trainer": trainer,
        }
    )  # fmt: skip


def test_pairs_that_others_made_are_those_that_are_counted(tiny_model: Path, tmp_path: Path) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny_model)
    prompts = [len(tokenizer(prompt)["input_ids"]) for prompt in (FERRY, BRIDGE)]
    # of the end token nothing runs
    answers = [len(tokenizer(answer)["input_ids"]) for answer in ANSWERS]
    path = write_pairs(tmp_path / "pairs.jsonl", (FERRY, BRIDGE))
    shared = train_stage(made_recipe(tiny_model, tmp_path, {"pairs": path, "texts": "plain"}, {"num_train_epochs": 2}))
    assert shared.requests == 2
    assert shared.prompt_tokens == 2 * (sum(prompts) + 2 * sum(answers))
    # each answer is in two pairs of each prompt
    pairwise = train_stage(made_recipe(tiny_model, tmp_path, {"pairs": path, "trainer": "pairwise"}, {}))
    assert pairwise.requests == 6
    assert pairwise.prompt_tokens == 6 * sum(prompts) + 4 * sum(answers)


@pytest.mark.parametrize("strategy", ["no", "epoch"])
def test_what_is_evaluated_meanwhile_runs_forward_alone(strategy: str, tiny_model: Path, tmp_path: Path) -> None:
    path, held_out = (
        write_pairs(tmp_path / name, prompts) for name, prompts in (("a", (FERRY, BRIDGE)), ("b", (TAXES,)))
    )
    evaluation = {"eval_strategy": strategy} if strategy != "no" else {}
    with_evaluation = {"eval_pairs": held_out} if evaluation else {}
    stage = train_stage(
        made_recipe(tiny_model, tmp_path, {"pairs": path} | with_evaluation, evaluation | {"num_train_epochs": 3})
    )
    alone = train_stage(made_recipe(tiny_model, tmp_path, {"pairs": held_out}, {}))
    trained = train_stage(made_recipe(tiny_model, tmp_path, {"pairs": path}, {"num_train_epochs": 3}))
    n = 3 if evaluation else 0
    assert stage.prompt_tokens == trained.prompt_tokens + n * alone.prompt_tokens
    # policy and reference forward; a training has the policy's way back besides, as long as a pass where weights are frozen, and
    # somewhat longer in attention
    share = (stage.flops - trained.flops) / alone.flops
    assert 0.63 * n <= share <= 2 / 3 * n


def test_a_share_of_the_sets_is_evaluated_and_not_trained_on(tiny_model: Path, tmp_path: Path) -> None:
    made = made_recipe(tiny_model, tmp_path, {"eval_pairs": 0.25}, {"eval_strategy": "epoch"})
    work = work_of_run(made, ([80, 100], 120), 3.0, 9, 2, 4)
    # two pairs are of four candidates at most
    assert work.sequences == [TrainSequence(80, (4,) * 4, 2.25), TrainSequence(100, (4,) * 4, 2.25)]
    assert work.held_out == [TrainSequence(80, (4,) * 4, 0.75), TrainSequence(100, (4,) * 4, 0.75)]
    assert work.longest == [TrainSequence(120, (4,) * 4)]


@pytest.mark.parametrize(
    ("trainer", "epochs", "evaluations"),
    [
        # 20 requests in steps of 8 are 3 steps an epoch
        ({}, 1.0, 0),
        ({"max_steps": 6}, 2.0, 0),
        ({"max_steps": 7, "num_train_epochs": 1}, 7 / 3, 0),
        ({"eval_strategy": "epoch", "num_train_epochs": 2.5}, 2.5, 3),
        ({"eval_strategy": "epoch", "num_train_epochs": 3, "eval_delay": 2}, 3.0, 2),
        # after the steps 2, 4, 6, 8 and the last of 9, as transformers does
        ({"eval_strategy": "steps", "eval_steps": 2, "num_train_epochs": 3}, 3.0, 5),
        ({"eval_strategy": "steps", "eval_steps": 500, "num_train_epochs": 3}, 3.0, 1),
        ({"eval_strategy": "epoch", "num_train_epochs": 2.5, "eval_delay": 3}, 2.5, 0),
        # a third of 9 steps is 3
        ({"eval_strategy": "steps", "eval_steps": 0.3, "num_train_epochs": 3}, 3.0, 3),
        # as it is saved: each of three steps is more than a tenth of them
        ({"eval_strategy": "steps"}, 1.0, 3),
    ],
)
def test_how_often_it_is_trained_and_evaluated(
    trainer: dict[str, Any], epochs: float, evaluations: int, tiny_model: Path, tmp_path: Path
) -> None:
    train = {"eval_pairs": 0.5} if "eval_strategy" in trainer else {}
    made = made_recipe(tiny_model, tmp_path, train, trainer)
    often = rhythm(made, [TrainSequence(10, (4,), 20.0)], 1)
    assert (often.epochs, often.evaluations) == (pytest.approx(epochs), evaluations)


def test_pairs_that_cannot_be_read_are_said_with_what_is_taken_for_them(tiny_model: Path, tmp_path: Path) -> None:
    made = made_recipe(tiny_model, tmp_path, {"pairs": tmp_path / "absent.jsonl"}, {})
    notes = estimate(made, next(iter(DEVICES.values())), 0.3, Assumed({})).notes
    assert any("absent.jsonl: there is no such file. Its pairs are taken to be as many" in note for note in notes)
