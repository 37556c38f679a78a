"""Bootstrap intervals of the pooled measures, by document or by assignment.

Source: Steen and Markert 2024, section 5; docs/papers.md#steen-bootstrap. "document" draws originals, and with
each all its instances; "assignment" keeps every original and draws assignments within it. The mean of document scores
(distinguishability) has only the first kind: `resampling.cluster_interval` with one cluster a document.
"""

import logging
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import DataError
from .count_table import CountTable
from .shares import check_choice, defined

log = logging.getLogger(__name__)

# a measure on arrays: counts (..., fields, groups) to scores (...), nan where undefined
Statistic = Callable[[NDArray[np.float64]], NDArray[np.float64]]
Unit = Literal["document", "assignment"]
# what undefined replicates do: "omit" leaves them out, "propagate" leaves no interval (the released program)
Undefined = Literal["omit", "propagate"]

# replicates whose weights are held at once
CHUNK = 64
# least share of defined replicates below which an interval is doubtful
LEAST_DEFINED = 0.95


@dataclass(frozen=True)
class BootstrapPlan:
    """How replicates are drawn and turned into an interval."""

    resamples: int = 1000
    seed: int = 0
    # share of the replicates between the bounds
    level: float = 0.95
    undefined: Undefined = "omit"

    def __post_init__(self) -> None:
        """Refuse what cannot be drawn."""
        check_choice(self.undefined, get_args(Undefined), "undefined")
        if self.resamples < 1 or not 0 < self.level < 1:
            raise DataError(
                f"a bootstrap needs resamples >= 1 and a level between 0 and 1, got {self.resamples} and {self.level}"
            )


@dataclass(frozen=True)
class BootstrapInterval:
    """A score with its percentile interval."""

    # of the full data, not the mean of the replicates; None when undefined
    estimate: float | None
    # bounds; may be infinite; None when no replicate is defined, when one is not and `undefined` is "propagate", and for a bound
    # that lies between -inf and inf
    low: float | None
    high: float | None
    # replicates drawn, and those with a defined score
    n: int
    n_defined: int

    @property
    def is_doubtful(self) -> bool:
        """Whether under 95 % of the replicates have a score."""
        return self.n_defined < LEAST_DEFINED * self.n


def bootstrap(
    statistic: Statistic, table: CountTable, unit: Unit, plan: BootstrapPlan | None = None
) -> BootstrapInterval:
    """Score of the pooled counts and its interval over drawn documents or assignments.

    Args:
        statistic: `word_list_scores`, `inclusion_scores` or `hallucination_scores`.
        table: counts with the statistic's fields.
        unit: what is drawn.
        plan: number of resamples, seed, level, and what undefined replicates do.

    Raises:
        DataError: the unit is not known, or the table has no document.
    """
    plan = plan or BootstrapPlan()
    _check(table, unit)
    weights = _drawn_weights(table, unit, plan.resamples, np.random.default_rng(plan.seed))
    scores = np.concatenate([_scores(statistic, table, chunk) for chunk in weights])
    return interval(scores, plan, estimate=float(statistic(table.counts.sum(axis=0).astype(float))))


def replicates(
    statistic: Statistic, table: CountTable, unit: Unit, draws: Iterable[Sequence[int] | Sequence[Sequence[int]]]
) -> NDArray[np.float64]:
    """Score of each given resample, shape (resamples,); nan where undefined.

    Args:
        statistic: as in `bootstrap`.
        table: counts with the statistic's fields.
        unit: what was drawn.
        draws: of unit "document", positions of documents; of unit "assignment", for each document positions of assignments.

    Raises:
        DataError: the unit is not known, the table has no document, or a position is none of the table's.
    """
    _check(table, unit)
    weights = [_given_weights(table, unit, draw) for draw in draws]
    return np.concatenate([_scores(statistic, table, each[None, :]) for each in weights]) if weights else np.empty(0)


