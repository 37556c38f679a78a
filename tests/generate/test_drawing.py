"""Draws against hand-made distributions and against vLLM's own filters."""

import math
from itertools import pairwise

import numpy as np
import pytest

from evenhand.generate.drawing import NGramBan

torch = pytest.importorskip("torch")

from evenhand.errors import UnfitModelError  # noqa: E402
from evenhand.generate import drawing  # noqa: E402
from evenhand.generate.backend import Ask  # noqa: E402
from evenhand.generate.drawing import Rows, draw_tokens  # noqa: E402
from evenhand.records import Message, Sampling  # noqa: E402

PROMPT = (Message(role="user", content="The ferry."),)
# .5 .3 .15 .05
FOUR = torch.tensor([0.5, 0.3, 0.15, 0.05]).log()


def draw(logits, numbers, **sampling):
    """One token for each number, all rows with the same logits and parameters."""
    s = Sampling(**sampling)
    column = [torch.full((len(numbers),), float(v), dtype=torch.float64) for v in (s.min_p, s.top_k, s.top_p)]
    temperature = torch.full((len(numbers),), s.temperature, dtype=torch.float64)
    rows = logits.expand(len(numbers), -1)
    return draw_tokens(rows, torch.tensor(numbers, dtype=torch.float64), temperature, tuple(column)).tolist()


def shares(logits, n=2000, **sampling):
    """Share of each token over evenly spread numbers: what a row draws with which probability, to 1/n."""
    tokens = draw(logits, [(i + 0.5) / n for i in range(n)], **sampling)
    return torch.bincount(torch.tensor(tokens), minlength=len(logits)) / n


@pytest.mark.parametrize(
    ("sampling", "allowed"),
    [
        # what is left of .5 .3 .15 .05 after each filter
        ({"top_k": 2}, {0, 1}),
        ({"top_p": 0.6}, {0, 1}),
        ({"top_p": 0.5}, {0}),
        ({"min_p": 0.35}, {0, 1}),
        # top-p is taken of what top-k left: .5 / .8 = .625
        ({"top_k": 2, "top_p": 0.6}, {0}),
        # and of what min-p left: .5 / .95 = .526, (.5 + .3) / .95 = .842
        ({"min_p": 0.2, "top_p": 0.85}, {0, 1, 2}),
        ({"top_k": 9}, {0, 1, 2, 3}),
        ({}, {0, 1, 2, 3}),
    ],
)
def test_filters_leave_the_tokens_they_should(sampling, allowed):
    assert set(torch.nonzero(shares(FOUR, **sampling))[:, 0].tolist()) == allowed


def test_tokens_are_drawn_with_their_probabilities():
    torch.testing.assert_close(shares(FOUR), torch.tensor([0.5, 0.3, 0.15, 0.05]), atol=1e-3, rtol=0)
    # .5 / .8 and .3 / .8
    torch.testing.assert_close(shares(FOUR, top_k=2), torch.tensor([0.625, 0.375, 0, 0]), atol=1e-3, rtol=0)


def test_temperature_sharpens_and_zero_takes_the_likeliest():
    # squares of .5 .3 .15 .05 are .25 .09 .0225 .0025, together .365
    expected = torch.tensor([0.25, 0.09, 0.0225, 0.0025]) / 0.365
    torch.testing.assert_close(shares(FOUR, temperature=0.5), expected, atol=1e-3, rtol=0)
    assert draw(FOUR, [0.99], temperature=0) == [0]


def test_tokens_as_likely_as_the_kth_stay():
    tied = torch.tensor([0.4, 0.2, 0.2, 0.2]).log()
    assert set(draw(tied, [0.1, 0.5, 0.7, 0.9], top_k=2)) == {0, 1, 2, 3}


