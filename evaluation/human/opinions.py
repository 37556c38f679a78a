"""People's labels of opinions, scored: how unequally each summary represents them, and how fair its readers call it.

Where the texts are given, two scores that need no people stand beside them: ROUGE-1 against gold summaries, and the Opinion
Interaction Graph. How all these go together is told for the summaries of one source, by the correlations that the paper reports.
Source: Shandilya et al. 2020, sections IV to VII; docs/papers.md#shandilya.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from ...corpora.opinions import AnnotatedSummary
from ...extras import installed_versions
from ...fairness.opinion.correlation import Correlation, SummaryScores, batch_agreement, rouge1_f1
from ...fairness.opinion.interaction import OpinionGraph, opinion_graph
from ...fairness.opinion.perceived import Negative, approval, perceived_opinion_bias
from ...fairness.opinion.summary_units import summary_units
from ...judges.splitters import sentence_signature
from ...records import Record
from .opinion_texts import NO_TEXTS, OpinionTexts


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
    # mean ROUGE-1 F1 against the gold summaries, in [0, 1]; None without texts, or without a word that ROUGE reads
    rouge1_f1: float | None = None
    # Opinion Interaction Graph, 0 is fair; None without texts, or when undefined, and then `graph_unscored` says why
    graph_bias: float | None = None
    graph_unscored: str | None = None


class Agreement(Record):
    """Pearson's r of two scores over the summaries of one source."""

    # in [-1, 1]; None when one of them is constant or fewer than two summaries have both
    r: float | None
    n: int
    left_out: int


class SourceAgreement(Record):
    """The correlations that the paper reports, over the summaries of one source."""

    set_id: str
    # Perceived Opinion Bias and the very unfair share
    bias_and_very_unfair: Agreement
    # ROUGE-1 F1 and the very fair share; None without gold summaries
    rouge_and_very_fair: Agreement | None = None
    # Perceived Opinion Bias and the graph's score; None without the units of the source
    bias_and_graph: Agreement | None = None


class OpinionResults(Record):
    """Everything `evenhand human opinions` says."""

    # of Perceived Opinion Bias; and of the scores of texts, where there are any
    signature: str
    rouge_signature: str | None = None
    graph_signature: str | None = None
    summaries: tuple[SummaryOpinions, ...]
    sources: tuple[SourceAgreement, ...]


def opinion_results(
    annotated: Sequence[AnnotatedSummary], negative: Negative = "affine", texts: OpinionTexts = NO_TEXTS
) -> OpinionResults:
    """The summaries' scores in the order given, and how they go together for each source.

    Args:
        annotated: what people said of each summary.
        negative: how Perceived Opinion Bias reads negative means.
        texts: of the sources and summaries, as far as they are known.

    Raises:
        DataError: a label is not known.
        MissingExtra: texts are given and networkx, or rouge-score, is not installed.
    """
    graphs = {set_id: opinion_graph(units) for set_id, units in texts.units.items()}
    scored = [_with_texts(_summary(each, negative), texts, graphs) for each in annotated]
    by_source: dict[str, list[SummaryOpinions]] = {}
    for each in scored:
        by_source.setdefault(each.set_id, []).append(each)
    return OpinionResults(
        signature=perceived_opinion_bias([], negative).signature,
        rouge_signature=_rouge_signature() if any(each.rouge1_f1 is not None for each in scored) else None,
        graph_signature=_graph_signature() if any(each.graph_bias is not None for each in scored) else None,
        summaries=tuple(scored),
        sources=tuple(_agreement(name, each, texts) for name, each in by_source.items()),
    )


def _rouge_signature() -> str:
    return f"rouge1-f1|rouge-score:{installed_versions(('rouge-score',))['rouge-score']}"


def _graph_signature() -> str:
    """Which communities are found is networkx's, which pieces of a summary are attached the splitter's."""
    versions = f"networkx:{installed_versions(('networkx',))['networkx']}|sentences:{sentence_signature()}"
    return f"{opinion_graph([]).signature}|exposure:auto|{versions}|v:1"


def _with_texts(scored: SummaryOpinions, texts: OpinionTexts, graphs: Mapping[str, OpinionGraph]) -> SummaryOpinions:
    """The scores that the texts of a summary allow, added to those of the people."""
    text = texts.summaries.get((scored.set_id, scored.summary_id))
    if text is None:
        return scored
    found: dict[str, object] = {}
    if scored.set_id in texts.gold:
        found["rouge1_f1"] = rouge1_f1(text, texts.gold[scored.set_id]).mean
    if scored.set_id in graphs:
        graph = graphs[scored.set_id]
        exposure = graph.bias(summary_units(text, graph.units)).exposure
        found |= {"graph_bias": exposure.score, "graph_unscored": exposure.unscored}
    return scored.model_copy(update=found)


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


def _agreement(set_id: str, summaries: Sequence[SummaryOpinions], texts: OpinionTexts) -> SourceAgreement:
    found = batch_agreement(
        [
            SummaryScores(
                rouge1_f1=each.rouge1_f1,
                very_fair=each.very_fair,
                very_unfair=each.very_unfair,
                perceived=each.bias,
                interaction=each.graph_bias,
            )
            for each in summaries
        ]
    )
    return SourceAgreement(
        set_id=set_id,
        bias_and_very_unfair=_recorded(found.perceived_and_very_unfair),
        rouge_and_very_fair=_recorded(found.rouge_and_very_fair) if set_id in texts.gold else None,
        bias_and_graph=_recorded(found.perceived_and_interaction) if set_id in texts.units else None,
    )


def _recorded(found: Correlation) -> Agreement:
    return Agreement(r=found.r, n=found.n, left_out=found.left_out)
