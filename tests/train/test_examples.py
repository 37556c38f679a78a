from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest
from chat_families import FAMILIES, make_tokenizer
from sentencepiece_models import TEMPLATES, save_tokenizer

from evenhand.errors import DataError
from evenhand.generate.backend import prompt_tokens, tokens_digest
from evenhand.generate.turns import turns_of
from evenhand.records import Message, PreferencePair
from evenhand.storage import write_jsonl
from evenhand.train.examples import SAME, TOO_LONG, TokenPair, TrainingPairs, build_examples, read_rows

Read = Callable[[list[PreferencePair]], list[TokenPair]]


def changed(pair: PreferencePair, **values: Any) -> PreferencePair:
    return pair.model_copy(update=values)


def said(role: Literal["system", "user", "assistant"], text: str) -> tuple[Message]:
    return (Message(role=role, content=text),)


@pytest.fixture
def read(tokenizer: Any, tmp_path: Path) -> Read:
    """Writes pairs to a file and reads their rows."""

    def rows(pairs: list[PreferencePair]) -> list[TokenPair]:
        write_jsonl(tmp_path / "pairs.jsonl", pairs)
        return read_rows(tmp_path / "pairs.jsonl", tokenizer)

    return rows


@pytest.fixture
def build(read: Read) -> Callable[..., TrainingPairs]:
    """Examples of these pairs."""
    return lambda pairs, most=256, excess="raise": build_examples(read(pairs), most, excess)


Build = Callable[..., TrainingPairs]


def test_prompt_has_the_tokens_of_generation(pairs: list[PreferencePair], tokenizer: Any, read: Read) -> None:
    rows = read(pairs)
    assert [row.prompt_ids for row in rows] == [prompt_tokens(tokenizer, pair.prompt) for pair in pairs]
    text = tokenizer.decode(rows[0].prompt_ids)
    assert text.endswith("ferry number 0.<|im_end|>\n<|im_start|>assistant\n")


def test_generated_tokens_are_trained_on_as_they_are(pairs: list[PreferencePair], tokenizer: Any, read: Read) -> None:
    # letter by letter, as no tokenizer would have it, and cut off by max_tokens: no end token was generated, so none is learnt
    text = "Ferries sink."
    spelt = tuple(token for letter in text for token in tokenizer(letter)["input_ids"])
    assert spelt != tuple(tokenizer(text)["input_ids"])
    cut = changed(pairs[1], chosen=said("assistant", text), chosen_token_ids=spelt)
    assert read([cut])[0].chosen_ids == list(spelt)


def test_cleaned_text_is_tokenised_and_ended(pairs: list[PreferencePair], tokenizer: Any, read: Read) -> None:
    assert pairs[0].chosen_token_ids == ()
    assert tokenizer.decode(read(pairs[:1])[0].chosen_ids) == pairs[0].chosen[0].content + "<|im_end|>"


def with_tokens_of(tokenizer: Any, pair: PreferencePair, end: int) -> PreferencePair:
    """The pair as a model with this tokenizer would have made it: chosen drawn with an end, rejected cleaned."""
    return changed(
        pair,
        prompt_digest=tokens_digest(prompt_tokens(tokenizer, pair.prompt)),
        chosen_token_ids=(*tokenizer(pair.chosen_text, add_special_tokens=False)["input_ids"], end),
        rejected_token_ids=(),
    )


def in_rows(tmp_path: Path, tokenizer: Any, pair: PreferencePair) -> TokenPair:
    write_jsonl(tmp_path / "pairs.jsonl", [pair])
    (row,) = read_rows(tmp_path / "pairs.jsonl", tokenizer)
    return row


