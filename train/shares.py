"""What a micro-batch counts among those that run side by side, and numbers gathered from processes that have unequally many."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from zlib import crc32


class Share(NamedTuple):
    """What a micro-batch of this process is of all that run side by side."""

    # pairs of all of them, over the mean of the step's micro-batches, or of the evaluation's
    pairs: float
    # what each of its pairs counts: less than 1 where other processes run it, too
    of_each: float
    # no earlier process runs it
    is_first: bool


ALONE = Share(1.0, 1.0, is_first=True)


def share_out(batches: Sequence[Mapping[str, Any]], accelerator: Any, device: Any) -> tuple[list[Share], Any]:
    """The share of each micro-batch of this process, its pairs as a number, and the weight of all processes' pairs.

    A request that several processes run at once counts once.

    Args:
        batches: those of a step, as many on every process.
        accelerator: of this process.
        device: where numbers are gathered.
    """
    import torch

    rows = [[n_pairs(batch), weight_of(batch), *_identity(batch)] for batch in batches]
    everyones = accelerator.gather(torch.tensor(rows, device=device)[None])  # (processes, micro-batches, 4)
    alike = (everyones[:, None, :, 2:] == everyones[None, :, :, 2:]).all(dim=-1)
    counts = 1 / alike.sum(dim=0)  # (processes, micro-batches)
    pairs = (everyones[:, :, 0] * counts).sum(dim=0)
    rank = accelerator.process_index
    firsts = ~alike[:rank, rank].any(dim=0)
    shares = list(map(Share, pairs.tolist(), counts[rank].tolist(), firsts.tolist()))
    return shares, (everyones[:, :, 1] * counts).sum()


def n_pairs(batch: Mapping[str, Any]) -> float:
    """Pairs of a micro-batch."""
    return len(batch["input_ids"]) / 2


def weight_of(batch: Mapping[str, Any]) -> float:
    """The weight of its pairs together."""
    return float(batch["weights"].sum()) if "weights" in batch else n_pairs(batch)


def _identity(batch: Mapping[str, Any]) -> tuple[float, float]:
    """Of the tokens that a micro-batch runs, in numbers that are exact on every device."""
    checksum = crc32(b"".join(tensors["input_ids"].cpu().numpy().tobytes() for tensors in batch["passes"]))
    return float(checksum >> 16), float(checksum & 0xFFFF)


@contextlib.contextmanager
def gathering_unequal(accelerator: Any, *, takes_part: bool = True) -> Iterator[None]:
    """Within it, `accelerator.gather` takes tensors whose first dimension differs from process to process.

    TRL gathers one value for each pair, or a sum over them, and processes need not have equally many.

    Args:
        accelerator: of this process.
        takes_part: False where another process has the same pairs: nothing of this one is gathered.
    """
    if accelerator.num_processes == 1:
        yield
        return
    import torch

    plain = accelerator.gather

    def gather(tensor: Any) -> Any:
        if not isinstance(tensor, torch.Tensor):
            return plain(tensor)
        if not takes_part:
            tensor = tensor[:0] if tensor.dim() else tensor * 0
        if tensor.dim() == 0:
            return plain(tensor)
        lengths = plain(torch.tensor([len(tensor)], device=tensor.device)).tolist()
        gathered = plain(accelerator.pad_across_processes(tensor)).reshape(
            len(lengths), max(lengths), *tensor.shape[1:]
        )
        return torch.cat([rows[:n] for rows, n in zip(gathered, lengths, strict=True)])

    accelerator.gather = gather
    try:
        yield
    finally:
        del accelerator.gather
