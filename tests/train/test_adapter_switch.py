"""The adapter is switched off for the reference by flags: the same numbers as PEFT's own way, and all as before afterwards."""

from typing import Any

import pytest

torch = pytest.importorskip("torch")
peft = pytest.importorskip("peft")
transformers = pytest.importorskip("transformers")
from packed_models import build  # noqa: E402

from evenhand.train.adapter_switch import switch_by_flag  # noqa: E402

IDS = torch.arange(3, 15)[None]


def adapted(config: Any = None) -> Any:
    lora = peft.LoraConfig(task_type="CAUSAL_LM", target_modules="all-linear", init_lora_weights=False)
    torch.manual_seed(1)
    return peft.get_peft_model(build("llama"), config or lora)


def logits(model: Any) -> Any:
    with torch.no_grad():
        return model(input_ids=IDS).logits


def test_numbers_are_peft_s_without_the_adapter_and_with_it_again() -> None:
    model, plain = adapted(), adapted()
    switch_by_flag(model)
    with_adapter = logits(plain)
    with plain.disable_adapter():
        without = logits(plain)
    for _ in range(2):
        with model.disable_adapter():
            assert torch.equal(logits(model), without)
            # which the policy's own pass needs, and no reference
            assert any(weight.requires_grad for weight in model.parameters())
        assert torch.equal(logits(model), with_adapter)
    assert not torch.equal(with_adapter, without)


def test_an_error_within_leaves_the_adapter_on_and_one_that_was_off_stays_off() -> None:
    model = adapted()
    before = logits(model)
    switch_by_flag(model)
    with pytest.raises(ValueError, match="within"), model.disable_adapter():
        raise ValueError("within")
    assert torch.equal(logits(model), before)
    model.base_model.disable_adapter_layers()
    with model.disable_adapter():
        pass
    assert not torch.equal(logits(model), before)


@pytest.mark.parametrize(
    "config",
    [
        peft.IA3Config(task_type="CAUSAL_LM", target_modules=["k_proj"], feedforward_modules=[]),
        peft.LoraConfig(task_type="CAUSAL_LM", target_modules=["k_proj"], modules_to_save=["lm_head"]),
        peft.LoraConfig(task_type="CAUSAL_LM", target_modules=["k_proj"], trainable_token_indices=[3]),
    ],
    ids=["no LoRA", "whole modules", "tokens"],
)
def test_other_adapters_are_switched_by_peft(config: Any) -> None:
    model = adapted(config)
    usual = model.disable_adapter
    switch_by_flag(model)
    assert model.disable_adapter == usual
