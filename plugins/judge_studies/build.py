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
    """The calibration of each judge of one page.

    Args:
        judges: by name in the study, their sections and what they are to measure.
        study: what they said, and the baselines of the plain summaries.
        baselines: length first.
    """
    ones = [OneJudge(name, purpose, study, baselines) for name, (_, purpose) in judges.items()]
    hypotheses = [[*interventions(judge), *observations(judge)] for judge in ones]
    probes = iter(conclude([hypothesis for judge_hypotheses in hypotheses for hypothesis in judge_hypotheses]))
    by_judge = [
        tuple(islice(probes, sum(hypothesis.is_shown for hypothesis in judge_hypotheses)))
        for judge_hypotheses in hypotheses
    ]
    options = (section for section, _ in judges.values())
    return tuple(_calibration(*arguments) for arguments in zip(ones, options, by_judge, strict=True))


def _calibration(judge: OneJudge, options: JudgeOptions, probes: tuple[Probe, ...]) -> JudgeCalibration:
    study, name = judge.study, judge.name
    first = next(judgement for judgement in study.judgements if judgement.judge == name)
    parts = dict(part.partition(":")[::2] for part in first.signature.split("|"))
    language_models = options.language_models.values()
    n_asked = sum(len(article.summaries) for article in study.sets if study.is_asked(name, article))
    revisions = [getattr(options, "revision", None), *(section.model.revision for section in language_models)]
    again = study.scores(name, when="again")
    return JudgeCalibration(
        judge=name,
        signature=first.signature,
        models=(*options.models.values(), *(section.model.name for section in language_models)),
        revisions=tuple(filter(None, revisions)),
        rubric=parts.get("template", ""),
        purpose=judge.purpose,
        own=_agreement(judge, name, judge.plain, judge.purpose),
        other=_agreement(judge, name, judge.plain, OTHER[judge.purpose]),
        beside=tuple(_beside(judge)),
        is_constant=judge.is_constant,
        spread=judge.spread or None,
        probes=probes,
        flips_again=_flips(judge, again),
        flips_reversed=_flips(judge, study.scores(name, "reversed")),
        repeat=_repeat(judge, again),
        cost=_cost(name, study.spent, is_asking=bool(options.language_models)),
        n_summaries=n_asked,
        unscored=n_asked - int((~np.isnan(judge.plain)).sum()),
        n_seen=sum(not study.is_asked(name, article) for article in study.sets),
    )


def _agreement(judge: OneJudge, of: str, scores: Floats, purpose: Purpose) -> Agreement:
    pooled, within = correlations(judge.study.truths[purpose], scores, judge.study.topics)
    return Agreement(of=of, pooled=pooled, within=within)


def _beside(judge: OneJudge) -> Iterator[Agreement]:
    """Length, in the direction that agrees better, and the best of the other baselines, with the judge's lead.

    All by the summaries that the judge has scored: what it leaves out nobody is asked about.
    """
    study, truths = judge.study, judge.study.truths[judge.purpose]
    scores = {baseline: np.where(np.isnan(judge.plain), np.nan, study.scores(baseline)) for baseline in judge.baselines}
    size = {
        baseline: mean(within(truths, baseline_scores), study.topics).number.value or 0.0
        for baseline, baseline_scores in scores.items()
    }
    first, *rouge = judge.baselines
    names = {first: LENGTHS[size[first] < 0]} | ({max(rouge, key=lambda baseline: size[baseline]): ""} if rouge else {})
    for rival, name in names.items():
        rival_scores = -scores[rival] if name == LENGTHS[1] else scores[rival]
        gap = lead_within(truths, judge.plain, rival_scores, study.topics, chooses=True)
        difference = gap.model_copy(update={"verdict": standing_of(gap)})
        agreement = _agreement(judge, name or rival, rival_scores, judge.purpose)
        yield agreement.model_copy(update={"difference": difference})


def _flips(judge: OneJudge, after: Floats) -> Number:
    return mean(flips(judge.plain, after), judge.study.topics).untested


def _repeat(judge: OneJudge, again: Floats) -> float | None:
    gap = again - judge.plain
    gaps = gap[~np.isnan(gap)]
    return float(np.sqrt((gaps**2).mean()) / judge.spread) if len(gaps) and judge.spread else None


def _cost(name: str, spent: Sequence[Spent], *, is_asking: bool) -> JudgingCost:
    """Cost of 1,000 summaries by the median batch, so that the loading of a model, which is in the first, does not count."""
    batches = [batch for batch in spent if name in batch.judges and batch.asked]
    if not batches:
        return JudgingCost(seconds=None, prompt_tokens=None)
    return JudgingCost(
        seconds=1000 * median(batch.seconds / batch.asked for batch in batches),
        prompt_tokens=1000 * median(batch.prompt_tokens / batch.asked for batch in batches) if is_asking else None,
    )