def interval(scores: ArrayLike, plan: BootstrapPlan, estimate: float = math.nan) -> BootstrapInterval:
    """Percentile interval of replicates, ends interpolated linearly; warns when under 95 % of them are defined.

    Args:
        scores: of the replicates, nan where undefined, shape (resamples,).
        plan: level, and what undefined replicates do.
        estimate: score of the full data, nan when undefined.
    """
    array = np.asarray(scores, dtype=float)
    known = np.sort(array[~np.isnan(array)])
    usable = len(known) > 0 and (plan.undefined == "omit" or len(known) == len(array))
    tail = (1 - plan.level) / 2
    low, high = (_percentile(known, tail), _percentile(known, 1 - tail)) if usable else (math.nan, math.nan)
    found = BootstrapInterval(defined(estimate), defined(low), defined(high), len(array), len(known))
    if found.is_doubtful:
        log.warning("only %d of %d bootstrap replicates have a defined score", found.n_defined, found.n)
    return found


def _percentile(ordered: NDArray[np.float64], q: float) -> float:
    """As numpy's linear percentile, but infinite beside one infinity, where that can give nan; nan between -inf and inf."""
    place = q * (len(ordered) - 1)
    below = math.floor(place)
    low, high = ordered[below], ordered[min(below + 1, len(ordered) - 1)]
    if low == high or place == below:
        return float(low)
    if math.isinf(low) or math.isinf(high):
        # python's floats, which do not warn of inf - inf
        return float(low) + float(high)
    return float(low + (place - below) * (high - low))


def _scores(statistic: Statistic, table: CountTable, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scores of resamples that hold each assignment as often as its weight says, (resamples, assignments)."""
    flat = table.counts.reshape(len(table.counts), -1).astype(float)
    return statistic((weights @ flat).reshape(-1, *table.counts.shape[1:]))


def _drawn_weights(
    table: CountTable, unit: Unit, resamples: int, generator: np.random.Generator
) -> Iterator[NDArray[np.float64]]:
    """How often each assignment is in each resample, (up to CHUNK, assignments) at a time."""
    sizes = table.n_assignments()
    # what each draw chooses among: all documents, or the assignments of one document
    n, first = (
        (len(sizes), 0) if unit == "document" else (sizes[table.document], _first_assignments(table)[table.document])
    )
    n_draws = len(sizes) if unit == "document" else len(table.document)
    for start in range(0, resamples, CHUNK):
        rows = min(CHUNK, resamples - start)
        drawn = generator.integers(n, size=(rows, n_draws)) + first
        cells = drawn + np.arange(rows)[:, None] * n_draws
        weights = np.bincount(cells.ravel(), minlength=rows * n_draws).reshape(rows, n_draws).astype(float)
        yield weights[:, table.document] if unit == "document" else weights


def _given_weights(table: CountTable, unit: Unit, draw: Sequence[int] | Sequence[Sequence[int]]) -> NDArray[np.float64]:
    sizes = table.n_assignments()
    if unit == "document":
        positions = _positions(draw, len(sizes), "documents")
        return np.bincount(positions, minlength=len(sizes))[table.document].astype(float)
    if len(draw) != len(sizes):
        raise DataError(f"a resample of assignments has one list a document: {len(sizes)} are needed, got {len(draw)}")
    first = _first_assignments(table)
    parts = [
        _positions(chosen, size, f"assignments of document {document!r}") + start
        for chosen, size, start, document in zip(draw, sizes, first, table.document_ids, strict=True)
    ]
    return np.bincount(np.concatenate(parts), minlength=len(table.document)).astype(float)


def _positions(given: object, n: int, what: str) -> NDArray[np.intp]:
    positions = np.asarray(given, dtype=np.intp)
    if positions.ndim != 1 or (positions < 0).any() or (positions >= n).any():
        raise DataError(f"a resample holds positions of the {what}, 0 to {n - 1}, got {positions.tolist()}")
    return positions


def _first_assignments(table: CountTable) -> NDArray[np.intp]:
    """Position of each document's first assignment, shape (documents,)."""
    return np.searchsorted(table.document, np.arange(len(table.document_ids)))


def _check(table: CountTable, unit: Unit) -> None:
    check_choice(unit, get_args(Unit), "unit")
    if not table.document_ids:
        raise DataError("a bootstrap needs at least one document, got none")
