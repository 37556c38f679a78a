"""Shared-prefix DPO against stock TRL on the same pairs: losses, gradients, metrics, trainings.

These tests are the guard of the seam: a TRL that changes underneath gives other numbers here.
"""

import dataclasses
import inspect
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from preference_groups import make_alike_rows, make_rows, make_trainer

from evenhand.config import UNWEIGHTED
from evenhand.config.train import KEYS_OF_LOSSES
from evenhand.errors import RecipeError
from evenhand.train.examples import TokenPair

torch = pytest.importorskip("torch")
trl = pytest.importorskip("trl")
transformers = pytest.importorskip("transformers")
pytestmark = pytest.mark.usefixtures("fresh_accelerate")

LOSSES: dict[str, dict[str, Any]] = {
    **{
        name: {"loss_type": [name]}
        for name in (
            "sigmoid", "hinge", "ipo", "nca_pair", "bco_pair", "sppo_hard", "apo_zero", "apo_down", "discopop", "sft",
            "sigmoid_norm", "aot", "aot_unpaired",
        )
    },
    "robust": {"loss_type": ["robust"], "label_smoothing": 0.1},
    "exo_pair": {"loss_type": ["exo_pair"], "label_smoothing": 0.1},
    "sum": {"loss_type": ["sigmoid", "sft"], "loss_weights": [1.0, 0.3]},
    "ld_alpha": {"ld_alpha": 0.5},
    "wpo": {"use_weighting": True},
    "js": {"f_divergence_type": "js_divergence"},
}  # fmt: skip


def one_batch(trainer: Any) -> tuple[float, dict[str, Any], dict[str, float]]:
    """Loss, gradients and metrics of all pairs in one batch."""
    rows = [trainer.train_dataset[i] for i in range(len(trainer.train_dataset))]
    trainer.model.train()
    loss = trainer.compute_loss(trainer.model, trainer.data_collator(rows))
    loss.backward()
    gradients = {name: p.grad.clone() for name, p in trainer.model.named_parameters() if p.requires_grad}
    metrics = {name: values[-1] for name, values in trainer._metrics["train"].items()}
    return float(loss.detach()), gradients, metrics


def assert_same(ours: dict[str, Any], stock: dict[str, Any]) -> None:
    assert ours.keys() == stock.keys()
    for name, gradient in stock.items():
        assert gradient.abs().max() > 0, name
        difference = (ours[name] - gradient).norm() / gradient.norm()
        assert difference < 1e-4, f"{name}: relative difference {difference}"


@pytest.mark.parametrize("options", LOSSES.values(), ids=LOSSES.keys())
def test_loss_gradients_and_metrics_are_those_of_stock_trl(
    options: dict[str, Any], tiny_model: Path, tmp_path: Path
) -> None:
    stock_loss, stock_gradients, stock_metrics = one_batch(make_trainer("pairwise", tiny_model, tmp_path, **options))
    loss, gradients, metrics = one_batch(make_trainer("shared-prefix", tiny_model, tmp_path, **options))
    assert loss == pytest.approx(stock_loss, rel=1e-4)
    assert_same(gradients, stock_gradients)
    # summed log-probabilities to 1e-4; tokens are fewer, that is the point
    assert metrics.pop("num_tokens") < stock_metrics.pop("num_tokens") / 2
    assert metrics == pytest.approx(stock_metrics, rel=1e-4, abs=1e-4)


def test_batch_runs_each_prompt_and_candidate_once(tiny_model: Path, tmp_path: Path) -> None:
    trainer = make_trainer("shared-prefix", tiny_model, tmp_path)
    batch = trainer.data_collator(list(trainer.train_dataset))
    # prompts 41 + 17 + 60, candidates 9 + 1 + 14 + 6, 5 + 5 + 12, 7 + 8 without the last token of each of the nine
    assert batch["attention_mask"].sum() == 118 + 67 - 9
    # logits for the 67 candidate tokens and no others
    assert sum(len(one["scored"]) for one in batch["passes"]) == 67


