"""Prompts and candidates as sequences of variable length, with plain kernels that have the libraries' signatures.

What only a GPU can show, the libraries' own kernels, is not shown here; see benchmarks/RESULTS.md.
"""

import inspect
import sys
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from evenhand.errors import RecipeError
from evenhand.train.packing import Layout, PackedSpan

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
varlen_kernels = pytest.importorskip("varlen_kernels")
from packed_models import LAYOUT, MODELS, build, packed_and_alone, sequences  # noqa: E402 - needs torch

DOUBLES = {
    "flash_attention_2": varlen_kernels.flash_attn_2,
    "flash_attention_3": varlen_kernels.flash_attn_3,
    "torch_varlen": varlen_kernels.varlen_attn,
}
# torch's kernel does not bound scores
CASES = [(name, kernel) for name in MODELS for kernel in DOUBLES if (name, kernel) != ("gemma2", "torch_varlen")]


@pytest.fixture
def doubles(monkeypatch: pytest.MonkeyPatch) -> None:
    """The libraries, with our kernels in the place of theirs."""
    from evenhand.train.varlen import LIBRARIES

    for attention, double in DOUBLES.items():
        monkeypatch.setitem(LIBRARIES, attention, ("varlen_kernels", double.__name__, LIBRARIES[attention][2]))


def use_varlen(model: Any, attention: str) -> None:
    """What use_packed_attention does, on the CPU as well."""
    from transformers import AttentionInterface

    from evenhand.train.attention import PACKED
    from evenhand.train.varlen import open_kernel, varlen_attention

    kernel = partial(varlen_attention, kernel=open_kernel(attention, model.config))
    AttentionInterface.register(PACKED[attention], kernel)
    model.set_attn_implementation(PACKED[attention])


def loss_and_gradients(hidden: Any, goal: Any, model: Any) -> tuple[float, list[Any]]:
    # of terms of one sign, since rounding shows wherever a sum cancels out
    loss = (hidden - goal).square().mean()
    return float(loss.detach()), list(torch.autograd.grad(loss, list(model.base_model.parameters())))


@pytest.mark.usefixtures("doubles")
@pytest.mark.parametrize(("name", "attention"), CASES)
def test_hidden_states_and_gradients_are_those_of_the_sequences_alone(name: str, attention: str) -> None:
    model = build(name)
    ids = torch.randint(3, 300, (1, LAYOUT.length), generator=torch.Generator().manual_seed(1))
    goal = torch.randn(LAYOUT.length, 64, generator=torch.Generator().manual_seed(2))
    parts = [(model.base_model(input_ids=part).last_hidden_state[0], at) for part, at in sequences(ids, LAYOUT)]
    alone = torch.cat([hidden for hidden, _ in parts])
    places = [place for _, at in parts for place in at]
    use_varlen(model, attention)
    packed = model.base_model(input_ids=ids, position_ids=LAYOUT.positions()[None], shared_prefix=Layout(LAYOUT.spans))
    found = packed.last_hidden_state[0][places]
    assert torch.allclose(found, alone, atol=1e-5)
    wanted_loss, wanted = loss_and_gradients(alone, goal[places], model)
    loss, gradients = loss_and_gradients(found, goal[places], model)
    assert loss == pytest.approx(wanted_loss, rel=3e-6)
    error = sum((one - other).square().sum() for one, other in zip(gradients, wanted, strict=True)).sqrt()
    assert error <= 3.6e-5 * sum(each.square().sum() for each in wanted).sqrt()


@pytest.mark.usefixtures("doubles", "fresh_accelerate")
def test_loss_and_adapter_gradients_are_those_of_the_other_kernels(tiny_model: Any, tmp_path: Any) -> None:
    from preference_groups import make_trainer

    found = []
    for attention, most in ((None, 4096), ("torch_varlen", 4096), ("torch_varlen", 80)):
        trainer = make_trainer("shared-prefix", tiny_model, tmp_path, max_tokens=most)
        if attention:
            use_varlen(trainer.accelerator.unwrap_model(trainer.model).get_base_model(), attention)
        trainer.model.train()
        loss = trainer.compute_loss(trainer.model, trainer.data_collator(list(trainer.train_dataset)))
        loss.backward()
        gradients = torch.cat([p.grad.flatten() for p in trainer.model.parameters() if p.requires_grad])
        found.append((float(loss.detach()), gradients))
    (wanted_loss, wanted), *ours = found
    for loss, gradients in ours:
        assert loss == pytest.approx(wanted_loss, rel=3e-6)
        assert 0 < (gradients - wanted).norm() <= 3.6e-5 * wanted.norm()


