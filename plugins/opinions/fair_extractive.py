"""Fair extractive summaries: whole documents or sentences of all sides, chosen under quotas. No language model is asked.

Each candidate is one choice: what the recipe's notion of fairness makes of the set, or one mix of two groups out of a batch whose
bias is known by construction. Units stand in the summary in the order of the sources; nothing is random.
Source: Dash et al. 2019; docs/papers.md#dash. Shandilya et al. 2020, section IV.A.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from ...errors import DataError
from ...fairness.groups.quotas import group_quotas, units_of
from ...generate.backend import Reply
from ...generate.method import Job, Method
from ...records import SummaryRequest
from ...text.digests import digest
from .measures.objective import ObjectivePlan
from .measures.selection import (
    Selection,
    biased_batch,
    check_quotas,
    equal_quotas,
    select_batch,
    select_fair,
)
from .sections import FairExtractiveSection

UNMET = "quotas cannot be met"


def summarise(job: Job) -> list[list[Reply]]:
    """The summaries of each request, one for each draw; one whose quotas the units cannot meet fails with the reason."""
    options = job.recipe.generate.options_as(FairExtractiveSection)
    assert len(job.draws) == len(options.names), "each summary is drawn once"
    sides = job.recipe.corpus.sides or ()
    return [_replies(request, options, sides) for request in job.requests]


def _replies(request: SummaryRequest, options: FairExtractiveSection, sides: Sequence[str]) -> list[Reply]:
    units, groups = units_of(request, options.unit)
    source = digest([units, groups])
    try:
        selections = _selections(units, groups, options, sides)
    except DataError as error:
        selections = [error for _ in options.names]
    replies = []
    for selection in selections:
        if isinstance(selection, DataError):
            message = f"{request.document_set.id}: {selection}"
            replies.append(Reply(text="", finish_reason="failed", prompt_digest=source, reason=UNMET, error=message))
        else:
            text = " ".join(units[place] for place in selection.in_source_order)
            replies.append(Reply(text=text, finish_reason="stop", prompt_digest=source))
    return replies


def _selections(
    units: Sequence[str], groups: Sequence[str], options: FairExtractiveSection, sides: Sequence[str]
) -> list[Selection | DataError]:
    """What is chosen under the quotas of each summary, or why they cannot be met."""
    plan = ObjectivePlan(coverage=options.coverage)
    if options.notion == "free":
        return [select_fair(units, groups, None, options.length, plan)]
    sizes = Counter(groups)
    batch: Sequence[Mapping[str, int]]
    if options.mix is not None:
        mix = options.mix
        batch = biased_batch(options.length, mix.first, mix.second, mix.step, mix.fixed)
    elif options.quotas is not None:
        batch = [options.quotas]
    elif options.notion == "equal":
        # a side of the corpus that the set lacks is short, too
        batch = [equal_quotas({**dict.fromkeys(sides, 0), **sizes} if sides else sizes, options.length)]
    else:
        batch = [group_quotas(sizes, options.length, "proportional")]
    met: list[Mapping[str, int] | DataError] = []
    for quotas in batch:
        try:
            met.append(check_quotas(quotas, sizes, options.length))
        except DataError as error:
            met.append(error)
    chosen = select_batch(units, groups, [quotas for quotas in met if not isinstance(quotas, DataError)], plan)
    return [quotas if isinstance(quotas, DataError) else next(chosen) for quotas in met]


FAIR_EXTRACTIVE = Method(summarise, FairExtractiveSection)
