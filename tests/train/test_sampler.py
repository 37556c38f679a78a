"""Steps of equal size, cut into micro-batches of like cost, the same on every process."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("torch")


def micro_batches(
    lengths: list[int],
    shape: tuple[int, int, int],
    epoch: int = 0,
    seed: int = 5,
    families: list[tuple[int, int]] | None = None,
) -> list[list[list[int]]]:
    """Of each process, its micro-batches."""
    from evenhand.train.sampler import RequestSampler

    samplers = [RequestSampler(lengths, shape, rank, seed, lambda: epoch, families) for rank in range(shape[1])]
    found = [list(sampler) for sampler in samplers]
    assert [len(sampler) for sampler in samplers] == [len(each) for each in found]
    return found


@given(
    st.lists(st.integers(1, 50), min_size=1, max_size=40), st.integers(1, 3), st.integers(1, 3), st.integers(1, 3),
    st.none() | st.integers(1, 5),
)  # fmt: skip
def test_every_request_is_run_and_processes_keep_step(
    lengths: list[int], b: int, processes: int, steps: int, size: int | None
) -> None:
    families = None if size is None else [(row // size, 1) for row in range(len(lengths))]
    found = micro_batches(lengths, (b * processes * steps, processes, steps), families=families)
    assert len({len(each) for each in found}) == 1, "a process would wait for ever"
    assert all(batch for each in found for batch in each)
    run = sorted(row for each in found for batch in each for row in batch)
    assert set(run) == set(range(len(lengths)))
    # only where the last step has fewer requests than there are processes is one run twice
    rest = len(lengths) % (b * processes * steps)
    assert len(run) - len(lengths) == (processes - rest if 0 < rest < processes else 0)


def test_a_step_has_its_requests_whatever_their_lengths() -> None:
    (found,) = micro_batches([900, 10, 10, 10, 900, 10, 10, 10], (4, 1, 2))
    assert [sum(map(len, found[i : i + 2])) for i in (0, 2)] == [4, 4]


def test_long_requests_stand_alone() -> None:
    from evenhand.train.sampler import RequestSampler

    sampler = RequestSampler([30, 10, 10, 10], (4, 1, 2), 0, 5, lambda: 0)
    assert sampler.share([0, 1, 2, 3]) == [[0], [1, 2, 3]]


def test_processes_that_run_side_by_side_have_like_work() -> None:
    # by tokens: 8, 7, 6, 5 in the bins of a step of two processes and two micro-batches
    found = micro_batches([8, 7, 6, 5], (4, 2, 2))
    assert found == [[[0], [2]], [[1], [3]]]


def test_largest_micro_batch_is_that_of_any_process_and_epoch() -> None:
    from evenhand.train.sampler import RequestSampler

    lengths = [7, 1, 9, 3, 5, 2]
    met = [
        sum(lengths[row] for row in batch)
        for epoch in range(3)
        for process in micro_batches(lengths, (4, 2, 1), epoch)
        for batch in process
    ]
    assert RequestSampler(lengths, (4, 2, 1), 0, 5, lambda: 0).most_tokens(3) == max(met)


def test_both_sides_of_a_set_share_a_micro_batch_where_it_has_room() -> None:
    lengths, families = [10, 20] * 6, [(row % 6, 8) for row in range(12)]
    both = {frozenset((row, row + 6)) for row in range(6)}
    # three steps of two micro-batches for two: each is a set
    (found,) = micro_batches(lengths, (4, 1, 2), families=families)
    assert {frozenset(batch) for batch in found} == both
    # of steps of two requests in two micro-batches each is a set, too, but nothing is together in a micro-batch
    (found,) = micro_batches(lengths, (2, 1, 2), families=families)
    assert all(len(batch) == 1 for batch in found)
    assert {frozenset((*one, *other)) for one, other in zip(found[::2], found[1::2], strict=True)} == both
    # another epoch has another order of sets, and of the requests in one
    again = [micro_batches(lengths, (2, 1, 2), epoch, families=families)[0] for epoch in range(9)]
    assert len({tuple(map(tuple, each)) for each in again}) == 9


def test_what_a_family_begins_with_costs_once() -> None:
    from evenhand.train.sampler import RequestSampler

    sampler = RequestSampler([30, 30, 45, 10], (4, 1, 2), 0, 5, lambda: 0, [(0, 20), (0, 20), (1, 9), (2, 9)])
    # 30 + 10 are fewer than 45, so the 10 are with them
    assert sampler.share([0, 1, 2, 3]) == [[0, 1, 3], [2]]
    # whoever packs them need not share all that begins alike
    assert sampler.most_tokens(1) == 70


def test_a_single_family_is_shared_out_evenly() -> None:
    (found,) = micro_batches([5] * 8, (8, 1, 4), families=[(0, 4)] * 8)
    assert [len(batch) for batch in found] == [2, 2, 2, 2]


def test_order_depends_on_seed_and_epoch_only() -> None:
    lengths = list(range(1, 30))
    assert micro_batches(lengths, (4, 1, 2)) == micro_batches(lengths, (4, 1, 2))
    assert micro_batches(lengths, (4, 1, 2)) != micro_batches(lengths, (4, 1, 2), epoch=1)
    assert micro_batches(lengths, (4, 1, 2)) != micro_batches(lengths, (4, 1, 2), seed=6)
