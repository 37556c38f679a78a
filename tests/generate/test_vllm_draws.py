"""Seeded draws inside vLLM's sampler, without an engine."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("vllm")

from vllm import SamplingParams  # noqa: E402
from vllm.v1.sample.logits_processor import BatchUpdate, MoveDirectionality  # noqa: E402

from evenhand.generate.backend import Ask  # noqa: E402
from evenhand.generate.drawing import Rows  # noqa: E402
from evenhand.generate.vllm_draws import Repetition, SeededDraw, draw_arguments, repetition_arguments  # noqa: E402
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


HYBRID = Sampling(temperature=0, repetition_penalty=1.5, max_tokens=12)
BANNED = Sampling(temperature=0, no_repeat_ngram_size=2, max_tokens=12)
BOTH = Sampling(temperature=0, repetition_penalty=1.2, no_repeat_ngram_size=1, include_prompt=True, max_tokens=12)


def alone(sampling, row, steps=12):
    """What the transformers backend writes from the same logits, token by token, with nothing beside it."""
    rows = Rows([Ask((Message(role="user", content="A."),), sampling, 0)], [[3, 4]], [[]], LOGITS.device)
    return [rows.draw(LOGITS[row : row + 1])[0].item() for _ in range(steps)]


def test_rows_that_come_go_and_move_repeat_as_little_as_alone():
    requests = {  # which logits each has, what it asks for, and what it has written
        "hybrid": (0, HYBRID, []), "banned": (1, BANNED, []), "both": (2, BOTH, []), "plain": (0, Sampling(), []),
    }  # fmt: skip
    place: dict[int, str] = {}
    processor = Repetition(None, LOGITS.device, False)

    def update(added=(), removed=(), moved=()):
        entries = [
            (index, SamplingParams(extra_args=repetition_arguments(requests[name][1])), [3, 4], requests[name][2])
            for index, name in added
        ]
        processor.update_state(BatchUpdate(batch_size=0, removed=list(removed), added=entries, moved=list(moved)))
        place.update(added)

    def step():
        logits = torch.stack([LOGITS[requests[place[index]][0]] for index in range(len(place))])
        for index, token in enumerate(processor.apply(logits).argmax(dim=-1).tolist()):
            requests[place[index]][2].append(token)
        processor.update_state(None)

    update([(0, "hybrid"), (1, "plain"), (2, "banned")])
    step()
    step()
    place[0], place[2] = place[2], place[0]
    update(moved=[(0, 2, MoveDirectionality.SWAP)])
    step()
    # one ends, the last one moves to its index, and another comes
    place[1] = place.pop(2)
    update(removed=[1], moved=[(2, 1, MoveDirectionality.UNIDIRECTIONAL)])
    step()
    update([(2, "both")])
    step()
    step()
    assert requests["plain"][2] == [int(LOGITS[0].argmax())] * 3
    assert [len(requests[name][2]) for name in ("hybrid", "banned", "both")] == [6, 6, 2]
    for name in ("hybrid", "banned", "both"):
        row, sampling, written = requests[name]
        assert written == alone(sampling, row, len(written))
        assert len(set(written)) > 1
    # what it had written before it comes back is looked at, too
    back = Repetition(None, LOGITS.device, False)
    asked = SamplingParams(extra_args=repetition_arguments(HYBRID))
    written = alone(HYBRID, 0, 4)
    back.update_state(BatchUpdate(batch_size=1, removed=[], added=[(0, asked, [], written)], moved=[]))
    assert back.apply(LOGITS[:1].clone()).argmax().item() == alone(HYBRID, 0, 5)[-1]


def test_logits_of_a_padded_vocabulary_are_changed_in_place():
    processor = Repetition(None, LOGITS.device, False)
    written = [5]
    asked = SamplingParams(extra_args=repetition_arguments(HYBRID))
    processor.update_state(BatchUpdate(batch_size=1, removed=[], added=[(1, asked, [1], written)], moved=[]))
    # the engine's logits are a part of wider ones
    padded = torch.ones(2, 48)
    assert processor.apply(padded[:, :40]).data_ptr() == padded.data_ptr()
    assert padded[1, 5] == pytest.approx(1 / 1.5)
    assert int((padded != 1).sum()) == 1
