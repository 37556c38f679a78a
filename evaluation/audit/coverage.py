"""Coverage: how much of the documents of each value is in the units of a summary, value against value.

Source: Li et al. 2025, sections 3.2 and 3.3; docs/papers.md#li. Units and entailment are the
entailer's.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from zlib import crc32

import numpy as np

from ...fairness.groups.coverage import COVERAGE_RULES, NO_UNIT, ONE_VALUE, CoverageMode, over
from ...fairness.groups.entailment import document_entailment
from ...fairness.groups.evidence import SetCoverage, cover_sets
from ...fairness.groups.masses import EMPTY_SUMMARY, Unscored
from ...fairness.groups.units import FEWEST_UNITS
from ...fairness.labelled import LabelledSource, LabelledSummary
from ...judges.measures.measure import Entailer, UnitEvidence
from ...text import sentences
from ..pages.value_names import noun
from .family import FamilyKind, FamilyPage, Opening
from .figures import Figures, Floats, Measured, in_order, most, quantities_of, reasons
from .kinds import (
    COVERAGE,
    COVERAGE_DIFFERENCE,
    COVERAGE_PARITY,
    EQUAL_COVERAGE,
    NumberKind,
    Side,
    SummaryUnit,
    TakenApart,
)

TOO_FEW_UNITS = f"fewer than {FEWEST_UNITS} units"
AGGREGATES = (EQUAL_COVERAGE, COVERAGE_PARITY)
ROWS = (COVERAGE, COVERAGE_DIFFERENCE)
EXCHANGED = "exchanged labels"
# ways in which the documents' labels are dealt
DEALS = 32
# columns of a set before those of its values: scored, Equal Coverage, the same by chance
HEAD = 3
# columns of a value: sets, documents, sums of their coverage and of its difference, and of the difference in every deal
BY_VALUE = 4 + DEALS
# share of the summaries' units that documents have; with less a warning says so
LEAST_FOUND = 0.5
# sentences of a document set that are asked for what is reachable
MOST_SENTENCES = 256


@dataclass(frozen=True)
class Covered:
    """Coverage of one set, and its documents' values."""

    coverage: SetCoverage
    values: tuple[str, ...]
    # value of each document as its place in `values`
    labels: tuple[int, ...]
    # share of the summary's units that any document has
    share_found: float = 1.0
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
        return f"coverage|{self.entailer.signature}{units}|mode:{self.mode}|fewest:{FEWEST_UNITS}|v:2"

    def measure(self, items: Sequence[LabelledSummary]) -> list[Covered | Unscored]:
        """Coverage of each set; of an empty summary, of one value's documents and of fewer than three units there is none."""
        places = [place for place, item in enumerate(items) if self._refusal(item) is None]
        answers: list[Covered | Unscored] = [Unscored(self._refusal(item) or "") for item in items]
        answered = {}
        for place, unit_evidence in zip(
            places, self.entailer.evidence([items[place] for place in places]), strict=True
        ):
            if isinstance(unit_evidence, Unscored):
                answers[place] = unit_evidence
            elif len(unit_evidence.units) < FEWEST_UNITS:
                answers[place] = Unscored(TOO_FEW_UNITS)
            else:
                answered[place] = unit_evidence
        n_values = [len(items[place].values) for place in answered]
        covered = cover_sets([unit_evidence.evidence for unit_evidence in answered.values()], n_values, self.mode)
        for (place, units), coverage in zip(answered.items(), covered, strict=True):
            item, why = items[place], coverage.unscored
            if why:
                answers[place] = Unscored(why)
                continue
            entailed = self._entailed(units, len(item.documents))
            share = float(entailed.any(axis=0).mean())
            answers[place] = Covered(coverage, item.values, item.labels, share, units.n_cut)
        return answers

    def figures(self, answers: Sequence[Covered | Unscored]) -> Figures:
        """The sums of all sets."""
        columns = np.zeros((len(answers), HEAD + BY_VALUE * len(self.values)))
        alike = Counter[tuple[object, ...]]()
        for row, answer in enumerate(answers):
            if isinstance(answer, Covered):
                key = answer.coverage.by_document, answer.labels, answer.values
                columns[row] = self._columns(answer, alike[key])
                alike[key] += 1
        scored = columns[:, 0] > 0
        has = self._by_value(columns)[0] > 0
        ec = np.where(scored, columns[:, 1], np.nan)
        quantities = quantities_of(self.by, ROWS, self.values, AGGREGATES)
        return Figures(
            quantities=quantities,
            columns=columns,
            reduce=self._reduce,
            expect=self._expect,
            nulls=tuple(EXCHANGED if quantity.kind in AGGREGATES else "" for quantity in quantities),
            rests_on=np.hstack(
                [np.repeat(scored[:, None], len(AGGREGATES), axis=1), np.repeat(has, len(ROWS), axis=1)]
            ),
            unfairness=ec,
            left_out=reasons(answers),
        )

    def sentence(self, kind: NumberKind, point: str, figures: Figures) -> str:
        """What an aggregate means."""
        amount = f"the documents of a {noun(self.attribute)} are covered {point} points of 100 more or less than"
        if kind == EQUAL_COVERAGE:
            return f"Within a set, {amount} all of the set's documents, on average."
        return f"Over all sets, {amount} all documents of their sets, on average: what does not cancel out."

    def example(self, item: LabelledSummary, answer: Covered, left_out: tuple[str, ...] | None = None) -> TakenApart:
        """Coverage of each value beside that of all documents, and for each unit how many documents of each value have it."""
        (evidence,) = self.entailer.evidence([item])
        assert isinstance(evidence, UnitEvidence)
        rule = COVERAGE_RULES[self.mode]
        entailed = self._entailed(evidence, len(item.documents))  # (documents, units)
        # behind the gate whatever is left counts
        by_document = entailed > (0.0 if rule.gate else 0.5)
        labels = np.array(item.labels)
        of_value = {value: by_document[labels == k] for k, value in enumerate(item.values) if (labels == k).any()}
        lines = [
            SummaryUnit(text=unit, takes={value: float(rows[:, j].sum()) for value, rows in of_value.items()})
            for j, unit in enumerate(evidence.units)
        ]
        gaps = {v: d for v, d in zip(item.values, answer.coverage.difference, strict=True) if d is not None}
        worst = most({value: -gap for value, gap in gaps.items()}) if left_out is None else left_out
        return TakenApart(
            measure=f"Equal Coverage of this summary ({self.by})",
            columns=("coverage of all documents", "coverage of its documents"),
            takes_what=f"documents that have it ({self.by})",
            sides=tuple(
                Side(name=value, source=answer.coverage.overall, summary=covered)
                for value, covered in zip(item.values, answer.coverage.by_value, strict=True)
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

    def _entailed(self, units: UnitEvidence, n_documents: int) -> Floats:
        gate = COVERAGE_RULES[self.mode].gate
        return document_entailment(units.evidence.nli, units.evidence.windows, n_documents, gate=gate)

    def by_own_sentences(
        self, items: Sequence[LabelledSummary]
    ) -> dict[tuple[LabelledSource, ...], tuple[tuple[str, ...], Floats]]:
        """The sentences of each document set, and how far each document entails them, (documents, sentences)."""
        sets = {item.documents: own_sentences(item) for item in items}
        answers = self.entailer.evidence(list(sets.values()), between=False)
        return {
            documents: (unit_evidence.units, self._entailed(unit_evidence, len(documents)))
            for documents, unit_evidence in zip(sets, answers, strict=True)
            if not isinstance(unit_evidence, Unscored)
        }

    def _columns(self, answer: Covered, nth: int) -> Floats:
        """What a set adds, the `nth` of its kind: labels are dealt by what it is, so that the order of lines is not seen."""
        overall = answer.coverage.overall or 0.0
        by_document = np.array([covered or 0.0 for covered in answer.coverage.by_document])
        labels = np.array(answer.labels)
        generator = np.random.default_rng([crc32(np.round([*by_document, *labels], 6).tobytes()), nth])
        dealt = np.stack([labels, *(generator.permutation(labels) for _ in range(DEALS))])  # (deals + 1, documents)
        of_value = dealt[..., None] == np.arange(len(answer.values))  # (deals + 1, documents, values)
        documents = of_value[0].sum(axis=0)
        differences = np.einsum("d,edv->ev", by_document - overall, of_value.astype(float))
        equal = np.abs(over(differences, documents))[:, documents > 0].mean(axis=1)
        columns = np.zeros((len(self.values), BY_VALUE))
        covered = by_document @ of_value[0]
        columns[[self.values.index(value) for value in answer.values]] = np.column_stack(
            [documents > 0, documents, covered, differences[0], differences[1:].T]
        )
        return np.concatenate([[1.0, answer.coverage.ec or 0.0, equal[1:].mean()], columns.ravel()])

    def _reduce(self, sums: Floats) -> Floats:
        by_value = self._by_value(sums)
        documents, covered, difference = by_value[1], by_value[2], by_value[3]
        means = over(covered, documents), over(difference, documents)
        aggregates = np.stack([over(sums[..., 1], sums[..., 0]), self._parity(difference, documents)], axis=-1)
        return in_order(means, aggregates)

    def _expect(self, sums: Floats) -> Floats:
        """Equal Coverage and Coverage Parity by exchanged labels; nothing is known of the other quantities."""
        _, documents, _, _, *deals = self._by_value(sums)
        parity = np.mean([self._parity(dealt, documents) for dealt in deals], axis=0)
        unknown = np.full_like(documents, np.nan)
        return in_order((unknown, unknown), np.stack([over(sums[..., 2], sums[..., 0]), parity], axis=-1))

    def _by_value(self, sums: Floats) -> Floats:
        """The columns of the values, (columns, ..., values)."""
        return np.moveaxis(sums[..., HEAD:].reshape(*sums.shape[:-1], len(self.values), BY_VALUE), -1, 0)

    @staticmethod
    def _parity(difference: Floats, documents: Floats) -> Floats:
        return over(np.abs(over(difference, documents)).sum(axis=-1, where=documents > 0), (documents > 0).sum(axis=-1))


def found_share(answers: Sequence[Covered | Unscored]) -> float:
    """Share of a summary's units that any document has, on average; 0 without a summary whose units were looked for."""
    shares = [
        answer.share_found if isinstance(answer, Covered) else 0.0
        for answer in answers
        if isinstance(answer, Covered) or answer.reason == NO_UNIT
    ]
    return float(np.mean(shares)) if shares else 0.0


def sentences_of(document: LabelledSource) -> tuple[str, ...]:
    """A document's sentences: the corpus's own, or those that the splitter finds."""
    return document.sentences or tuple(sentences(document.text))


def own_sentences(item: LabelledSummary) -> LabelledSummary:
    """The documents' own sentences in the place of a summary's units; of very many as many as fit, drawn."""
    texts = [*dict.fromkeys(text for document in item.documents for text in sentences_of(document))]
    # not each second one: values often take turns
    drawn = np.random.default_rng(len(texts)).choice(len(texts), size=min(MOST_SENTENCES, len(texts)), replace=False)
    return replace(item, units=tuple(texts[place] for place in np.sort(drawn).tolist()))


def _opened(opening: Opening) -> UnitCoverage:
    tools, audited = opening.tools, opening.audited
    assert tools.entailer is not None, "it uses the entailer"
    mode: CoverageMode = "paper" if opening.plan.mode == "paper" else "released"
    return UnitCoverage(tools.entailer, audited.attribute, audited.values, mode, audited.has_units)


def _of_unfound(measured: Measured, least_group: int) -> Iterator[str]:
    """A warning where little of the summaries is in any document."""
    family = measured.family
    if not isinstance(family, UnitCoverage) or not measured.figures.scored.any() or family.entailer.reads_pairs:
        return
    if (share := found_share(measured.answers)) < LEAST_FOUND:
        yield (
            f"{measured.system}, coverage: only {100 * share:.0f} % of the summaries' content is found in any document "
            f"({family.by}), so the numbers speak of little of it (another --entailer may help)."
        )


FAMILY = FamilyKind(
    _opened,
    (*AGGREGATES, *ROWS),
    other_names=("equal-coverage", "ec", "coverage-parity", "cp"),
    on_request=False,
    uses=("entailer",),
    named_by="entailer",
    compares="values",
    page=FamilyPage(warnings=_of_unfound),
)
