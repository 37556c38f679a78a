"""Seeded draws inside vLLM's sampler, without an engine."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("vllm")

from vllm import SamplingParams  # noqa: E402
from vllm.v1.sample.logits_processor import BatchUpdate, MoveDirectionality  # noqa: E402

from evenhand.generate.backend import Ask  # noqa: E402
from evenhand.generate.drawing import Rows  # noqa: E402
from evenhand.generate.vllm_draws import SeededDraw, draw_arguments  # noqa: E402
from evenhand.records import Message, Sampling  # noqa: E402

SAMPLING = Sampling(top_p=0.9, max_tokens=5)
LOGITS = torch.randn(3, 40, generator=torch.Generator().manual_seed(1))


def parameters(seed):
    return SamplingParams(max_tokens=5, extra_args=draw_arguments(SAMPLING, seed))


def expected(seed, row, steps):
    """What the transformers backend draws from the same logits."""
    rows = Rows([Ask((Message(role="user", content="A."),), SAMPLING, seed)], [[]], [[]], LOGITS.device)
    return [rows.draw(LOGITS[row : row + 1])[0].item() for _ in range(steps)]


def opened(*added):
    processor = SeededDraw(None, LOGITS.device, False)
    processor.update_state(BatchUpdate(batch_size=len(added), removed=[], added=list(added), moved=[]))
    return processor


def left(processor):
    """The tokens that each row can still draw."""
    return [torch.nonzero(row > float("-inf"))[:, 0].tolist() for row in processor.apply(LOGITS.clone())]


def test_the_drawn_token_is_all_that_is_left():
    outputs = [[], [], []]
    processor = opened((0, parameters(7), [1], outputs[0]), (2, parameters(8), [1], outputs[2]))
    for step in range(5):
        first, second, third = left(processor)
        assert first == [expected(7, 0, step + 1)[-1]]
        assert third == [expected(8, 2, step + 1)[-1]]
        # a request without a seed is left alone
        assert len(second) == 40
        outputs[0].append(first[0])
        outputs[2].append(third[0])


def test_a_request_keeps_its_numbers_when_it_moves_or_comes_back():
    before = expected(7, 0, 2)
    # it comes back with two tokens after others took its place
    processor = opened((0, parameters(8), [1], []), (1, parameters(7), [1], list(before)))
    swapped = BatchUpdate(batch_size=2, removed=[], added=[], moved=[(0, 1, MoveDirectionality.SWAP)])
    processor.update_state(swapped)
    assert left(processor)[:2] == [expected(7, 0, 3)[-1:], expected(8, 1, 1)]
    processor.update_state(BatchUpdate(batch_size=1, removed=[1], added=[], moved=[]))
    assert len(left(processor)[1]) == 40


def test_without_such_requests_nothing_is_touched():
    processor = opened((0, SamplingParams(), [1], []))
    assert torch.equal(processor.apply(LOGITS.clone()), LOGITS)
    assert processor.is_argmax_invariant()
