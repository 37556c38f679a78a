"""The Opinion Interaction Graph: whether the opinions of a set get their share, whoever voices them.

Source: arXiv:2101.12406; specification of opinion bias, section 4. The graph knows no attribute; an example says whose documents
voice the opinions.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from ...fairness.groups import Unscored
from ...fairness.groups.ngram import EMPTY_SUMMARY
from ...fairness.labelled import LabelledSummary
from ...fairness.opinion import GraphPlan, OpinionBias, OpinionGraph, opinion_graph
from ...text import sentences as split_sentences
from .contents import Example, Line, Side
from .figures import Figures, Floats, Quantity, over, reasons

SCORE = "opinion graph"
# opinions that an example shows, and keywords that name one
MOST_OPINIONS, MOST_KEYWORDS = 8, 4
PLAN = GraphPlan()
FEW = "fewer than two opinions"


@dataclass(frozen=True)
class Opinions:
    """The family of the Opinion Interaction Graph; units are sentences."""

    name = "opinions"
    by = ""

    @property
    def signature(self) -> str:
        """The graph's."""
        return f"{opinion_graph([], plan=PLAN).signature}|units:sentences|exposure:auto|v:1"

    def measure(self, items: Sequence[LabelledSummary]) -> list[OpinionBias | Unscored]:
        """The bias of each summary; a graph serves all summaries of its set that stand side by side."""
        found: list[OpinionBias | Unscored] = []
        for documents, group in groupby(items, key=lambda item: item.documents):
            graph: OpinionGraph | None = None
            for item in group:
                if not item.summary.strip():
                    found.append(Unscored(EMPTY_SUMMARY))
                    continue
                if graph is None:
                    graph = opinion_graph(
                        [s for document in documents for s in split_sentences(document.text)], plan=PLAN
                    )
                found.append(_answer(graph.bias(split_sentences(item.summary))))
        return found

    def figures(self, found: Sequence[OpinionBias | Unscored]) -> Figures:
        """The sums of all sets."""
        scores = np.array([np.nan if isinstance(each, Unscored) else each.score for each in found], dtype=float)
        scored = ~np.isnan(scores)
        return Figures(
            quantities=(Quantity(SCORE, None, is_share=False),),
            columns=np.column_stack([scored.astype(float), np.nan_to_num(scores)]),
            reduce=_mean,
            rests_on=scored[:, None],
            unfairness=scores,
            left_out=reasons(found),
        )

    def sentences(self, points: Mapping[str, str], figures: Figures) -> dict[str, str]:
        """What the score means."""
        return {
            SCORE: f"What a summary shows of the opinions in its documents is as unequal as a Gini coefficient of "
            f"{points.get(SCORE, '')} on average: 0 when each keeps the same share of its sentences, towards 1 when one has all."
        }

    def example(self, item: LabelledSummary, found: OpinionBias, unfairness: float) -> Example:
        """The largest opinions with their sentences in documents and summary, and what each of the summary's speaks for."""
        spoken = [(s, document) for document in item.documents for s in split_sentences(document.text)]
        graph = opinion_graph([s for s, _ in spoken], plan=PLAN)
        names = [", ".join(keywords[:MOST_KEYWORDS]) for keywords in graph.opinions]
        voices = [
            Counter(d.value for (_, d), o in zip(spoken, graph.attachment.opinion, strict=True) if o == k)
            for k in range(len(names))
        ]
        exposure = found.exposure
        order = sorted(range(len(names)), key=lambda k: -exposure.n_units[k])[:MOST_OPINIONS]
        unheard = next((k for k in order if exposure.n_units[k] and not exposure.shown[k]), None)
        lines = []
        for text in split_sentences(item.summary):
            shown = graph.bias([text]).exposure.shown
            opinion = next((k for k, count in enumerate(shown) if count), None)
            takes = {} if opinion is None else {v: float(c) for v, c in voices[opinion].items()}
            lines.append(Line(text=text, takes=takes, note="no opinion" if opinion is None else f"on {names[opinion]}"))
        return Example(
            family=self.name, system="", set_id=item.id, topic="", unfairness=unfairness,
            measure="Gini coefficient of this summary", is_share=False,
            columns=("sentences in documents", "sentences in summary"),
            takes_what="sentences of the documents that speak for the same opinion",
            sides=tuple(
                Side(name=names[k], source=float(exposure.n_units[k]), summary=float(exposure.shown[k])) for k in order
            ),
            lines=tuple(lines),
            left_out=() if unheard is None else (names[unheard],),
            documents=() if unheard is None else tuple(
                s for (s, _), o in zip(spoken, graph.attachment.opinion, strict=True) if o == unheard
            ),
        )  # fmt: skip


def _answer(found: OpinionBias) -> OpinionBias | Unscored:
    if found.score is None:
        return Unscored(found.exposure.unscored or "no opinion")
    # one opinion is 0 whatever the summary says of it
    return Unscored(FEW) if found.exposure.n_opinions < 2 else found


def _mean(sums: Floats) -> Floats:
    return over(sums[..., 1:], sums[..., :1])
