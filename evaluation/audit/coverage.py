"""Coverage: how much of the documents of each value is in the units of a summary, value against value.

Source: Li et al. 2025, sections 3.2 and 3.3; docs/papers.md#li. Units and entailment are the
entailer's.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...fairness.groups.coverage import COVERAGE_RULES, ONE_VALUE, CoverageMode, over
from ...fairness.groups.entailment import document_entailment
from ...fairness.groups.evidence import SetCoverage, cover_sets
from ...fairness.groups.masses import EMPTY_SUMMARY, Unscored
from ...fairness.groups.units import FEWEST_UNITS
from ...fairness.labelled import LabelledSummary
from ...judges.measures.measure import Entailer, UnitEvidence
from .contents import (
    COVERAGE,
    COVERAGE_DIFFERENCE,
    COVERAGE_PARITY,
    EQUAL_COVERAGE,
    Example,
    Kind,
    Line,
    Measure,
    Quantity,
    Side,
)
from .figures import Figures, Floats, most, reasons

TOO_FEW_UNITS = f"fewer than {FEWEST_UNITS} units"
AGGREGATES = (EQUAL_COVERAGE, COVERAGE_PARITY)
ROWS = (COVERAGE, COVERAGE_DIFFERENCE)
# columns of a set before four for each value: scored, Equal Coverage
HEAD, BY_VALUE = 2, 4


@dataclass(frozen=True)
class Covered:
    """Coverage of one set, and its documents' values."""

    coverage: SetCoverage
    values: tuple[str, ...]
    # value of each document as its place in `values`
    labels: tuple[int, ...]
    # comparisons in which a text was cut to the model's length
    n_cut: int = 0