@pytest.mark.parametrize(
    "sampling",
    [{}, {"top_p": 0.9}, {"top_p": 0.999}, {"top_k": 5}, {"top_k": 300}, {"min_p": 0.01}, {"min_p": 1e-6},
     {"top_k": 300, "top_p": 0.9}, {"min_p": 0.001, "top_p": 0.95}],
)  # fmt: skip
@pytest.mark.parametrize("spread", [0.1, 1.0, 4.0])
def test_likeliest_few_give_the_draw_of_the_whole_sort(sampling, spread, monkeypatch):
    logits = spread * torch.randn(1000, generator=torch.Generator().manual_seed(3))
    numbers = [(i + 0.5) / 200 for i in range(200)]
    monkeypatch.setattr(drawing, "FIRST_LOOK", 1000)
    expected = draw(logits, numbers, **sampling)
    monkeypatch.setattr(drawing, "FIRST_LOOK", 32)
    assert draw(logits, numbers, **sampling) == expected


@pytest.mark.parametrize(
    "sampling", [{"top_k": 7}, {"top_p": 0.8}, {"top_k": 20, "top_p": 0.7}, {"temperature": 0.7, "top_p": 0.9}]
)
def test_distribution_is_that_of_vllms_filters(sampling):
    filters = pytest.importorskip("vllm.v1.sample.ops.topk_topp_sampler")
    logits = 2 * torch.randn(60, generator=torch.Generator().manual_seed(1))
    s = Sampling(**sampling)
    k = torch.tensor([s.top_k]) if s.top_k else None
    p = torch.tensor([s.top_p]) if s.top_p < 1 else None
    expected = filters.apply_top_k_top_p((logits / s.temperature)[None].clone(), k, p).softmax(dim=-1)[0]
    torch.testing.assert_close(shares(logits, n=20_000, **sampling), expected, atol=1e-4, rtol=0)


def rows(*asks, ids=None, prompts=None):
    none = [[] for _ in asks]
    return Rows(asks, prompts or none, ids or none, torch.device("cpu"))


def ask(seed=0, **sampling):
    return Ask(PROMPT, Sampling(**sampling), seed)


def test_penalty_lowers_generated_tokens_only():
    # token 0 leads with 2.0 against 1.5; once drawn and divided by 2 it falls to 1.0
    logits = torch.tensor([[2.0, 1.5]] * 2)
    both = rows(ask(temperature=0, repetition_penalty=2.0), ask(temperature=0))
    assert both.draw(logits)[0].tolist() == [0, 0]
    assert both.draw(logits)[0].tolist() == [1, 0]


def test_penalty_looks_at_the_prompt_where_it_is_asked_to():
    # token 0 leads with 2.0 against 1.5, and stands in both prompts
    logits = torch.tensor([[2.0, 1.5]] * 2)
    asks = [ask(temperature=0, repetition_penalty=2.0, include_prompt=include) for include in (True, False)]
    assert rows(*asks, prompts=[[0], [0]]).draw(logits)[0].tolist() == [1, 0]


# few tokens, so that sequences come again soon
FEW = torch.randn(12, 4, generator=torch.Generator().manual_seed(3))
BEGINNING = [0, 1, 2, 3, 0, 1, 3, 2]
REPEATING = [
    {"no_repeat_ngram_size": 3},
    {"no_repeat_ngram_size": 2, "include_prompt": True},
    {"no_repeat_ngram_size": 3, "include_prompt": True, "repetition_penalty": 1.2},
    {"repetition_penalty": 3.0, "include_prompt": True},
]


def by_transformers(sampling):
    """Greedy tokens by transformers' own processors, which look at all that they are given."""
    transformers = pytest.importorskip("transformers")
    seen = BEGINNING[:] if sampling.include_prompt else []
    n = len(seen)
    processors = [transformers.RepetitionPenaltyLogitsProcessor(sampling.repetition_penalty)]
    if sampling.no_repeat_ngram_size:
        processors.append(transformers.NoRepeatNGramLogitsProcessor(sampling.no_repeat_ngram_size))
    for logits in FEW:
        scores = logits[None]
        for processor in processors:
            scores = processor(torch.tensor([seen], dtype=torch.long), scores)
        seen.append(int(scores.argmax()))
    return seen[n:]


@pytest.mark.parametrize("values", REPEATING, ids=str)
def test_what_repeats_is_lowered_and_banned_as_by_transformers(values):
    sampling = Sampling(temperature=0, max_tokens=len(FEW), **values)
    alone = rows(Ask(PROMPT, sampling, 0), prompts=[BEGINNING])
    assert [alone.draw(logits[None])[0].item() for logits in FEW] == by_transformers(sampling)


