"""Switches of chat templates: what a recipe sets stands in every prompt that the model reads, wherever it is written."""

import json
from pathlib import Path

import pytest

pytest.importorskip("transformers")

from evenhand.config import BackendSection, ModelSection
from evenhand.config.recipe_file import load_recipe
from evenhand.errors import RecipeError, UnfitModelError
from evenhand.generate.backends import backend_signature
from evenhand.generate.chat import chat_text
from evenhand.generate.turns import turns_of
from evenhand.models.opening import open_chat_tokenizer, open_tokenizer
from evenhand.models.switches import set_switches
from evenhand.train.policy import load_tokenizer

TEMPLATE = (
    "{%- macro close() -%}{% if style is defined %}({{ style }}){% endif %}{%- endmacro -%}"
    "{% for message in messages %}<|{{ message.role }}|>{{ message.content }}{{ close() }}</s>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% if enable_thinking is defined and enable_thinking is false %}<think></think>"
    "{% endif %}{% endif %}"
)
CHAT = [{"role": "user", "content": "Hello."}]


@pytest.fixture
def thinker(tiny_model: Path, tmp_path: Path) -> str:
    """A model that thinks unless its chat template is told not to."""
    folder = tmp_path / "thinker"
    folder.mkdir()
    for path in tiny_model.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    (folder / "chat_template.jinja").unlink(missing_ok=True)
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    (folder / "tokenizer_config.json").write_text(json.dumps(settings | {"chat_template": TEMPLATE}))
    return str(folder)


def rendered(name: str, **switches: object) -> str:
    return chat_text(load_tokenizer(ModelSection(name=name, chat_template_kwargs=switches)), CHAT)


@pytest.mark.parametrize(
    ("switches", "prompt"),
    [
        ({}, "<|user|>Hello.</s><|assistant|>"),
        ({"enable_thinking": False}, "<|user|>Hello.</s><|assistant|><think></think>"),
        ({"enable_thinking": True}, "<|user|>Hello.</s><|assistant|>"),
        ({"style": 'a "b" {{ c }} \\n \u00e9'}, '<|user|>Hello.(a "b" {{ c }} \\n \u00e9)</s><|assistant|>'),
        ({"style": 3}, "<|user|>Hello.(3)</s><|assistant|>"),
        ({"style": 0.5, "enable_thinking": False}, "<|user|>Hello.(0.5)</s><|assistant|><think></think>"),
    ],
)
def test_a_switch_stands_in_every_prompt(thinker: str, switches: dict[str, object], prompt: str) -> None:
    assert rendered(thinker, **switches) == prompt


def test_a_saved_tokenizer_has_the_switches_once(thinker: str, tmp_path: Path) -> None:
    section = ModelSection(name=thinker, chat_template_kwargs={"enable_thinking": False})
    load_tokenizer(section).save_pretrained(tmp_path / "saved")
    saved = open_tokenizer(str(tmp_path / "saved"), "a test")
    before = saved.chat_template
    assert chat_text(saved, CHAT).endswith("<think></think>")
    set_switches(saved, section.chat_template_kwargs, "a test")
    assert saved.chat_template == before


def test_the_end_of_a_turn_is_found_behind_switches(thinker: str) -> None:
    plain, switched = (
        turns_of(open_chat_tokenizer(thinker, "a test", switches=each)) for each in ({}, {"enable_thinking": False})
    )
    assert (plain.end, plain.behind) == (switched.end, switched.behind)


def test_switches_are_part_of_the_signature_and_none_changes_nothing(thinker: str) -> None:
    section = BackendSection(backend="transformers")
    plain, off, on = (
        backend_signature(section, ModelSection(name=thinker, chat_template_kwargs=each))
        for each in ({}, {"enable_thinking": False}, {"enable_thinking": True})
    )
    assert len({plain, off, on}) == 3
    assert off.startswith(f"{plain}|template:")
    assert "chat_template_kwargs" not in ModelSection(name=thinker).model_dump(mode="json")


def test_a_switch_that_the_template_does_not_read_is_refused(thinker: str) -> None:
    with pytest.raises(UnfitModelError, match=r"does not read 'enable_thinkin'.*did you mean 'enable_thinking'"):
        rendered(thinker, enable_thinkin=False)


@pytest.mark.parametrize("switch", ["messages", "add_generation_prompt", "strftime_now", "no name", "a-b", ""])
def test_what_is_no_switch_is_refused_by_its_name(switch: str) -> None:
    with pytest.raises(ValueError, match=switch or "name"):
        ModelSection(name="m", chat_template_kwargs={switch: True})


@pytest.mark.needs("plugins/server")
def test_switches_of_a_server_that_is_sent_messages_are_refused(tmp_path: Path) -> None:
    documents = tmp_path / "documents.jsonl"
    documents.write_text("")
    recipe = tmp_path / "recipe.yaml"
    recipe.write_text(
        "name: case\noutput: out\nmodel: {name: m, chat_template_kwargs: {enable_thinking: false}}\n"
        f"corpus: {{path: {documents}, attribute: stance}}\n"
        "generate: {backend: openai, server: {base_url: http://127.0.0.1:9/v1}, plans: {p: {temperature: 1.0}}}\n"
        "judges: {recall: {kind: rouge, type: rouge1, measure: recall}}\nreward: {judges: [recall]}\nrounds: 0\n"
        "evaluation: {judges: [recall]}\n"
    )
    with pytest.raises(RecipeError, match=r"engine: \{chat_template_kwargs"):
        load_recipe(recipe)
