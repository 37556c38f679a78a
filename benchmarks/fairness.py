"""Fairness measures: arrays against a loop over sets, growth with the corpus, and a real corpus from its texts.

Equal Coverage of 1,000 document sets of 20 documents and 12 units each, from given entailments:

    evenhand      all sets as one array
    set by set    the same from one matrix a set, packed first
    loop          the usual research code: set by set, value by value, document by document

Then both families of measures over streams of 1,000, 10,000 and 100,000 sets: seconds should grow in proportion, and memory
not at all. With --neural, measures with a model on texts, all sets in one call against a call for each. With --documents and
--summaries, the value shares of a real corpus from texts to BUR and UER, on one core, the language resources loaded before.
"""

import argparse
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..fairness.groups import (
    Entailments,
    Masses,
    NgramTokenizer,
    coverage,
    coverage_fairness,
    equal_coverage,
    group_fairness,
    pack_entailments,
    text_masses,
)
from . import Breakdown, Contender, Counts, Report, Table, bench_parser, compare, positive, run_bench

ONE_ARRAY = "evenhand"
SET_BY_SET = "set by set"
LOOP = "loop"

N_DOCUMENTS, N_UNITS, N_VALUES = 20, 12, 3
GROWTH = (1_000, 10_000, 100_000)
# sets of a streamed batch
BATCH = 1_000

Matrices = NDArray[np.float64]
Labels = NDArray[np.intp]


def main(argv: Sequence[str] | None = None) -> None:
    """Run the benchmark."""
    options = _parser().parse_args(argv)
    if options.quick:
        options.sets, options.growth, options.repeats = 50, [50, 100], 1
    report = Report("fairness", vars(options))
    report.add(coverage_table(options.sets, options.repeats))
    report.add(growth_table("Equal Coverage and Coverage Parity, streamed", _coverage_stream, options))
    report.add(growth_table("BUR, UER, AUC and SOF from token counts, streamed", _shares_stream, options))
    if options.neural:
        from .matching import matching_tables

        for table in matching_tables(options.neural, options.repeats):
            report.add(table)
    if options.documents:
        report.add_breakdown(corpus_breakdown(options))
    report.finish()


def coverage_table(n_sets: int, repeats: int) -> Table:
    """Equal Coverage by array and by loop; both must find the same."""
    matrices, labels = random_sets(n_sets, seed=0)
    contenders = [
        Contender(ONE_ARRAY, partial(_by_array, matrices, labels)),
        Contender(SET_BY_SET, partial(_by_set, list(matrices), labels.tolist())),
        Contender(LOOP, partial(_by_loop, matrices.tolist(), labels.tolist())),
    ]
    title = f"Equal Coverage of {n_sets:,} sets of {N_DOCUMENTS} documents x {N_UNITS} units"
    table = compare(title, contenders, repeats, LOOP)
    means = [row.counts["mean EC"] for row in table.rows]
    assert max(means) - min(means) < 1e-9, f"the ways differ: {means}"
    return table


def growth_table(title: str, stream: Any, options: argparse.Namespace) -> Table:
    """One family of measures over corpora of growing size, read as a stream."""
    contenders = [Contender(f"{n:,} sets", partial(stream, n)) for n in options.growth]
    return compare(title, contenders, options.repeats, contenders[0].name)


def corpus_breakdown(options: argparse.Namespace) -> Breakdown:
    """BUR and UER of a corpus from its texts: seconds of each part on this thread."""
    from ..corpora.sources import read_any
    from ..corpora.summaries import read_summaries

    tokenize = NgramTokenizer()
    start = time.perf_counter()
    sets = read_any(options.documents)
    summaries = read_summaries(options.summaries, sets)
    read = time.perf_counter()
    attribute = options.attribute
    values = sets[0].notes.get("values", {}).get(attribute) or list(sets[0].values(attribute))
    masses = [
        text_masses(
            [" || ".join(d.text for d in each.select(attribute, value)) for value in values],
            summaries[each.id],
            tokenize,
        )
        for each in sets
    ]
    counted = time.perf_counter()
    found = group_fairness(masses, mode="released")
    end = time.perf_counter()
    seconds = {"reading": read - start, "tokens": counted - read, "measures": end - counted, "all": end - start}
    assert found.bur is not None and found.uer is not None, f"no set could be scored: {found.left_out}"
    return Breakdown(
        f"{found.n_scored:,} sets of {options.documents.name}: BUR {100 * found.bur:.2f}, UER {100 * found.uer:.2f}",
        [{"part": part, "seconds": value} for part, value in seconds.items()],
    )


