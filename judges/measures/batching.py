"""Which texts are run together: parts that memory can hold, and in them batches of like length."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")

# text of a value, summary
Compared = tuple[str, str]


def in_flight(pairs: Sequence[Compared], lengths: Mapping[str, int], most: int) -> Iterator[list[Compared]]:
    """The pairs, in order, in parts whose distinct texts have up to `most` tokens together; a single pair may have more.

    Args:
        pairs: texts of values with summaries; the nearer to each other those of one text stand, the less is run twice.
        lengths: tokens of each text.
        most: tokens of a part.
    """
    part: list[Compared] = []
    held: set[str] = set()
    n_tokens = 0
    for pair in pairs:
        new = {*pair} - held
        if part and n_tokens + sum(lengths[text] for text in new) > most:
            yield part
            part, held, n_tokens = [], set(), 0
            new = {*pair}
        part.append(pair)
        held |= new
        n_tokens += sum(lengths[text] for text in new)
    if part:
        yield part


def in_batches(pieces: Iterable[T], length: Callable[[T], tuple[int, ...]], batch_size: int) -> Iterator[list[T]]:
    """The distinct pieces in batches, those of like length together, so that little of a batch is padding."""
    order = sorted(dict.fromkeys(pieces), key=length)
    for start in range(0, len(order), batch_size):
        yield order[start : start + batch_size]
