"""Which systems are tested against which, and what comes of it.

Three questions: at equal budgets, is an entry better than the first one that has so many candidates; what does reranking add
to an entry; and is an entry at its own best better than one draw of the first.
"""

from collections.abc import Iterator, Sequence

from ...resampling import TEST, adjusted, sign_flip_p_value, verdict
from ..systems.compare import Comparer, Measured, Values, minus
from ..systems.contents import Estimate
from .contents import PairedTest
from .values import System

# of the verdicts
RULE = TEST
Pair = tuple[System, System]


def pairs(systems: Sequence[System]) -> list[Pair]:
    """The pairs that are tested, each once: the first minus the second."""
    found: dict[tuple[str, int, str, int], Pair] = {}
    for pair in [*_equal_budgets(systems), *_reranking(systems), *_against_one_draw(systems)]:
        first, second = pair
        found.setdefault((first.label, first.k, second.label, second.k), pair)
    return list(found.values())


def paired_tests(measured: Measured, by_system: Sequence[tuple[System, Values]], compare: Comparer) -> list[PairedTest]:
    """All tests of one judge, by side and overall, corrected for their number.

    Args:
        measured: the judge.
        by_system: a value a request of each system.
        compare: of the requests.
    """
    values = {(system.label, system.k): found for system, found in by_system}
    rows: list[tuple[Pair, Estimate, float | None]] = []
    for pair in pairs([system for system, _ in by_system]):
        first, second = (values[system.label, system.k] for system in pair)
        differences = minus(first, second)
        for estimate in compare.estimates(measured, pair[0].label, differences):
            p = sign_flip_p_value(*compare.of_side(differences, estimate.side), compare.bootstrap)
            rows.append((pair, estimate, p))
    corrected = adjusted([p for _, _, p in rows])
    return [
        PairedTest(
            **estimate.model_dump(),
            verdict=verdict(
                RULE, estimate.mean, (estimate.low, estimate.high), adjusted_p=q, level=compare.bootstrap.level
            ),
            k=first.k,
            reference=second.label,
            reference_k=second.k,
            p_value=p,
            adjusted=q,
        )
        for ((first, second), estimate, p), q in zip(rows, corrected, strict=True)
    ]


def _equal_budgets(systems: Sequence[System]) -> Iterator[Pair]:
    for k in dict.fromkeys(system.k for system in systems):
        reference, *others = [system for system in systems if system.k == k]
        yield from ((other, reference) for other in others)


def _reranking(systems: Sequence[System]) -> Iterator[Pair]:
    for best in _at_their_best(systems):
        single = next((s for s in systems if s.entry is best.entry and s.k == 1), None)
        if single and best.k > 1:
            yield best, single


def _against_one_draw(systems: Sequence[System]) -> Iterator[Pair]:
    single = next((system for system in systems if system.k == 1), None)
    if single:
        yield from ((best, single) for best in _at_their_best(systems) if best.entry is not single.entry)


def _at_their_best(systems: Sequence[System]) -> list[System]:
    """Each entry at the largest of its budgets."""
    return list({system.label: system for system in systems}.values())