def random_sets(n_sets: int, seed: int) -> tuple[Matrices, Labels]:
    """Entailments as a gated classifier gives them, mostly 0, (sets, documents, units), and labels, (sets, documents)."""
    rng = np.random.default_rng(seed)
    matrices = rng.random((n_sets, N_DOCUMENTS, N_UNITS))
    matrices[rng.random(matrices.shape) < 0.7] = 0.0
    return matrices, rng.integers(0, N_VALUES, (n_sets, N_DOCUMENTS))


def _by_array(matrices: Matrices, labels: Labels) -> Counts:
    entailments = Entailments(matrices, labels, np.ones((len(matrices), N_UNITS), dtype=bool))
    return {"mean EC": float(np.nanmean(equal_coverage(coverage(entailments, N_VALUES))))}


def _by_set(matrices: Sequence[Matrices], labels: Sequence[Sequence[int]]) -> Counts:
    entailments = pack_entailments(list(zip(matrices, labels, strict=True)))
    return {"mean EC": float(np.nanmean(equal_coverage(coverage(entailments, N_VALUES))))}


def _by_loop(matrices: Sequence[Sequence[Sequence[float]]], labels: Sequence[Sequence[int]]) -> Counts:
    found = []
    for matrix, values in zip(matrices, labels, strict=True):
        covered = [unit for unit in range(N_UNITS) if any(row[unit] > 0 for row in matrix)]
        by_document = [sum(row[unit] for unit in covered) / len(covered) for row in matrix]
        overall = sum(by_document) / len(by_document)
        gaps = []
        for value in sorted(set(values)):
            mine = [score for score, label in zip(by_document, values, strict=True) if label == value]
            gaps.append(abs(sum(mine) / len(mine) - overall))
        if len(gaps) > 1:
            found.append(sum(gaps) / len(gaps))
    return {"mean EC": fmean(found)}


def _coverage_stream(n_sets: int) -> Counts:
    matrices, labels = random_sets(min(BATCH, n_sets), seed=0)
    units = np.ones((len(matrices), N_UNITS), dtype=bool)
    tables = (coverage(Entailments(matrices, labels, units), N_VALUES) for _ in range(n_sets // len(matrices)))
    return {"sets": coverage_fairness(tables).n_scored}


def _shares_stream(n_sets: int) -> Counts:
    return {"sets": group_fairness(_random_masses(n_sets)).n_scored}


def _random_masses(n_sets: int) -> Iterator[Masses]:
    """Token counts like those of short reviews; a thousand drawn ones over and over, so that drawing costs nothing."""
    rng = np.random.default_rng(0)
    source, target = rng.integers(20, 200, (BATCH, N_VALUES)), rng.integers(0, 40, (BATCH, N_VALUES))
    drawn = [Masses(tuple(s), tuple(t)) for s, t in zip(source.tolist(), target.tolist(), strict=True)]
    for place in range(n_sets):
        yield drawn[place % BATCH]


def _parser() -> argparse.ArgumentParser:
    parser = bench_parser("fairness", __doc__ or "", repeats=5)
    add = parser.add_argument
    add("--sets", type=positive, default=1_000, metavar="N", help="of the comparison with a loop (%(default)s)")
    add("--growth", type=positive, nargs="+", default=list(GROWTH), metavar="N", help="sizes of corpora (%(default)s)")
    add("--neural", type=positive, metavar="N", help="sets for the measures with a model, which are random ones")
    add("--documents", type=Path, metavar="FILE", help="document sets in any format that evenhand reads")
    add("--summaries", type=Path, metavar="FILE", help="their summaries")
    add("--attribute", default="sentiment", metavar="NAME", help="what the documents are grouped by (%(default)s)")
    return parser


if __name__ == "__main__":
    run_bench(main)
