"""Equal Coverage and Coverage Parity: does a summary, and a system in the long run, say as much of the documents of every value?

`coverage` makes the table by document and value of many sets at once, `equal_coverage` reduces it. A set without an answer has
nan in its measures, and the table says why; `evidence.cover_sets` does all of it from a classifier's probabilities. Over a
corpus, where a set's gaps can cancel (fair in the long run) or add up, `evaluation.audit.coverage` sums them.

Source: Li et al. 2025, section 3.3, eqs. 1 to 7; docs/papers.md#li-coverage and #li-parity.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import DataError
from ...resampling import NOISE, Bootstrap, drawn_weights
from ...text import did_you_mean
from .entailment import MERGE_ABOVE, Entailments

Floats = NDArray[np.float64]
CoverageMode = Literal["released", "paper"]

NO_UNIT = "no unit covered"
ONE_VALUE = "single value"


@dataclass(frozen=True)
class CoverageRule:
    """A mode taken apart; the default everywhere is "released"."""

    # a window counts only where entailment is the most probable class
    gate: bool
    # units that entail each other above this count once; None merges none
    merge_above: float | None
    # units that a mean runs over: those that some document entails, or all
    denominator: Literal["covered", "all"]
    # a set whose documents share one value has no answer; without this its Equal Coverage is 0
    skip_one_valued: bool


COVERAGE_RULES: dict[str, CoverageRule] = {
    "released": CoverageRule(gate=True, merge_above=MERGE_ABOVE, denominator="covered", skip_one_valued=True),
    "paper": CoverageRule(gate=False, merge_above=None, denominator="all", skip_one_valued=False),
}


@dataclass(frozen=True)
class CoverageTable:
    """Coverage of document sets, in [0, 1]; nan where there is none."""

    # p(d_i, S), mean over units, (sets, documents); nan for padding
    by_document: Floats
    # mean over documents, (sets,)
    overall: Floats
    # mean over the documents of each value, (sets, values); nan for an absent value
    by_value: Floats
    # documents of each value, (sets, values)
    counts: NDArray[np.intp]
    # units that the means run over, (sets,)
    n_units: NDArray[np.intp]
    # value of each document, -1 for padding, (sets, documents)
    labels: NDArray[np.intp]
    rule: CoverageRule

    @property
    def difference(self) -> Floats:
        """Coverage of each value less the overall one, (sets, values): positive is over-represented."""
        return np.asarray(self.by_value - self.overall[:, None])

    @property
    def no_unit(self) -> NDArray[np.bool_]:
        """Sets of which no unit is left to measure, (sets,)."""
        return np.asarray(self.n_units == 0)

    @property
    def one_valued(self) -> NDArray[np.bool_]:
        """Sets left out because too few values are present: fewer than two, or none where one will do, (sets,)."""
        return np.asarray((self.counts > 0).sum(axis=1) < (2 if self.rule.skip_one_valued else 1))

    @property
    def scored(self) -> NDArray[np.bool_]:
        """Sets that have an answer, (sets,)."""
        return ~(self.no_unit | self.one_valued)


def coverage_rule(mode: CoverageMode | CoverageRule) -> CoverageRule:
    """The rule that the mode stands for.

    Raises:
        DataError: there is no such mode.
    """
    if isinstance(mode, CoverageRule):
        return mode
    if mode not in COVERAGE_RULES:
        raise DataError(
            f"mode {mode!r} is not known{did_you_mean(mode, COVERAGE_RULES)} Modes are {', '.join(COVERAGE_RULES)}"
        )
    return COVERAGE_RULES[mode]


def coverage(entailments: Entailments, n_values: int, mode: CoverageMode | CoverageRule = "released") -> CoverageTable:
    """The coverage table of document sets.

    Args:
        entailments: gated and merged already where the mode wants that.
        n_values: declared attribute values; labels are below it.
        mode: which units count and whether one-valued sets do.

    Raises:
        DataError: a label is not below `n_values`, or the mode is unknown.
    """
    rule = coverage_rule(mode)
    if (entailments.labels >= n_values).any():
        raise DataError(f"a document's label is a place below {n_values}, got {int(entailments.labels.max())}")
    p = entailments.probability
    # einsum sums short axes several times faster than sum and any do; a sum of numbers in [0, 1] is 0 where all are
    covered = np.einsum("sdu->su", p) > 0
    counted = entailments.units & (covered | (rule.denominator == "all"))  # (sets, units)
    n_units = counted.sum(axis=1)
    real = entailments.labels >= 0
    by_document = over(np.einsum("sdu->sd", p), np.where(real, n_units[:, None], 0))
    filled = np.where(np.isnan(by_document), 0.0, by_document)
    has = (entailments.labels[..., None] == np.arange(n_values)).astype(float)  # (sets, documents, values)
    counts = np.einsum("sdv->sv", has).astype(np.intp)
    sums = np.einsum("sdv,sd->sv", has, filled)
    known = n_units > 0
    return CoverageTable(
        by_document=by_document,
        overall=over(filled.sum(axis=1), np.where(known, real.sum(axis=1), 0)),
        by_value=over(sums, np.where(known[:, None], counts, 0)),
        counts=counts,
        n_units=n_units,
        labels=entailments.labels,
        rule=rule,
    )


def equal_coverage(table: CoverageTable) -> Floats:
    """Mean over the values present of how far their coverage is from the overall one, (sets,), in [0, 1).

    0 is fair, lower is better; nan for sets without an answer.
    """
    gaps = np.abs(table.difference)
    present = ~np.isnan(gaps)
    return over(np.where(present, gaps, 0.0).sum(axis=1), np.where(table.scored, present.sum(axis=1), 0))


def over(sums: Floats, counts: NDArray[np.intp] | Floats) -> Floats:
    """Quotients; nan where nothing was counted."""
    return np.asarray(np.divide(sums, counts, out=np.full(np.shape(sums), np.nan), where=np.asarray(counts) > 0))


def parity_significance(
    deviations_of_value: ArrayLike, direction: Literal["over", "under"], *, resamples: int = 1000, seed: int = 0
) -> float:
    """Bootstrap p of a value being over- or under-represented, in [0, 1].

    One less the share of resamples (same size, with replacement) whose sum has the direction's sign.

    Args:
        deviations_of_value: coverage of the value's documents less their sets', shape (documents,).
        direction: "over" for the value of the largest mean, "under" for that of the smallest.
        resamples: bootstrap draws.
        seed: of the draws.

    Raises:
        DataError: there is no document, a deviation is not a number, or no draw is asked for, or the direction is neither.
    """
    values = np.asarray(deviations_of_value, dtype=float)
    if direction not in ("over", "under"):
        raise DataError(f"a value is represented 'over' or 'under', got {direction!r}")
    if values.ndim != 1 or not values.size or not np.isfinite(values).all() or resamples < 1:
        raise DataError(
            "significance needs one finite deviation for each document, at least one, and at least one resample"
        )
    sign = 1 if direction == "over" else -1
    weights = drawn_weights(values.size, Bootstrap(resamples=resamples, seed=seed))
    return 1 - sum(int((sign * (draw @ values) > NOISE).sum()) for draw in weights) / resamples
