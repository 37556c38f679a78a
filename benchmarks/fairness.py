"""Fairness measures: arrays against a loop over sets.

Equal Coverage of 1,000 document sets of 20 documents and 12 units each, from given entailments:

    evenhand      all sets as one array
    loop          the usual research code: set by set, value by value, document by document

The same as the judge and the audit have it, from a classifier's probabilities of units in windows of documents: gated, units that
entail each other taken as one, and a table for each set:

    together      all sets in one call
    one by one    a call for each set
    plain loop    everything in plain Python, from nested lists that are made before
"""

from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..fairness.groups.coverage import coverage, equal_coverage
from ..fairness.groups.entailment import MERGE_ABOVE, Entailments
from ..fairness.groups.evidence import SetEvidence, cover_sets
from .measure import Contender, Counts, Table, compare
from .report import Report, bench_options, count, run_bench

ONE_ARRAY = "evenhand"
LOOP = "loop"
TOGETHER = "together"
ONE_BY_ONE = "one by one"
PLAIN_LOOP = "plain loop"

N_DOCUMENTS, N_UNITS, N_VALUES = 20, 12, 3
# windows of each document
N_WINDOWS = (1, 3)
Matrices = NDArray[np.float64]
Labels = NDArray[np.intp]


def main(argv: Sequence[str] | None = None) -> None:
    """Run the benchmark."""
    options = bench_options(
        "fairness",
        __doc__,
        argv,
        {"sets": 50, "repeats": 1},
        repeats=count(5, "timed runs of each"),
        sets=count(1_000, "of the comparison with a loop"),
    )
    report = Report("fairness", vars(options))
    report.add(coverage_table(options.sets, options.repeats))
    for n_windows in N_WINDOWS:
        report.add(evidence_table(options.sets, n_windows, options.repeats))
    report.finish()


def coverage_table(n_sets: int, repeats: int) -> Table:
    """Equal Coverage by array and by loop; both must find the same."""
    matrices, labels = random_sets(n_sets, seed=0)
    plain = matrices.tolist(), labels.tolist()
    contenders = [
        Contender(ONE_ARRAY, lambda: _by_array(Entailments(matrices, labels, np.ones((n_sets, N_UNITS), dtype=bool)))),
        Contender(LOOP, lambda: _mean(map(_loop_coverage, *plain))),
    ]
    return _compared(
        f"Equal Coverage of {n_sets:,} sets of {N_DOCUMENTS} documents x {N_UNITS} units", contenders, repeats
    )


def evidence_table(n_sets: int, n_windows: int, repeats: int) -> Table:
    """Equal Coverage from a classifier's probabilities, by `cover_sets` and by loop; both must find the same."""
    sets = random_evidence(n_sets, n_windows, seed=0)
    plain = [(np.asarray(s.nli).tolist(), s.windows, np.asarray(s.between_units).tolist(), s.labels) for s in sets]
    contenders = [
        Contender(TOGETHER, lambda: _mean(each.ec for each in cover_sets(sets, [N_VALUES] * len(sets)))),
        Contender(ONE_BY_ONE, lambda: _mean(cover_sets([each], [N_VALUES])[0].ec for each in sets)),
        Contender(
            PLAIN_LOOP, lambda: _mean(_loop_coverage(_loop_entailment(*given), labels) for *given, labels in plain)
        ),
    ]
    windows = f"{n_windows} window{'s' if n_windows > 1 else ''} a document"
    return _compared(f"Equal Coverage from probabilities, {n_sets:,} sets, {windows}", contenders, repeats)


def _compared(title: str, contenders: Sequence[Contender], repeats: int) -> Table:
    """The contenders' table, the last one being the baseline; all must find the same."""
    table = compare(title, contenders, repeats, contenders[-1].name)
    means = [row.counts["mean EC"] for row in table.rows]
    assert max(means) - min(means) < 1e-9, f"the ways differ: {means}"
    return table


def random_sets(n_sets: int, seed: int) -> tuple[Matrices, Labels]:
    """Entailments as a gated classifier gives them, mostly 0, (sets, documents, units), and labels, (sets, documents)."""
    rng = np.random.default_rng(seed)
    matrices = rng.random((n_sets, N_DOCUMENTS, N_UNITS))
    matrices[rng.random(matrices.shape) < 0.7] = 0.0
    return matrices, rng.integers(0, N_VALUES, (n_sets, N_DOCUMENTS))


def random_evidence(n_sets: int, n_windows: int, seed: int) -> list[SetEvidence]:
    """Probabilities of three classes for each unit in each window; in one of three sets two units entail each other."""
    rng = np.random.default_rng(seed)
    windows = tuple(place for place in range(N_DOCUMENTS) for _ in range(n_windows))
    found = []
    for _ in range(n_sets):
        between = 0.9 * rng.random((N_UNITS, N_UNITS))
        np.fill_diagonal(between, 1.0)
        if rng.random() < 1 / 3:
            one, other = rng.choice(N_UNITS, 2, replace=False)
            between[one, other] = between[other, one] = 0.97
        nli = rng.dirichlet([0.4, 0.6, 0.3], (N_UNITS, len(windows)))
        found.append(SetEvidence(nli, windows, tuple(rng.integers(0, N_VALUES, N_DOCUMENTS).tolist()), between))
    return found


def _by_array(entailments: Entailments) -> Counts:
    return {"mean EC": float(np.nanmean(equal_coverage(coverage(entailments, N_VALUES))))}


def _loop_coverage(matrix: Sequence[Sequence[float]], values: Sequence[int]) -> float | None:
    covered = [unit for unit in range(len(matrix[0])) if any(row[unit] > 0 for row in matrix)]
    by_document = [sum(row[unit] for unit in covered) / len(covered) for row in matrix]
    overall = sum(by_document) / len(by_document)
    gaps = []
    for value in sorted(set(values)):
        mine = [score for score, label in zip(by_document, values, strict=True) if label == value]
        gaps.append(abs(sum(mine) / len(mine) - overall))
    return sum(gaps) / len(gaps) if len(gaps) > 1 else None


def _mean(found: Iterable[float | None]) -> Counts:
    return {"mean EC": fmean(ec for ec in found if ec is not None)}


def _loop_entailment(nli: Any, windows: Sequence[int], between: Sequence[Sequence[float]]) -> list[list[float]]:
    """Gated and merged entailment, documents x clusters."""
    best = [[0.0] * len(nli) for _ in range(N_DOCUMENTS)]
    for unit, row in enumerate(nli):
        for document, (contradiction, neutral, entailment) in zip(windows, row, strict=True):
            if entailment > contradiction and entailment > neutral and entailment > best[document][unit]:
                best[document][unit] = entailment
    first = list(range(len(nli)))
    for one in range(len(nli)):
        for other in range(one):
            if between[one][other] > MERGE_ABOVE and between[other][one] > MERGE_ABOVE:
                low, high = sorted((first[one], first[other]))
                first = [low if leader == high else leader for leader in first]
    clusters: dict[int, list[int]] = {}
    for unit, leader in enumerate(first):
        clusters.setdefault(leader, []).append(unit)
    return [[max(row[unit] for unit in cluster) for cluster in clusters.values()] for row in best]


if __name__ == "__main__":
    run_bench(main)
