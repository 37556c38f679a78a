"""Which systems are tested against which, and what comes of it.

At equal budgets, is an entry better than the first one that has as many candidates; what does reranking add to an entry; and is
an entry at its own best better than one draw of the first, and than the first at its own. Where budgets differ, reranking makes
some of the difference by design.
"""

from collections.abc import Sequence
from dataclasses import replace

from ..systems.compare import Measured, Trait, minus
from ..systems.contents import Difference, JudgeNote, SystemPair
from ..systems.contrasts import Contrast
from ..systems.lengths import Lengths
from ..systems.questions import Half
from ..systems.roles import half_of
from ..systems.systems import System

Pair = tuple[System, System]
# what a reward must beat first
ONE_DRAW = "one draw"


def pairs(systems: Sequence[System]) -> list[Pair]:
    """The pairs that are tested, each once: the first minus the second."""
    at_their_best = {system.label: system for system in systems}.values()
    one_draw = {system.label: system for system in systems if system.k == 1}
    first, leader = next(iter(one_draw.values()), None), next(iter(at_their_best), None)
    wanted: list[tuple[System, System | None]] = []
    for k in dict.fromkeys(system.k for system in systems):
        reference, *rivals = [system for system in systems if system.k == k]
        wanted += [(rival, reference) for rival in rivals]
    wanted += [(best, one_draw.get(best.label)) for best in at_their_best if best.k > 1]
    wanted += [
        (best, reference)
        for best in at_their_best
        for reference in (first, leader)
        if reference and best.label != reference.label
    ]
    by_names: dict[SystemPair, Pair] = {}
    for system, rival in wanted:
        if rival:
            by_names.setdefault(names_of((system, rival)), (system, rival))
    return list(by_names.values())


def names_of(pair: Pair) -> SystemPair:
    """The names of a pair in its tests."""
    first, second = pair
    return SystemPair(first.label, second.label, first.k, second.k)


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
        for contrast in lengths.compare.tested(measured, names_of((first, second)), gaps):
            parts = lengths.parts(measured.name, first, second, contrast.difference.side)
            contrasts.append(replace(contrast, difference=contrast.difference.model_copy(update=parts)))
    return contrasts


def in_halves(
    judges: Sequence[JudgeNote],
    tests: Sequence[Contrast],
    baselines: Sequence[Contrast],
    low_grades: Sequence[Contrast] = (),
) -> tuple[list[Contrast], ...]:
    """All of them, each in its half: the headline is of entries as they are used.

    Args:
        judges: of the report.
        tests: of entries and of what reranking adds to them; of entries at different budgets it makes some of the difference.
        baselines: of what a reward must beat; the best against one draw may be among both, and is asked the same in both.
        low_grades: of shares of bad grades between entries.
    """
    used = {test.systems for test in as_used([contrast.difference for contrast in tests])}

    def of_test(test: Difference) -> Half:
        is_by_design = test.k != test.reference_k
        return half_of(judges, test, is_headline=test.systems in used, is_by_design=is_by_design)

    def of_baseline(test: Difference) -> Half:
        is_draw = test.reference == ONE_DRAW and test.reference_k == 1
        is_used = is_draw and SystemPair(test.system, test.system, test.k, 1) in used
        return half_of(judges, test, is_headline=is_used, is_by_design=is_draw)

    return (
        [contrast.asked_in(of_test(contrast.difference)) for contrast in tests],
        [contrast.asked_in(of_baseline(contrast.difference)) for contrast in baselines],
        [contrast.asked_in(of_test(contrast.difference)) for contrast in low_grades],
    )


def as_used(tests: Sequence[Difference]) -> list[Difference]:
    """The tests over all requests that compare each later entry with the first as both are used: at the best of all they have.

    An entry of one answer a request, as a greedy one, has no best of k, and stands by that answer. Of one entry alone it is its
    best of all against one draw of it.
    """
    overall = [test for test in tests if test.side is None]
    best_k: dict[str, int] = {}
    for test in overall:
        for label, k in ((test.system, test.k), (test.reference, test.reference_k)):
            best_k[label] = max(k, best_k.get(label, 1))
    of_two = [test for test in overall if test.system != test.reference]
    if not of_two:
        return [test for test in overall if test.k == best_k[test.system]]
    first = of_two[0].reference
    best = [t for t in of_two if (t.k, t.reference, t.reference_k) == (best_k[t.system], first, best_k[first])]
    in_order = list(dict.fromkeys(test.system for test in of_two))
    return sorted(best, key=lambda test: in_order.index(test.system))