def test_cuts_by_hand() -> None:
    from evenhand.train.varlen import find_cuts

    # a prompt at 0-2 with candidates at 3-4 and 5, one without tokens; a prompt alone at 6-7
    layout = Layout((PackedSpan(0, 3, (2, 0, 1)), PackedSpan(6, 2)))
    cuts = find_cuts(layout, None, torch.device("cpu"))
    assert cuts.keys.tolist() == [0, 1, 2, 0, 1, 2, 3, 4, 0, 1, 2, 5, 6, 7]
    assert [each.tolist() for each in cuts.starts] == [[0, 3, 5, 6, 8], [0, 3, 8, 12, 14]]
    assert cuts.longest == (3, 5)
    assert find_cuts(layout, None, torch.device("cpu")) is cuts
    # of two tokens that a token sees one is the prompt's
    windowed = find_cuts(layout, 2, torch.device("cpu"))
    assert windowed.keys.tolist() == [0, 1, 2, 2, 3, 4, 2, 5, 6, 7]
    assert windowed.longest == (3, 3)


def test_cuts_of_prompts_that_begin_alike_by_hand() -> None:
    from evenhand.train.varlen import find_cuts

    # a beginning at 0-2; a prompt goes on with 3 and has a candidate at 4, another with 5-6
    layout = Layout((PackedSpan(0, 3), PackedSpan(3, 1, (1,), ((0, 3),)), PackedSpan(5, 2, (), ((0, 3),))))
    cuts = find_cuts(layout, None, torch.device("cpu"))
    assert cuts.keys.tolist() == [0, 1, 2, 0, 1, 2, 3, 0, 1, 2, 3, 4, 0, 1, 2, 5, 6]
    assert [each.tolist() for each in cuts.starts] == [[0, 3, 4, 5, 7], [0, 3, 7, 12, 17]]
    # of three tokens that a token sees two lie before it, for the candidate's one of the beginning's
    windowed = find_cuts(layout, 3, torch.device("cpu"))
    assert windowed.keys.tolist() == [0, 1, 2, 1, 2, 3, 2, 3, 4, 1, 2, 5, 6]


def test_heads_of_keys_are_not_repeated() -> None:
    from evenhand.train.varlen import varlen_attention

    seen = []

    def kernel(query: Any, key: Any, value: Any, cuts: Any, **_: Any) -> Any:
        seen.append((query.shape, key.shape, value.shape))
        return query

    query, key = torch.zeros(1, 8, LAYOUT.length, 16), torch.zeros(1, 2, LAYOUT.length, 16)
    out, _ = varlen_attention(
        None, query, key, key, None, kernel=kernel, shared_prefix=Layout(LAYOUT.spans), scaling=1.0
    )
    # prompts of 23, 11 and 5; candidates of 5, 9, 3 and 4 with their prompts
    keys = 39 + 23 + 5 + 23 + 9 + 11 + 3 + 11 + 4
    # the beginning of 14, what goes on with 3 and 5, with 2 and 1 behind that, and their candidates
    keys += 14 + (17 + 17 + 4 + 17 + 2) + 19 + (21 + 21 + 3) + (20 + 20 + 2 + 20 + 6)
    assert seen == [((102, 8, 16), (keys, 2, 16), (keys, 2, 16))]
    assert out.shape == (1, 102, 8, 16)


def test_gradients_of_a_prompt_are_added_up_in_float32() -> None:
    from evenhand.train.varlen import Gathered

    rows = torch.zeros(1, 1, dtype=torch.bfloat16, requires_grad=True)
    copies = Gathered.apply(rows, torch.zeros(400, dtype=torch.long))
    copies.backward(torch.ones_like(copies))
    # in bfloat16 256 + 1 is 256
    assert rows.grad.item() == 400


