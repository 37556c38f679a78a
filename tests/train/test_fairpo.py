"""FairPO in the trainer, against arithmetic written out here, the numpy functions, and one forward pass for each summary."""

import dataclasses
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from preference_groups import make_fairness, make_rows, make_trainer

from evenhand.config import FairPOSection
from evenhand.errors import ModelError, RecipeError
from evenhand.fairness.groups.fairpo import RunningState
from evenhand.train.examples import TokenPair, TrainingPairs
from evenhand.train.fairpo import STATE, FairPO, PairTensors, fairpo_losses, open_fairpo
from evenhand.train.options import training_arguments
from evenhand.train.trainer import prepare_material

torch = pytest.importorskip("torch")
pytest.importorskip("trl")
pytestmark = pytest.mark.usefixtures("fresh_accelerate")

BETA = 0.1
VALUES = ("left", "right")
# mean weights 0.4 and 0.1 of "left", 0.2 and 0.5 of "right"
SEEN = RunningState(np.array([0.8, 0.3, 0.2, 0.5]), np.array([2.0, 3.0, 1.0, 1.0]))


def fair_rows() -> list[TokenPair]:
    return [dataclasses.replace(row, fairness=make_fairness(i)) for i, row in enumerate(make_rows())]


def fairpo(state: RunningState | None = None, **section: Any) -> FairPO:
    made = FairPO(FairPOSection(**section), VALUES)
    made.state = state or made.state
    return made


def written_out(numbers: Any, power: Any, averages: Any, *, is_chosen: bool) -> float:
    """Weight of one summary, written out (docs/papers.md#fairpo-weights): the mean over its slots."""
    found = []
    for slot, weight in enumerate(numbers):
        if weight > 0:
            own, other = averages[slot], averages[slot ^ 1]
            ratio = own / other if is_chosen else other / own
            found.append(2 / (1 + ratio ** power[slot]))
    return sum(found) / len(found) if found else 1.0


def slots_of(rows: list[TokenPair]) -> Any:
    found = [row.fairness for row in rows]
    return np.array([[f.weight_chosen, f.pow_chosen, f.weight_rejected, f.pow_rejected] for f in found if f])


@pytest.mark.parametrize("temperature", [1.0, 2.0])
def test_weights_are_those_written_out(temperature: float) -> None:
    slots = slots_of(fair_rows())
    averages = [average**temperature for average in (0.4, 0.1, 0.2, 0.5)]
    chosen, rejected = fairpo(SEEN, temperature=temperature).weights(slots)
    for pair, (wc, pc, wr, pr) in enumerate(slots):
        assert chosen[pair] == pytest.approx(written_out(wc, pc, averages, is_chosen=True))
        assert rejected[pair] == pytest.approx(written_out(wr, pr, averages, is_chosen=False))
    assert len(set(chosen.round(6))) > 3, "the pairs differ"


def test_paper_weights_have_the_signed_deviation_as_exponent() -> None:
    # chosen: C = 0.5 and -1.5, rejected: C = -0.5 and 0
    slots = np.array([[[0.5, 0, 0, 1.5], [9, 9, 9, 9], [0, 0.5, 0, 0], [9, 9, 9, 9]]])
    chosen, rejected = fairpo(SEEN, exponent="paper", temperature=2.0).weights(slots)
    # O/U = 4 for left, 0.4 for right
    assert chosen == pytest.approx([(2 / (1 + 4**0.25) + 2 / (1 + 0.4**-0.75)) / 2])
    assert rejected == pytest.approx([(2 / (1 + 0.25**-0.25) + 1) / 2])


@pytest.mark.parametrize("exponent", ["released", "paper"])
def test_all_weights_are_1_while_nothing_was_seen(exponent: str) -> None:
    for side in fairpo(exponent=exponent).weights(slots_of(fair_rows())):
        assert side.tolist() == [1.0] * 8


def tensors(values: Any) -> PairTensors:
    chosen, rejected, ref_chosen, ref_rejected = (torch.tensor(v, dtype=torch.float64) for v in values)
    return PairTensors(
        (chosen.requires_grad_(), rejected.requires_grad_()), (ref_chosen, ref_rejected), (chosen, chosen)
    )


