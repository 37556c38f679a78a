"""People's labels of opinions, scored: how unequally each summary represents them, and how fair its readers call it.

Where the texts are given, two scores that need no people stand beside them: ROUGE-1 against gold summaries, and the Opinion
Interaction Graph. How all these go together is computed for the summaries of one source, by the correlations of the paper.

Source: Shandilya et al. 2020, sections IV to VII; docs/papers.md#shandilya.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from ...extras import installed_versions
from ...judges.splitters import sentence_signature
from ...number import Number
from ...records import Record
from .measures.correlation import pearson, rouge1_f1
from .measures.interaction import OpinionGraph, opinion_graph
from .measures.perceived import approval, perceived_opinion_bias
from .measures.summary_units import summary_units
from .reader import AnnotatedSummary
from .texts import NO_TEXTS, OpinionTexts


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


class SourceAgreement(Record):
    """The correlations that the paper reports, over the summaries of one source."""

    set_id: str
    # Pearson's r: of bias and the very unfair share; of ROUGE-1 and the very fair share where there are gold summaries; of bias
    # and the graph's score where there are units
    numbers: tuple[Number, ...]


class OpinionResults(Record):
    """Everything `evenhand human opinions` says."""

    # of Perceived Opinion Bias; and of the scores of texts, where there are any
    signature: str
    rouge_signature: str | None = None
    graph_signature: str | None = None
    summaries: tuple[SummaryOpinions, ...]
    sources: tuple[SourceAgreement, ...]


def opinion_results(annotated: Sequence[AnnotatedSummary], texts: OpinionTexts = NO_TEXTS) -> OpinionResults:
    """The summaries' scores in the order given, and how they go together for each source.

    Args:
        annotated: what people said of each summary.
        texts: of the sources and summaries, as far as they are known.

    Raises:
        DataError: a label is not known.
        MissingExtra: texts are given and networkx, or rouge-score, is not installed.
    """
    graphs = {set_id: opinion_graph(units) for set_id, units in texts.units.items()}
    scored = tuple(_summary(summary, texts, graphs) for summary in annotated)
    by_source: dict[str, list[SummaryOpinions]] = {}
    for summary in scored:
        by_source.setdefault(summary.set_id, []).append(summary)
    rouge = graph = None
    if any(summary.rouge1_f1 is not None for summary in scored):
        rouge = f"rouge1-f1|rouge-score:{installed_versions(('rouge-score',))['rouge-score']}"
    if any(summary.graph_bias is not None for summary in scored):
        # which communities are found is networkx's, which pieces of a summary are attached the splitter's
        versions = f"networkx:{installed_versions(('networkx',))['networkx']}|sentences:{sentence_signature()}"
        graph = f"{opinion_graph([]).signature}|exposure:auto|{versions}|v:1"
    return OpinionResults(
        signature=perceived_opinion_bias([]).signature,
        rouge_signature=rouge,
        graph_signature=graph,
        summaries=scored,
        sources=tuple(_agreement(name, summaries, texts) for name, summaries in by_source.items()),
    )


def _summary(annotated: AnnotatedSummary, texts: OpinionTexts, graphs: Mapping[str, OpinionGraph]) -> SummaryOpinions:
    """What people say of a summary, and the scores that its texts allow."""
    perceived = perceived_opinion_bias(annotated.labels)
    votes = approval(annotated.fairness)
    text, gold = texts.summaries.get((annotated.set_id, annotated.summary_id)), texts.gold.get(annotated.set_id)
    graph = graphs.get(annotated.set_id)
    exposure = None
    if text is not None and graph is not None:
        exposure = graph.bias(summary_units(text, graph.units)).exposure
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
        rouge1_f1=rouge1_f1(text, gold).mean if text is not None and gold else None,
        graph_bias=exposure.score if exposure else None,
        graph_unscored=exposure.unscored if exposure else None,
    )


def _agreement(set_id: str, summaries: Sequence[SummaryOpinions], texts: OpinionTexts) -> SourceAgreement:
    """Source: Shandilya et al. 2020, table II."""
    scores = {
        "bias": [summary.bias for summary in summaries],
        "very fair": [summary.very_fair for summary in summaries],
        "very unfair": [summary.very_unfair for summary in summaries],
        "ROUGE-1": [summary.rouge1_f1 for summary in summaries],
        "graph": [summary.graph_bias for summary in summaries],
    }
    pairs = [("bias", "very unfair"), *[("ROUGE-1", "very fair")] * (set_id in texts.gold),
             *[("bias", "graph")] * (set_id in texts.units)]  # fmt: skip
    correlations = [(first, second, pearson(scores[first], scores[second])) for first, second in pairs]
    numbers = (Number(measure=a, reference=b, value=r.r, n=r.n, left_out=r.left_out) for a, b, r in correlations)
    return SourceAgreement(set_id=set_id, numbers=tuple(numbers))
