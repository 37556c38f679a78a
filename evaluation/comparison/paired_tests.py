"""Which systems are tested against which, and what comes of it.

Three questions: at equal budgets, is an entry better than the first one that has as many candidates; what does reranking add
to an entry; and is an entry at its own best better than one draw of the first.
"""

from collections.abc import Sequence

from ...resampling import TEST, adjusted, sign_flip_p_value, verdict
from ..systems.compare import Measured, minus
from ..systems.contents import Estimate
from ..systems.lengths import Lengths
from ..systems.systems import System
from .contents import PairedTest

# of the verdicts
RULE = TEST
Pair = tuple[System, System]


def pairs(systems: Sequence[System]) -> list[Pair]:
    """The pairs that are tested, each once: the first minus the second."""
    at_their_best = {system.label: system for system in systems}.values()
    one_draw = {system.label: system for system in systems if system.k == 1}
    first = next(iter(one_draw.values()), None)
    wanted: list[tuple[System, System | None]] = []
    for k in dict.fromkeys(system.k for system in systems):
        reference, *others = [system for system in systems if system.k == k]
        wanted += [(other, reference) for other in others]
    wanted += [(best, one_draw.get(best.label)) for best in at_their_best if best.k > 1]
    wanted += [(best, first) for best in at_their_best if first and best.label != first.label]
    found: dict[tuple[str, int, str, int], Pair] = {}
    for one, other in wanted:
        if other:
            found.setdefault((one.label, one.k, other.label, other.k), (one, other))
    return list(found.values())


def paired_tests(measured: Measured, tested: Sequence[Pair], lengths: Lengths) -> list[PairedTest]:
    """All tests of one judge, by side and overall, corrected for their number.

    Args:
        measured: the judge.
        tested: the pairs of systems.
        lengths: of the requests.
    """
    compare = lengths.compare
    values = {id(system): system.values(measured.name) for pair in tested for system in pair}
    rows: list[tuple[Pair, Estimate, float | None]] = []
    for pair in tested:
        differences = minus(*(values[id(system)] for system in pair))
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
            at_equal_length=lengths.at_equal_length(measured.name, first, second, estimate.side),
        )
        for ((first, second), estimate, p), q in zip(rows, corrected, strict=True)
    ]
