"""What the headline is made from: everything that a report tests, with verdicts."""

from collections.abc import Mapping, Sequence

from ..systems.compare import COMPARISONS, Comparer, Trait, Values
from ..systems.contents import Difference, JudgeNote, SideGap, SystemPair
from ..systems.contrasts import Contrast, conclude
from ..systems.pareto import Front
from ..systems.questions import Half
from ..systems.roles import half_of
from ..systems.systems import SYSTEMS, TRAINED
from .findings import RERANKING, TRAINING, Evidence


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
    contrasts: list[Contrast] = []
    for judge in judges:
        contrasts += compare.differences(judge, values[judge.name])
        pairs = [(SystemPair(*pair), its) for pair, its in compare.paired(values[judge.name]).items()]
        systems = [(SystemPair(name), its) for name, its in values[judge.name].items()]
        contrasts += filter(None, (compare.gap(judge, *each) for each in (*pairs, *systems)))
    for trait, by_system in lows:
        contrasts += [each for each in compare.differences(trait, by_system) if each.difference.side is None]
    headline = TRAINING if is_trained else RERANKING

    def half(each: Difference) -> Half:
        is_headline = not isinstance(each, SideGap) and each.pair == headline
        is_by_design = COMPARISONS.get((each.system, each.reference)) == "reranking"
        return half_of(judges, each, is_headline=is_headline, is_by_design=is_by_design)

    questions = [each.asked_in(half(each.difference)) for each in contrasts]
    told, fronts = conclude(questions, compare.bootstrap, [each.rivals.question for each in planes])
    gaps = [each for each in told if isinstance(each, SideGap)]
    differences = [each for each in told if not isinstance(each, SideGap)]
    return Evidence(
        judges=judges,
        differences=[each for each in differences if not each.of_judge],
        low_grades=[each for each in differences if each.of_judge],
        gain_gaps=[each for each in gaps if each.reference],
        score_gaps=[each for each in gaps if not each.reference],
        planes=[each.concluded(found, compare.bootstrap.level) for each, found in zip(planes, fronts, strict=True)],
        sides=compare.sides,
        candidates=candidates,
        bootstrap=compare.bootstrap,
        is_trained=is_trained,
    )