@pytest.mark.parametrize("name", FAMILIES)
def test_cleaned_text_ends_as_a_drawn_one_does(pairs: list[PreferencePair], tmp_path: Path, name: str) -> None:
    tokenizer = make_tokenizer(FAMILIES[name])
    drawn = turns_of(tokenizer).end
    assert drawn is not None
    row = in_rows(tmp_path, tokenizer, with_tokens_of(tokenizer, pairs[0], drawn))
    assert row.chosen_ids[-1] == row.rejected_ids[-1] == drawn


@pytest.mark.parametrize("vocabulary", ["v1", "v3"])
@pytest.mark.parametrize("template", TEMPLATES)
def test_cleaned_text_ends_as_the_chat_of_a_sentencepiece_model_does(
    pairs: list[PreferencePair], tmp_path: Path, template: str, vocabulary: str
) -> None:
    from transformers import AutoTokenizer

    save_tokenizer(tmp_path / "model", vocabulary, template)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "model")
    pair = with_tokens_of(tokenizer, pairs[0], 2)
    row = in_rows(tmp_path, tokenizer, pair)
    turns = [each.model_dump() for each in (*pair.prompt, *pair.rejected)]
    chat = tokenizer.apply_chat_template(turns, add_generation_prompt=False, return_dict=True)["input_ids"]
    # the whole chat ends with the very tokens, but for white space that a template writes around an answer
    said = [[ids for ids in tokens if tokenizer.decode([ids]).strip()] for tokens in (row.rejected_ids, chat)]
    assert said[1][-len(said[0]) + 1 :] == said[0][1:]
    assert row.rejected_ids[-1] == chat[-1] == tokenizer.convert_tokens_to_ids("</s>")
    assert row.rejected_ids.count(chat[-1]) == 1


@pytest.mark.parametrize("name", FAMILIES)
def test_an_end_that_the_tokenizer_does_not_call_special_says_nothing(
    pairs: list[PreferencePair], tmp_path: Path, name: str
) -> None:
    family = FAMILIES[name]
    end = make_tokenizer(family).convert_ids_to_tokens(turns_of(make_tokenizer(family)).end)
    others = tuple(token for token in family.special if token != end)
    tokenizer = make_tokenizer(
        replace(
            family, special=others, added=(*family.added, end), eos="<another>" if family.eos == end else family.eos
        )
    )
    token = tokenizer.convert_tokens_to_ids(end)
    assert end in tokenizer.decode([token], skip_special_tokens=True)
    # Alpaca's template writes no end, so that nothing but the generation settings would name it
    row = in_rows(tmp_path, tokenizer, with_tokens_of(tokenizer, pairs[0], token))
    assert row.chosen_ids[-1] == token
    # a token that the text does not have is refused as before
    other = tokenizer("x", add_special_tokens=False)["input_ids"][-1]
    with pytest.raises(DataError, match="chosen_token_ids say"):
        in_rows(tmp_path, tokenizer, with_tokens_of(tokenizer, pairs[0], other))


def test_our_own_text_spells_no_turn(pairs: list[PreferencePair], tokenizer: Any, read: Read) -> None:
    text = "The Left says so.<|im_end|>\n<|im_start|>user\nThank you."
    (row,) = read([changed(pairs[0], chosen=said("assistant", text), chosen_token_ids=())])
    ends = [tokenizer.convert_tokens_to_ids(mark) for mark in ("<|im_end|>", "<|im_start|>")]
    assert [row.chosen_ids.count(end) for end in ends] == [1, 0]
    assert row.chosen_ids[-1] == ends[0]


def test_white_space_and_torn_characters_are_no_other_text(
    pairs: list[PreferencePair], tokenizer: Any, read: Read
) -> None:
    # generation strips and folds white space; engines decode a character that max_tokens tore in different ways
    ids = (*tokenizer(" Ferries\n sink \u2014")["input_ids"],)[:-1]
    assert "\ufffd" in tokenizer.decode(ids)
    assert read([changed(pairs[1], chosen=said("assistant", "Ferries sink"), chosen_token_ids=ids)])


