from collections.abc import Callable
from typing import Any

import pytest

from evenhand.errors import DataError
from evenhand.generate.backend import prompt_tokens
from evenhand.records import PreferencePair
from evenhand.train.examples import SAME, TOO_LONG, build_examples


def changed(pair: PreferencePair, **values: Any) -> PreferencePair:
    return pair.model_copy(update=values)


def test_prompt_has_the_tokens_of_generation(pairs: list[PreferencePair], tokenizer: Any) -> None:
    rows = build_examples(pairs, tokenizer, 256, "raise").rows
    assert [row.prompt_ids for row in rows] == [prompt_tokens(tokenizer, pair.prompt) for pair in pairs]
    text = tokenizer.decode(rows[0].prompt_ids)
    assert text.endswith("ferry number 0.<|im_end|>\n<|im_start|>assistant\n")


def test_generated_tokens_are_trained_on_as_they_are(pairs: list[PreferencePair], tokenizer: Any) -> None:
    # cut off by max_tokens: no end token was generated, so none is learnt
    cut = changed(pairs[1], chosen_token_ids=(5, 6, 7))
    assert build_examples([cut], tokenizer, 256, "raise").rows[0].chosen_ids == [5, 6, 7]


def test_cleaned_text_is_tokenised_and_ended(pairs: list[PreferencePair], tokenizer: Any) -> None:
    assert pairs[0].chosen_token_ids == ()
    row = build_examples(pairs[:1], tokenizer, 256, "raise").rows[0]
    assert tokenizer.decode(row.chosen_ids) == pairs[0].chosen[0].content + "<|im_end|>"


def test_other_prompt_tokens_than_generation_had_are_refused(pairs: list[PreferencePair], tokenizer: Any) -> None:
    pairs[2] = changed(pairs[2], prompt_digest="f" * 16)
    pairs[5] = changed(pairs[5], prompt_digest="e" * 16)
    with pytest.raises(DataError, match="training would see other tokens than generation did") as error:
        build_examples(pairs, tokenizer, 256, "raise")
    assert "'ferry-2/left'" in str(error.value)
    assert "'ferry-5/left'" in str(error.value)


def test_another_chat_template_is_refused(pairs: list[PreferencePair], tokenizer: Any, tiny_model: Any) -> None:
    other = type(tokenizer).from_pretrained(tiny_model)
    other.chat_template = tokenizer.chat_template.replace("<|im_start|>", "")
    with pytest.raises(DataError, match="same tokenizer and chat template"):
        build_examples(pairs, other, 256, "raise")


def lengthen(pair: PreferencePair) -> PreferencePair:
    return changed(pair, rejected_token_ids=tuple(range(3, 303)))


def test_long_rows_are_refused_with_their_sides(pairs: list[PreferencePair], tokenizer: Any) -> None:
    # pairs 0, 2, ... are left, 1, 3, ... right
    mixed = [lengthen(pair) if i in (0, 1, 2) else pair for i, pair in enumerate(pairs)]
    with pytest.raises(
        DataError, match=r"3 of 12 pairs are longer than trainer.max_length 256 \(left: 2, right: 1; long"
    ):
        build_examples(mixed, tokenizer, 256, "raise")


def test_long_rows_are_dropped_when_asked_and_counted_by_side(pairs: list[PreferencePair], tokenizer: Any) -> None:
    mixed = [lengthen(pair) if i in (0, 1, 2) else pair for i, pair in enumerate(pairs)]
    examples = build_examples(mixed, tokenizer, 256, "drop")
    assert examples.counts() == {
        "pairs": {"left": 6, "right": 6},
        "kept": {"left": 4, "right": 5},
        "left_out": [
            {"stage": "train", "side": "left", "reason": TOO_LONG, "count": 2},
            {"stage": "train", "side": "right", "reason": TOO_LONG, "count": 1},
        ],
    }


def test_a_row_of_exactly_max_length_is_kept(pairs: list[PreferencePair], tokenizer: Any) -> None:
    length = build_examples(pairs[:1], tokenizer, 256, "raise").rows[0].length
    assert len(build_examples(pairs[:1], tokenizer, length, "raise").rows) == 1
    with pytest.raises(DataError, match="longer than"):
        build_examples(pairs[:1], tokenizer, length - 1, "raise")


def test_summaries_of_equal_tokens_teach_nothing_and_are_left_out(pairs: list[PreferencePair], tokenizer: Any) -> None:
    pairs[3] = changed(pairs[3], rejected_token_ids=pairs[3].chosen_token_ids)
    examples = build_examples(pairs, tokenizer, 256, "raise")
    assert examples.left_out == {("right", SAME): 1}
    assert len(examples.rows) == 11


def test_no_row_left_is_an_error(pairs: list[PreferencePair], tokenizer: Any) -> None:
    with pytest.raises(DataError, match="none of 12 pairs can be trained on"):
        build_examples(pairs, tokenizer, 4, "drop")


def test_tokens_of_an_epoch_count_the_prompt_twice(pairs: list[PreferencePair], tokenizer: Any) -> None:
    pair = changed(pairs[1], chosen_token_ids=(5, 6, 7), rejected_token_ids=(5, 6))
    n_prompt = len(prompt_tokens(tokenizer, pair.prompt))
    # prompt + 3 and prompt + 2
    assert build_examples([pair], tokenizer, 256, "raise").n_tokens == 2 * n_prompt + 5


@pytest.mark.parametrize("order", [list, lambda rows: list(reversed(rows))])
def test_rows_keep_the_order_of_the_file(
    pairs: list[PreferencePair], tokenizer: Any, order: Callable[[list[Any]], list[Any]]
) -> None:
    prompts = [tokenizer.decode(row.prompt_ids) for row in build_examples(order(pairs), tokenizer, 256, "raise").rows]
    assert prompts == order([tokenizer.decode(prompt_tokens(tokenizer, pair.prompt)) for pair in pairs])
