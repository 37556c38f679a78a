"""An adapter goes onto the model that it was trained on, wherever that lies and whoever packed it, and not onto another."""

import json
import logging
import shutil
from pathlib import Path
from typing import Any

import made_adapters
import pytest
from damage import config, filled, settings, tensors

from evenhand.errors import UnfitModelError
from evenhand.models.adapters import open_adapter
from evenhand.models.bases import BASE, refuse_other_base, write_base
from evenhand.models.opening import open_model

torch = pytest.importorskip("torch")
peft = pytest.importorskip("peft")


@pytest.fixture(scope="module")
def adapted(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An adapter of the tiny model, as peft saves it."""
    folder = tmp_path_factory.mktemp("adapted") / "adapter"
    model = open_model("AutoModelForCausalLM", str(tiny_model), "the trial")
    made_adapters.adapted(model, folder, std=0.3, r=2, target_modules=["q_proj"], task_type="CAUSAL_LM")
    return folder


@pytest.fixture
def adapter(adapted: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(adapted, tmp_path / "adapter"))


def named(adapter: Path, base: Any) -> Path:
    settings("adapter_config.json", base_model_name_or_path=base)(adapter)
    return adapter


def opened(model: Path, adapter: Path) -> Any:
    return open_adapter(open_model("AutoModelForCausalLM", str(model), "the trial"), adapter)


def copied(tiny_model: Path, folder: Path) -> Path:
    return Path(shutil.copytree(tiny_model, folder))


SAME = {
    "a folder that was moved": "/nowhere/any/more/models/base",
    "a folder beside": "./base",
    "nothing": None,
    "no name": "",
    "its id": "someone/tiny-llama",
    "who else gives it": "another/Tiny-Llama",
    "in four bits": "unsloth/tiny-llama-bnb-4bit",
    "quantised": "someone/tiny-llama-AWQ",
    "with the maker's name": "meta-llama/Meta-tiny-llama",
    "a snapshot": "/old/hub/models--someone--tiny-llama/snapshots/0a1b2c",
}


@pytest.mark.parametrize("name", SAME)
def test_an_adapter_of_the_same_model_is_opened_without_a_word(
    tiny_model: Path, adapter: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    with caplog.at_level(logging.WARNING):
        opened(copied(tiny_model, tmp_path / "tiny-llama"), named(adapter, SAME[name]))
    assert "was trained on" not in caplog.text


@pytest.mark.parametrize("base", ["Qwen/Qwen2.5-7B-Instruct", "someone/tiny-llama-2", "someone/tiny-llama-Instruct"])
def test_an_adapter_of_another_name_is_told(
    tiny_model: Path, adapter: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture, base: str
) -> None:
    model = copied(tiny_model, tmp_path / "tiny-llama")
    with caplog.at_level(logging.WARNING):
        opened(model, named(adapter, base))
    assert f"was trained on {base}, and is put on {model}" in caplog.text


def test_an_adapter_of_a_model_that_is_here_and_has_another_shape_is_refused(
    tiny_model: Path, adapter: Path, tmp_path: Path
) -> None:
    other = copied(tiny_model, tmp_path / "other")
    config(vocab_size=77, model_type="qwen2")(other)
    with pytest.raises(UnfitModelError, match=r"another model: model_type is 'llama' and not 'qwen2', vocab_size is"):
        opened(tiny_model, named(adapter, str(other)))


def test_a_trained_adapter_knows_its_base_by_its_weights(
    tiny_model: Path, adapter: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_base(named(adapter, str(tiny_model)), str(tiny_model))
    assert json.loads((adapter / BASE).read_text()).keys() == {"weights"}
    moved = copied(tiny_model, tmp_path / "moved")
    (moved / "model.safetensors").rename(moved / "model-00001-of-00001.safetensors")
    with caplog.at_level(logging.WARNING):
        refuse_other_base(str(moved), None, adapter)
        opened(tiny_model, adapter)
    assert "was trained on" not in caplog.text
    tensors(filled("model.norm.weight", 0.5), "model-00001-of-00001.safetensors")(moved)
    with pytest.raises(UnfitModelError, match=r"whose weights are not those of .*moved; name that model, train the"):
        refuse_other_base(str(moved), None, adapter)


def test_of_a_models_of_a_hub_its_name_is_enough(adapter: Path) -> None:
    write_base(adapter, "someone/a-model")
    assert not (adapter / BASE).exists()
