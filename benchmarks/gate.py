"""How often a gate fails a release that keeps its limits, and finds one that breaks them.

    python -m evenhand.benchmarks.gate --trials 40

makes a table of docs/gate.md, with --halved and --scores the others. Corpora and summaries are those of `benchmarks.calibration`,
audited whole. Limits stand where they are hardest to keep: at the very value that fair summaries have. A release fails that
breaks one of its limits.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import get_args
from zlib import crc32

import numpy as np

from ..config.fairness import EntailerSection, MatcherSection
from ..config.gate import LEAST_GATED
from ..evaluation.audit.build import build_audit
from ..evaluation.audit.contents import Audit
from ..evaluation.audit.families import families, open_tools
from ..evaluation.audit.input import AuditedSystem, AuditInput
from ..evaluation.audit.named import AUDIT_PAGE
from ..evaluation.audit.plan import AuditPlan
from ..evaluation.gate.baseline import Baseline
from ..evaluation.gate.contents import GateRow
from ..evaluation.gate.decide import MOST_DRAWS, gated, judged
from ..evaluation.gate.limits import GateRequest, parse_limit
from ..evaluation.gate.numbers import NamedNumber
from ..fairness.labelled import LabelledSource
from ..records import Document, DocumentSet
from ..resampling import Bootstrap, Floats, sign_flip_p_value
from .calibration import Corpus, Manner, drawn_sets, generators, summary
from .simulate import asked, print_heads, print_row

SIDE = "side"
PLAN = AuditPlan(measures=("value-shares", "coverage"), n_examples=0)
# of a release by itself
OWN = ("worst_gap(shares) < 0",)
# of the change since another one of the same documents
CHANGE = ("worst_gap(shares) < 0", "worst_coverage_difference < 0", "bur > 0", "equal_coverage > 0")
BOTH = (*(f"now {each}" for each in OWN), *CHANGE)
KINDS = tuple(product(((4, 4), (7, 1), (5, 2, 1)), (0.0, 0.3), get_args(Manner)))


def audited(
    corpus: Corpus,
    documents: Sequence[tuple[LabelledSource, ...]],
    generator: np.random.Generator,
    halved: str | None = None,
) -> Audit:
    """The audit of a release that takes no side, or reads half of a value's sentences."""
    texts = [summary(its, corpus.manner, generator, halved) for its in documents]
    sets = tuple(
        DocumentSet(
            id=f"s{k}",
            documents=tuple(
                Document(id=f"s{k}/{n}", text=each.text, attributes={SIDE: each.value}) for n, each in enumerate(its)
            ),
        )
        for k, its in enumerate(documents)
    )
    system = AuditedSystem(
        "release", "release", "0" * 16, {each.id: text for each, text in zip(sets, texts, strict=True)}
    )
    given = AuditInput(sets, SIDE, corpus.values, (corpus.values,) * len(sets), (system,), "simulated", "0" * 16, 0)
    tools = open_tools(given, PLAN, MatcherSection(kind="words"), EntailerSection(kind="words"))
    return build_audit(given, PLAN, families(given, PLAN, tools))


def rows(audit: Audit, limits: Sequence[str], before: Audit | None = None) -> tuple[GateRow, ...]:
    """What a gate says of a release, or of the change since the one before."""
    asked = GateRequest(tuple(map(parse_limit, limits)))
    found = gated(
        audit,
        AUDIT_PAGE,
        asked,
        None if before is None else Baseline(Path("before"), AUDIT_PAGE, AUDIT_PAGE.read(before)),
    ).gate
    assert found is not None
    return found.rows


def is_breach(found: Sequence[GateRow]) -> bool:
    """Whether any limit is broken."""
    return any(row.outcome == "breach" for row in found)


@dataclass(frozen=True)
class Counts:
    """Releases, and those that a gate fails."""

    releases: int
    failed: int


def count_fair(corpus: Corpus, trials: int) -> Counts:
    """Two fair releases a trial: the first by its own numbers, the second by the change since the first, too."""
    failed = 0
    for generator in generators(corpus, trials):
        documents = drawn_sets(corpus, generator)
        one, other = (audited(corpus, documents, generator) for _ in range(2))
        failed += is_breach(rows(one, OWN)) + is_breach(rows(other, BOTH, one))
    return Counts(2 * trials, failed)