@pytest.mark.parametrize("max_tokens", [67, 80, 130])
def test_split_groups_give_the_same_loss_and_gradients(max_tokens: int, tiny_model: Path, tmp_path: Path) -> None:
    whole, whole_gradients, whole_metrics = one_batch(make_trainer("shared-prefix", tiny_model, tmp_path))
    trainer = make_trainer("shared-prefix", tiny_model, tmp_path, max_tokens=max_tokens)
    passes = trainer.data_collator(list(trainer.train_dataset))["passes"]
    assert len(passes) > 1
    assert all(one["n_tokens"] <= max_tokens for one in passes)
    loss, gradients, metrics = one_batch(trainer)
    assert loss == pytest.approx(whole, rel=1e-5)
    assert_same(gradients, whole_gradients)
    metrics.pop("num_tokens"), whole_metrics.pop("num_tokens")
    assert metrics == pytest.approx(whole_metrics, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("kind", ["llama", "qwen2, window", "smollm3", "mixtral"])
@pytest.mark.parametrize("max_tokens", [4096, 200])
def test_prompts_that_begin_alike_run_that_once_with_the_loss_of_stock_trl(
    kind: str, max_tokens: int, tiny_model: Path, tmp_path: Path
) -> None:
    rows, model = make_alike_rows(), small(kind, tiny_model, tmp_path)
    # experts' auxiliary loss is made of the tokens that run
    options = {"router_aux_loss_coef": 0.0}
    stock_loss, stock_gradients, _ = one_batch(make_trainer("pairwise", model, tmp_path, rows, **options))
    trainer = make_trainer("shared-prefix", model, tmp_path, rows, max_tokens=max_tokens, **options)
    batch = trainer.data_collator(list(trainer.train_dataset))
    # a pass has 80 tokens for two of them, 40 of which are the third's beginning, too, and without all 200 for three
    assert (len(batch["passes"]), int(batch["attention_mask"].sum())) == (
        (1, 118 + 80 + 58) if max_tokens > 200 else (2, 336)
    )
    loss, gradients, _ = one_batch(trainer)
    assert loss == pytest.approx(stock_loss, rel=1e-5)
    assert_same(gradients, stock_gradients)


def small(kind: str, tiny_model: Path, folder: Path) -> Path:
    """The folder of a model of this kind that knows the tiny model's tokens."""
    if kind == "llama":
        return tiny_model
    from packed_models import MODELS, SIZES

    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny_model)
    name, options = MODELS[kind]
    torch.manual_seed(3)
    config = getattr(transformers, name)(**SIZES | options | {"vocab_size": len(tokenizer)})
    for part in (transformers.AutoModelForCausalLM.from_config(config), tokenizer):
        part.save_pretrained(folder / "small")
    return folder / "small"


def test_sets_that_are_shuffled_train_as_if_nothing_were_shared(tiny_model: Path, tmp_path: Path) -> None:
    options = SGD | {"per_device_train_batch_size": 3, "max_steps": 4, "together": True}
    whole = make_trainer("shared-prefix", tiny_model, tmp_path, make_alike_rows(), **options)
    apart = make_trainer("shared-prefix", tiny_model, tmp_path, make_alike_rows(), **options)
    apart.data_collator = dataclasses.replace(apart.data_collator, least_shared=10**6)
    (losses, weights), (wanted, theirs) = trained(whole), trained(apart)
    assert losses == pytest.approx(wanted, rel=1e-5)
    for name, weight in theirs.items():
        assert (weights[name] - weight).norm() <= 1e-5 * weight.norm()
    tokens = [max(entry.get("num_tokens", 0) for entry in each.state.log_history) for each in (whole, apart)]
    # beginnings of 80, 80 and 40 in each of four steps
    assert tokens[0] < tokens[1] - 4 * 80 + 1


def test_permuted_candidates_change_nothing(tiny_model: Path, tmp_path: Path) -> None:
    rows = make_rows()
    loss, gradients, _ = one_batch(make_trainer("shared-prefix", tiny_model, tmp_path, rows))
    again, permuted, _ = one_batch(make_trainer("shared-prefix", tiny_model, tmp_path, rows[::-1]))
    assert again == pytest.approx(loss, rel=1e-6)
    assert_same(permuted, gradients)


def test_padding_to_buckets_changes_nothing(tiny_model: Path, tmp_path: Path) -> None:
    plain = make_trainer("shared-prefix", tiny_model, tmp_path)
    loss, gradients, metrics = one_batch(plain)
    padded = make_trainer("shared-prefix", tiny_model, tmp_path)
    padded.data_collator = dataclasses.replace(padded.data_collator, pad_to_multiple_of=64)
    assert padded.data_collator(list(padded.train_dataset))["passes"][0]["input_ids"].shape == (1, 192)
    again, same, padded_metrics = one_batch(padded)
    assert again == pytest.approx(loss, rel=1e-6)
    assert_same(same, gradients)
    assert padded_metrics == pytest.approx(metrics, rel=1e-5)