@dataclass(frozen=True)
class UnitCoverage:
    """The family of Equal Coverage and Coverage Parity."""

    entailer: Entailer
    attribute: str
    values: tuple[str, ...]
    mode: CoverageMode
    # whether units were given; else the entailer's splitter finds them
    given_units: bool = False

    name = "coverage"

    @property
    def by(self) -> str:
        """The entailer's name."""
        return self.entailer.name

    @property
    def signature(self) -> str:
        """Entailer and mode, and whether the units were given."""
        units = "|units:given" if self.given_units else ""
        return f"coverage|{self.entailer.signature}{units}|mode:{self.mode}|fewest:{FEWEST_UNITS}|v:1"

    def measure(self, items: Sequence[LabelledSummary]) -> list[Covered | Unscored]:
        """Coverage of each set; of an empty summary, of one value's documents and of fewer than three units there is none."""
        asked = [place for place, item in enumerate(items) if self._refusal(item) is None]
        evidence = self.entailer.evidence([items[place] for place in asked])
        found: list[Covered | Unscored] = [Unscored(self._refusal(item) or "") for item in items]
        answered = {}
        for place, each in zip(asked, evidence, strict=True):
            if isinstance(each, Unscored):
                found[place] = each
            elif len(each.units) < FEWEST_UNITS:
                found[place] = Unscored(TOO_FEW_UNITS)
            else:
                answered[place] = each
        n_values = [len(items[place].values) for place in answered]
        covered = cover_sets([each.evidence for each in answered.values()], n_values, self.mode)
        for (place, units), coverage in zip(answered.items(), covered, strict=True):
            item, why = items[place], coverage.unscored
            found[place] = Unscored(why) if why else Covered(coverage, item.values, item.labels, units.n_cut)
        return found

    def figures(self, found: Sequence[Covered | Unscored]) -> Figures:
        """The sums of all sets."""
        columns = np.zeros((len(found), HEAD + BY_VALUE * len(self.values)))
        for row, each in enumerate(found):
            if isinstance(each, Covered):
                columns[row] = self._columns(each)
        scored = columns[:, 0] > 0
        has = columns[:, HEAD:].reshape(len(found), len(self.values), BY_VALUE)[..., 0] > 0
        ec = np.where(scored, columns[:, 1], np.nan)
        return Figures(
            quantities=(
                *(Quantity(Measure(kind, self.by)) for kind in AGGREGATES),
                *(Quantity(Measure(kind, self.by), value) for value in self.values for kind in ROWS),
            ),
            columns=columns,
            reduce=self._reduce,
            rests_on=np.hstack(
                [np.repeat(scored[:, None], len(AGGREGATES), axis=1), np.repeat(has, len(ROWS), axis=1)]
            ),
            unfairness=ec,
            left_out=reasons(found),
        )

    def sentence(self, kind: Kind, point: str, figures: Figures) -> str:
        """What an aggregate means."""
        amount = f"the documents of a {self.attribute} are covered {point} points of 100 more or less than"
        if kind == EQUAL_COVERAGE:
            return f"Within a set, {amount} all of the set's documents, on average."
        return f"Over all sets, {amount} all documents of their sets, on average: what does not cancel out."

    def example(self, item: LabelledSummary, found: Covered, unfairness: float) -> Example:
        """Coverage of each value beside that of all documents, and for each unit how many documents of each value have it."""
        (evidence,) = self.entailer.evidence([item])
        assert isinstance(evidence, UnitEvidence)
        rule = COVERAGE_RULES[self.mode]
        entailed = document_entailment(
            evidence.evidence.nli, evidence.evidence.windows, len(item.documents), gate=rule.gate
        )  # (documents, units)
        # behind the gate whatever is left counts
        by_document = entailed > (0.0 if rule.gate else 0.5)
        labels = np.array(item.labels)
        of_value = {value: by_document[labels == k] for k, value in enumerate(item.values) if (labels == k).any()}
        lines = [
            Line(text=unit, takes={value: float(its[:, j].sum()) for value, its in of_value.items()})
            for j, unit in enumerate(evidence.units)
        ]
        gaps = {v: d for v, d in zip(item.values, found.coverage.difference, strict=True) if d is not None}
        worst = most({value: -gap for value, gap in gaps.items()})
        return Example(
            family=self.name, system="", set_id=item.id, topic="", unfairness=unfairness,
            measure=f"Equal Coverage of this summary ({self.by})", is_share=True,
            columns=("coverage of all documents", "coverage of its documents"),
            takes_what=f"documents that have it ({self.by})",
            sides=tuple(
                Side(name=value, source=found.coverage.overall, summary=covered)
                for value, covered in zip(item.values, found.coverage.by_value, strict=True)
                if covered is not None
            ),
            lines=tuple(lines),
            left_out=worst,
            documents=tuple(document.text for document in item.documents if document.value in worst),
        )  # fmt: skip

    def _refusal(self, item: LabelledSummary) -> str | None:
        if not item.summary.strip():
            return EMPTY_SUMMARY
        # nothing of such a set needs to be asked of a model
        if COVERAGE_RULES[self.mode].skip_one_valued and len({document.value for document in item.documents}) < 2:
            return ONE_VALUE
        return None

    def _columns(self, found: Covered) -> Floats:
        """Scored, Equal Coverage, and for each value: sets, documents, sums of their coverage and of its difference."""
        row = np.zeros((len(self.values), BY_VALUE))
        overall = found.coverage.overall or 0.0
        by_document = np.array([covered or 0.0 for covered in found.coverage.by_document])
        labels = np.array(found.labels)
        for place, value in enumerate(found.values):
            its = by_document[labels == place]
            if its.size:
                row[self.values.index(value)] = (1, its.size, its.sum(), (its - overall).sum())
        return np.concatenate([[1.0, found.coverage.ec or 0.0], row.ravel()])

    def _reduce(self, sums: Floats) -> Floats:
        by_value = sums[..., HEAD:].reshape(*sums.shape[:-1], len(self.values), BY_VALUE)
        _, documents, covered, difference = np.moveaxis(by_value, -1, 0)
        means = over(covered, documents), over(difference, documents)
        present = documents > 0
        parity = over(np.abs(np.where(present, means[1], 0.0)).sum(axis=-1), present.sum(axis=-1).astype(float))
        whole = np.stack([over(sums[..., 1], sums[..., 0]), parity], axis=-1)
        return np.concatenate([whole, np.stack(means, axis=-1).reshape(*sums.shape[:-1], -1)], axis=-1)
