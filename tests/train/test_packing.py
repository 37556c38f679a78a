"""Batches of packed sequences: every row of TRL's finds its own tokens, whatever the budget."""

import dataclasses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from preference_groups import make_fairness, make_groups, make_rows

torch = pytest.importorskip("torch")
PAD = 999


def collate(
    groups: list[dict[str, Any]], max_tokens: int = 4096, multiple: int | None = None, least_shared: int = 32
) -> dict[str, Any]:
    from evenhand.train.packing import PackingCollator

    return PackingCollator(PAD, max_tokens, multiple, least_shared)(groups)


def test_small_batch_by_hand() -> None:
    group = {
        "prompt_ids": [1, 2, 3],
        "candidate_ids": [[4, 5], [6, 7, 8]],
        "chosen": [1],
        "rejected": [0],
        "weights": [1.0],
    }
    batch = collate([group])
    (one,) = batch["passes"]
    # prompt, first candidate without its last token, second without its last
    assert one["input_ids"].tolist() == [[1, 2, 3, 4, 6, 7]]
    assert one["position_ids"].tolist() == [[0, 1, 2, 3, 3, 4]]
    # the prompt's last token predicts 4 and 6
    assert one["scored"].tolist() == [2, 3, 2, 4, 5]
    assert one["targets"].tolist() == [[4, 5, 6, 7, 8]]
    # chosen first; the head is the prompt's last token
    assert batch["input_ids"].tolist() == [[3, 6, 7, 8], [3, 4, 5, PAD]]
    assert batch["completion_mask"].tolist() == [[0, 1, 1, 1], [0, 1, 1, 0]]
    assert batch["rows"].tolist() == [[2, 3, 4], [0, 1, 5]]
    assert batch["attention_mask"].tolist() == [1] * 6
    assert "weights" not in batch


# prompts that begin with the same one share it, and more or less of the longer one
BEGINNINGS = [[], [1, 2, 3], [1, 2, 3, 4, 5], [1, 2, 3, 9]]


def test_what_prompts_begin_with_alike_runs_once_by_hand() -> None:
    one = {
        "prompt_ids": [1, 2, 3, 5],
        "candidate_ids": [[7, 8], [6, 6]],
        "chosen": [0],
        "rejected": [1],
        "weights": [1.0],
    }
    other = one | {"prompt_ids": [1, 2, 3, 4, 4], "candidate_ids": [[9, 9, 9], [7]]}
    alone = {"prompt_ids": [1, 2, 5], "candidate_ids": [[1], [2]], "chosen": [0], "rejected": [1], "weights": [1.0]}
    batch = collate([one, alone, other], least_shared=3)
    (packed,) = batch["passes"]
    # in the order of the prompts: [1, 2, 3], the rest [4, 4] and its candidates, the rest [5] and its candidates; [1, 2, 5]
    assert packed["input_ids"].tolist() == [[1, 2, 3, 4, 4, 9, 9, 5, 7, 6, 1, 2, 5]]
    assert packed["position_ids"].tolist() == [[0, 1, 2, 3, 4, 5, 6, 3, 4, 4, 0, 1, 2]]
    assert packed["layout"].ends().tolist() == [10, 10, 10, 7, 7, 7, 7, 10, 9, 10, 13, 13, 13]
    assert packed["layout"].spans[1].before == packed["layout"].spans[2].before == ((0, 3),)
    assert packed["n_tokens"] == 13
    # each alone: 6, 5 and 7
    assert collate([one, alone, other], least_shared=4)["passes"][0]["n_tokens"] == 6 + 3 + 7


def test_pieces_go_where_their_beginning_is() -> None:
    group = {"candidate_ids": [[7, 8], [6, 6]], "chosen": [0], "rejected": [1], "weights": [1.0]}
    prompts = ([1, 2, 3, 4], [5, 6, 7, 8], [5, 6, 7, 9], [1, 2, 3, 9])
    batch = collate([group | {"prompt_ids": ids} for ids in prompts], max_tokens=9, least_shared=3)
    found = [one["input_ids"].tolist() for one in batch["passes"]]
    assert found == [[[1, 2, 3, 4, 7, 6, 9, 7, 6]], [[5, 6, 7, 8, 7, 6, 9, 7, 6]]]


