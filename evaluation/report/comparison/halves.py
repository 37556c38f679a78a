"""In which half of the level a comparison's page asks what, see `systems.questions`."""

from collections.abc import Sequence

from ..systems.contents import Difference, JudgeNote
from ..systems.contrasts import Contrast
from ..systems.questions import Half
from ..systems.roles import deciding
from .baselines import ONE_DRAW
from .findings import as_used
from .paired_tests import Names, names_of_test

Contrasts = Sequence[Contrast]


def in_halves(
    judges: Sequence[JudgeNote], tests: Contrasts, baselines: Contrasts, low_grades: Contrasts = ()
) -> tuple[list[Contrast], ...]:
    """All of them, each in its half: the first is of entries as they are used, over all sides, by the judges that decide.

    Args:
        judges: of the report.
        tests: of entries and of what reranking adds to them; of entries at different budgets it makes some of the difference.
        baselines: of what a reward must beat; the best against one draw may be among both, and is asked the same in both.
        low_grades: of shares of bad grades between entries.
    """
    decide, report = ({judge.name for judge in its} for its in (deciding(judges), _of_report(judges)))
    used = {names_of_test(test) for test in as_used([each.difference for each in tests])}

    def half(test: Difference, names: Names, *, by_design: bool) -> Half:
        if test.side is None and test.measure in decide and names in used:
            return "headline"
        return "by design" if by_design or (test.of_judge or test.measure) not in report else "others"

    def of_test(test: Difference) -> Half:
        return half(test, names_of_test(test), by_design=test.k != test.reference_k)

    def of_baseline(test: Difference) -> Half:
        is_draw = test.reference == ONE_DRAW and test.reference_k == 1
        return half(test, (test.system, test.k, test.system, 1) if is_draw else ("", 0, "", 0), by_design=is_draw)

    return (
        [each.asked_in(of_test(each.difference)) for each in tests],
        [each.asked_in(of_baseline(each.difference)) for each in baselines],
        [each.asked_in(of_test(each.difference)) for each in low_grades],
    )


def _of_report(judges: Sequence[JudgeNote]) -> list[JudgeNote]:
    return [judge for judge in judges if judge.role == "report"]