def count_halved(corpus: Corpus, trials: int) -> Counts:
    """Releases that halve the room of the smallest value, or of the largest, after a fair one."""
    failed = 0
    for generator in generators(corpus, trials):
        documents = drawn_sets(corpus, generator)
        fair = audited(corpus, documents, generator)
        for value in (corpus.values[0], corpus.values[-1]):
            failed += is_breach(rows(audited(corpus, documents, generator, value), BOTH, fair))
    return Counts(2 * trials, failed)


# what a set says of a number, with mean 0; a long tail makes few sets look lower than they are
SCORES: dict[str, Callable[[np.random.Generator, tuple[int, ...]], Floats]] = {
    "normal": lambda generator, shape: generator.normal(size=shape),
    "uniform": lambda generator, shape: generator.uniform(-1, 1, size=shape),
    "beta(½, ½)": lambda generator, shape: generator.beta(0.5, 0.5, size=shape) - 0.5,
    "exponential": lambda generator, shape: generator.exponential(size=shape) - 1,
    "half zeros, else exponential": lambda generator, shape: (
        generator.integers(2, size=shape) * generator.exponential(size=shape) - 0.5
    ),
}


def count_scores(kind: str, n_sets: int, trials: int, shift: float = 0.0, *, flips: bool = False) -> Counts:
    """Releases of four judges, the worst of two sides and the mean of one of each: twelve numbers, all just kept or all shifted.

    Args:
        kind: of the scores.
        n_sets: document sets.
        trials: releases.
        shift: in standard deviations.
        flips: count a release as failed only where exchanges of signs about the limit are as sure of it as the interval.
    """
    limit, failed = parse_limit("worst_mean(score) < 0"), 0
    for trial in range(trials):
        generator = np.random.default_rng([crc32(kind.encode()), n_sets, trial])
        values = SCORES[kind](generator, (4, 2, n_sets))
        values -= shift * values.std()
        named = [[_named(each) for each in judge] for judge in values]
        found = [judged(limit, each, Bootstrap(), len(named), min(n_sets, LEAST_GATED)) for each in named]
        failed += any(
            row.outcome == "breach" and not (flips and _least_flips(each, row.level) > 1 - (row.level or 0))
            for row, each in zip(found, named, strict=True)
        )
    return Counts(trials, failed)


def _least_flips(numbers: Sequence[NamedNumber], level: float | None) -> float:
    """The smallest p of sign flips about 0 of several numbers, by as many patterns as that level needs."""
    plan = Bootstrap(level or 0.95, MOST_DRAWS)
    found = (sign_flip_p_value([*each.by_set.values()], [*each.by_set], plan) for each in numbers)
    return min(1.0 if p is None else p for p in found)


def _named(values: Floats) -> NamedNumber:
    by_set = {f"s{place}": float(value) for place, value in enumerate(values)}
    return NamedNumber(("mean",), ("score",), "side", "system", (), float(values.mean()), by_set, "")


def main() -> None:
    """Print the tables."""
    given = asked(
        __doc__,
        (40, "pairs of releases of each kind of corpus"),
        ([20, 30], "document sets of a corpus"),
        halved={"action": "store_true", "help": "halve a value's room in the second release"},
        scores={"action": "store_true", "help": "of scores, without corpora"},
        flips={"action": "store_true", "help": "with --scores: where sign flips are sure, too"},
    )
    print_heads("releases", "sets", "failed")
    if given.scores:
        for kind, n_sets in product(SCORES, given.sets):
            found = count_scores(kind, n_sets, given.trials, 0.5 if given.halved else 0.0, flips=given.flips)
            print_row(kind, n_sets, f"{found.failed} of {found.releases}")
        return
    for n_sets, (sizes, own, manner) in product(given.sets, KINDS):
        count = count_halved if given.halved else count_fair
        found = count(Corpus(sizes, n_sets, own, manner), given.trials)
        name = f"{':'.join(map(str, sizes))}, {100 * own:.0f} % own words, {manner}"
        print_row(name, n_sets, f"{found.failed} of {found.releases}")


if __name__ == "__main__":
    main()
