"""What the vLLM backend opens by itself is as whole as what transformers opens: a real engine, in a process of its own."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from damage import config, filled, tensors
from made_adapters import made_adapter

pytest.importorskip("vllm")
pytest.importorskip("peft")
pytest.importorskip("transformers")
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("quick_engines")]

SCRIPT = """
import json, sys
from pathlib import Path
from evenhand.config import BackendSection, ModelSection
from evenhand.errors import UnfitModelError
from evenhand.generate.backend import Ask
from evenhand.generate.backends import open_backend
from evenhand.records import Message, Sampling

def opened(model, adapter):
    section = BackendSection(max_model_len=128, adapter="serve")
    return open_backend(section, ModelSection(name=model, dtype="float32"), Path(adapter))

def refusal(model, adapter):
    try:
        opened(model, adapter)
    except UnfitModelError as error:
        return str(error)

def main(folders):
    out = {name: refusal(*folders[name]) for name in ("layer", "part")}
    backend = opened(*folders["sound"])
    asks = [Ask((Message(role="user", content="The ferry."),), Sampling(max_tokens=8, temperature=0), seed=0)]
    out["sound"] = backend.complete(asks)[0].logps
    backend.close()
    out["nan"] = refusal(*folders["nan"])
    print("RESULT" + json.dumps(out))

if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
"""


def half(found: dict[str, Any]) -> None:
    for key in sorted(found)[4:]:
        del found[key]


def test_engine_opens_whole_models_and_adapters_alone(tiny_model: Path, tmp_path: Path) -> None:
    models = {name: Path(shutil.copytree(tiny_model, tmp_path / f"model-{name}")) for name in ("layer", "nan")}
    config(num_hidden_layers=4)(models["layer"])
    tensors(filled("model.norm.weight", float("nan")))(models["nan"])
    sound, part = made_adapter(tiny_model, tmp_path / "sound"), made_adapter(tiny_model, tmp_path / "part")
    tensors(half, "adapter_model.safetensors")(part)
    folders = {
        "layer": (models["layer"], sound), "part": (tiny_model, part), "sound": (tiny_model, sound),
        "nan": (models["nan"], sound),
    }  # fmt: skip
    script = tmp_path / "engine.py"
    script.write_text(SCRIPT)
    argument = json.dumps({name: [str(path) for path in pair] for name, pair in folders.items()})
    done = subprocess.run([sys.executable, str(script), argument], capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith("RESULT")]
    assert lines, done.stderr
    found = json.loads(lines[0].removeprefix("RESULT"))
    assert "model-layer' has no weights for model.layers.2." in found["layer"]
    assert "part: fits its model only in part: it has no weights for" in found["part"]
    assert found["sound"] < 0
    assert "NaN or infinite numbers in" in found["nan"]
    assert "model.norm.weight" in found["nan"]