def weighted_loss(trainer: Any, weights: list[float]) -> Any:
    """Weighted mean of the pairs' losses, each run alone through stock TRL."""
    trainer.model.train()
    each = [trainer.compute_loss(trainer.model, trainer.data_collator([row])) for row in trainer.train_dataset]
    return sum(w * loss for w, loss in zip(weights, each, strict=True)) / sum(weights)


def test_weights_multiply_the_loss_of_their_pair_in_every_loss(tiny_model: Path, tmp_path: Path) -> None:
    weights = [1.0, 0.5, 3.0, 1.0, 0.01, 1.0, 2.0, 7.0]
    rows = [dataclasses.replace(row, weight=w) for row, w in zip(make_rows(), weights, strict=True)]
    # label_smoothing of losses that do not read it changes nothing
    stock = make_trainer("pairwise", tiny_model, tmp_path, label_smoothing=0.1)
    ours = make_trainer("shared-prefix", tiny_model, tmp_path, rows, label_smoothing=0.1)
    weighted = [name for name in trl_losses() if name not in UNWEIGHTED]
    assert len(weighted) == 11
    for name in weighted:
        stock.loss_types = ours.loss_types = [name]
        wanted = weighted_loss(stock, weights)
        wanted.backward()
        loss, gradients, _ = one_batch(ours)
        assert loss == pytest.approx(float(wanted.detach()), rel=1e-4), name
        assert_same(gradients, {key: p.grad for key, p in stock.model.named_parameters() if p.requires_grad})
        stock.model.zero_grad()
        ours.model.zero_grad()


def test_weights_go_with_the_weights_of_wpo(tiny_model: Path, tmp_path: Path) -> None:
    weights = [1.0, 0.5, 3.0, 1.0, 0.01, 1.0, 2.0, 7.0]
    rows = [dataclasses.replace(row, weight=w) for row, w in zip(make_rows(), weights, strict=True)]
    stock = make_trainer("pairwise", tiny_model, tmp_path, use_weighting=True)
    wanted = weighted_loss(stock, weights)
    wanted.backward()
    loss, gradients, _ = one_batch(make_trainer("shared-prefix", tiny_model, tmp_path, rows, use_weighting=True))
    assert loss == pytest.approx(float(wanted.detach()), rel=1e-4)
    assert_same(gradients, {name: p.grad for name, p in stock.model.named_parameters() if p.requires_grad})


@pytest.mark.parametrize("loss", sorted(UNWEIGHTED))
def test_weights_beside_a_loss_that_they_cannot_multiply_are_refused(
    loss: str, tiny_model: Path, tmp_path: Path
) -> None:
    rows = [TokenPair("left", [20, 21], [30, 31], [32], weight=2.0)]
    with pytest.raises(RecipeError, match=f"{loss} cannot be weighed by pairs: .*write another loss"):
        make_trainer("shared-prefix", tiny_model, tmp_path, rows, loss_type=["sigmoid", loss])


def trl_losses() -> list[str]:
    """The losses that the installed TRL lists in its refusal of one that it does not know."""
    source = inspect.getsource(trl.DPOTrainer._compute_loss)
    return sorted(set(re.findall(r'loss_type == "(\w+)"', source)))


def test_keys_that_only_some_losses_read_are_those_of_the_installed_trl(tiny_model: Path, tmp_path: Path) -> None:
    trainer = make_trainer("pairwise", tiny_model, tmp_path, label_smoothing=0.1, lora={"lora_dropout": 0.5})
    assert len(trl_losses()) == 15
    assert all(each.p == 0 for each in trainer.model.modules() if isinstance(each, torch.nn.Dropout))
    batch = trainer.data_collator(list(trainer.train_dataset)[:2])
    changes = {
        "label_smoothing": (trainer, "label_smoothing", 0.3),
        "discopop_tau": (trainer.args, "discopop_tau", 0.5),
        "f_divergence_type": (trainer, "f_divergence_type", "js_divergence"),
    }

    def losses() -> dict[str, float]:
        found = {}
        for trainer.loss_types in ([name] for name in trl_losses()):
            with torch.no_grad():
                found[trainer.loss_types[0]] = float(trainer.compute_loss(trainer.model, batch))
        return found

    plain = losses()
    for key, (holder, name, value) in changes.items():
        before = getattr(holder, name)
        setattr(holder, name, value)
        moved = {name for name, loss in losses().items() if loss != plain[name]}
        setattr(holder, name, before)
        assert moved == set(KEYS_OF_LOSSES[key][1]), key


