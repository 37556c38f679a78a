"""Pairs that are evaluated while a training runs: which ones, TRL's numbers of them, and the best step's adapter."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from launched import distance, forget_after, launch_by_hand, need_deepspeed, record, two_processes
from preference_groups import make_fair_pairs, make_ranked_pairs

from evenhand.errors import DataError, ModelError
from evenhand.generate.backend import prompt_tokens, tokens_digest
from evenhand.records import Message, PreferencePair
from evenhand.runfolder.phases import Phase
from evenhand.storage import file_digest, write_jsonl
from evenhand.train.held_out import read_examples
from evenhand.train.rehearse import rehearse
from evenhand.train.stage import training_stage
from evenhand.train.training import run_training

pytest.importorskip("trl")
pytestmark = pytest.mark.usefixtures("fresh_accelerate")

OpenRound = Callable[..., Phase]
EVALUATED = {"eval_strategy": "steps", "save_steps": 2, "save_total_limit": 9, "per_device_eval_batch_size": 3}
# steps that end worse than the best one
TOO_FAR = EVALUATED | {
    "learning_rate": 0.5,
    "num_train_epochs": 2,
    "load_best_model_at_end": True,
    "save_total_limit": 2,
}
# Adam that steps by the gradient's size: as it is, it makes a whole step of a gradient that is nothing but rounding
SMOOTH = {"learning_rate": 3.0, "adam_epsilon": 1.0, "max_grad_norm": 0.0}


def train(phase: Phase) -> Phase:
    stage = training_stage(phase, processes=1)
    stage.run(lambda: run_training(phase, stage))
    return phase


def evaluations(phase: Phase, name: str = "eval_loss") -> list[float]:
    return [entry[name] for entry in record(phase)["log_history"] if "eval_loss" in entry]


@pytest.fixture
def held_out(tokenizer: Any, tmp_path: Path) -> Path:
    """A file of 21 pairs of 7 requests, of 1, 3 and 6 pairs each, that no round trains on."""
    write_jsonl(tmp_path / "held-out.jsonl", (elsewhere(pair, tokenizer) for pair in make_ranked_pairs(tokenizer, 7)))
    return tmp_path / "held-out.jsonl"


def elsewhere(pair: PreferencePair, tokenizer: Any) -> PreferencePair:
    """The pair with another prompt, of another document set."""
    prompt = (Message(role="user", content=f"Elsewhere: {pair.prompt[0].content}"),)
    digest = tokens_digest(prompt_tokens(tokenizer, prompt))
    return pair.model_copy(update={"prompt": prompt, "prompt_digest": digest, "set_id": f"elsewhere/{pair.set_id}"})


def test_a_share_holds_out_whole_document_sets_with_their_prompts(open_round: OpenRound, tokenizer: Any) -> None:
    phase = open_round(train={"eval_pairs": 0.25}, trainer=EVALUATED)
    pairs = make_ranked_pairs(tokenizer)
    # two sets with one prompt: none of it may be trained on
    moved = [
        pair.model_copy(update={"set_id": "other"}) if n == len(pairs) - 1 else pair for n, pair in enumerate(pairs)
    ]
    path = phase.folder / "pairs.jsonl"
    write_jsonl(path, moved)
    examples, evaluated = read_examples(phase.recipe, path, tokenizer)
    assert evaluated is not None
    assert len(examples.rows) + len(evaluated.rows) == len(pairs)
    for of in (lambda row: row.set_id, lambda row: tuple(row.prompt_ids)):
        assert not {of(row) for row in examples.rows} & {of(row) for row in evaluated.rows}
    assert 2 <= len({row.set_id for row in evaluated.rows}) <= 3
    again = read_examples(phase.recipe, path, tokenizer)
    other = read_examples(phase.recipe.model_copy(update={"seed": 7}), path, tokenizer)
    assert again == (examples, evaluated) != other


def test_no_set_is_held_out_in_one_round_and_trained_on_in_another(open_round: OpenRound, tokenizer: Any) -> None:
    """Rounds that have pairs of the first 30 sets, of the last 30 of 40, and of every other one."""
    phase = open_round(train={"eval_pairs": 0.2}, trainer=EVALUATED)
    path, pairs = phase.folder / "pairs.jsonl", make_ranked_pairs(tokenizer, 40)
    names = sorted({pair.set_id for pair in pairs})
    trained, evaluated = set(), set()
    for drawn in (names[:30], names[10:], names[::2], names):
        write_jsonl(path, [pair for pair in pairs if pair.set_id in drawn])
        examples, held_out = read_examples(phase.recipe, path, tokenizer)
        assert held_out is not None
        trained |= {row.set_id for row in examples.rows}
        evaluated |= {row.set_id for row in held_out.rows}
    assert not trained & evaluated
    assert 4 <= len(evaluated) <= 12


def test_of_two_sets_each_share_leaves_one(open_round: OpenRound, tokenizer: Any) -> None:
    for share in (0.01, 0.99):
        phase = open_round(train={"eval_pairs": share}, trainer=EVALUATED)
        path = phase.folder / "pairs.jsonl"
        write_jsonl(path, make_ranked_pairs(tokenizer, 2))
        parts = read_examples(phase.recipe, path, tokenizer)
        assert [len({row.set_id for row in part.rows}) for part in parts if part] == [1, 1]


def test_sets_that_share_all_prompts_cannot_be_parted(open_round: OpenRound, tokenizer: Any) -> None:
    phase = open_round(train={"eval_pairs": 0.1}, trainer=EVALUATED)
    first, *_, last = make_ranked_pairs(tokenizer, 2)
    shared = {"prompt": first.prompt, "prompt_digest": first.prompt_digest}
    write_jsonl(phase.folder / "pairs.jsonl", [first, last.model_copy(update=shared)])
    with pytest.raises(
        DataError, match="leaves none of 2 document sets to train on, because they have prompts in common"
    ):
        read_examples(phase.recipe, phase.folder / "pairs.jsonl", tokenizer)


@pytest.mark.parametrize("size", [3, 7])
def test_numbers_of_an_evaluation_are_those_of_stock_trl(
    size: int, open_round: OpenRound, held_out: Path, tokenizer: Any
) -> None:
    """Stock TRL takes 21 pairs at once; the shared prefix takes requests, 3 at once and then the last one, or all."""
    one_step = {"optim": "sgd", "learning_rate": 1.0, "max_grad_norm": 0.0, "num_train_epochs": 2, "eval_steps": None}
    sizes = {"per_device_train_batch_size": 12, "per_device_eval_batch_size": size}
    phases = [
        open_round(name, train={"eval_pairs": str(held_out), **section}, trainer=EVALUATED | one_step | sizes | more)
        for name, section, more in (
            ("shared", {}, {"save_steps": 1}),
            ("stock", {"trainer": "pairwise"}, {"save_steps": 1, "per_device_eval_batch_size": 21}),
        )
    ]
    shared, stock = map(train, phases)
    assert len(evaluations(shared)) == 2
    compared = [
        name for name in record(stock)["log_history"][1] if name.startswith("eval_") and "per_second" not in name
    ]
    # its means are of tokens and not of pairs, in each batch
    compared = [name for name in compared if name not in ("eval_runtime", "eval_num_tokens")]
    assert {"eval_loss", "eval_rewards/accuracies", "eval_rewards/margins", "eval_logps/chosen"} <= {*compared}
    of_tokens = {"eval_entropy", "eval_mean_token_accuracy", "eval_logits/chosen", "eval_logits/rejected"}
    for name in compared:
        if size == 7 or name not in of_tokens:
            assert evaluations(shared, name) == pytest.approx(evaluations(stock, name), abs=1e-4), name
    assert abs(evaluations(shared)[0] - evaluations(shared)[1]) > 1e-3


def test_adapter_is_that_of_the_best_step_also_after_an_interruption(open_round: OpenRound, held_out: Path) -> None:
    phase = train(open_round(train={"eval_pairs": str(held_out)}, trainer=TOO_FAR))
    values = evaluations(phase)
    best = 2 * (values.index(min(values)) + 1)
    assert best < 12
    assert record(phase)["evaluation"] == {"pairs": 21, "rows": 7, "best_step": best, "best_metric": min(values)}
    (kept,) = phase.folder.glob(f"checkpoints/*/checkpoint-{best}")
    weights = "adapter_model.safetensors"
    assert file_digest(kept / weights) == file_digest(phase.folder / "adapter" / weights)
    history, adapter = timeless(phase), file_digest(phase.folder / "adapter")
    forget_after(phase, step=best + 2)
    moved = phase.recipe.output.rename(phase.recipe.output.parent / "moved")
    moved_phase = open_round("moved", train={"eval_pairs": str(held_out)}, trainer=TOO_FAR)
    assert moved == moved_phase.recipe.output
    assert (timeless(train(moved_phase)), file_digest(moved_phase.folder / "adapter")) == (history, adapter)


def timeless(phase: Phase) -> list[dict[str, Any]]:
    """What was logged of steps and evaluations, without how long they took."""
    return [
        {name: value for name, value in entry.items() if not name.endswith(("runtime", "per_second"))}
        for entry in record(phase)["log_history"]
        if "train_loss" not in entry
    ]


def test_best_adapter_that_is_gone_is_not_replaced_by_the_last(open_round: OpenRound, held_out: Path) -> None:
    phase = train(open_round(train={"eval_pairs": str(held_out)}, trainer=TOO_FAR))
    best = record(phase)["evaluation"]["best_step"]
    forget_after(phase, step=12)
    (kept,) = phase.folder.glob(f"checkpoints/*/checkpoint-{best}")
    shutil.rmtree(kept)
    with pytest.raises(ModelError, match=rf"checkpoint-{best}: the checkpoint of the best step is gone; remove"):
        train(phase)
    assert not (phase.folder / "adapter").exists()


def test_schedule_that_follows_evaluations_goes_on_after_a_kill(
    open_round: OpenRound, held_out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The best step is none that was saved, and nobody asked for it."""
    from transformers import Trainer

    schedule = {"lr_scheduler_type": "reduce_lr_on_plateau", "metric_for_best_model": "rewards/margins"}
    steps = {"learning_rate": 0.5, "num_train_epochs": 2, "save_steps": 4, "eval_steps": 1, "save_total_limit": 1}
    phase = open_round(train={"eval_pairs": str(held_out)}, trainer=EVALUATED | schedule | steps)

    def best_is_fifth(trainer: Any, **_: Any) -> None:
        trainer.state.best_global_step = min(trainer.state.global_step, 5)
        if trainer.state.global_step == 9:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Trainer, "_determine_best_metric", best_is_fifth)
        with pytest.raises(KeyboardInterrupt):
            train(phase)
    assert list(phase.folder.glob("checkpoints/*/checkpoint-8"))
    train(phase)
    assert len(evaluations(phase)) == 12