@st.composite
def groups(draw: Any) -> list[dict[str, Any]]:
    tokens = st.lists(st.integers(1, 900), min_size=1, max_size=9)
    found = []
    for _ in range(draw(st.integers(1, 4))):
        candidates = draw(st.lists(tokens, min_size=2, max_size=5))
        places = st.integers(0, len(candidates) - 1)
        pairs = draw(st.lists(st.tuples(places, places), min_size=1, max_size=6))
        found.append(
            {
                "prompt_ids": draw(st.sampled_from(BEGINNINGS)) + draw(tokens),
                "candidate_ids": candidates,
                "chosen": [c for c, _ in pairs],
                "rejected": [r for _, r in pairs],
                "weights": [draw(st.sampled_from([1.0, 0.5])) for _ in pairs],
            }
        )
    return found


@given(groups(), st.integers(23, 60), st.sampled_from([None, 8]), st.integers(1, 4))
def test_every_row_reads_its_own_tokens_behind_its_own_prompt(
    groups: list[dict[str, Any]], max_tokens: int, multiple: int | None, least_shared: int
) -> None:
    batch = collate(groups, max_tokens, multiple, least_shared)
    assert all(one["n_tokens"] <= max_tokens for one in batch["passes"])
    targets = [token for one in batch["passes"] for token in one["targets"][0].tolist()]
    behind = [
        (one, place) for one in batch["passes"] for place in one["scored"].tolist()
    ]  # the place whose hidden state predicts each target
    wanted = [
        (group["prompt_ids"], group["candidate_ids"][place])
        for side in ("chosen", "rejected")
        for group in groups
        for place in group[side]
    ]
    rows = batch["rows"].tolist()
    assert len(rows) == len(wanted)
    for row, mask, (prompt, candidate) in zip(rows, batch["completion_mask"].tolist(), wanted, strict=True):
        scored = [place for place in row if place < len(targets)]
        assert [targets[place] for place in scored] == candidate
        assert sum(mask) == len(candidate)
        for step, place in enumerate(scored):
            one, at = behind[place]
            assert seen_from(one, at) == prompt + candidate[:step]
        assert row[len(scored) :] == [len(targets)] * (len(row) - len(scored))
    assert batch["attention_mask"].sum() == sum(one["n_tokens"] for one in batch["passes"])


def seen_from(one: dict[str, Any], at: int) -> list[int]:
    """The tokens that a place of a pass attends to, by the mask."""
    from evenhand.train.packed_attention import _span_mask

    for span in one["layout"].spans:
        if span.start <= at < span.end:
            row = _span_mask(one["layout"], span, None, torch.device("cpu"))[at - span.start]
            tokens = [int(t) for part in span.seen for t in one["input_ids"][0, slice(*part)]]
            return [token for token, seen in zip(tokens, row, strict=True) if seen]
    raise AssertionError("no span holds the place")


def test_weights_are_there_when_they_differ_from_one() -> None:
    group = make_groups()[2].columns
    assert "weights" not in collate([group])
    assert collate([group | {"weights": [0.5]}])["weights"].tolist() == [0.5]


def test_precomputed_reference_goes_along_pair_by_pair() -> None:
    rows = [group.columns for group in make_groups()]
    for row in rows:
        row |= {"ref_chosen_logps": [-1.0] * len(row["chosen"]), "ref_rejected_logps": [-2.0] * len(row["chosen"])}
    batch = collate(rows)
    assert batch["ref_chosen_logps"].tolist() == [-1.0] * 8
    assert batch["ref_rejected_logps"].tolist() == [-2.0] * 8


def test_slots_stand_in_the_order_of_the_pairs_in_double_precision() -> None:
    from evenhand.train.groups import build_groups

    rows = [dataclasses.replace(row, fairness=make_fairness(i)) for i, row in enumerate(make_rows())]
    batch = collate([group.columns for group in build_groups(rows, slots=True)])
    wanted = [[f.weight_chosen, f.pow_chosen, f.weight_rejected, f.pow_rejected] for f in map(make_fairness, range(8))]
    assert batch["slots"].tolist() == [[list(side) for side in pair] for pair in wanted]
    assert "slots" not in collate([group.columns for group in build_groups(rows)])
