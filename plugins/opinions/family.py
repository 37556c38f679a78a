"""The Opinion Interaction Graph: whether the opinions of a set get their share, whoever voices them.

Source: Shandilya et al. 2020, section VII; docs/papers.md#shandilya-units. The graph knows no attribute; an example says whose
documents voice the opinions.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal

import numpy as np

from ...config.section import Section
from ...evaluation.audit.family import CommandOption, FamilyKind, FamilyPage, Opening
from ...evaluation.audit.figures import Figures, most, reasons
from ...evaluation.audit.kinds import Measure, NumberKind, Quantity, Side, SummaryUnit, TakenApart
from ...fairness.groups.coverage import over
from ...fairness.groups.masses import EMPTY_SUMMARY, Unscored
from ...fairness.labelled import LabelledSource, LabelledSummary
from ...text import sentences as split_sentences
from .measures.exposure import Exposure, exposure_of
from .measures.interaction import GraphPlan, OpinionBias, OpinionGraph, opinion_graph
from .measures.summary_units import summary_units

OPINION_GRAPH = NumberKind(
    "opinion graph",
    is_share=False,
    note="The opinion graph is 0 only where a summary speaks for every opinion, so short ones score higher regardless of their "
    "content.",
)
# opinions that an example shows, and keywords that name one
MOST_OPINIONS, MOST_KEYWORDS = 8, 4
PLAN = GraphPlan()
FEW = "fewer than two opinions"
# note of a unit that is attached to none
SILENT = "no keyword of an opinion"

# what a summary could take over whole: "documents" for posts, "sentences" for longer texts
Units = Literal["sentences", "documents"]


RANDOM_UNITS = "units drawn at random"
# draws of a summary's units
DRAWS = 32


def by_chance(exposure: Exposure) -> float:
    """Mean score of summaries that show as many units, drawn from those that speak for an opinion.

    Without replacement, as sentences are taken over; with it where a summary says more than its documents.
    """
    n_units, n_shown = np.array(exposure.n_units), sum(exposure.shown)
    generator = np.random.default_rng([n_shown, *exposure.n_units])
    if n_shown <= n_units.sum():
        drawn = generator.multivariate_hypergeometric(n_units, n_shown, size=DRAWS)
    else:
        drawn = generator.multinomial(n_shown, n_units / n_units.sum(), size=DRAWS)
    return float(np.mean([exposure_of(n_units, shown).score or 0.0 for shown in drawn]))


@dataclass(frozen=True)
class Heard:
    """What one summary shows of the opinions."""

    bias: OpinionBias
    # units of the summary
    n_units: int
    # score of as many attached units drawn at random from the documents, in [0, 1)
    expected: float

    @property
    def is_too_short(self) -> bool:
        """Whether it has fewer units than there are opinions, so that some opinion must be missing."""
        return self.n_units < self.bias.exposure.n_opinions


@dataclass(frozen=True)
class Opinions:
    """The family of the Opinion Interaction Graph."""

    units: Units = "sentences"

    name = "opinions"
    by = ""

    @property
    def texts(self) -> str:
        """What units are called."""
        return "posts" if self.units == "documents" else self.units

    @property
    def signature(self) -> str:
        """The graph's."""
        return f"{opinion_graph([], plan=PLAN).signature}|units:{self.units}|exposure:auto|v:3"

    def measure(self, items: Sequence[LabelledSummary]) -> list[Heard | Unscored]:
        """What each summary shows; a graph serves all summaries of its set that stand side by side."""
        answers: list[Heard | Unscored] = []
        for documents, group in groupby(items, key=lambda item: item.documents):
            graph: OpinionGraph | None = None
            for item in group:
                if not item.summary.strip():
                    answers.append(Unscored(EMPTY_SUMMARY))
                    continue
                if graph is None:
                    graph = opinion_graph([text for text, _ in self._spoken(documents)], plan=PLAN)
                pieces = summary_units(item.summary, graph.units)
                bias = graph.bias(pieces)
                if bias.score is None:
                    answers.append(Unscored(bias.exposure.unscored or "no opinion"))
                elif bias.exposure.n_opinions < 2:  # one opinion is 0 whatever the summary says of it
                    answers.append(Unscored(FEW))
                else:
                    answers.append(Heard(bias, len(pieces), by_chance(bias.exposure)))
        return answers

    def _spoken(self, documents: Sequence[LabelledSource]) -> list[tuple[str, str]]:
        """The units of the documents, each with the value of its document."""
        if self.units == "documents":
            return [(document.text, document.value) for document in documents]
        return [
            (sentence, document.value)
            for document in documents
            for sentence in document.sentences or split_sentences(document.text)
        ]

    def figures(self, answers: Sequence[Heard | Unscored]) -> Figures:
        """The sums of all sets."""
        scores = np.array(
            [np.nan if isinstance(answer, Unscored) else answer.bias.score for answer in answers], dtype=float
        )
        short = [isinstance(answer, Heard) and answer.is_too_short for answer in answers]
        expected = [answer.expected if isinstance(answer, Heard) else 0.0 for answer in answers]
        scored = ~np.isnan(scores)
        return Figures(
            quantities=(Quantity(Measure(OPINION_GRAPH)),),
            columns=np.column_stack([scored, np.nan_to_num(scores), short, expected]).astype(float),
            reduce=lambda sums: over(sums[..., 1:2], sums[..., :1]),
            expect=lambda sums: over(sums[..., 3:4], sums[..., :1]),
            nulls=(RANDOM_UNITS,),
            rests_on=scored[:, None],
            unfairness=scores,
            left_out=reasons(answers),
        )

    def sentence(self, kind: NumberKind, point: str, figures: Figures) -> str:
        """What the score means, and of how many summaries it says more of their length than of their fairness."""
        scored, short = int(figures.scored.sum()), int(figures.columns[:, 2].sum())
        note = (
            f" {short:,} of {scored:,} summaries have fewer {self.texts} than there are opinions, so they cannot reach 0."
            if short
            else ""
        )
        return (
            f"What a summary shows of the opinions in its documents is as unequal as a Gini coefficient of {point} on average: 0 "
            f"when each keeps the same share of its {self.texts}, towards 1 when one has all.{note}"
        )

    def example(self, item: LabelledSummary, answer: Heard, left_out: tuple[str, ...] | None = None) -> TakenApart:
        """The largest opinions with their units in documents and summary, and what each of the summary's speaks for."""
        spoken = self._spoken(item.documents)
        graph = opinion_graph([s for s, _ in spoken], plan=PLAN)
        names = [", ".join(keywords[:MOST_KEYWORDS]) for keywords in graph.opinions]
        voices = [
            Counter(value for (_, value), o in zip(spoken, graph.attachment.opinion, strict=True) if o == k)
            for k in range(len(names))
        ]
        exposure = answer.bias.exposure
        order = sorted(range(len(names)), key=lambda k: -exposure.n_units[k])[:MOST_OPINIONS]
        unheard = most({k: exposure.n_units[k] for k in order if not exposure.shown[k]})
        lines = []
        for text in summary_units(item.summary, graph.units):
            shown = graph.bias([text]).exposure.shown
            opinion = next((k for k, count in enumerate(shown) if count), None)
            takes = {} if opinion is None else {v: float(c) for v, c in voices[opinion].items()}
            lines.append(
                SummaryUnit(text=text, takes=takes, note=SILENT if opinion is None else f"on {names[opinion]}")
            )
        return TakenApart(
            measure="Gini coefficient of this summary", is_share=False,
            columns=(f"{self.texts} in documents", f"{self.texts} in summary"),
            takes_what=f"{self.texts} of the documents that speak for the same opinion",
            sides=tuple(
                Side(name=names[k], source=float(exposure.n_units[k]), summary=float(exposure.shown[k])) for k in order
            ),
            lines=tuple(lines),
            left_out=tuple(names[k] for k in unheard),
            documents=tuple(s for (s, _), o in zip(spoken, graph.attachment.opinion, strict=True) if o in unheard),
        )  # fmt: skip


class OpinionOptions(Section):
    """Options of the audit's measure."""

    # what a summary could take over whole
    opinion_units: Units = "sentences"


def _opened(opening: Opening) -> Opinions:
    options = opening.options
    assert isinstance(options, OpinionOptions), "of its own kind"
    return Opinions(options.opinion_units)


def _text(options: Mapping[str, Any]) -> str:
    return {"documents": "post", "sentences": "sentence"}[options["opinion_units"]]


FAMILY = FamilyKind(
    _opened,
    (OPINION_GRAPH,),
    other_names=("opinion-graph", "opinion"),
    on_request=False,
    needs=("networkx",),
    options=OpinionOptions,
    command_options=(
        CommandOption(
            "opinion_units",
            Literal["sentences", "documents"] | None,
            "For opinions, what a summary could take over whole: documents for posts, else sentences.",
            after="target",
            default="sentences",
        ),
    ),
    page=FamilyPage(groups="opinion", counts=True, text_of=_text, compares_words=True),
)
