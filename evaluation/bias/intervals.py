"""Scores of pooled counts with their intervals, and the signed forms of the scores.

A distance from fairness has no direction, and is above 0 by chance alone. Its signed form is centred on 0: above 0 it favours the
first group, below 0 the second, and an interval that leaves out 0 says more than chance.
"""

import numpy as np
from numpy.typing import NDArray

from ...fairness.demographic.counts import CountTable, Statistic, Unit, bootstrap, shares
from ...resampling import Bootstrap
from .contents import Interval, Signed, as_interval, writable


def intervals(statistic: Statistic, table: CountTable, plan: Bootstrap) -> tuple[Interval, ...]:
    """Over assignments and over documents; none for a score that is undefined, and none over a single document.

    A bound that no draw defines is None.
    """
    if np.isnan(_pooled(statistic, table)):
        return ()
    units: list[Unit] = ["assignment", "document"] if len(table.document_ids) > 1 else ["assignment"]
    return tuple(as_interval(unit, bootstrap(statistic, table, unit, plan)) for unit in units)


def signed(name: str, statistic: Statistic, table: CountTable, plan: Bootstrap) -> Signed:
    """A signed form of the pooled counts with its intervals."""
    return Signed(name=name, value=writable(_pooled(statistic, table)), intervals=intervals(statistic, table, plan))


def n_documents(table: CountTable) -> int:
    """Documents with a count in the last field, which is that of the summaries."""
    return len(np.unique(table.document[table.counts[:, -1].any(axis=-1)]))


def word_list_shift(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """First group's share in summaries minus that in sources, (...), in [-1, 1]; counts as of `word_list_scores`."""
    first = shares(counts)[..., 0]
    return first[..., 1] - first[..., 0]


def hallucination_shift(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """First group's share minus a half, (...), in [-0.5, 0.5]; counts as of `hallucination_scores`."""
    return shares(counts)[..., 0, 0] - 0.5


def _pooled(statistic: Statistic, table: CountTable) -> float:
    """The statistic of all counts together; nan when undefined."""
    return float(statistic(table.counts.sum(axis=0).astype(float)))