def test_torch_double_has_the_signature_of_torch() -> None:
    varlen = pytest.importorskip("torch.nn.attention.varlen", exc_type=ImportError)
    theirs, ours = (inspect.signature(each).parameters for each in (varlen.varlen_attn, varlen_kernels.varlen_attn))
    assert [(p.name, p.kind, p.default) for p in theirs.values()] == [
        (p.name, p.kind, p.default) for p in ours.values()
    ]


def test_torch_before_it_was_asked_to_share_heads(monkeypatch: pytest.MonkeyPatch) -> None:
    from evenhand.train.varlen import LIBRARIES, open_kernel, varlen_attention

    query, key, value = (torch.randn(1, heads, LAYOUT.length, 16) for heads in (8, 2, 2))
    config = SimpleNamespace(head_dim=16)
    found = []
    for double in ("varlen_attn", "varlen_attn_2_11"):
        monkeypatch.setitem(LIBRARIES, "torch_varlen", ("varlen_kernels", double, ""))
        kernel = open_kernel("torch_varlen", config)
        found += varlen_attention(None, query, key, value, None, kernel=kernel, shared_prefix=LAYOUT, scaling=0.25)[:1]
    assert torch.equal(*found)


def test_norms_of_heads_come_in_the_type_of_autocast() -> None:
    from evenhand.train.varlen import varlen_attention

    def kernel(query: Any, key: Any, value: Any, cuts: Any, **_: Any) -> Any:
        assert query.dtype == key.dtype == value.dtype == torch.bfloat16
        return query

    normed, plain = torch.zeros(1, 2, LAYOUT.length, 8), torch.zeros(1, 2, LAYOUT.length, 8, dtype=torch.bfloat16)
    with torch.autocast("cpu", torch.bfloat16):
        varlen_attention(None, normed, normed, plain, None, kernel=kernel, shared_prefix=LAYOUT, scaling=1.0)


def test_library_that_is_not_there_is_refused_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    from evenhand.train.attention import use_packed_attention

    monkeypatch.setitem(sys.modules, "flash_attn", None)
    with pytest.raises(
        RecipeError, match=r"flash_attention_2 needs flash_attn_varlen_func.*pip install flash-attn.*sdpa"
    ):
        use_packed_attention(build("llama"), "flash_attention_2")


@pytest.mark.usefixtures("doubles")
@pytest.mark.parametrize(
    ("name", "attention", "changed", "said"),
    [
        ("gemma2", "torch_varlen", {}, "no softcap, and gemma2 bounds its attention scores; write sdpa or flex"),
        ("llama", "torch_varlen", {"attention_dropout": 0.1}, "no dropout_p, and the model's attention_dropout"),
        ("llama", "flash_attention_3", {"attention_dropout": 0.1}, "no dropout_p, and the model's attention_dropout"),
        ("llama", "flash_attention_2", {"head_dim": 12}, "heads of size 12 are none of 8, 16, ..., 256"),
    ],
)
def test_what_a_kernel_cannot_do_is_refused(name: str, attention: str, changed: dict[str, Any], said: str) -> None:
    from evenhand.train.attention import use_packed_attention

    model = build(name)
    for key, value in changed.items():
        setattr(model.config, key, value)
    with pytest.raises(RecipeError, match=f"attn_implementation': {attention} cannot be used: its.*|heads") as refusal:
        use_packed_attention(model, attention)
    assert said in str(refusal.value)


@pytest.mark.usefixtures("doubles")
@pytest.mark.parametrize("attention", DOUBLES)
def test_the_cpu_is_refused(attention: str) -> None:
    from evenhand.train.attention import use_packed_attention

    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises(RecipeError, match=f"{attention} has no backward pass on the CPU; write sdpa"):
        use_packed_attention(build("llama"), attention)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="flash kernels need a GPU")
@pytest.mark.parametrize("name", ["llama", "mistral, window", "qwen3", "gemma3"])
def test_torch_kernel_on_a_gpu(name: str) -> None:
    model = build(name).to("cuda", torch.bfloat16)
    ids = torch.randint(3, 300, (1, LAYOUT.length), generator=torch.Generator().manual_seed(1)).to("cuda")
    layout = Layout(LAYOUT.spans)
    packed, alone = packed_and_alone(model, ids, layout, "torch_varlen")
    for hidden, places in alone:
        assert (packed[places] - hidden).norm() <= 0.02 * hidden.norm()
