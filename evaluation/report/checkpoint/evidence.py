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
    is_trained = any(SYSTEMS[TRAINED][0] in by_system for by_system in values.values())
    contrasts: list[Contrast] = []
    for judge in judges:
        contrasts += compare.differences(judge, values[judge.name])
        pairs = [(SystemPair(*pair), by_request) for pair, by_request in compare.paired(values[judge.name]).items()]
        systems = [(SystemPair(name), by_request) for name, by_request in values[judge.name].items()]
        contrasts += filter(None, (compare.gap(judge, *subject) for subject in (*pairs, *systems)))
    for trait, by_system in lows:
        contrasts += [
            contrast for contrast in compare.differences(trait, by_system) if contrast.difference.side is None
        ]
    headline = TRAINING if is_trained else RERANKING

    def half(difference: Difference) -> Half:
        is_headline = not isinstance(difference, SideGap) and difference.pair == headline
        is_by_design = COMPARISONS.get((difference.system, difference.reference)) == "reranking"
        return half_of(judges, difference, is_headline=is_headline, is_by_design=is_by_design)

    questions = [contrast.asked_in(half(contrast.difference)) for contrast in contrasts]
    answers, fronts = conclude(questions, compare.bootstrap, [plane.rivals.question for plane in planes])
    gaps = [answer for answer in answers if isinstance(answer, SideGap)]
    differences = [answer for answer in answers if not isinstance(answer, SideGap)]
    return Evidence(
        judges=judges,
        differences=[difference for difference in differences if not difference.of_judge],
        low_grades=[difference for difference in differences if difference.of_judge],
        gain_gaps=[gap for gap in gaps if gap.reference],
        score_gaps=[gap for gap in gaps if not gap.reference],
        planes=[plane.concluded(front, compare.bootstrap.level) for plane, front in zip(planes, fronts, strict=True)],
        sides=compare.sides,
        candidates=candidates,
        bootstrap=compare.bootstrap,
        is_trained=is_trained,
    )
