"""What the headline is made from: everything that a report tests, with verdicts."""

from collections.abc import Callable, Mapping, Sequence
from itertools import islice

from ..systems.compare import COMPARISONS, Comparer, Trait, Values, comparison_name
from ..systems.contents import Difference, JudgeNote, SideGap
from ..systems.contrasts import Contrast, conclude
from ..systems.pareto import Front
from ..systems.questions import Half
from ..systems.roles import deciding
from ..systems.systems import SYSTEMS, TRAINED
from .findings import RERANKING, TRAINING, Evidence

# what a difference tells, by its name
CLAIMED = {comparison_name(*systems): claim for systems, claim in COMPARISONS.items()}


def evidence_of(
    compare: Comparer,
    judges: Sequence[JudgeNote],
    values: Mapping[str, Mapping[str, Values]],
    candidates: int,
    planes: Sequence[Front] = (),
    lows: Sequence[tuple[Trait, Mapping[str, Values]]] = (),
) -> Evidence:
    """Paired differences by side and overall, and how far apart sides and their gains are, with verdicts.

    Args:
        compare: of the requests.
        judges: of the report.
        values: a value a request, by judge and system.
        candidates: of each request.
        planes: of two judges, of which nothing is concluded yet.
        lows: shares of bad grades, with their values by system.
    """
    is_trained = any(SYSTEMS[TRAINED][0] in its for its in values.values())
    differences: list[Contrast[Difference]] = []
    score_gaps: list[SideGap] = []
    gain_gaps: list[SideGap] = []
    of_gains: list[Contrast[Difference]] = []
    of_scores: list[Contrast[Difference]] = []
    for judge in judges:
        mine = values[judge.name]
        differences += compare.differences(judge, mine)
        for subjects, gaps, contrasts in (
            (compare.paired(mine), gain_gaps, of_gains),
            (mine, score_gaps, of_scores),
        ):
            for gap, contrast in filter(None, (compare.gap(judge, *each) for each in subjects.items())):
                gaps.append(gap)
                contrasts.append(contrast)
    half = _halves(judges, is_trained)
    contrasts = [each.asked_in(half(each.difference, each.difference.measure)) for each in differences]
    of_lows = [
        each.asked_in(half(each.difference, trait.of_judge, is_first=False))
        for trait, its in lows
        for each in compare.differences(trait, its)
        if each.difference.side is None
    ]
    contrasts += of_lows
    contrasts += [
        each.asked_in(half(each.difference, each.difference.measure, is_first=False))
        for each in (*of_gains, *of_scores)
    ]
    told, fronts = conclude(contrasts, compare.bootstrap, [each.rivals.question for each in planes])
    its = iter(told)
    return Evidence(
        judges=judges,
        differences=list(islice(its, len(differences))),
        low_grades=list(islice(its, len(of_lows))),
        gain_gaps=[each.model_copy(update={"gap": next(its)}) for each in gain_gaps],
        score_gaps=[each.model_copy(update={"gap": next(its)}) for each in score_gaps],
        planes=[each.concluded(found, compare.bootstrap.level) for each, found in zip(planes, fronts, strict=True)],
        sides=compare.sides,
        candidates=candidates,
        is_trained=is_trained,
    )


def _halves(judges: Sequence[JudgeNote], is_trained: bool) -> Callable[..., Half]:
    """Which half of the level a difference of systems or of sides is tested in."""
    decide, headline = {judge.name for judge in deciding(judges)}, TRAINING if is_trained else RERANKING
    report = {judge.name for judge in judges if judge.role == "report"}

    def half(each: Difference, judge: str, *, is_first: bool = True) -> Half:
        if is_first and judge in decide and (each.subject, each.side) == (headline, None):
            return "headline"
        return "others" if judge in report and CLAIMED.get(each.subject) != "reranking" else "by design"

    return half
