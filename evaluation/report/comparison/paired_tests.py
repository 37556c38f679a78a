"""Which systems are tested against which, and what comes of it.

At equal budgets, is an entry better than the first one that has as many candidates; what does reranking add to an entry; and is
an entry at its own best better than one draw of the first, and than the first at its own. Where budgets differ, reranking makes
some of the difference by design.
"""

from collections.abc import Sequence
from dataclasses import replace

from ..systems.compare import Measured, SystemPair, Trait, minus
from ..systems.contents import Difference
from ..systems.contrasts import Contrast
from ..systems.lengths import Lengths
from ..systems.systems import System

Pair = tuple[System, System]
# of a pair: the first's label and budget, and the second's
Names = tuple[str, int, str, int]


def pairs(systems: Sequence[System]) -> list[Pair]:
    """The pairs that are tested, each once: the first minus the second."""
    at_their_best = {system.label: system for system in systems}.values()
    one_draw = {system.label: system for system in systems if system.k == 1}
    first, leader = next(iter(one_draw.values()), None), next(iter(at_their_best), None)
    wanted: list[tuple[System, System | None]] = []
    for k in dict.fromkeys(system.k for system in systems):
        reference, *others = [system for system in systems if system.k == k]
        wanted += [(other, reference) for other in others]
    wanted += [(best, one_draw.get(best.label)) for best in at_their_best if best.k > 1]
    wanted += [
        (best, other) for best in at_their_best for other in (first, leader) if other and best.label != other.label
    ]
    found: dict[Names, Pair] = {}
    for one, other in wanted:
        if other:
            found.setdefault(names_of((one, other)), (one, other))
    return list(found.values())


def names_of(pair: Pair) -> Names:
    """What its tests call a pair."""
    one, other = pair
    return one.label, one.k, other.label, other.k


def names_of_test(test: Difference) -> Names:
    """The same of a test."""
    return test.system, test.k, test.reference, test.reference_k


def paired_tests(measured: Measured, tested: Sequence[Pair], lengths: Lengths) -> list[Contrast]:
    """All tests of one judge, by side and overall, of which nothing is concluded yet.

    Args:
        measured: the judge.
        tested: the pairs of systems.
        lengths: of the requests.
    """
    of = System.trait if isinstance(measured, Trait) else System.values
    values = {id(system): of(system, measured.name) for pair in tested for system in pair}
    contrasts = []
    for first, second in tested:
        gaps = minus(values[id(first)], values[id(second)])
        whose = SystemPair(first.label, second.label, first.k, second.k)
        for each in lengths.compare.tested(measured, whose, gaps):
            left = lengths.at_equal_length(measured.name, first, second, each.difference.side)
            contrasts.append(replace(each, difference=each.difference.model_copy(update={"at_equal_length": left})))
    return contrasts
