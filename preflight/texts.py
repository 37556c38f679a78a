"""Every judge must have a text to compare with: key points, documents of the other sides, documents of several values."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial

from ..config import FairnessJudgeSection, JudgeOptions, RuleJudge, ValueSharesJudge
from ..errors import RecipeError
from ..fairness.groups.coverage import ONE_VALUE
from ..judges.batch import MISSING_REFERENCE, reference_text
from ..judges.documents import labelled_documents
from ..records import SummaryRequest
from ..runfolder.phases import Phase
from .check import Check

REMEDIES = {
    "key_points": "list them in the corpus (`key_points` of a set), write against: source, or leave the judge out",
    "opposing": "add the other sides' documents, write against: source, or leave the judge out",
}


def text_checks(phase: Phase, requests: Sequence[SummaryRequest]) -> Iterator[Check]:
    """That there are requests, and that each judge of the phase can score enough of them."""
    yield Check(f"corpus.{phase.split}", partial(_refuse_none, phase, requests))
    if requests:
        for name in phase.judges:
            yield Check(f"judges.{name}", partial(_refuse_unscored, phase, requests, name))


def _refuse_none(phase: Phase, requests: Sequence[SummaryRequest]) -> None:
    if not requests:
        raise RecipeError(f"no document set is left for the {phase.split} split; widen it, or add sets to the corpus")


def _refuse_unscored(phase: Phase, requests: Sequence[SummaryRequest], name: str) -> None:
    """Refuse a judge that would leave more unscored than the recipe allows, whatever the summaries say."""
    options = phase.recipe.judges[name]
    limit = phase.recipe.limits.unscored
    reasons = {request.id: reason for request in requests if (reason := _why_not(options, request))}
    if len(reasons) <= limit * len(requests):
        return
    counted = ", ".join(f"{reason} ({count})" for reason, count in Counter(reasons.values()).most_common())
    raise RecipeError(
        f"{len(reasons)} of {len(requests)} {phase.split} requests cannot be scored: {counted}, for example "
        f"{next(iter(reasons))!r}. limits.unscored is {limit}; {REMEDIES.get(options.against, 'leave out such sets, or it')}"
    )


def _why_not(options: JudgeOptions, request: SummaryRequest) -> str | None:
    """Why the judge cannot score any summary of the request; None when it may."""
    if isinstance(options, RuleJudge):
        return None
    if not isinstance(options, FairnessJudgeSection):
        return None if reference_text(request, options.against).strip() else MISSING_REFERENCE[options.against]
    values = {document.value for document in labelled_documents(request).documents}
    if len(values) < 2:
        return ONE_VALUE if values else MISSING_REFERENCE["documents"]
    without = (
        values - options.target.keys()
        if isinstance(options, ValueSharesJudge) and isinstance(options.target, dict)
        else ()
    )
    return f"no weight in target for {', '.join(map(repr, sorted(without)))}" if without else None