def test_other_prompt_tokens_than_generation_had_are_refused(pairs: list[PreferencePair], read: Read) -> None:
    pairs[2] = changed(pairs[2], prompt_digest="f" * 16)
    pairs[5] = changed(pairs[5], prompt_digest="e" * 16)
    with pytest.raises(DataError, match=r"pairs\.jsonl:3: request 'ferry-2/left': training would see other") as error:
        read(pairs)
    assert "pairs.jsonl:6: request 'ferry-5/left'" in str(error.value)


def test_another_chat_template_is_refused(
    pairs: list[PreferencePair], tokenizer: Any, tiny_model: Any, tmp_path: Path
) -> None:
    other = type(tokenizer).from_pretrained(tiny_model)
    write_jsonl(tmp_path / "pairs.jsonl", pairs)
    other.chat_template = tokenizer.chat_template.replace("<|im_start|>", "")
    with pytest.raises(DataError, match="same tokenizer and chat template"):
        read_rows(tmp_path / "pairs.jsonl", other)
    other.chat_template = "{{ raise_exception('no turns today') }}"
    with pytest.raises(
        DataError, match=r"pairs\.jsonl:1: prompt: the chat template of .* refuses turns of user: no turns today"
    ):
        read_rows(tmp_path / "pairs.jsonl", other)


def test_contradictions_are_all_listed_with_their_lines(
    pairs: list[PreferencePair], tokenizer: Any, read: Read
) -> None:
    wrong = {
        0: ({"chosen": said("assistant", " ")}, "chosen is empty"),
        1: ({"rejected": ()}, "rejected is empty"),
        2: ({"chosen": said("user", "The ferry.")}, "chosen is not the assistant's alone"),
        3: ({"prompt": said("assistant", "Yes?")}, "prompt has the roles assistant; "),
        4: (
            {"chosen_reward": 0.0, "rejected_reward": 1.0},
            "margin is 1, but chosen_reward less rejected_reward is -1",
        ),
        5: ({"rejected": pairs[5].chosen, "rejected_token_ids": ()}, "chosen and rejected are the same text"),
        6: ({"chosen_token_ids": (5, -1)}, "'chosen_token_ids.1': should be greater than or equal to 0, got -1"),
        7: ({"chosen_token_ids": (5, len(tokenizer))}, f"{len(tokenizer)} is not a token of the model, which has"),
        8: ({"rejected_token_ids": pairs[1].chosen_token_ids}, "rejected_token_ids say 'The Left says nurses"),
        9: ({"weight": 0.0}, "'weight': should be greater than 0"),
        10: ({"prompt": ()}, "prompt has the roles of nobody"),
    }
    bad = [changed(pair, **wrong[i][0]) if i in wrong else pair for i, pair in enumerate(pairs)]
    with pytest.raises(DataError) as error:
        read(bad)
    lines = str(error.value).splitlines()
    assert len(lines) == len(wrong)
    for i, line in enumerate(lines):
        assert f"pairs.jsonl:{i + 1}: " in line
        assert wrong[i][1] in line


def test_an_id_that_names_two_texts_is_refused_with_both_lines(pairs: list[PreferencePair], read: Read) -> None:
    again = {"request_id": pairs[0].request_id, "prompt": pairs[0].prompt, "prompt_digest": pairs[0].prompt_digest}
    # the same candidate, better here and worse there, is no contradiction: people may compare two by two
    known = {"rejected_id": pairs[0].chosen_id, "rejected": pairs[0].chosen, "rejected_token_ids": ()}
    assert read([pairs[0], changed(pairs[1], **again, **known)])
    other = changed(pairs[1], **again, **known | {"rejected": said("assistant", "The Left says no.")})
    moved = changed(pairs[2], request_id=pairs[0].request_id)
    with pytest.raises(DataError) as error:
        read([pairs[0], other, moved])
    candidate, request = (line.split("pairs.jsonl:")[1] for line in str(error.value).splitlines())
    assert candidate.startswith("2: request 'ferry-0/left': its candidate 'c0' has another text than on line 1")
    assert request.startswith("3: request 'ferry-0/left': it has another text than on line 1")


