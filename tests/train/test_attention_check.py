"""The trial of a packed kernel: those that are right pass, each fault is found, masks take the place of what is wrong."""

import json
import logging
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from evenhand.errors import ModelError

torch = pytest.importorskip("torch")
pytest.importorskip("trl")
varlen_kernels = pytest.importorskip("varlen_kernels")

from evenhand.train import packed_attention  # noqa: E402
from evenhand.train.attention_check import TOLERANCES, AttentionShape, attention_errors, try_attention  # noqa: E402
from evenhand.train.varlen import Cuts, flash, varlen_attention  # noqa: E402

CPU = torch.device("cpu")
PLAIN = AttentionShape(2, 2, 32, 32, 32**-0.5, None, None)
WINDOW = AttentionShape(2, 2, 32, 32, 32**-0.5, 4096, None)
# of Gemma 2 27B: a scale of its own, a window, bounded scores
GEMMA = AttentionShape(16, 2, 128, 128, 144**-0.5, 4096, 50.0)
RIGHT = {
    "joined parts, or masks": packed_attention.sdpa,
    "masks": packed_attention.masked,
    "varlen": partial(varlen_attention, kernel=partial(flash, varlen_kernels.flash_attn_2)),
}
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}


@pytest.mark.parametrize("seeds", [range(8), pytest.param(range(8, 208), marks=pytest.mark.campaign)], ids=["8", "200"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", RIGHT)
def test_kernels_that_are_right_are_never_accused(name: str, dtype: str, seeds: range) -> None:
    kinds, worst = (
        (
            AttentionShape(2, 2, 16, 16, 0.25, None, None),
            AttentionShape(2, 1, 16, 24, 0.25, 4096, None),
            AttentionShape(1, 3, 16, 16, 0.3, None, 30.0),
        ),
        0.0,
    )
    for seed in seeds:
        errors = attention_errors(RIGHT[name], kinds[seed % 3], CPU, DTYPES[dtype], seed)
        worst = max(worst, *errors.values())
    # not only below the tolerance, but far from it
    assert 0 < worst < TOLERANCES[DTYPES[dtype]] / 2, worst
    print(f"worst of {len(seeds)}: {worst:.2g}")


class Spoilt(torch.autograd.Function):
    """Leaves a tensor as it is and changes its gradient."""

    @staticmethod
    def forward(ctx: Any, tensor: Any, change: Any) -> Any:
        ctx.change = change
        return tensor.view_as(tensor)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return ctx.change(gradients[0].clone()), None


def kernel(query: Any, key: Any, value: Any, cuts: Cuts, **asked: Any) -> Any:
    return flash(varlen_kernels.flash_attn_2, query, key, value, cuts, **asked)


def moved(query: Any, key: Any, value: Any, cuts: Cuts, **asked: Any) -> Any:
    """The third sequence begins a key too late."""
    starts = cuts.starts[1].clone()
    starts[2] += 1
    longest = (cuts.longest[0], max(cuts.longest[1], int(starts.diff().max())))
    return kernel(query, key, value, Cuts(cuts.keys, (cuts.starts[0], starts), longest), **asked)


def top_left(query: Any, key: Any, value: Any, cuts: Cuts, **asked: Any) -> Any:
    """The causal mask begins at the first key, as flash-attn had it before 2.1."""
    out = []
    for (q0, q1), (k0, k1) in zip(
        *(zip(c[:-1].tolist(), c[1:].tolist(), strict=True) for c in cuts.starts), strict=True
    ):
        n = min(q1 - q0, k1 - k0)
        starts = (torch.tensor([0, n], dtype=torch.int32),) * 2
        one = (key[k0 : k0 + n], value[k0 : k0 + n])
        out.append(kernel(query[q0:q1], *one, Cuts(cuts.keys, starts, (n, n)), **asked))
    return torch.cat(out)


def changed(options: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[..., Any]:
    """A kernel that is asked for something else."""
    return lambda query, key, value, cuts, **asked: kernel(query, key, value, cuts, **asked | options(asked))


def after(change: Callable[[Any], Any]) -> Callable[..., Any]:
    """A kernel whose output is changed."""
    return lambda *given, **asked: change(kernel(*given, **asked).clone())


def before(place: int, change: Callable[[Any], Any]) -> Callable[..., Any]:
    """A kernel that changes its queries, keys or values (0, 1, 2)."""

    def wrong(*given: Any, **asked: Any) -> Any:
        tensors = [change(each) if i == place else each for i, each in enumerate(given[:3])]
        return kernel(*tensors, *given[3:], **asked)

    return wrong


def backward(place: int, change: Callable[[Any], Any]) -> Callable[..., Any]:
    """A kernel whose output is right, and not its gradient of queries, keys or values."""
    return before(place, lambda tensor: Spoilt.apply(tensor, change))


def unbounded_backward(query: Any, key: Any, value: Any, cuts: Cuts, **asked: Any) -> Any:
    """The output of bounded scores, the gradient of plain ones."""
    plain = kernel(query, key, value, cuts, **asked | {"softcap": None})
    return plain + (kernel(query, key, value, cuts, **asked) - plain).detach()


def filled(*place: Any, value: float = 0.0) -> Callable[[Any], Any]:
    def fill(tensor: Any) -> Any:
        tensor[place] = value
        return tensor

    return fill


FORWARD = {
    "top-left mask": (PLAIN, top_left),
    "keys of another sequence": (PLAIN, moved),
    "keys of heads dealt out in turn": (PLAIN, before(1, lambda key: key.flip(1))),
    "a token that is not written": (PLAIN, after(filled(200))),
    "a head of a token": (PLAIN, after(filled(151, 1))),
    "no number": (PLAIN, after(filled(17, 0, 0, value=float("nan")))),
    "usual scale": (PLAIN, changed(lambda asked: {"scale": 32**-0.5})),
    "usual scale in place of the model's": (GEMMA, changed(lambda asked: {"scale": 128**-0.5})),
    "no window": (WINDOW, changed(lambda asked: {"window": None})),
    "window one too wide": (WINDOW, changed(lambda asked: {"window": asked["window"] + 1})),
    "window one too narrow": (WINDOW, changed(lambda asked: {"window": asked["window"] - 1})),
    "scores not bounded": (GEMMA, changed(lambda asked: {"softcap": None})),
}
BACKWARD = {
    "queries without their scale": (PLAIN, backward(0, lambda grad: grad * 32**0.5)),
    "queries of one token": (PLAIN, backward(0, filled(200))),
    "queries of one head": (PLAIN, backward(0, filled(slice(None), 1))),
    # candidate keys begin after the 150 of the prompt: the first candidate's copy of the prompt
    "keys of the prompt that one candidate saw": (PLAIN, backward(1, filled(slice(150, 300)))),
    "values of the prompt that one candidate saw": (PLAIN, backward(2, filled(slice(150, 300)))),
    "keys of all candidates": (PLAIN, backward(1, filled(slice(150, 703)))),
    # behind 821 of the spans before, the beginning itself and 17 of it that the first prompt goes on from
    "keys of a beginning that one prompt saw": (PLAIN, backward(1, filled(slice(838, 855)))),
    "values with the wrong sign": (WINDOW, backward(2, lambda grad: -grad)),
    "keys a fifth too large": (WINDOW, backward(1, lambda grad: grad * 1.2)),
    "values of another head": (PLAIN, backward(2, lambda grad: grad.flip(1))),
    "no number": (PLAIN, backward(1, filled(3, 0, 0, value=float("nan")))),
    "bounded scores taken for plain ones": (GEMMA, unbounded_backward),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("fault", FORWARD)
def test_wrong_outputs_are_found(fault: str, dtype: str) -> None:
    kind, wrong = FORWARD[fault]
    for seed in range(2):
        errors = attention_errors(partial(varlen_attention, kernel=wrong), kind, CPU, DTYPES[dtype], seed)
        assert not max(errors.values()) <= TOLERANCES[DTYPES[dtype]], errors


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("fault", BACKWARD)
def test_wrong_gradients_behind_right_outputs_are_found(fault: str, dtype: str) -> None:
    kind, wrong = BACKWARD[fault]
    for seed in range(2):
        errors = attention_errors(partial(varlen_attention, kernel=wrong), kind, CPU, DTYPES[dtype], seed)
        assert errors.pop("output") <= TOLERANCES[DTYPES[dtype]] / 2
        assert not max(errors.values()) <= TOLERANCES[DTYPES[dtype]], errors


def test_kernel_that_refuses_is_wrong() -> None:
    def refusing(*_: Any, **__: Any) -> Any:
        raise RuntimeError("FlashAttention only supports Ampere GPUs or newer.\nmore")

    error, reason = try_attention(refusing, [PLAIN], CPU, torch.float32)
    assert error is None
    assert reason == "RuntimeError: FlashAttention only supports Ampere GPUs or newer."


def test_flex_attention_is_tried_up_to_its_kernel() -> None:
    """Which has no backward pass on the CPU."""
    error, reason = try_attention(packed_attention.flex, [PLAIN, GEMMA], CPU, torch.float32)
    assert error is None
    assert reason is not None
    assert "FlexAttention does not support backward on CPU" in reason


@pytest.mark.usefixtures("fresh_accelerate")
def test_training_goes_on_with_masks_where_the_kernel_is_wrong(
    open_round: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from evenhand.train.stage import training_stage
    from evenhand.train.training import run_training

    usual, records = packed_attention.joined_attention, []

    def twice_the_gradient(query: Any, *given: Any) -> Any:
        return usual(Spoilt.apply(query, lambda grad: grad * 2), *given)

    for name in ("right", "wrong"):
        if name == "wrong":
            monkeypatch.setattr(packed_attention, "joined_attention", twice_the_gradient)
        phase = open_round(name)
        stage = training_stage(phase, processes=1)
        with caplog.at_level(logging.WARNING):
            stage.run(lambda phase=phase, stage=stage: run_training(phase, stage))
        records.append(json.loads((phase.folder / "training.json").read_text()))
    right, wrong = (record["attention"] for record in records)
    assert (right["asked"], right["used"], right["reason"]) == ("sdpa", "sdpa", None)
    assert (right["device"], right["dtype"], right["tolerance"]) == ("cpu", "float32", 0.005)
    assert 0 < right["error"] < 1e-4
    assert (wrong["asked"], wrong["used"]) == ("sdpa", "masks")
    assert wrong["reason"].startswith("gradient of queries off by ")
    warnings = [record.getMessage() for record in caplog.records if "explicit masks" in record.getMessage()]
    assert len(warnings) == 1
    assert "the attention sdpa is wrong on cpu in float32 (gradient of queries off by" in warnings[0]
    losses = [record["counts"]["last_loss"] for record in records]
    assert losses[1] == pytest.approx(losses[0], rel=1e-3)


@pytest.mark.usefixtures("fresh_accelerate")
def test_device_whose_masks_are_wrong_cannot_train(
    tiny_model: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from preference_groups import make_trainer

    monkeypatch.setattr(packed_attention, "can_join", lambda query, value: False)
    plain = packed_attention.scaled_dot_product_attention
    monkeypatch.setattr(packed_attention, "scaled_dot_product_attention", lambda q, k, v, **options: plain(q, k, v) * 2)
    with pytest.raises(ModelError, match=r"explicit masks is wrong on cpu as well \(output off by"):
        make_trainer("shared-prefix", tiny_model, tmp_path)
