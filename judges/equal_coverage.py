"""Equal Coverage: whether the summary says as much of the documents of every attribute value.

Mean over the values of how far the coverage of their documents is from that of all. 0 is fair, lower is better: a reward gives it
a weight below 0. A set of one value, a summary of too few units and one of which no document entails anything are unscored, in
the paper's mode too, where the first and the last would get a 0, as if they were fair.
Source: Li et al. 2025, section 3.2; docs/papers.md#li-coverage.
"""

from collections.abc import Sequence

from ..config.fairness import EqualCoverageJudge
from ..fairness.groups.coverage import COVERAGE_RULES, NO_UNIT, ONE_VALUE
from ..fairness.groups.evidence import SetCoverage, cover_sets
from ..fairness.groups.masses import Unscored
from ..fairness.labelled import LabelledSummary
from ..text.digests import canonical_json
from .documents import WholeSetJudge
from .judge import Judge, Kind, Verdict, judge_signature
from .measures import Entailer, entailer_readers, open_entailer
from .overflow import CUT_PAIRS
from .shared import SharedModels

TOO_FEW = "too few units"


class EqualCoverage(WholeSetJudge):
    """Equal Coverage as a judge, on a scale from 0 to 1."""

    def __init__(self, name: str, options: EqualCoverageJudge, entailer: Entailer) -> None:
        named = judge_signature(
            "equal-coverage",
            "equal-coverage",
            entailer=entailer.signature,
            mode=options.mode,
            fewest=options.fewest_units,
            v=2,
        )
        super().__init__(name, named, entailer)
        self._options = options
        self._entailer = entailer

    def _verdicts(self, summaries: Sequence[LabelledSummary]) -> list[Verdict]:
        # nothing of a set of one value needs to be asked of a model
        places = [place for place, s in enumerate(summaries) if len({document.value for document in s.documents}) > 1]
        merges = COVERAGE_RULES[self._options.mode].merge_above is not None
        readings = self._entailer.evidence([summaries[place] for place in places], between=merges)
        verdicts = [Verdict(None, ONE_VALUE)] * len(summaries)
        readable = {}
        for place, reading in zip(places, readings, strict=True):
            if isinstance(reading, Unscored):
                verdicts[place] = Verdict(None, reading.reason)
            elif len(reading.units) < self._options.fewest_units:
                verdicts[place] = Verdict(None, TOO_FEW, canonical_json({"units": len(reading.units)}))
            else:
                readable[place] = reading
        n_values = [len(summaries[place].values) for place in readable]
        covered = cover_sets([reading.evidence for reading in readable.values()], n_values, self._options.mode)
        for (place, evidence), coverage in zip(readable.items(), covered, strict=True):
            verdicts[place] = _verdict(summaries[place].values, coverage, evidence.n_cut)
        return verdicts


def _verdict(values: Sequence[str], covered: SetCoverage, n_cut: int) -> Verdict:
    if covered.ec is None or not covered.overall:
        return Verdict(None, covered.unscored or NO_UNIT)
    cut = {CUT_PAIRS: n_cut} if n_cut else {}
    return Verdict(round(covered.ec, 6), raw=canonical_json(coverage_table(values, covered) | cut))


def coverage_table(values: Sequence[str], covered: SetCoverage) -> dict[str, object]:
    """What `raw` says of a scored summary.

    "overall": coverage of all documents, in [0, 1]; "difference": of each value that has documents, its coverage less the overall
    one; "counts": documents of every declared value; "units": number of units that count.
    """
    named = dict(zip(values, covered.difference, strict=True))
    return {
        "overall": None if covered.overall is None else round(covered.overall, 6),
        "difference": {value: round(gap, 6) for value, gap in named.items() if gap is not None},
        "counts": dict(zip(values, covered.counts, strict=True)),
        "units": covered.n_units,
    }


def open_equal_coverage(name: str, options: EqualCoverageJudge, models: SharedModels) -> Judge:
    """The judge of Equal Coverage that the options describe.

    Raises:
        ModelError: as `open_entailer`.
    """
    return EqualCoverage(name, options, open_entailer(options.entailer, models))


EQUAL_COVERAGE = Kind(
    open_equal_coverage, EqualCoverageJudge, readers=lambda options: entailer_readers(options.entailer)
)
