"""Equal Coverage: does a summary say as much of the documents of every attribute value?

`coverage` makes the table by document and value of many sets at once, `equal_coverage` reduces it. A set without an answer has
nan in its measures, and the table says why; `evidence.cover_sets` does all of it from
a classifier's probabilities.
Source: Li et al. 2025, eqs. 1 to 5; docs/papers.md#li-coverage.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ...errors import DataError
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
    by_document = _over(np.einsum("sdu->sd", p), np.where(real, n_units[:, None], 0))
    filled = np.where(np.isnan(by_document), 0.0, by_document)
    has = (entailments.labels[..., None] == np.arange(n_values)).astype(float)  # (sets, documents, values)
    counts = np.einsum("sdv->sv", has).astype(np.intp)
    sums = np.einsum("sdv,sd->sv", has, filled)
    known = n_units > 0
    return CoverageTable(
        by_document=by_document,
        overall=_over(filled.sum(axis=1), np.where(known, real.sum(axis=1), 0)),
        by_value=_over(sums, np.where(known[:, None], counts, 0)),
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
    return _over(np.where(present, gaps, 0.0).sum(axis=1), np.where(table.scored, present.sum(axis=1), 0))


def or_none(row: Floats) -> tuple[float | None, ...]:
    """The numbers of a row, None for nan."""
    return tuple(None if math.isnan(value) else value for value in row.tolist())


def _over(sums: Floats, counts: NDArray[np.intp]) -> Floats:
    """Quotients; nan where nothing was counted."""
    return np.asarray(np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0))
