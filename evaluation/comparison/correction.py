"""The questions that a comparison's page answers, which are corrected together, see `systems.correction`."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..systems.contents import JudgeNote, Plane
from ..systems.correction import HEADLINE, Other, corrected
from ..systems.roles import deciding
from ..verdicts import P, is_clear
from .baselines import ONE_DRAW
from .contents import PairedTest, WorstSides
from .findings import as_used
from .paired_tests import names_of_test

ENTRIES, RERANKING = "entries by side and at other equal budgets", "what reranking adds"
CHOICES, WORST_SIDES = "choices by reward and without a judge", "worst sides"


@dataclass(frozen=True)
class Concluded:
    """Everything that has a verdict, and what to know where no difference is clear by itself."""

    tests: list[PairedTest]
    baselines: list[PairedTest]
    worst_sides: list[WorstSides]
    planes: list[Plane]
    few_together: str


def conclude(
    judges: Sequence[JudgeNote],
    tests: Sequence[PairedTest],
    baselines: Sequence[PairedTest],
    worst_sides: Sequence[WorstSides],
    planes: Sequence[Plane],
) -> Concluded:
    """All verdicts of a page.

    Args:
        judges: of the report.
        tests: of entries and of what reranking adds to them, not yet corrected.
        baselines: of what a reward must beat, likewise.
        worst_sides: with the choices that their own tests make.
        planes: with what is off the front by the correction of one plane.
    """
    # the best of all against one draw may be among both: one number has one verdict
    twins = {
        _place(test): k for k, test in enumerate(tests) if test.subject == test.reference and test.reference_k == 1
    }
    twin_of = [twins.get(_place(each)) if each.reference == ONE_DRAW else None for each in baselines]
    alone = [each for each, twin in zip(baselines, twin_of, strict=True) if twin is None]
    found = corrected(
        judges,
        [*tests, *alone],
        [*_questions(judges, tests), *(RERANKING if each.reference == ONE_DRAW else CHOICES for each in alone)],
        planes,
        [Other(each.measure, WORST_SIDES, each.found.p_value) for each in worst_sides],
    )
    told, against = found.differences[: len(tests)], iter(found.differences[len(tests) :])
    return Concluded(
        tests=told,
        baselines=[
            next(against)
            if twin is None
            else each.model_copy(update={"adjusted": told[twin].adjusted, "verdict": told[twin].verdict})
            for each, twin in zip(baselines, twin_of, strict=True)
        ],
        worst_sides=[_corrected(*each) for each in zip(worst_sides, found.others, strict=True)],
        planes=found.planes,
        few_together=found.few_together,
    )


def _questions(judges: Sequence[JudgeNote], tests: Sequence[PairedTest]) -> list[str]:
    """What the page asks by each test; of entries at different budgets, reranking makes some of the difference by design."""
    decide, used = {judge.name for judge in deciding(judges)}, {names_of_test(test) for test in as_used(tests)}

    def question(test: PairedTest) -> str:
        if test.side is None and test.measure in decide and names_of_test(test) in used:
            return HEADLINE
        return ENTRIES if test.k == test.reference_k else RERANKING

    return list(map(question, tests))


def _place(test: PairedTest) -> tuple[str, str | None, str, int]:
    return test.measure, test.side, test.subject, test.k


def _corrected(found: WorstSides, p_value: P) -> WorstSides:
    """Without a choice where the corrected p-value is too large."""
    choice = found.found.choice if is_clear(p_value, found.found.level) else None
    rated = found.found.model_copy(update={"choice": choice})
    return found.model_copy(update={"found": rated, "adjusted": p_value})