@pytest.mark.parametrize("values", REPEATING, ids=str)
def test_vllms_processor_does_the_same_to_the_logits(values):
    repetition = pytest.importorskip("evenhand.generate.vllm_draws")
    from vllm import SamplingParams
    from vllm.v1.sample.logits_processor import BatchUpdate

    sampling = Sampling(temperature=0, max_tokens=len(FEW), **values)
    processor = repetition.Repetition(None, torch.device("cpu"), False)
    parameters = SamplingParams(extra_args=repetition.repetition_arguments(sampling))
    # one request asks for nothing and stays as it is; vLLM adds to the lists that it gave
    generated = []
    added = [(0, SamplingParams(), BEGINNING, []), (1, parameters, BEGINNING, generated)]
    processor.update_state(BatchUpdate(batch_size=2, removed=[], added=added, moved=[]))
    for logits in FEW:
        plain, found = processor.apply(torch.stack([logits, logits]))
        assert torch.equal(plain, logits)
        generated.append(int(found.argmax()))
    assert generated == by_transformers(sampling)


def test_a_row_keeps_its_ban_when_others_end():
    sampling = {"temperature": 0, "no_repeat_ngram_size": 2}
    both = rows(ask(temperature=0), ask(**sampling))
    steps = [both.draw(FEW[[0, 0]])[0].tolist()[1] for _ in range(3)]
    both.keep([1])
    steps += [both.draw(FEW[[0]])[0].item() for _ in range(3)]
    assert steps[0] == steps[1] != steps[2]
    pairs = list(pairwise(steps))
    assert len(set(pairs)) == len(pairs)


def test_log_probability_is_the_models_own_whatever_the_sampling():
    tokens, logps = rows(ask(temperature=0, top_k=1, repetition_penalty=3.0)).draw(2 * FOUR[None])
    # .25 / .365, see above
    assert tokens.tolist() == [0]
    assert logps.tolist() == pytest.approx([math.log(0.25 / 0.365)])


def test_row_draws_the_same_in_any_company():
    logits = torch.randn(5, 50, generator=torch.Generator().manual_seed(1))
    asks = [ask(seed, max_tokens=8 + seed) for seed in range(5)]
    together, alone = rows(*asks), rows(asks[3])
    steps = [together.draw(logits)[0].tolist() for _ in range(3)]
    together.keep([1, 3])
    steps += [together.draw(logits[[1, 3]])[0].tolist() for _ in range(3)]
    assert [step[3] for step in steps[:3]] + [step[1] for step in steps[3:]] == [
        alone.draw(logits[3:4])[0].item() for _ in range(6)
    ]


def test_choices_are_all_a_row_can_draw_and_their_shares_sum_to_one():
    free = ask(temperature=0)
    both = rows(free, Ask(PROMPT, Sampling(temperature=0), 0, ("b", "d")), ids=[[], [1, 3]])
    logits = FOUR.expand(2, -1)
    empty, found = both.choice_probabilities(logits)
    assert empty == {}
    # .3 : .05
    assert found == pytest.approx({"b": 6 / 7, "d": 1 / 7})
    tokens, logps = both.draw(logits)
    assert tokens.tolist() == [0, 1]
    assert logps.tolist() == pytest.approx([math.log(0.5), math.log(0.3)])


@pytest.mark.parametrize("strange", ["nan", "inf"])
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_logits_that_are_no_numbers_are_one_message(strange, temperature):
    drawing = rows(*(Ask(PROMPT, Sampling(temperature=temperature), seed) for seed in (1, 2)))
    logits = torch.stack([FOUR, FOUR])
    logits[1, 2] = float(strange)
    with pytest.raises(UnfitModelError, match=r"logits are not numbers .* write model\.dtype"):
        drawing.draw(logits)


def test_engine_that_draws_from_no_numbers_is_told_so():
    with pytest.raises(UnfitModelError, match="logits are not numbers"):
        draw(torch.full((4,), math.nan), [0.5])


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
