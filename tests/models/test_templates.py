"""Whether a model has a chat template is told from its files, before anything is converted or opened."""

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from gguf_files import TURNS, Pieces, write_llama

from evenhand.config import Recipe
from evenhand.models.templates import chat_template, has_chat_template
from evenhand.preflight import preflight
from evenhand.preflight.named import without_chat_template

PIECES = Pieces(["<unk>", "<s>", "</s>", "a", "b"], [0.0, 0.0, 0.0, -1.0, -2.0], [2, 3, 3, 1, 1])


def bare(tiny_model: Path, folder: Path) -> Path:
    """A copy of the tiny model without a chat template, as base models are published."""
    folder.mkdir()
    for path in tiny_model.iterdir():
        if path.name != "chat_template.jinja":
            (folder / path.name).write_bytes(path.read_bytes())
    path = folder / "tokenizer_config.json"
    settings = {key: value for key, value in json.loads(path.read_text()).items() if key != "chat_template"}
    path.write_text(json.dumps(settings))
    return folder


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        (TURNS, TURNS),
        ([{"name": "default", "template": TURNS}], {"default": TURNS}),
        ({"default": TURNS}, {"default": TURNS}),
        (None, None),
        ("", None),
    ],
)
def test_the_template_of_the_tokenizers_settings(
    tiny_model: Path, tmp_path: Path, template: Any, expected: Any
) -> None:
    folder = bare(tiny_model, tmp_path / "model")
    path = folder / "tokenizer_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"chat_template": template}))
    assert chat_template(str(folder), None) == expected
    assert has_chat_template(str(folder), None) is (expected is not None)
    (folder / "chat_template.jinja").write_text("{{ messages }}")
    assert chat_template(str(folder), None) == "{{ messages }}"


@pytest.mark.parametrize("template", [TURNS, None])
def test_a_gguf_file_is_not_converted_to_tell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, template: str | None
) -> None:
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    path = write_llama(tmp_path / "tiny.gguf", PIECES, template)
    assert has_chat_template(str(path), None) is (template is not None)
    assert not (tmp_path / "cache").exists()


def test_of_what_is_not_here_nothing_is_told() -> None:
    assert has_chat_template("nobody/no-such-model", None) is None
    assert has_chat_template("no-such-folder/x.gguf", None) is None


def test_validate_names_the_models_without_one(
    tiny_model: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rubric = {"kind": "rubric", "backend": {"backend": "transformers", "max_model_len": 16000}, "rubric": "coverage"}
    values = {
        "name": "base",
        "output": tmp_path / "run",
        "model": {"name": str(bare(tiny_model, tmp_path / "model"))},
        "generate": {"backend": "transformers", "max_model_len": 16000, "plans": {"hot": {"candidates": 1}}},
        "judges": {"words": {"kind": "length"}, "grade": rubric | {"model": {"name": str(tiny_model)}}},
        "reward": {"judges": ["words"], "combine": "mean"},
        "evaluation": {"judges": ["words"]},
        "rounds": 0,
    }
    recipe = Recipe.model_validate(values)
    assert without_chat_template(recipe) == {"model.name": str(tmp_path / "model")}
    with caplog.at_level(logging.WARNING):
        preflight(recipe)
    assert f"model.name: {tmp_path / 'model'} has no chat template" in caplog.text
