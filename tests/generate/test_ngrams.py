"""The ban on n-grams that come twice, by hand and beside transformers' own."""

import numpy as np
import pytest

from evenhand.generate.ngrams import NGramBan


@pytest.mark.parametrize(
    ("size", "tokens", "expected"),
    [
        # "1 2" was followed by 3 and by 4
        (3, [1, 2, 3, 1, 2, 4, 1, 2], {3, 4}),
        # "1 2" stands at the end alone: nothing has followed it yet
        (3, [3, 2, 1, 2], set()),
        # overlapping: "1 1" was followed by 1
        (3, [1, 1, 1], {1}),
        (2, [5, 6, 5], {6}),
        (1, [5, 6, 5], {5, 6}),
        (3, [1, 2], set()),
        (3, [], set()),
    ],
)
def test_what_would_complete_a_sequence_again_is_banned(size, tokens, expected):
    assert set(NGramBan(size, tokens).banned()) == expected


def test_tokens_added_one_by_one_ban_as_those_given_at_once():
    tokens = np.random.default_rng(0).integers(4, size=40).tolist()
    ban = NGramBan(3)
    for n, token in enumerate(tokens):
        assert set(ban.banned()) == set(NGramBan(3, tokens[:n]).banned())
        ban.take([token])


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_banned_tokens_are_those_of_transformers(size):
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    theirs = transformers.NoRepeatNGramLogitsProcessor(size)
    for seed in range(50):
        tokens = np.random.default_rng(seed).integers(5, size=seed).tolist()
        scores = theirs(torch.tensor([tokens], dtype=torch.long), torch.zeros(1, 5))[0]
        expected = {token for token, score in enumerate(scores.tolist()) if score == float("-inf")}
        assert set(NGramBan(size, tokens).banned()) == expected
