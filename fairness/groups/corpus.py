"""BUR, UER, AUC and SOF of a corpus, from a stream of samples.

Sums are kept, not samples: memory does not grow with the corpus. Each value's row comes first, the aggregates after.
Source: Zhang et al. 2024, eq. 4; docs/papers.md#zhang-sof and #zhang-edges.
"""

import logging
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import DataError
from .masses import Masses, Unscored, batches, pack
from .shares import (
    DEFAULT_TAU,
    TAU_GRID,
    AucVariant,
    Mode,
    Rule,
    Shares,
    Target,
    area,
    compare,
    rule_of,
    second_order_fairness,
    under_represented,
    unfair_by_cutoff,
    unfair_by_tolerance,
    unfair_error_rate,
)

logger = logging.getLogger(__name__)

Floats = NDArray[np.float64]

NO_SOURCE_MASS = "source has no mass"
BATCH = 4096


@dataclass(frozen=True)
class ValueRow:
    """What became of one declared value, over the samples in which it took part; None when there were none."""

    # name, or place in the declared list when names are not known
    value: str
    n_samples: int
    # samples in which it was under-represented
    n_unfair: int
    # mean of what was lacking
    mean_shortfall: float | None


@dataclass(frozen=True)
class GroupFairness:
    """The measures of a corpus as fractions, lower is fairer; None when no sample could be scored."""

    by_value: tuple[ValueRow, ...]
    # share of samples with an under-represented value
    bur: float | None
    # mean over samples of the mean shortfall
    uer: float | None
    # area under `curve`
    auc: float | None
    # mean absolute deviation of the values' mean shortfalls: as the paper's tables
    sof: float | None
    # mean over samples of the sample's own: as the paper's formula
    sof_sample_mean: float | None
    # share of unfair samples at tolerances, or cut-offs of the released loop, of 0, 0.1, ..., 1; () when none was scored
    curve: tuple[float, ...]
    n_scored: int
    # reason -> samples
    left_out: dict[str, int]
    # values at the same place have other names in other samples: rows and `sof` then mix what does not belong together
    names_differ: bool
    tau: float
    rule: Rule
    aim: Target
    # what `curve` and `auc` sweep
    auc_variant: AucVariant


@dataclass
class _Sums:
    """Running sums over scored samples."""

    n: int = 0
    unfair: int = 0
    uer: float = 0.0
    sof: float = 0.0
    curve: Floats = field(default_factory=lambda: np.zeros(len(TAU_GRID)))
    # (kept, unfair, shortfall) of each value, (3, values)
    by_value: Floats = field(default_factory=lambda: np.zeros((3, 0)))

    def add(self, shares: Shares, tau: float, curve: ArrayLike) -> None:
        """Take in a batch of shape (samples, values) and whether its samples are unfair, shape (11, samples)."""
        scored = shares.scorable
        short = under_represented(shares, tau)
        self.n += int(scored.sum())
        self.unfair += int(short.any(axis=-1).sum())
        self.uer += float(np.nansum(unfair_error_rate(shares)))
        self.sof += float(np.nansum(second_order_fairness(shares)))
        self.curve += np.sum(curve, axis=-1)
        columns = np.stack([np.sum(x, axis=0) for x in (shares.kept, short, shares.shortfall)])
        wider = columns.shape[1] - self.by_value.shape[1]
        if wider > 0:
            self.by_value = np.pad(self.by_value, ((0, 0), (0, wider)))
        self.by_value[:, : columns.shape[1]] += columns


def group_fairness(
    samples: Iterable[Masses | Unscored],
    *,
    tau: float = DEFAULT_TAU,
    mode: Mode | Rule = "drop_zero",
    aim: Target = "ratio",
    auc: AucVariant = "tolerance",
) -> GroupFairness:
    """The measures of a corpus.

    Args:
        samples: masses of each sample (`text_masses`, or sources by tokens with a softmax over matching scores), or why
            there are none; read once.
        tau: share of its aimed-at share that a value may not fall to, in [0, 1].
        mode: which values take part and how ties count, see `shares`.
        aim: what is fair, see `compare`; weights are those of samples that all declare as many values.
        auc: what the area under the curve sweeps: "tolerance", the paper's definition, or "released_cutoff", the cut-off of the
            released loop (docs/papers.md#zhang-auc), which goes by that loop's values whatever the mode.

    Raises:
        DataError: as `pack` and `compare`; `auc` is neither; or a sample has more or fewer values than the aim has weights.
    """
    if auc not in get_args(AucVariant):
        raise DataError(f"auc={auc!r} is not known; take one of {', '.join(get_args(AucVariant))}")
    left_out: Counter[str] = Counter()
    names: dict[int, str] = {}
    differing: set[int] = set()
    sums = _Sums()
    for batch in batches(_aimed(_scorable(samples, left_out), aim), BATCH):
        for each in batch:
            differing |= {place for place, name in enumerate(each.names) if names.setdefault(place, name) != name}
        table = pack(batch)
        shares = compare(table.source, table.target, mode=mode, aim=aim, declared=table.declared)
        swept = unfair_by_tolerance(shares) if auc == "tolerance" else unfair_by_cutoff(table, tau=tau, aim=aim)
        sums.add(shares, tau, swept)
    if differing:
        logger.warning("values at the same place have other names in other samples; their rows and SOF mix them")
    labels = {place: name for place, name in names.items() if place not in differing}
    rows = []
    for place, (taken, short, lacking) in enumerate(sums.by_value.T.tolist()):
        shortfall = lacking / taken if taken else None
        rows.append(ValueRow(labels.get(place, str(place)), int(taken), int(short), shortfall))
    seen = np.array([row.mean_shortfall for row in rows if row.mean_shortfall is not None])
    n = sums.n
    return GroupFairness(
        by_value=tuple(rows),
        bur=sums.unfair / n if n else None,
        uer=sums.uer / n if n else None,
        auc=area(sums.curve / n) if n else None,
        sof=float(np.abs(seen - seen.mean()).mean()) if seen.size else None,
        sof_sample_mean=sums.sof / n if n else None,
        curve=tuple((sums.curve / n).tolist()) if n else (),
        n_scored=n,
        left_out=dict(left_out),
        names_differ=bool(differing),
        tau=tau,
        rule=rule_of(mode),
        aim=aim,
        auc_variant=auc,
    )


def _aimed(samples: Iterable[Masses], aim: Target) -> Iterator[Masses]:
    """The samples; one that has not a value for each weight of the aim is refused, whatever stands beside it in a batch."""
    for place, each in enumerate(samples):
        if not isinstance(aim, str) and len(aim) != len(each.source):
            raise DataError(
                f"the fairness target has {len(aim)} weights, but the scored sample at place {place} declares {len(each.source)} "
                "values; measure samples of other values apart, each with its own target"
            )
        yield each


def _scorable(samples: Iterable[Masses | Unscored], left_out: Counter[str]) -> Iterator[Masses]:
    for each in samples:
        if isinstance(each, Unscored):
            left_out[each.reason] += 1
        elif not any(each.source):
            left_out[NO_SOURCE_MASS] += 1
        else:
            yield each
