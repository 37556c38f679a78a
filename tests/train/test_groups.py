"""Pairs as groups: nothing is lost, nothing is twice."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from preference_groups import make_groups, make_rows

from evenhand.config import CorpusSection, TaskSection
from evenhand.corpora import load_corpus
from evenhand.errors import RecipeError
from evenhand.generate.backend import prompt_tokens
from evenhand.generate.requests import build_requests
from evenhand.train.examples import TokenPair
from evenhand.train.groups import build_groups, families, refuse_unsplittable


def test_pairs_of_one_prompt_share_their_candidates() -> None:
    first, second, third = make_groups()
    # candidates in order of first appearance: (0, 1), (0, 2), (3, 1), (2, 1)
    assert [len(ids) for ids in first.candidate_ids] == [9, 1, 14, 6]
    assert list(zip(first.chosen, first.rejected, strict=True)) == [(0, 1), (0, 2), (3, 1), (2, 1)]
    assert (len(second.chosen), len(third.chosen)) == (3, 1)
    assert first.length == 41 + 8 + 0 + 13 + 5
    assert first.longest == 41 + 13


def test_families_begin_with_half_of_their_prompts_alike() -> None:
    documents, others = list(range(40)), [7, *range(60)]
    prompts = [
        [*documents, 1],
        others,
        [*documents, 2, 3],
        [*documents, *range(100, 145)],
        others[:33],
        [*others[:32], 5],
    ]
    # 40 of 42 are shared, 40 of 85 are not; 32 of 61 and of 33 are enough, in the order of the tokens
    found = families(prompts)
    assert found == [(0, 40), (2, 32), (0, 40), (1, 85), (2, 32), (2, 32)]
    # half, but too few tokens to be worth a part of their own
    assert [number for number, _ in families([[1, 2, 3], [1, 2, 4]])] == [0, 1]


@pytest.mark.parametrize("template", ["perspective", "perspective-short"])
def test_both_sides_of_a_bundled_dispute_are_a_family_by_the_shipped_templates(template: str, tokenizer: Any) -> None:
    corpus = CorpusSection()
    requests = build_requests(load_corpus(corpus), corpus, TaskSection(template=template))
    prompts = [prompt_tokens(tokenizer, request.prompt) for request in requests]
    sets: dict[int, set[str]] = {}
    for (number, shared), prompt, request in zip(families(prompts), prompts, requests, strict=True):
        sets.setdefault(number, set()).add(request.document_set.id)
        # what is asked comes last
        assert shared > 0.8 * len(prompt)
    assert len(sets) == len(requests) / 2
    assert all(len(ids) == 1 for ids in sets.values())


def test_summaries_of_the_same_tokens_are_one_candidate() -> None:
    rows = [TokenPair("left", [1, 2], [5, 6], [7]), TokenPair("left", [1, 2], [8], [5, 6], weight=2.0)]
    (group,) = build_groups(rows)
    assert group.candidate_ids == [[5, 6], [7], [8]]
    assert (group.chosen, group.rejected, group.weights) == ([0, 2], [1, 0], [1.0, 2.0])


tokens = st.lists(st.integers(0, 3), min_size=1, max_size=3)
rows = st.lists(st.builds(TokenPair, st.just("left"), tokens, tokens, tokens, st.sampled_from([1.0, 2.0])), min_size=1)


@given(rows)
def test_groups_hold_exactly_the_pairs(rows: list[TokenPair]) -> None:
    groups = build_groups(rows)
    found = [
        (g.prompt_ids, g.candidate_ids[c], g.candidate_ids[r], w)
        for g in groups
        for c, r, w in zip(g.chosen, g.rejected, g.weights, strict=True)
    ]
    wanted = [(row.prompt_ids, row.chosen_ids, row.rejected_ids, row.weight) for row in rows]
    assert sorted(map(repr, found)) == sorted(map(repr, wanted))
    assert len({tuple(g.prompt_ids) for g in groups}) == len(groups)
    assert all(len({tuple(ids) for ids in g.candidate_ids}) == len(g.candidate_ids) for g in groups)


def test_prompt_that_no_split_makes_fit_is_refused_with_what_would() -> None:
    groups = build_groups(make_rows())
    refuse_unsplittable(groups, 67)  # 60 + 7, the longest prompt and its longer candidate
    with pytest.raises(RecipeError, match=r"max_tokens_per_pass': 66, .* has 67 tokens"):
        refuse_unsplittable(groups, 66)
