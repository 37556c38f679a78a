"""How much of each attribute value is in the sources, and how much of it a summary takes up: before any share is formed."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray

from ...errors import DataError


@dataclass(frozen=True)
class Masses:
    """Mass of each declared value in one sample; any unit, as long as it is one unit a side."""

    # of the sources, one number a declared value, at least 0
    source: tuple[float, ...]
    # of the summary, in the same order
    target: tuple[float, ...]
    # what the values are called; () when only their places are known
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Unscored:
    """A sample that has no answer, and why."""

    reason: str


@dataclass(frozen=True)
class MassTable:
    """Masses of many samples side by side; samples that declare fewer values are padded with 0."""

    # (samples, values)
    source: NDArray[np.float64]
    target: NDArray[np.float64]
    # which places are declared, (samples, values)
    declared: NDArray[np.bool_]


def pack(samples: Sequence[Masses]) -> MassTable:
    """The samples as one table.

    Raises:
        DataError: a sample has not one target mass and one name for each source mass; its place is named.
    """
    for row, each in enumerate(samples):
        if len(each.source) != len(each.target) or len(each.names) not in (0, len(each.source)):
            raise DataError(
                f"sample {row}: {len(each.source)} source masses, {len(each.target)} target masses and {len(each.names)} "
                "names; one of each is needed for every declared value"
            )
    lengths = np.array([len(each.source) for each in samples], dtype=int)
    declared = np.arange(lengths.max(initial=0)) < lengths[:, None]
    source, target = np.zeros(declared.shape), np.zeros(declared.shape)
    source[declared] = np.fromiter(chain.from_iterable(each.source for each in samples), float)
    target[declared] = np.fromiter(chain.from_iterable(each.target for each in samples), float)
    return MassTable(source, target, declared)


def batches(samples: Iterable[Masses], size: int) -> Iterator[list[Masses]]:
    """The samples in lists of at most that size."""
    left = iter(samples)
    while batch := list(islice(left, size)):
        yield batch
