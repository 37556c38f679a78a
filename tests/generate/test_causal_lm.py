"""Models and adapters opened in one place: what is refused there."""

from pathlib import Path
from typing import Any

import pytest
from made_adapters import adapted

from evenhand.config import ModelSection
from evenhand.errors import ModelError
from evenhand.generate.causal_lm import merge_adapter

pytest.importorskip("peft")

from evenhand.generate.causal_lm import open_adapter, open_causal_lm


def test_folder_that_is_no_model_names_who_wanted_it(tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "llama"}')
    with pytest.raises(ModelError, match="the trial cannot open model"):
        open_causal_lm(ModelSection(name=str(tmp_path)), "the trial")


def test_adapter_that_is_a_pickle_is_refused_before_it_is_opened(tmp_path, tiny_model):
    (tmp_path / "adapter_model.bin").write_bytes(b"not to be read")
    (tmp_path / "adapter_config.json").write_text('{"peft_type": "LORA", "lora_alpha": 8}')
    with pytest.raises(ModelError, match=r"holds no adapter_model\.safetensors"):
        open_adapter(None, tmp_path)


torch = pytest.importorskip("torch")
peft = pytest.importorskip("peft")
transformers = pytest.importorskip("transformers")

TOKENS = torch.tensor([[5, 17, 300, 42, 9, 11]])


def open_model(folder: Path) -> Any:
    return transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()


@pytest.fixture
def adapter(tiny_model: Path, tmp_path: Path) -> Path:
    """An adapter that says something: B, which begins at zero, is drawn too."""
    adapted(open_model(tiny_model), tmp_path / "adapter", lora_alpha=8, task_type="CAUSAL_LM")
    return tmp_path / "adapter"


@torch.no_grad()
def test_merged_model_has_the_logits_of_base_and_adapter(tiny_model: Path, adapter: Path, tmp_path: Path) -> None:
    merged = open_model(merge_adapter(tiny_model, adapter, tmp_path / "merged", "float32"))
    unmerged = peft.PeftModel.from_pretrained(open_model(tiny_model), adapter).eval()
    wanted = unmerged(TOKENS).logits
    torch.testing.assert_close(merged(TOKENS).logits, wanted, atol=1e-5, rtol=1e-5)
    # and they are not the base model's
    assert (open_model(tiny_model)(TOKENS).logits - wanted).abs().max() > 0.01


def test_merged_folder_is_an_ordinary_model_of_the_asked_dtype(tiny_model: Path, adapter: Path, tmp_path: Path) -> None:
    folder = merge_adapter(tiny_model, adapter, tmp_path / "merged", "bfloat16")
    assert not (folder / "adapter_config.json").exists()
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype="auto")
    assert model.dtype == torch.bfloat16
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    assert tokenizer.chat_template == transformers.AutoTokenizer.from_pretrained(tiny_model).chat_template


def test_sum_is_rounded_once(tiny_model: Path, adapter: Path, tmp_path: Path) -> None:
    fine = open_model(merge_adapter(tiny_model, adapter, tmp_path / "fine", "float32"))
    coarse = open_model(merge_adapter(tiny_model, adapter, tmp_path / "coarse", "bfloat16"))
    for mine, wanted in zip(coarse.parameters(), fine.parameters(), strict=True):
        assert torch.equal(mine, wanted.to(torch.bfloat16).float())


def test_second_call_reuses_the_folder(tiny_model: Path, adapter: Path, tmp_path: Path) -> None:
    folder = merge_adapter(tiny_model, adapter, tmp_path / "merged", "float32")
    made = (folder / "model.safetensors").stat().st_mtime_ns
    assert merge_adapter(tiny_model, adapter, tmp_path / "merged", "float32") == folder
    assert (folder / "model.safetensors").stat().st_mtime_ns == made


def test_torn_merge_is_made_anew(tiny_model: Path, adapter: Path, tmp_path: Path) -> None:
    torn = tmp_path / "merged.tmp"
    torn.mkdir()
    (torn / "half.safetensors").write_text("torn")
    folder = merge_adapter(tiny_model, adapter, tmp_path / "merged", "float32")
    assert not (folder / "half.safetensors").exists()
    assert not torn.exists()


def test_adapter_that_does_not_fit_is_refused(tiny_model: Path, adapter: Path, tmp_path: Path) -> None:
    (adapter / "adapter_model.safetensors").unlink()
    with pytest.raises(ModelError, match=r"holds no adapter_model\.safetensors"):
        merge_adapter(tiny_model, adapter, tmp_path / "merged", "float32")
    assert not (tmp_path / "merged").exists()
