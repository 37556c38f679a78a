"""Which requests share an optimiser step, and how a step is cut into micro-batches.

A step always has the same number of requests, whatever their lengths. Packed sequences need no padding, so a micro-batch
costs its tokens: the longest request goes to the micro-batch with the fewest tokens so far (Graham 1969), which leaves
processes waiting for each other the least. Families of requests, where there are any, go together, and what their prompts begin
with alike costs once.
"""

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import torch
from transformers.trainer_pt_utils import BatchRebalanceSampler


class RequestSampler(BatchRebalanceSampler):
    """Micro-batches of one process, as lists of row numbers.

    transformers' Trainer knows its base class to be aware of processes and to be no random sampler. Where the last step of an
    epoch has fewer requests than there are processes, the shortest of them are run by several; the trainer counts each once.
    """

    def __init__(
        self,
        lengths: Sequence[int],
        shape: tuple[int, int, int],
        rank: int,
        seed: int,
        epoch: Callable[[], int],
        families: Sequence[tuple[int, int]] | None = None,
    ) -> None:
        """See the class.

        Args:
            lengths: tokens of each row.
            shape: rows of a step over all processes, processes, micro-batches of a process in a step.
            rank: number of this process.
            seed: of the order of the rows; each epoch has its own.
            epoch: tells the number of the epoch that begins.
            families: of each row, as `groups.families` gives them: rows of one stay together as far as there are others to go
                round. None shuffles rows one by one.
        """
        self.lengths = list(lengths)
        self.families = families or [(row, 0) for row in range(len(self.lengths))]
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
        # families in the order of their first rows
        drawn = {self.families[row]: place for place, row in reversed(list(enumerate(order)))}
        order.sort(key=lambda row: drawn[self.families[row]])
        for start in range(0, len(order), self.effective_batch_size):
            yield order[start : start + self.effective_batch_size]

    def __len__(self) -> int:
        full, remainder = divmod(len(self.lengths), self.effective_batch_size)
        return full * self._slots(self.effective_batch_size) + self._slots(remainder)

    def set_epoch(self, epoch: int) -> None:
        """Nothing: after a resumption accelerate would tell the wrong one."""

    def share(self, step: Sequence[int]) -> list[list[int]]:
        """This process's micro-batches of a step; every process has as many."""
        return self._bins(step)[self.rank :: self.dp_size]

    def _bins(self, step: Sequence[int]) -> list[list[int]]:
        """The micro-batches of all processes, those of like cost, which run side by side, next to each other."""
        slots = self._slots(len(step))
        bins: list[list[int]] = [[] for _ in range(slots * self.dp_size)]
        for rows in sorted(self._units(step, len(bins)), key=lambda rows: (-self._tokens(rows), rows)):
            min(bins, key=self._tokens).extend(rows)
        shortest = itertools.cycle(sorted(step, key=lambda row: (self.lengths[row], row)))
        for empty in (b for b in bins if not b):
            empty.append(next(shortest))
        return sorted(bins, key=self._tokens, reverse=True)

    def _units(self, step: Sequence[int], n_units: int) -> list[list[int]]:
        """The families of a step, the largest halved until there are `n_units`, or all are single rows."""
        of_family: dict[tuple[int, int], list[int]] = {}
        for row in step:
            of_family.setdefault(self.families[row], []).append(row)
        units = list(of_family.values())
        while len(units) < min(n_units, len(step)):
            largest = max(units, key=len)
            units.remove(largest)
            units += [largest[::2], largest[1::2]]
        return units

    def _slots(self, n_rows: int) -> int:
        """Micro-batches of each process for a step of `n_rows` rows: no more than there are rows for."""
        return min(self.grad_accum, max(1, n_rows // self.dp_size)) if n_rows else 0

    def most_tokens(self, epochs: int) -> int:
        """Tokens of the largest micro-batch that any process meets in `epochs` epochs, as if no prompts began alike."""
        return max(
            sum(self.lengths[row] for row in rows)
            for epoch in range(epochs)
            for step in self._steps(epoch)
            for rows in self._bins(step)
        )

    def _tokens(self, rows: Sequence[int]) -> int:
        again = sum((n - 1) * shared for (_, shared), n in Counter(self.families[row] for row in rows).items())
        return sum(self.lengths[row] for row in rows) - again