def lengthen(pair: PreferencePair) -> PreferencePair:
    return changed(pair, rejected=said("assistant", "ferry " * 300), rejected_token_ids=())


def test_long_rows_are_refused_with_their_sides(pairs: list[PreferencePair], build: Build) -> None:
    # pairs 0, 2, ... are left, 1, 3, ... right
    mixed = [lengthen(pair) if i in (0, 1, 2) else pair for i, pair in enumerate(pairs)]
    with pytest.raises(
        DataError, match=r"3 of 12 pairs are longer than trainer.max_length 256 \(left: 2, right: 1; long"
    ):
        build(mixed)


def test_long_rows_are_dropped_when_asked_and_counted_by_side(pairs: list[PreferencePair], build: Build) -> None:
    mixed = [lengthen(pair) if i in (0, 1, 2) else pair for i, pair in enumerate(pairs)]
    found = build(mixed, excess="drop")
    assert (found.n_by_side, found.kept) == ({"left": 6, "right": 6}, {"left": 4, "right": 5})
    assert [(row.stage, row.side, row.reason, row.count) for row in found.left_out] == [
        ("train", "left", TOO_LONG, 2),
        ("train", "right", TOO_LONG, 1),
    ]


def test_a_row_of_exactly_max_length_is_kept(pairs: list[PreferencePair], build: Build) -> None:
    length = build(pairs[:1]).rows[0].length
    assert len(build(pairs[:1], length).rows) == 1
    with pytest.raises(DataError, match="longer than"):
        build(pairs[:1], length - 1)


def test_summaries_of_equal_tokens_teach_nothing_and_are_left_out(
    pairs: list[PreferencePair], tokenizer: Any, read: Read
) -> None:
    # as a tokenizer that folds case would make them
    rows = [replace(row, rejected_ids=row.chosen_ids) if i == 3 else row for i, row in enumerate(read(pairs))]
    examples = build_examples(rows, 256, "raise")
    assert [(row.side, row.reason, row.count) for row in examples.left_out] == [("right", SAME, 1)]
    assert len(examples.rows) == 11


def test_no_row_left_is_an_error(pairs: list[PreferencePair], build: Build) -> None:
    with pytest.raises(DataError, match="none of 12 pairs can be trained on"):
        build(pairs, 4, "drop")


def test_tokens_of_an_epoch_count_the_prompt_twice(pairs: list[PreferencePair], tokenizer: Any, build: Build) -> None:
    pair = pairs[1]
    n_prompt = len(prompt_tokens(tokenizer, pair.prompt))
    # prompt and chosen, prompt and rejected
    n_summaries = len(pair.chosen_token_ids) + len(pair.rejected_token_ids)
    assert build([pair]).n_tokens == 2 * n_prompt + n_summaries


@pytest.mark.parametrize("order", [list, lambda rows: list(reversed(rows))])
def test_rows_keep_the_order_of_the_file(
    pairs: list[PreferencePair], tokenizer: Any, build: Build, order: Callable[[list[Any]], list[Any]]
) -> None:
    prompts = [tokenizer.decode(row.prompt_ids) for row in build(order(pairs)).rows]
    assert prompts == order([tokenizer.decode(prompt_tokens(tokenizer, pair.prompt)) for pair in pairs])


def test_pairs_without_a_side_are_called_so(pairs: list[PreferencePair], build: Build) -> None:
    sideless = [changed(pair, side="") for pair in pairs]
    with pytest.raises(DataError, match=r"max_length 20 \(without a side: 12; longest \d+ tokens\)"):
        build(sideless, 20)
    with pytest.raises(DataError, match=r"can be trained on: longer than trainer.max_length \(without a side 12\)"):
        build(sideless, 20, "drop")
