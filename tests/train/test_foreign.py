"""Pairs that others made, and what is exported for others, read back."""

import json
from pathlib import Path
from typing import Any

import pytest

from evenhand.errors import DataError
from evenhand.train.examples import read_rows
from evenhand.train.foreign import read_pairs

ASK = "Is the ferry cheap?"
CHEAP, DEAR, LATE = "It is cheap.", "It is dear.", "It is late."
ASKED = [{"role": "user", "content": ASK}]


def said(text: str) -> list[dict[str, str]]:
    return [{"role": "assistant", "content": text}]


def written(folder: Path, *lines: dict[str, Any]) -> Path:
    path = folder / "pairs.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def texts(path: Path) -> list[tuple[str, str, str]]:
    pairs, mistakes = read_pairs(path)
    assert not mistakes
    return [(pair.prompt[-1].content, pair.chosen_text, pair.rejected_text) for _, pair in pairs]


@pytest.mark.parametrize(
    "line",
    [
        {"prompt": ASK, "chosen": CHEAP, "rejected": DEAR},
        {"prompt": ASKED, "chosen": said(CHEAP), "rejected": said(DEAR), "source": "somebody"},
        {"chosen": ASKED + said(CHEAP), "rejected": ASKED + said(DEAR)},
    ],
    ids=["texts", "conversations", "implicit conversations"],
)
def test_pairs_of_trl_are_read(tmp_path: Path, line: dict[str, Any]) -> None:
    assert texts(written(tmp_path, line)) == [(ASK, CHEAP, DEAR)]


def test_prompts_that_white_space_tells_apart_are_warned_of(
    tmp_path: Path, tokenizer: Any, caplog: pytest.LogCaptureFixture
) -> None:
    spaced = [ASK, ASK.replace(" ", "  ", 1), ASK + "\n", "Is it dear?"]
    read_rows(written(tmp_path, *({"prompt": ask, "chosen": CHEAP, "rejected": DEAR} for ask in spaced)), tokenizer)
    assert (
        "prompts of 2 lines differ from an earlier line's by white space alone (the first: lines 1 and 2)"
        in caplog.text
    )


def test_implicit_prompt_of_texts_ends_where_a_word_does(tmp_path: Path) -> None:
    # "It is " is common, and so would "d" be
    path = written(tmp_path, {"chosen": f"{ASK} It is dear.", "rejected": f"{ASK} It is dull."})
    assert texts(path) == [(f"{ASK} It is", "dear.", "dull.")]


def test_ranked_list_gives_a_pair_for_every_two_of_unlike_rank(tmp_path: Path) -> None:
    completions = [
        {"rank": 2, "completion": DEAR}, {"rank": 1, "completion": CHEAP}, {"rank": 2, "completion": LATE},
    ]  # fmt: skip
    path = written(tmp_path, {"prompt": ASK, "completions": completions})
    assert texts(path) == [(ASK, CHEAP, DEAR), (ASK, CHEAP, LATE)]


def test_scores_become_rewards_and_nothing_else_is_made_up(tmp_path: Path) -> None:
    line = {"prompt": ASK, "chosen": CHEAP, "rejected": DEAR, "score_chosen": 4.5, "score_rejected": 3.0}
    (pair,) = [pair for _, pair in read_pairs(written(tmp_path, line))[0]]
    assert (pair.chosen_reward, pair.rejected_reward, pair.margin) == (4.5, 3.0, 1.5)
    assert (pair.side, pair.prompt_digest, pair.chosen_token_ids) == ("", "", ())


def test_pairs_of_one_prompt_are_one_request_with_one_id_for_each_text(tmp_path: Path) -> None:
    lines = [{"prompt": ASK, "chosen": CHEAP, "rejected": worse} for worse in (DEAR, LATE)]
    (_, first), (_, second) = read_pairs(written(tmp_path, *lines))[0]
    assert (first.request_id, first.chosen_id) == (second.request_id, second.chosen_id)
    assert first.rejected_id != second.rejected_id


@pytest.mark.parametrize(
    ("line", "mistake"),
    [
        ({"chosen": "Cheap.", "rejected": "Dear."}, "begin with no common word"),
        ({"prompt": ASK, "chosen": CHEAP, "rejected": CHEAP}, "are the same text"),
        ({"prompt": ASK, "chosen": CHEAP, "rejected": DEAR, "score_chosen": 1, "score_rejected": 2}, "is not above"),
        ({"prompt": ASK, "chosen": CHEAP, "rejected": DEAR, "score_chosen": 1}, "give both or none"),
        ({"prompt": ASK, "completions": [{"rank": 1, "completion": CHEAP}]}, "at least two ranks"),
        ({"prompt": ASK}, "chosen"),
    ],
)
def test_what_is_no_pair_is_named_with_its_line(tmp_path: Path, tokenizer: Any, line: Any, mistake: str) -> None:
    path = written(tmp_path, {"prompt": ASK, "chosen": CHEAP, "rejected": DEAR}, line)
    with pytest.raises(DataError, match=r"pairs\.jsonl:2: ") as caught:
        read_rows(path, tokenizer)
    assert mistake in str(caught.value)


def test_rows_of_others_pairs_end_as_our_own_do(tmp_path: Path, tokenizer: Any) -> None:
    (row,) = read_rows(written(tmp_path, {"prompt": ASK, "chosen": CHEAP, "rejected": DEAR}), tokenizer)
    assert row.chosen_ids[-1] == tokenizer.eos_token_id
    assert tokenizer.decode(row.chosen_ids, skip_special_tokens=True).split() == CHEAP.split()


@pytest.mark.parametrize(
    ("line", "mistake"),
    [
        (
            {"prompt": ASK, "chosen": CHEAP, "rejected": CHEAP},
            "chosen and rejected are the same text; mend the line, or leave it out",
        ),
        (
            {"prompt": ASK, "chosen": ASKED, "rejected": said(CHEAP)},
            "chosen is not the assistant's alone; mend the line, or leave it out",
        ),
        (
            {"prompt": ASK, "chosen": "", "rejected": CHEAP},
            "'chosen': is empty; give it some text or leave the record out, got ''",
        ),
        (
            {"prompt": 5, "chosen": CHEAP, "rejected": DEAR},
            "'prompt': should be a text or a list of role and content, got 5",
        ),
        (
            {"prompt": ASK, "completion": CHEAP, "label": True},
            "has the keys 'completion', 'label', 'prompt', which make no pair; a completion with a label is preferred to nothing"
            "; write prompt, chosen and rejected, or chosen and rejected that begin with the prompt, or prompt and completions "
            "(a list of rank and completion), each a text or a conversation",
        ),
        (
            {"prompt": ASK, "chosen": [], "rejected": DEAR},
            "'chosen': needs at least 1, and there are 0",
        ),
        ([1, 2], "should be an object"),
        ("abc", "should be an object"),
    ],
    ids=["same", "role", "empty", "kind", "label", "no turn", "list", "text"],
)
def test_a_line_that_is_no_pair_is_told_in_one_line(tmp_path: Path, line: Any, mistake: str) -> None:
    pairs, ((number, said_of_it),) = read_pairs(written(tmp_path, line))
    assert (pairs, number) == ([], 1)
    assert mistake in said_of_it
