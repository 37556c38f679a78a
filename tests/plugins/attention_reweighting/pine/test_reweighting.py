"""Reweighted attention of one layer against the method's description, followed one query token and one head at a time."""

import math

import pytest

torch = pytest.importorskip("torch")

from segment_places import importance_order, segment_positions  # noqa: E402

from evenhand.plugins.attention_reweighting.pine import reweighting  # noqa: E402
from evenhand.plugins.attention_reweighting.pine.reweighting import SegmentedRow  # noqa: E402

HEADS, SHARED, SIZE = 4, 2, 8
SCALING = 1 / math.sqrt(SIZE)
PREFIX, LENS, SUFFIX = 3, [2, 4, 1, 3], 4


class Rotary:
    """A rotary embedding as models have it, with four frequencies."""

    inv_freq = torch.tensor([1.0, 0.4, 0.1, 0.02])
    attention_scaling = 1.3

    def __call__(self, states, positions):
        return None


def rotated(state, position):
    """One head's state at a position: pairs of numbers as complex ones, multiplied by exp(i * position * frequency)."""
    pairs = torch.complex(state[: SIZE // 2], state[SIZE // 2 :])
    turned = pairs * torch.exp(1j * position * Rotary.inv_freq) * Rotary.attention_scaling
    return torch.cat([turned.real, turned.imag])


def as_specified(query, keys, values, n_tokens):
    """(heads, tokens, size): section 8.4, step by step, with rotated keys for every query."""
    n_total = PREFIX + sum(LENS)
    segment_of = [None] * PREFIX + [j for j, n in enumerate(LENS) for _ in range(n)] + [None] * (n_tokens - n_total)
    offset = {t: t - PREFIX - sum(LENS[:j]) for t, j in enumerate(segment_of) if j is not None}
    out = torch.zeros(HEADS, n_tokens, SIZE)
    for head in range(HEADS):
        key, value = keys[head // (HEADS // SHARED)], values[head // (HEADS // SHARED)]
        for t in range(n_tokens):
            own = segment_of[t]
            if t < PREFIX:
                positions, sees = list(range(PREFIX)), range(PREFIX)
                place = t
            else:
                tokens = [u for u in range(n_tokens) if segment_of[u] == own] if own is not None else [t]
                order = ranking(query[head], key, tokens, own, segment_of)
                starts, suffix_start = segment_positions(PREFIX, LENS, order)
                positions = [
                    u if u < PREFIX else u if j is None else starts[j] + offset[u] for u, j in enumerate(segment_of)
                ]
                assert suffix_start == n_total
                sees = range(n_total) if own is not None else range(n_tokens)
                place = positions[t]
            visible = [u for u in sees if positions[u] <= place]
            mine = rotated(query[head, t], place)
            scores = torch.stack([mine @ rotated(key[u], positions[u]) for u in visible]) * SCALING
            out[head, t] = scores.softmax(0) @ value[visible]
    return out


def ranking(query, key, tokens, own, segment_of):
    """The segments from the nearest to the farthest for the query tokens of one segment, or for one suffix token."""
    others = [u for u, j in enumerate(segment_of) if j is not None and j != own]
    total = torch.zeros(len(LENS))
    for t in tokens:
        weights = (torch.stack([query[t] @ key[u] for u in others]) * SCALING).softmax(0)
        by_token = dict(zip(others, weights.tolist(), strict=True))
        listed = [[by_token.get(u, 0.0) for u, j in enumerate(segment_of) if j == k] for k in range(len(LENS))]
        total += torch.tensor(importance_order(listed, own)[0])
    return importance_order([[x] for x in total.tolist()], own)[1]


def drawn(n, seed):
    generator = torch.Generator().manual_seed(seed)
    return (
        2 * torch.randn(HEADS, n, SIZE, generator=generator),
        2 * torch.randn(SHARED, n, SIZE, generator=generator),
        torch.randn(SHARED, n, SIZE, generator=generator),
    )


def attended(query, key, value, passes):
    """The same through `SegmentedRow`, the tokens handed over in these passes; states come multiplied as models give them."""
    row = SegmentedRow(PREFIX, LENS, Rotary(), longest=100)
    parts, done = [], 0
    for n in passes:
        row.begin_pass(n)
        now = slice(done, done + n)
        q, k = query[:, now] * Rotary.attention_scaling, key[:, now] * Rotary.attention_scaling
        parts.append(row.attend(0, q, k, value[:, now], SCALING))
        done += n
    return torch.cat(parts, dim=1)


@pytest.mark.parametrize("at_once", [1, 3, 128])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_prompt_and_generated_tokens_attend_as_specified(seed, at_once, monkeypatch):
    monkeypatch.setattr(reweighting, "QUERIES_AT_ONCE", at_once)
    n = PREFIX + sum(LENS) + SUFFIX
    query, key, value = drawn(n, seed)
    expected = as_specified(query, key, value, n)
    # the last two suffix tokens come one by one, as generated ones do
    torch.testing.assert_close(attended(query, key, value, [n - 2, 1, 1]), expected, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(attended(query, key, value, [n]), expected, atol=1e-5, rtol=1e-4)


def test_copy_goes_on_without_the_original():
    n = PREFIX + sum(LENS) + SUFFIX
    query, key, value = drawn(n, 4)
    row = SegmentedRow(PREFIX, LENS, Rotary(), longest=100)
    row.begin_pass(n - 1)
    row.attend(0, query[:, :-1], key[:, :-1], value[:, :-1], SCALING)
    outs = []
    for _ in range(2):
        other = row.copy()
        other.begin_pass(1)
        outs.append(other.attend(0, query[:, -1:], key[:, -1:], value[:, -1:], SCALING))
    assert torch.equal(*outs)
    assert row.n_tokens == n - 1
