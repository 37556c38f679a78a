"""Models and adapters opened in one place: what is refused there."""

import pytest

from evenhand.config import ModelSection
from evenhand.errors import ModelError

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