LOGPS = ([-10.0, -30.0, -5.5], [-12.0, -20.0, -50.0], [-11.0, -25.0, -5.0], [-11.5, -26.0, -20.0])


def test_losses_and_rewards_are_those_of_pencil_and_paper() -> None:
    weights = (torch.tensor([0.5, 1.5, 1.0]), torch.tensor([1.2, 0.1, 1.0]))
    found, rewards = fairpo_losses(tensors(LOGPS), weights, BETA)
    # gaps: chosen 1, -5, -0.5; rejected -0.5, 6, -30; m = 1.5, -11, 29.5
    by_hand = [
        -0.1 * (0.5 * 1 - 1.2 * -0.5) / (1 + math.exp(0.15)),
        -0.1 * (1.5 * -5 - 0.1 * 6) / (1 + math.exp(-1.1)),
        -0.1 * (1.0 * -0.5 - 1.0 * -30) / (1 + math.exp(2.95)),
    ]
    assert found.tolist() == pytest.approx(by_hand, abs=1e-6)
    assert rewards[0].tolist() == pytest.approx([0.05, -0.75, -0.05])
    assert rewards[1].tolist() == pytest.approx([-0.06, 0.06, -3.0])


def test_hopeless_pair_does_not_overflow() -> None:
    pairs = tensors([[-1e6], [0.0], [0.0], [-1e6]])
    losses, _ = fairpo_losses(pairs, (torch.ones(1), torch.ones(1)), BETA)
    assert losses.tolist() == pytest.approx([2e5])


def test_gradient_is_dpos_with_each_side_scaled_by_its_weight() -> None:
    pairs, weights = tensors(LOGPS), (torch.tensor([0.5, 1.5, 1.0]), torch.tensor([1.2, 0.1, 1.0]))
    fairpo_losses(pairs, weights, BETA)[0].mean().backward()
    again = tensors(LOGPS)
    gaps = [logps - ref for logps, ref in zip(again.logps, again.ref_logps, strict=True)]
    (-torch.nn.functional.logsigmoid(BETA * (gaps[0] - gaps[1]))).mean().backward()
    for side, plain, weight in zip(pairs.logps, again.logps, weights, strict=True):
        assert torch.allclose(side.grad, weight * plain.grad, atol=1e-9)
        assert side.grad.abs().min() > 0


def logps_of(model: Any, prompt: list[int], summary: list[int]) -> Any:
    """Summed log-probability of a summary, in a forward pass of its own."""
    ids = torch.tensor([prompt + summary])
    logits = model(input_ids=ids).logits[0, len(prompt) - 1 : -1]
    return logits.log_softmax(-1).gather(1, torch.tensor(summary)[:, None]).sum()


def slow_loss(trainer: Any, rows: list[TokenPair], averages: Any) -> Any:
    """Section 24 for these rows, summary by summary: the mean loss, and the mean weighted reward of each side."""
    losses, rewards, model = [], [], trainer.model
    for row in rows:
        policy = [logps_of(model, row.prompt_ids, ids) for ids in (row.chosen_ids, row.rejected_ids)]
        with torch.no_grad(), model.disable_adapter():
            reference = [logps_of(model, row.prompt_ids, ids) for ids in (row.chosen_ids, row.rejected_ids)]
        chosen, rejected = (BETA * (p - r) for p, r in zip(policy, reference, strict=True))
        fair = row.fairness
        assert fair is not None
        weights = (
            written_out(fair.weight_chosen, fair.pow_chosen, averages, is_chosen=True),
            written_out(fair.weight_rejected, fair.pow_rejected, averages, is_chosen=False),
        )
        rewards.append([weights[0] * float(chosen.detach()), weights[1] * float(rejected.detach())])
        factor = 1 / (1 + math.exp(float((chosen - rejected).detach())))
        losses.append(-factor * (weights[0] * chosen - weights[1] * rejected))
    return torch.stack(losses).mean(), np.mean(rewards, axis=0)


