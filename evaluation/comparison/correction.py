"""The questions that a comparison's page answers, which are corrected together, see `systems.correction`."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..systems.contents import JudgeNote, Plane
from ..systems.correction import HEADLINE, Part, corrected, is_clear
from ..systems.roles import deciding
from .baselines import ONE_DRAW
from .contents import PairedTest, WorstSides
from .findings import as_used
from .paired_tests import names_of_test

ENTRIES, RERANKING = "entries by side and at other budgets", "what reranking adds"
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
    of_choices = (True, WORST_SIDES)
    p_values = {of_choices: [each.found.p_value for each in worst_sides]}
    found = corrected([*tests, *baselines], _parts(judges, tests, baselines), planes, p_values)
    return Concluded(
        tests=found.differences[: len(tests)],
        baselines=found.differences[len(tests) :],
        worst_sides=[
            each if is_clear(p, each.found.level) else _without_choice(each)
            for each, p in zip(worst_sides, found.others[of_choices], strict=True)
        ],
        planes=found.planes,
        few_together=found.few_together,
    )


def _parts(judges: Sequence[JudgeNote], tests: Sequence[PairedTest], baselines: Sequence[PairedTest]) -> list[Part]:
    """The part of each test, and then of each against what is chosen without a judge."""
    is_report = {judge.name: judge.role == "report" for judge in judges}
    decide = {judge.name for judge in deciding(judges)}
    used = {names_of_test(test) for test in as_used(tests)}

    def what(test: PairedTest) -> str:
        if test.side is None and test.measure in decide and names_of_test(test) in used:
            return HEADLINE
        return RERANKING if test.subject == test.reference else ENTRIES

    asked = [*map(what, tests), *(RERANKING if each.reference == ONE_DRAW else CHOICES for each in baselines)]
    return [(is_report[test.measure], each) for test, each in zip((*tests, *baselines), asked, strict=True)]


def _without_choice(found: WorstSides) -> WorstSides:
    return found.model_copy(update={"found": found.found.model_copy(update={"choice": None})})
