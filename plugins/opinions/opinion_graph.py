"""Opinion Interaction Graph: whether every opinion of the source keeps the same share of its units in the summary.

Opinions are communities of keywords, found from the documents alone, so that values need not be known; a request for one side is
judged by the opinions of that side's documents. The score is the Gini coefficient of the opinions' exposures: 0 is fair, lower is
better, and a reward gives it a weight below 0. With one opinion it is 0 whatever the summary; `raw` has their number. The graph
of a source is made once for all of its candidates. A summary is cut into the source's units where it has them whole, and into
sentences elsewhere. Source: Shandilya et al. 2020, section VII; docs/papers.md#shandilya-units.
"""

from collections.abc import Sequence

from ...extras import installed_versions, need
from ...judges.judge import Judge, JudgeInput, Kind, ScoringJudge, Verdict, judge_signature
from ...judges.shared import SharedModels
from ...judges.splitters import sentence_signature
from ...text import sentences
from ...text.digests import canonical_json
from .measures.interaction import GraphPlan, OpinionBias, OpinionGraph, opinion_graph
from .measures.summary_units import summary_units
from .sections import OpinionGraphJudge


class OpinionGraphScore(ScoringJudge):
    """The score of the Opinion Interaction Graph as a judge, on a scale from 0 to 1."""

    def __init__(self, name: str, options: OpinionGraphJudge, signature: str) -> None:
        super().__init__(name, signature, "sources")
        self._options = options
        self._plan = GraphPlan(method=options.method, threshold=options.threshold)

    def score(self, inputs: Sequence[JudgeInput]) -> list[Verdict]:
        """One verdict for each input, in order; its `raw` has opinions, exposures and how they were counted."""
        graphs: dict[tuple[str, ...], OpinionGraph] = {}
        verdicts = []
        for judge_input in inputs:
            units = judge_input.sources
            if self._options.units != "documents":
                units = tuple(sentence for text in judge_input.sources for sentence in sentences(text))
            if units not in graphs:
                graphs[units] = self.graph(units)
            verdicts.append(
                _verdict(graphs[units].bias(summary_units(judge_input.text, units), self._options.exposure))
            )
        return verdicts

    def graph(self, units: Sequence[str]) -> OpinionGraph:
        """The graph of a source with these units."""
        return opinion_graph(units, plan=self._plan)


def _verdict(bias: OpinionBias) -> Verdict:
    exposure = bias.exposure
    if exposure.score is None:
        return Verdict(None, exposure.unscored)
    raw = {
        "exposure": bias.mode,
        "opinions": exposure.n_opinions,
        "units": exposure.n_units,
        "shown": exposure.shown,
        "strays": exposure.strays,
    }
    return Verdict(round(exposure.score, 6), raw=canonical_json(raw))


def open_opinion_graph(name: str, options: OpinionGraphJudge, models: SharedModels) -> Judge:
    """The judge of opinion bias that the options describe.

    Raises:
        MissingExtra: networkx is not installed.
    """
    need("networkx", "judge 'opinion-graph'")
    versions = installed_versions(("networkx",))
    named = judge_signature(
        "opinion-interaction",
        "opinion-graph",
        units=options.units,
        attach=f"{options.method}>{options.threshold}",
        exposure=options.exposure,
        # which communities are found is the library's
        networkx=versions["networkx"],
        sentences=sentence_signature(),
        v=3,
    )
    return OpinionGraphScore(name, options, named)


OPINION_GRAPH = Kind(open_opinion_graph, OpinionGraphJudge)
