"""What ends a turn in each family's chat format, and what no text may spell."""

from dataclasses import replace

import pytest
from chat_families import FAMILIES, make_tokenizer
from logs import warned

from evenhand.generate.turns import turns_of

# token that ends an assistant's turn, as the family's model card has it
ENDS = {
    "Llama 2": "</s>", "Llama 3": "<|eot_id|>", "Mistral 0.1": "</s>", "Mistral 0.3": "</s>", "Mixtral": "</s>",
    "Zephyr": "</s>", "Vicuna": "</s>", "Alpaca": "</s>", "Gemma 2": "<end_of_turn>", "Gemma 3": "<end_of_turn>",
    "Qwen 2.5": "<|im_end|>", "Phi 3": "<|end|>", "Command R": "<|END_OF_TURN_TOKEN|>",
}  # fmt: skip
TOKENIZERS = {name: make_tokenizer(family) for name, family in FAMILIES.items()}


def test_every_family_has_an_end_here():
    assert set(FAMILIES) == set(ENDS)


@pytest.mark.parametrize("eos", ["", "<|endoftext|>"], ids=["own end", "another end"])
@pytest.mark.parametrize("name", FAMILIES)
def test_end_is_the_chat_templates_whatever_the_tokenizers_end_token_is(name, eos):
    family = FAMILIES[name]
    if eos and family.eos == ENDS[name] and "eos_token" not in family.template:
        # a fine-tune with another end token, which the template does not write
        family = replace(family, special=(*family.special, eos), eos=eos)
    tokenizer = make_tokenizer(family)
    expected = family.eos if name == "Alpaca" else ENDS[name]
    assert tokenizer.convert_ids_to_tokens(turns_of(tokenizer).end) == expected


def test_base_models_texts_end_with_the_tokenizers_end_token(caplog):
    tokenizer = make_tokenizer(FAMILIES["Gemma 2"])
    tokenizer.chat_template = None
    assert turns_of(tokenizer).end == tokenizer.eos_token_id
    assert not warned(caplog)


def test_an_end_that_is_no_token_is_said(caplog):
    tokenizer = make_tokenizer(replace(FAMILIES["Qwen 2.5"], special=("<|endoftext|>",), eos="<|endoftext|>"))
    assert turns_of(tokenizer).end == tokenizer.eos_token_id
    assert "ends an answer with '<|im_end|>', which is no token" in caplog.text


def test_a_template_that_refuses_an_answer_leaves_the_tokenizers_end_token():
    tokenizer = make_tokenizer(FAMILIES["Zephyr"])
    tokenizer.chat_template = (
        "{{ raise_exception('one turn only') if messages | length > 1 else messages[0]['content'] }}"
    )
    assert turns_of(tokenizer).end == tokenizer.eos_token_id


@pytest.mark.parametrize(
    ("name", "mark"), [(name, mark) for name, family in FAMILIES.items() for mark in (*family.marks, ENDS[name])]
)
def test_each_mark_of_a_familys_turns_is_found_in_a_text(name, mark):
    assert turns_of(TOKENIZERS[name]).spelt(f"It is cheap. {mark} And dear.") is not None


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize(
    "text",
    [
        "It is cheap.",
        "user and assistant, system and model: all of them answer.",
        "1 < 2 > 0, [1] and [a, b]; a | b; #hashtag\n\n### Results\nThe response was: no.",
        "<b>bold</b> <div class='s'>, {{ braces }} and \u2581 \u00e9\u4e2d\u6587 \U0001f6a2",
        "You are a helpful assistant.",
    ],
)
def test_ordinary_texts_spell_no_mark(name, text):
    assert turns_of(TOKENIZERS[name]).spelt(text) is None


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("behind", ["{end}", "{end}\n", " {end}", "{end}{end}", "{end}{eos}", "{eos}"])
def test_ends_that_a_text_spells_at_its_end_are_taken_off(name, behind):
    text = "It is cheap." + behind.format(end=ENDS[name], eos=FAMILIES[name].eos)
    turns = turns_of(TOKENIZERS[name])
    assert turns.without_ends(text) == "It is cheap."
    assert turns.without_ends(f"{ENDS[name]} It is cheap. ") == f"{ENDS[name]} It is cheap. "
