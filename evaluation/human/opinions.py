"""People's labels of opinions, scored: how unequally each summary represents them, and how fair its readers call it.

Whether the two go together is told for the summaries of one source. Source: arXiv:2101.12406; specification of opinion bias,
sections 2 and 3.
"""

from collections import Counter
from collections.abc import Sequence

from ...corpora.opinions import AnnotatedSummary
from ...fairness.opinion import Negative, approval, pearson, perceived_opinion_bias
from ...records import Record


class SummaryOpinions(Record):
    """What people say of one summary."""

    set_id: str
    summary_id: str
    annotators: tuple[str, ...]
    # Perceived Opinion Bias, 0 is fair; None when undefined, and then `unscored` says why
    bias: float | None
    unscored: str | None
    # mean label of each opinion by its name, in [-1, 1]; None where nobody labelled it
    by_opinion: dict[str, float | None]
    # shares of those who voted, in [0, 1]; None without a vote
    very_fair: float | None
    very_unfair: float | None
    n_votes: int
    # what makes it so -> number of annotators
    reasons: dict[str, int]


class SourceAgreement(Record):
    """Pearson's r of Perceived Opinion Bias and the very unfair share over the summaries of one source."""

    set_id: str
    # in [-1, 1]; None when one of them is constant or fewer than two summaries have both
    r: float | None
    n: int
    left_out: int


class OpinionResults(Record):
    """Everything `evenhand human opinions` says."""

    signature: str
    summaries: tuple[SummaryOpinions, ...]
    sources: tuple[SourceAgreement, ...]


def opinion_results(annotated: Sequence[AnnotatedSummary], negative: Negative = "affine") -> OpinionResults:
    """The summaries' scores in the order given, and the agreement of bias and votes for each source.

    Raises:
        DataError: a label is not known.
    """
    scored = [_summary(each, negative) for each in annotated]
    by_source: dict[str, list[SummaryOpinions]] = {}
    for each in scored:
        by_source.setdefault(each.set_id, []).append(each)
    return OpinionResults(
        signature=perceived_opinion_bias([], negative).signature,
        summaries=tuple(scored),
        sources=tuple(_agreement(name, each) for name, each in by_source.items()),
    )


def _summary(annotated: AnnotatedSummary, negative: Negative) -> SummaryOpinions:
    perceived = perceived_opinion_bias(annotated.labels, negative)
    votes = approval(annotated.fairness)
    return SummaryOpinions(
        set_id=annotated.set_id,
        summary_id=annotated.summary_id,
        annotators=annotated.annotators,
        bias=perceived.score,
        unscored=perceived.unscored,
        by_opinion=dict(zip(annotated.opinions, perceived.scores, strict=True)),
        very_fair=votes.very_fair,
        very_unfair=votes.very_unfair,
        n_votes=sum(votes.counts.values()),
        reasons=dict(Counter(reason for reason in annotated.reasons if reason is not None)),
    )


def _agreement(set_id: str, summaries: Sequence[SummaryOpinions]) -> SourceAgreement:
    found = pearson([each.bias for each in summaries], [each.very_unfair for each in summaries])
    return SourceAgreement(set_id=set_id, r=found.r, n=found.n, left_out=found.left_out)