def loss_and_gradients(trainer: Any, step: int) -> tuple[float, dict[str, Any]]:
    trainer.model.train()
    trainer.state.global_step = step
    loss = trainer.compute_loss(trainer.model, trainer.data_collator(list(trainer.train_dataset)))
    loss.backward()
    return float(loss.detach()), {name: p.grad for name, p in trainer.model.named_parameters() if p.requires_grad}


def assert_same(ours: dict[str, Any], others: dict[str, Any]) -> None:
    assert ours.keys() == others.keys()
    for name, gradient in others.items():
        assert (ours[name] - gradient).norm() < 1e-4 * gradient.norm(), name


def test_trainers_loss_and_gradient_are_those_written_out(tiny_model: Path, tmp_path: Path) -> None:
    rows = fair_rows()
    trainer = make_trainer("shared-prefix", tiny_model, tmp_path, rows, fairness=fairpo(SEEN))
    loss, gradients = loss_and_gradients(trainer, step=1)
    rewards = [trainer._metrics["train"][f"fairness/rewards_{side}"][-1] for side in ("chosen", "rejected")]
    slow = make_trainer("pairwise", tiny_model, tmp_path, rows)
    wanted, wanted_rewards = slow_loss(slow, rows, (0.4, 0.1, 0.2, 0.5))
    wanted.backward()
    assert rewards == pytest.approx(wanted_rewards, abs=1e-5)
    assert loss == pytest.approx(float(wanted.detach()), abs=1e-5)
    assert_same(gradients, {name: p.grad for name, p in slow.model.named_parameters() if p.requires_grad})


def test_first_step_is_stock_dpo_and_weights_of_1_have_its_gradient(tiny_model: Path, tmp_path: Path) -> None:
    stock_loss, stock = loss_and_gradients(make_trainer("pairwise", tiny_model, tmp_path), step=0)
    first = make_trainer("shared-prefix", tiny_model, tmp_path, fair_rows(), fairness=fairpo(SEEN))
    loss, gradients = loss_and_gradients(first, step=0)
    assert loss == pytest.approx(stock_loss, rel=1e-4)
    assert_same(gradients, stock)
    later = make_trainer("shared-prefix", tiny_model, tmp_path, fair_rows(), fairness=fairpo())
    loss, gradients = loss_and_gradients(later, step=1)
    assert abs(loss - stock_loss) > 0.1, "the value is another"
    assert_same(gradients, stock)
    # TRL's metrics stay, of unweighted rewards, and ours stand beside them
    metrics = {name: values[-1] for name, values in later._metrics["train"].items()}
    assert metrics["fairness/rewards_chosen"] == pytest.approx(metrics["rewards/chosen"], abs=1e-6)
    assert metrics["fairness/rewards_rejected"] == pytest.approx(metrics["rewards/rejected"], abs=1e-6)
    assert metrics["fairness/weight_chosen"] == metrics["fairness/weight_rejected"] == 1.0
    assert metrics["rewards/margins"] == pytest.approx(
        metrics["rewards/chosen"] - metrics["rewards/rejected"], abs=1e-5
    )


def test_pairs_that_say_what_is_fair_train_with_plain_dpo_as_any_others(open_round: Any, tokenizer: Any) -> None:
    phase = open_round()
    arguments = training_arguments(phase.recipe, phase.name, 1, phase.folder / "checkpoints" / "x")
    some = [*fair_rows()[:3], *make_rows()[3:]]
    mixed, plain = (
        prepare_material(phase, arguments, tokenizer, TrainingPairs(tuple(rows), {}, {}))
        for rows in (some, make_rows())
    )
    assert mixed.fairness is mixed.options["fairness"] is None
    assert mixed.rows == plain.rows
    assert "slots" not in mixed.rows[0]


