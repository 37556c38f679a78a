"""Shares of groups, their distance, and the checks of counts that every measure makes.

Arrays hold nan where a share is undefined; records hold None.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import DataError
from ...resampling import defined

# the released program's order of genders
GENDERS = ("male", "female")


def shares(counts: ArrayLike) -> NDArray[np.float64]:
    """Shares of the groups in each row, in [0, 1]; a row without counts is undefined, all nan.

    Args:
        counts: not negative, shape (..., groups).
    """
    array = np.asarray(counts, dtype=float)
    total: NDArray[np.float64] = array.sum(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore"):
        return array / total


def total_variation(p: ArrayLike, q: ArrayLike) -> NDArray[np.float64]:
    """Total variation distance of distributions over the same groups, in [0, 1]; nan where one of them is undefined.

    Args:
        p: shape (..., groups).
        q: a shape that broadcasts with that of `p`.
    """
    gaps = np.abs(np.asarray(p, dtype=float) - np.asarray(q, dtype=float))
    distance: NDArray[np.float64] = gaps.sum(axis=-1) / 2
    return distance


def group_counts(counts: Mapping[str, int], groups: Sequence[str], what: str) -> NDArray[np.int64]:
    """The counts in the order of the groups, shape (groups,); a group that is not named counts 0.

    Args:
        counts: by group.
        groups: at least two, each once.
        what: what was counted, as an error should name it ("present").

    Raises:
        DataError: fewer than two groups, a group twice, a count of another group, or a count that is no number >= 0.
    """
    check_groups(groups)
    check_known(counts, groups, what)
    wrong = {group: count for group, count in counts.items() if count < 0 or count != int(count)}
    if wrong:
        raise DataError(f"counts of {what} are whole numbers of at least 0, got {wrong}")
    return np.array([counts.get(group, 0) for group in groups], dtype=np.int64)


def check_groups(groups: Sequence[str]) -> None:
    """Refuse a list of groups that cannot be compared.

    Raises:
        DataError: fewer than two groups, or a group twice.
    """
    if len(groups) < 2 or len(set(groups)) < len(groups):
        raise DataError(f"a measure compares two or more groups, each named once, got {list(groups)}")


def check_known(named: Mapping[str, float] | set[str], groups: Sequence[str], what: str) -> None:
    """Refuse groups that are not in the list.

    Raises:
        DataError: a name in `named` is no group.
    """
    unknown = sorted(set(named) - set(groups))
    if unknown:
        raise DataError(f"{what} names {', '.join(map(repr, unknown))}, but the groups are {', '.join(groups)}")


def by_group(groups: Sequence[str], values: ArrayLike) -> dict[str, float | None]:
    """Values by group; None where undefined."""
    return {group: defined(value) for group, value in zip(groups, np.asarray(values, dtype=float), strict=True)}


def counts_by_group(groups: Sequence[str], counts: NDArray[np.int64]) -> dict[str, int]:
    """Counts by group, as Python's numbers."""
    return dict(zip(groups, counts.tolist(), strict=True))


def check_choice(given: str, choices: Sequence[str], what: str) -> None:
    """Refuse a value that is none of the choices.

    Raises:
        DataError: the text names `what` and the choices.
    """
    if given not in choices:
        raise DataError(f"{what} {given!r} is not known; choices are {', '.join(choices)}")