def test_a_training_without_an_evaluation_says_so(open_round: OpenRound, held_out: Path) -> None:
    phase = open_round(train={"eval_pairs": str(held_out)}, trainer=TOO_FAR | {"eval_delay": 50})
    train(phase)
    assert record(phase)["evaluation"] == {"pairs": 21, "rows": 7, "best_step": None, "best_metric": None}
    assert any("no step was evaluated" in caution for caution in record(phase)["counts"]["cautions"])


@pytest.mark.slow
def test_reference_of_evaluated_pairs_is_that_of_the_training(
    open_round: OpenRound, held_out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    section = {"eval_pairs": str(held_out), "reference": "previous"}
    plain, kept = (
        (train(open_round(name)), train(open_round(name, number=1, train=section, trainer=TOO_FAR | more)))[1]
        for name, more in (("a", {}), ("b", {"precompute_ref_log_probs": True}))
    )
    assert len(evaluations(plain)) == 6
    assert evaluations(kept) == pytest.approx(evaluations(plain), abs=1e-5)
    # against the policy that the round starts from, whose adapter is that of the round before
    assert abs(evaluations(plain, "eval_rewards/chosen")[0]) < 10


def test_fairpo_is_evaluated_by_the_plain_loss(open_round: OpenRound, held_out: Path, tokenizer: Any) -> None:
    own = open_round().folder / "fair.jsonl"
    write_jsonl(own, make_fair_pairs(tokenizer))
    section = {"fairness": {}, "pairs": str(own), "eval_pairs": str(held_out)}
    phase = train(open_round(train=section, trainer=EVALUATED))
    beta_margin = evaluations(phase, "eval_rewards/margins")
    assert len(beta_margin) == 2
    # FairPO's own is near 0 after the first step
    assert all(abs(loss - 0.6931) < 0.2 for loss in evaluations(phase))


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind",
    [
        pytest.param("ddp", marks=pytest.mark.campaign),
        pytest.param("zero2", marks=pytest.mark.campaign),
        "zero3",
        "fsdp2",
    ],
)
def test_two_processes_evaluate_and_keep_what_one_does(
    kind: str, open_round: OpenRound, held_out: Path, tmp_path: Path
) -> None:
    """Six requests are evaluated at once, and then the last one, which both processes run and one counts."""
    if kind.startswith("zero"):
        need_deepspeed()
    section, steps = {"eval_pairs": str(held_out)}, TOO_FAR | SMOOTH
    one = train(open_round("one", train=section, trainer=steps | {"per_device_train_batch_size": 4}))
    many = open_round("many", train=section, trainer=steps)
    launch_by_hand(many, config := two_processes(kind, tmp_path))
    best = record(many)["evaluation"]
    for name in ("eval_loss", "eval_rewards/accuracies", "eval_logps/rejected", "eval_entropy"):
        assert evaluations(many, name) == pytest.approx(evaluations(one, name), abs=1e-4), name
    assert best["best_step"] == record(one)["evaluation"]["best_step"]
    assert distance(many, one) < 1e-4
    adapter = file_digest(many.folder / "adapter")
    forget_after(many, step=best["best_step"])
    launch_by_hand(many, config)
    assert record(many)["evaluation"] == best
    assert file_digest(many.folder / "adapter") == adapter