def test_state_of_a_policy_that_stands_still_is_the_decayed_sum(tiny_model: Path, tmp_path: Path) -> None:
    rows = fair_rows()
    still = {"optim": "sgd", "learning_rate": 0.0, "per_device_train_batch_size": 3}
    trained = fairpo(decay=0.5)
    trainer = make_trainer("shared-prefix", tiny_model, tmp_path, rows, fairness=trained, **still)
    trainer.train()
    model = make_trainer("pairwise", tiny_model, tmp_path, rows).model
    loss, count = np.zeros(4), np.zeros(4)
    with torch.no_grad():
        for row in rows:
            assert row.fairness is not None
            sides = ((row.chosen_ids, row.fairness.weight_chosen), (row.rejected_ids, row.fairness.weight_rejected))
            for ids, weights in sides:
                probability = math.exp(float(logps_of(model, row.prompt_ids, ids)) / len(ids))
                loss += probability * np.array(weights)
                count += probability * (np.array(weights) > 0)
    # three steps, each over all pairs: 1 + 1/2 + 1/4
    assert trained.state.loss == pytest.approx(1.75 * loss, rel=1e-4)
    assert trained.state.count == pytest.approx(1.75 * count, rel=1e-4)


def test_micro_batches_and_kept_references_change_neither_state_nor_adapter(tiny_model: Path, tmp_path: Path) -> None:
    plain = {"optim": "sgd", "learning_rate": 1.0, "max_grad_norm": 0.0}
    found = []
    for shape in (
        {"per_device_train_batch_size": 3},
        {"per_device_train_batch_size": 1, "gradient_accumulation_steps": 3, "max_tokens": 67},
    ):
        fairness = fairpo()
        trainer = make_trainer("shared-prefix", tiny_model, tmp_path, fair_rows(), fairness=fairness, **plain, **shape)
        trainer.train()
        history = [entry for entry in trainer.state.log_history if "loss" in entry]
        logged = [[e["loss"], e["fairness/weight_chosen"], e["fairness/weight_rejected"]] for e in history]
        found.append((np.array(logged), fairness.state))
    (whole, state), (split, same) = found
    assert whole.shape == (3, 3)
    assert split == pytest.approx(whole, rel=1e-4)
    assert same.loss == pytest.approx(state.loss, rel=1e-4)
    assert same.count == pytest.approx(state.count, rel=1e-4)
    assert whole[0, 1:].tolist() == [1.0, 1.0]
    assert abs(whole[1:, 1:] - 1).min() > 1e-3, "weights move away from 1 with the second step"


def test_rows_that_cannot_be_weighed_are_refused() -> None:
    section, rows = FairPOSection(), fair_rows()
    assert open_fairpo(None, rows) is None
    assert open_fairpo(section, rows).values == VALUES  # type: ignore[union-attr]
    with pytest.raises(RecipeError, match=r"2 of 10 pairs do not say what is fair .*pairs\.mode: fairpo"):
        open_fairpo(section, [*rows, *make_rows()[:2]])
    with pytest.raises(RecipeError, match=r"have weights of their own.*without pairs\.margin_weights"):
        open_fairpo(section, [dataclasses.replace(row, weight=2.0) for row in rows])
    assert rows[0].fairness is not None
    other = dataclasses.replace(rows[0], fairness=rows[0].fairness.model_copy(update={"values": ("right", "left")}))
    with pytest.raises(RecipeError, match="different values \\(left, right; right, left\\)"):
        open_fairpo(section, [*rows, other])


def test_state_survives_a_checkpoint_bit_for_bit(tmp_path: Path) -> None:
    kept = fairpo(RunningState(np.array([0.1 + 0.2, 1 / 3, 0.0, 1e-300]), np.array([7 / 9, 0.0, 1e17, 3.3])))
    (tmp_path / STATE).write_text(json.dumps(kept.record()))
    restored = fairpo()
    restored.restore(tmp_path)
    assert restored.state.loss.tolist() == kept.state.loss.tolist()
    assert restored.state.count.tolist() == kept.state.count.tolist()
    with pytest.raises(
        ModelError, match=r"is not the running state of the values support, against; remove the checkpoint"
    ):
        FairPO(FairPOSection(), ("support", "against")).restore(tmp_path)
    with pytest.raises(ModelError, match="is not the running state"):
        restored.restore(tmp_path / "none")