REENTRANT = {"gradient_checkpointing": True, "gradient_checkpointing_kwargs": {"use_reentrant": True}}


@pytest.mark.parametrize("kind", ["deepspeed", "fsdp", "ddp"])
def test_passes_in_a_row_whose_gradients_would_be_lost_are_refused(kind: str, tiny_model: Path, tmp_path: Path) -> None:
    trainer = make_trainer("shared-prefix", tiny_model, tmp_path, max_tokens=80, **REENTRANT)
    if kind == "ddp":
        trainer.accelerator.state.num_processes = 2
    else:
        setattr(trainer, f"is_{kind}_enabled", True)
    with pytest.raises(RecipeError, match=r"needs several passes of 80.*raise it to that number.*use_reentrant: false"):
        trainer._refuse_passes_in_a_row()
    trainer.data_collator = dataclasses.replace(trainer.data_collator, max_tokens=4096)
    trainer._refuse_passes_in_a_row()
    trainer.data_collator = dataclasses.replace(trainer.data_collator, max_tokens=80)
    trainer.args.gradient_checkpointing = False
    trainer._refuse_passes_in_a_row()


def trained(trainer: Any) -> tuple[list[float], dict[str, Any]]:
    trainer.train()
    losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    return losses, {name: p.detach().clone() for name, p in trainer.model.named_parameters() if p.requires_grad}


# Adam divides by the gradient's size, which would make much of rounding; SGD does not
SGD = {"optim": "sgd", "learning_rate": 1.0, "max_grad_norm": 0.0}
# every step holds all pairs, so that the order of rows does not matter
ALL_PAIRS = {"per_device_train_batch_size": 8, "gradient_accumulation_steps": 1}


@pytest.mark.parametrize(
    "options",
    [
        {"per_device_train_batch_size": 3},
        # micro-batches of 4, 3 and 1 pairs: each pair must still count as much as any other
        {"per_device_train_batch_size": 1, "gradient_accumulation_steps": 3},
        {"per_device_train_batch_size": 3, "gradient_checkpointing": True},
        {"per_device_train_batch_size": 3, "max_tokens": 67},
        # one process keeps the gradients of all passes
        {"per_device_train_batch_size": 3, "max_tokens": 67} | REENTRANT,
    ],
    ids=["one batch", "accumulated", "checkpointed", "split", "split and re-entrant"],
)
def test_three_steps_give_the_adapter_of_stock_trl(options: dict[str, Any], tiny_model: Path, tmp_path: Path) -> None:
    stock_losses, stock = trained(make_trainer("pairwise", tiny_model, tmp_path, **SGD, **ALL_PAIRS))
    losses, ours = trained(make_trainer("shared-prefix", tiny_model, tmp_path, **SGD, **options))
    assert len(losses) == 3
    assert losses[0] - losses[-1] > 1e-3
    assert losses == pytest.approx(stock_losses, rel=1e-4)
    for name, weights in stock.items():
        assert torch.allclose(ours[name], weights, rtol=1e-4, atol=1e-5), name


def test_metrics_are_means_over_the_pairs_of_a_step(tiny_model: Path, tmp_path: Path) -> None:
    logged = []
    for shape in (
        {"per_device_train_batch_size": 3},
        {"per_device_train_batch_size": 1, "gradient_accumulation_steps": 3},
    ):
        trainer = make_trainer("shared-prefix", tiny_model, tmp_path, max_steps=1, **SGD, **shape)
        trainer.train()
        logged.append({name: trainer.state.log_history[0][name] for name in PAIR_METRICS})
    whole, in_three = logged
    assert in_three == pytest.approx(whole, rel=1e-4, abs=1e-5)


PAIR_METRICS = ("loss", "rewards/chosen", "rewards/margins", "rewards/accuracies", "logps/chosen", "logps/rejected")


def test_weights_count_in_the_step_and_not_in_the_micro_batch(tiny_model: Path, tmp_path: Path) -> None:
    weights = [1.0, 0.5, 3.0, 1.0, 0.01, 1.0, 2.0, 7.0]
    rows = [dataclasses.replace(row, weight=w) for row, w in zip(make_rows(), weights, strict=True)]
    found = [
        trained(make_trainer("shared-prefix", tiny_model, tmp_path, rows, **SGD, **shape))
        for shape in (
            {"per_device_train_batch_size": 3},
            {"per_device_train_batch_size": 1, "gradient_accumulation_steps": 3},
        )
    ]
    (losses, adapter), (same, again) = found
    assert same == pytest.approx(losses, rel=1e-5)
    assert losses[0] == pytest.approx(
        float(weighted_loss(make_trainer("pairwise", tiny_model, tmp_path), weights).detach()), rel=1e-4
    )
    assert all(torch.allclose(again[name], weights, rtol=1e-4, atol=1e-6) for name, weights in adapter.items())