def test_file_that_cannot_be_evaluated_is_refused_before_anything_is_generated(
    open_round: OpenRound, held_out: Path, tmp_path: Path
) -> None:
    torn = tmp_path / "torn.jsonl"
    torn.write_text('{"prompt": "Ferry", "chosen": "cheap"}\n')
    table = tmp_path / "pairs.parquet"
    table.write_bytes(b"PAR1\xff")
    lines = r"key 'train.eval_pairs': .*JSON Lines.*load_dataset\('parquet', .*to_json\('pairs.jsonl'\) writes them"
    cases = (
        (table, lines),
        (torn, "torn.jsonl:1: "),
        (tmp_path / "none.jsonl", "key 'train.eval_pairs': .*none.jsonl: there is no such file"),
    )
    for path, said in cases:
        (mistake,) = rehearse(open_round(train={"eval_pairs": str(path)}, trainer=EVALUATED).recipe)
        assert re.search(said, mistake), mistake
    own = open_round().folder / "pairs.jsonl"
    section = {"eval_pairs": str(own), "pairs": str(own)}
    (mistake,) = rehearse(open_round(train=section, trainer=EVALUATED).recipe)
    assert "12 of 12 pairs have a prompt or a document set that is trained on, the first of set 'ferry-0'" in mistake
    phase = open_round(train={"eval_pairs": 0.9, "pairs": str(own)}, trainer=EVALUATED)
    own.write_text(own.read_text().splitlines()[0] + "\n")
    with pytest.raises(DataError, match=r"a share of 0\.9 leaves none of 1 document sets to train on"):
        train(phase)


def test_what_is_evaluated_is_part_of_what_the_adapter_depends_on(open_round: OpenRound, held_out: Path) -> None:
    def key(**train: Any) -> str:
        return training_stage(open_round(train=train, trainer=EVALUATED if train else {}), 1).key

    keys = {key(), key(eval_pairs=0.1), key(eval_pairs=0.2), key(eval_pairs=str(held_out))}
    assert len(keys) == 4
    before = key(eval_pairs=str(held_out))
    assert key(eval_pairs=str(held_out.rename(held_out.with_name("moved.jsonl")))) == before
