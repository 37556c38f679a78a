"""What judges are worth, from what they said: agreement with known truth beside length, and a verdict for each probe.

How often villains are caught and fair judges accused was simulated: docs/judge-audit.md.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from statistics import median

import numpy as np

from ...config import JudgeOptions
from ...config.needs import Purpose
from ...judges.batch import Spent
from ...judges.calibration import (
    LENGTH,
    LENGTHS,
    Agreement,
    JudgeCalibration,
    JudgingCost,
    Probe,
    standing_of,
)
from ...number import Number
from ...resampling import Floats
from .agreement import correlations, lead_within, within
from .figures import flips, mean
from .hypotheses import OneJudge, conclude
from .interventions import interventions
from .observations import observations
from .study import OTHER, JudgeStudy


def calibrate(
    judges: Mapping[str, tuple[JudgeOptions, Purpose]],
    study: JudgeStudy,
    baselines: Sequence[str] = (LENGTH,),
) -> tuple[JudgeCalibration, ...]:
    """All that is known of the judges of one page.

    Args:
        judges: by name in the study, their sections and what they are to measure.
        study: what they said, and the baselines of the plain summaries.
        baselines: length first.
    """
    ones = [OneJudge(name, purpose, study, baselines) for name, (_, purpose) in judges.items()]
    hypotheses = [[*interventions(one), *observations(one)] for one in ones]
    probes = iter(conclude([each for its in hypotheses for each in its]))
    by_judge = [tuple(islice(probes, sum(each.is_shown for each in its))) for its in hypotheses]
    options = (its for its, _ in judges.values())
    return tuple(_calibration(*each) for each in zip(ones, options, by_judge, strict=True))


def _calibration(mine: OneJudge, options: JudgeOptions, probes: tuple[Probe, ...]) -> JudgeCalibration:
    study, name = mine.study, mine.name
    first = next(each for each in study.judgements if each.judge == name)
    parts = dict(part.partition(":")[::2] for part in first.signature.split("|"))
    asked = options.language_models.values()
    n_asked = sum(len(each.summaries) for each in study.sets if study.is_asked(name, each))
    revisions = [getattr(options, "revision", None), *(each.model.revision for each in asked)]
    again = study.scores(name, when="again")
    return JudgeCalibration(
        judge=name,
        signature=first.signature,
        models=(*options.models.values(), *(each.model.name for each in asked)),
        revisions=tuple(filter(None, revisions)),
        rubric=parts.get("template", ""),
        purpose=mine.purpose,
        own=_agreement(mine, name, mine.plain, mine.purpose),
        other=_agreement(mine, name, mine.plain, OTHER[mine.purpose]),
        beside=tuple(_beside(mine)),
        is_constant=mine.is_constant,
        spread=mine.spread or None,
        probes=probes,
        flips_again=_flips(mine, again),
        flips_reversed=_flips(mine, study.scores(name, "reversed")),
        repeat=_repeat(mine, again),
        cost=_cost(name, study.spent, is_asking=bool(options.language_models)),
        n_summaries=n_asked,
        unscored=n_asked - int((~np.isnan(mine.plain)).sum()),
        n_seen=sum(not study.is_asked(name, each) for each in study.sets),
    )


def _agreement(mine: OneJudge, of: str, scores: Floats, purpose: Purpose) -> Agreement:
    pooled, within = correlations(mine.study.truths[purpose], scores, mine.study.topics)
    return Agreement(of=of, pooled=pooled, within=within)


def _beside(mine: OneJudge) -> Iterator[Agreement]:
    """Length, in the direction that agrees better, and the best of the other baselines, with the judge's lead.

    All by the summaries that the judge has scored: what it leaves out nobody is asked about.
    """
    study, truths = mine.study, mine.study.truths[mine.purpose]
    scores = {each: np.where(np.isnan(mine.plain), np.nan, study.scores(each)) for each in mine.baselines}
    size = {each: mean(within(truths, its), study.topics).number.value or 0.0 for each, its in scores.items()}
    first, *others = mine.baselines
    names = {first: LENGTHS[size[first] < 0]} | ({max(others, key=lambda each: size[each]): ""} if others else {})
    for other, name in names.items():
        its = -scores[other] if name == LENGTHS[1] else scores[other]
        gap = lead_within(truths, mine.plain, its, study.topics, chooses=True)
        difference = gap.model_copy(update={"verdict": standing_of(gap)})
        agreement = _agreement(mine, name or other, its, mine.purpose)
        yield agreement.model_copy(update={"difference": difference})


def _flips(mine: OneJudge, after: Floats) -> Number:
    return mean(flips(mine.plain, after), mine.study.topics).untested


def _repeat(mine: OneJudge, again: Floats) -> float | None:
    gap = again - mine.plain
    known = gap[~np.isnan(gap)]
    return float(np.sqrt((known**2).mean()) / mine.spread) if len(known) and mine.spread else None


def _cost(name: str, spent: Sequence[Spent], *, is_asking: bool) -> JudgingCost:
    """By the median batch, so that the loading of a model, which is in the first, does not count."""
    mine = [each for each in spent if name in each.judges and each.asked]
    if not mine:
        return JudgingCost(seconds=None, prompt_tokens=None)
    return JudgingCost(
        seconds=1000 * median(each.seconds / each.asked for each in mine),
        prompt_tokens=1000 * median(each.prompt_tokens / each.asked for each in mine) if is_asking else None,
    )
