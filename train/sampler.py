"""Which requests share an optimiser step, and how a step is cut into micro-batches.

A step always has the same number of requests, whatever their lengths. Packed sequences need no padding, so a micro-batch
costs its tokens: the longest request goes to the micro-batch with the fewest tokens so far (Graham 1969), which leaves
processes waiting for each other the least.
"""

import itertools
from collections.abc import Callable, Iterator, Sequence

import torch
from transformers.trainer_pt_utils import BatchRebalanceSampler


class RequestSampler(BatchRebalanceSampler):
    """Micro-batches of one process, as lists of row numbers.

    transformers' Trainer knows its base class to be aware of processes and to be no random sampler. Where the last step of an
    epoch has fewer requests than there are processes, the shortest of them are run twice, and count twice.
    """

    def __init__(
        self, lengths: Sequence[int], shape: tuple[int, int, int], rank: int, seed: int, epoch: Callable[[], int]
    ) -> None:
        """See the class.

        Args:
            lengths: tokens of each row.
            shape: rows of a step over all processes, processes, micro-batches of a process in a step.
            rank: number of this process.
            seed: of the order of the rows; each epoch has its own.
            epoch: tells the number of the epoch that begins.
        """
        self.lengths = list(lengths)
        self.effective_batch_size, self.dp_size, self.grad_accum = shape
        self.rank, self.seed = rank, seed
        self._epoch = epoch

    def __iter__(self) -> Iterator[list[int]]:
        for step in self._steps(self._epoch()):
            yield from self.share(step)

    def _steps(self, epoch: int) -> Iterator[list[int]]:
        """The rows of each step of an epoch."""
        generator = torch.Generator().manual_seed(self.seed + epoch)
        order = torch.randperm(len(self.lengths), generator=generator).tolist()
        for start in range(0, len(order), self.effective_batch_size):
            yield order[start : start + self.effective_batch_size]

    def __len__(self) -> int:
        full, rest = divmod(len(self.lengths), self.effective_batch_size)
        return full * self._slots(self.effective_batch_size) + self._slots(rest)

    def set_epoch(self, epoch: int) -> None:
        """Nothing: after a resumption accelerate would tell the wrong one."""

    def share(self, step: Sequence[int]) -> list[list[int]]:
        """This process's micro-batches of a step; every process has as many."""
        return self._bins(step)[self.rank :: self.dp_size]

    def _bins(self, step: Sequence[int]) -> list[list[int]]:
        """The micro-batches of all processes, those of like cost, which run side by side, next to each other."""
        slots = self._slots(len(step))
        bins: list[list[int]] = [[] for _ in range(slots * self.dp_size)]
        for row in sorted(step, key=lambda row: (-self.lengths[row], row)):
            min(bins, key=self._tokens).append(row)
        shortest = itertools.cycle(sorted(step, key=lambda row: (self.lengths[row], row)))
        for empty in (b for b in bins if not b):
            empty.append(next(shortest))
        return sorted(bins, key=self._tokens, reverse=True)

    def _slots(self, n_rows: int) -> int:
        """Micro-batches of each process for a step of `n_rows` rows: no more than there are rows for."""
        return min(self.grad_accum, max(1, n_rows // self.dp_size)) if n_rows else 0

    def most_tokens(self, epochs: int) -> int:
        """Tokens of the largest micro-batch that any process meets in `epochs` epochs."""
        return max(
            self._tokens(rows) for epoch in range(epochs) for step in self._steps(epoch) for rows in self._bins(step)
        )

    def _tokens(self, rows: Sequence[int]) -> int:
        return sum(self.lengths[row] for row in rows)