def test_masks_do_not_outlive_their_micro_batch(tiny_model: Path, tmp_path: Path) -> None:
    trainer = make_trainer("shared-prefix", tiny_model, tmp_path)
    batch = trainer.data_collator(list(trainer.train_dataset))
    trainer.current_gradient_accumulation_steps = 1
    trainer.training_step(trainer.model, batch)
    assert not batch["passes"][0]["layout"].memo


def test_adamw_training_ends_where_stock_trl_ends(tiny_model: Path, tmp_path: Path) -> None:
    stock_losses, _ = trained(make_trainer("pairwise", tiny_model, tmp_path, **ALL_PAIRS))
    losses, _ = trained(make_trainer("shared-prefix", tiny_model, tmp_path, per_device_train_batch_size=3))
    assert losses == pytest.approx(stock_losses, rel=1e-3)


def test_with_deepspeed_no_number_of_a_loss_is_rounded_to_the_models_type() -> None:
    from evenhand.train.shared_prefix import EXACT, Unrounded

    trainer = object.__new__(type("Trainer", (Unrounded, transformers.Trainer), {}))
    config = SimpleNamespace(dtype=lambda: torch.bfloat16)
    trainer.accelerator = SimpleNamespace(state=SimpleNamespace(deepspeed_plugin=SimpleNamespace(hf_ds_config=config)))
    trainer.args, trainer.is_deepspeed_enabled = SimpleNamespace(device="cpu", past_index=-1), True
    batch = {name: torch.tensor([-135.2087, 0.3]) for name in (*EXACT, "pixels")}
    prepared = trainer._prepare_inputs(batch)
    assert prepared["pixels"].dtype == torch.bfloat16, (
        "DeepSpeed no longer rounds, and nothing needs to be kept from it"
    )
    assert all(torch.equal(prepared[name], batch[name]) for name in EXACT)


def test_seam_is_as_narrow_as_it_says() -> None:
    from evenhand.train.best import BestAdapter
    from evenhand.train.shared_prefix import Packed, SharedPrefix

    every = {**vars(Packed), **vars(BestAdapter), **vars(SharedPrefix)}
    overridden = {name for name in every if not name.startswith("__")}
    assert overridden == {
        "_use_packed_forward", "_prepare_dataset", "_set_signature_columns_if_needed", "_precompute_ref_logps",
        "_refuse_passes_in_a_row", "_is_zero3", "_get_train_sampler", "_get_num_items_in_batch", "compute_loss", "_compute_loss",
        "training_step", "floating_point_ops", "_fair_loss", "_prepare_for_training", "_is_spread",
        "_with_reference_logps", "_share", "_add_packed_forward", "_get_eval_sampler", "_sampler", "evaluation_loop",
        "prediction_step", "_load_best_model",
    }  # fmt: skip
    own = {
        "_add_packed_forward",
        "_share",
        "_sampler",
        "_use_packed_forward",
        "_refuse_passes_in_a_row",
        "_is_zero3",
        "_is_spread",
        "_fair_loss",
        "_with_reference_logps",
    }
    ours = overridden - own
    assert all(hasattr(trl.DPOTrainer, name) for name in ours), "TRL or transformers no longer has one of them"


@pytest.mark.parametrize(
    ("width", "places"), [((256,), (4000,)), ((), (144, 600))], ids=["hidden states", "log-probabilities"]
)
def test_gradients_of_a_place_that_is_taken_often_are_added_in_one_order(width, places):
    from evenhand.train.packed_forward import taken_alike

    generator = torch.Generator().manual_seed(0)
    values = torch.randn(400, *width, generator=generator)
    index = torch.randint(40, places, generator=generator)
    upstream = torch.randn(*places, *width, generator=generator)
    gradients, n_threads = set(), torch.get_num_threads()
    torch.set_num_threads(4)
    try:
        for _ in range(10):
            leaf = values.clone().requires_grad_()
            taken = taken_alike(leaf, index)
            taken.backward(upstream)
            assert leaf.grad is not None
            gradients.add(leaf.grad.numpy().tobytes())
    finally:
        torch.set_num_threads(n_threads)
    assert torch.equal(taken, values[index]) and len(gradients) == 1
