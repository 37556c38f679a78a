"""The Opinion Interaction Graph of a source, and the bias of its summaries.

    units -> content tokens -> keywords -> KeyGraph -> opinions -> attachment -> exposure in a summary -> score

The graph is built once and then scores any number of summaries. A unit is what a summary could take over whole: a post for
posts, a sentence for other texts.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ....errors import DataError
from ....fairness.content_tokens import VERSION, content_tokens
from ....fairness.encoding import EncodedUnits, TfIdf, encode
from .attachment import DUMMY, Attacher, Attachment, AttachmentMethod
from .communities import Partition, communities, entity_keywords, key_graph, textrank
from .exposure import Exposure, checked_attachment, exposure_abstractive, exposure_extractive, normal

# opinions less alike than this have no edge
LEAST_WEIGHT = 0.001


def interaction_edges(
    units: Sequence[Sequence[str]] | EncodedUnits,
    attachment: Sequence[int] | NDArray[np.intp],
    n_opinions: int,
    *,
    least_weight: float = LEAST_WEIGHT,
) -> tuple[tuple[int, int, float], ...]:
    """(i, j, weight) for opinions i < j, in order: the tf-idf cosine of their joined units, in (0, 1].

    For inspection; no score uses them. The dummy takes no part.

    Source: Shandilya et al. 2020, section VII.A, step 3; docs/papers.md#shandilya-edges.

    Args:
        units: content tokens of each unit.
        attachment: position of each unit's opinion, -1 for none; shape (units,).
        n_opinions: number of opinions.
        least_weight: what an edge must reach, above 0.

    Raises:
        DataError: units and attachment differ in number, an opinion does not exist, or `least_weight` is not above 0.
    """
    from scipy import sparse

    if not least_weight > 0:
        raise DataError(f"least_weight must be above 0, got {least_weight}")
    encoded = units if isinstance(units, EncodedUnits) else encode(units)
    opinions = checked_attachment(attachment, encoded.n_units, n_opinions)
    attached = np.flatnonzero(opinions != DUMMY)
    joining = sparse.csr_array(
        (np.ones(len(attached)), (opinions[attached], attached)), shape=(n_opinions, encoded.n_units)
    )
    vectors = TfIdf(encoded).unit_vectors(joining @ encoded.counts())  # (opinions, vocabulary)
    alike = sparse.triu(vectors @ vectors.T, k=1).tocsr()
    alike.sort_indices()
    edges = alike.tocoo()
    return tuple(
        (int(i), int(j), min(float(weight), 1.0))
        for i, j, weight in zip(edges.row, edges.col, edges.data, strict=True)
        if weight >= least_weight
    )


# "auto" is extractive if every unit of the summary equals one of the source, else abstractive
ExposureMode = Literal["auto", "extractive", "abstractive"]


@dataclass(frozen=True)
class GraphPlan:
    """How the graph is made; source: Shandilya et al. 2020, section VII.A, steps 1 to 3; docs/papers.md#shandilya-keywords."""

    # TextRank: tokens of a window, damping, share of the tokens that become keywords
    window: int = 2
    damping: float = 0.85
    ratio: float = 1 / 3
    # Louvain: resolution, and visiting orders tried
    resolution: float = 1.0
    seeds: int = 10
    # how units are attached, and what their similarity must exceed, in [0, 1)
    method: AttachmentMethod = "tfidf"
    threshold: float = 0.0


@dataclass(frozen=True)
class OpinionBias:
    """The bias of one summary."""

    # what the summary shows of each opinion, in the order of the graph's opinions
    exposure: Exposure
    # which definition was used: "extractive" or "abstractive"
    mode: ExposureMode
    # everything the score depends on besides source, summary, and given keywords or entities
    signature: str

    @property
    def score(self) -> float | None:
        """Gini coefficient of the exposures, in [0, 1), 0 is fair, lower is better; None when undefined."""
        return self.exposure.score


@dataclass(frozen=True)
class OpinionGraph:
    """The opinions of a source and the units that speak for them."""

    # texts of the source
    units: tuple[str, ...]
    # keywords of each opinion, in canonical order
    opinions: Partition
    # the opinion of each unit
    attachment: Attachment
    # what the graph was made with
    signature: str
    _attacher: Attacher = field(repr=False)
    _known: frozenset[str] = field(repr=False)

    def bias(self, summary: Sequence[str], exposure: ExposureMode = "auto") -> OpinionBias:
        """The bias of a summary of this source, in [0, 1), 0 is fair.

        It is proportional: 0 when every opinion keeps the same share of its units. Undefined when the summary shows no opinion.

        Source: Shandilya et al. 2020, section VII.A, steps 4 and 5; docs/papers.md#shandilya-exposure.

        Args:
            summary: texts of its units or sentences.
            exposure: how an opinion's exposure is counted.

        Raises:
            DataError: the summary is one text, or `exposure` is not known.
        """
        if isinstance(summary, str):
            raise DataError("a summary is given as a list of its units or sentences, not as one text; split it first")
        if exposure not in get_args(ExposureMode):
            raise DataError(f"exposure={exposure!r} is not known; take one of {', '.join(get_args(ExposureMode))}")
        if exposure == "auto":
            exposure = "extractive" if all(normal(text) in self._known for text in summary) else "abstractive"
        n_opinions = len(self.opinions)
        if exposure == "extractive":
            opinion_exposure = exposure_extractive(self.units, self.attachment.opinion, n_opinions, summary)
        else:
            attached = self._attacher.attach_tokens([content_tokens(text) for text in summary])
            opinion_exposure = exposure_abstractive(self.attachment.opinion, n_opinions, attached.opinion)
        return OpinionBias(opinion_exposure, exposure, f"{self.signature}|exposure:{exposure}|v:2")


def opinion_graph(
    units: Sequence[str],
    keywords: Iterable[str] | None = None,
    entities: Iterable[str] = (),
    plan: GraphPlan | None = None,
) -> OpinionGraph:
    """The Opinion Interaction Graph of a source.

    Source: Shandilya et al. 2020, section VII; docs/papers.md#shandilya-units.

    Args:
        units: texts of the source.
        keywords: in place of TextRank's; read as text, so "The City Hall" is the keyword "city hall".
        entities: named entities that a recogniser found, which are keywords too.
        plan: how the graph is made.

    Raises:
        DataError: the source is one text, a given keyword has no content token, or an option is out of its range.
        MissingExtra: networkx is not installed.
    """
    if isinstance(units, str):
        raise DataError("a source is given as a list of its units, not as one text; split it first")
    plan = plan or GraphPlan()
    tokens = [content_tokens(text) for text in units]
    encoded = encode(tokens)
    named = entity_keywords(entities)
    if keywords is None:
        ranked = textrank(tokens, window=plan.window, damping=plan.damping, ratio=plan.ratio).keywords
    else:
        read = {keyword: " ".join(content_tokens(keyword)) for keyword in keywords}
        if empty := sorted(repr(keyword) for keyword, words in read.items() if not words):
            raise DataError(f"keywords {', '.join(empty)} have no content token (stop words have none); leave them out")
        ranked = tuple(read.values())
    divided = communities(key_graph(encoded, (*ranked, *named)), resolution=plan.resolution, seeds=plan.seeds)
    attacher = Attacher(encoded, divided.partition, plan.method, plan.threshold)
    return OpinionGraph(
        units=tuple(units),
        opinions=divided.partition,
        attachment=attacher.attach_source(),
        signature=_signature(plan, has_keywords=keywords is not None, has_entities=bool(named)),
        _attacher=attacher,
        _known=frozenset(normal(text) for text in units),
    )


def _signature(plan: GraphPlan, *, has_keywords: bool, has_entities: bool) -> str:
    ranked = "given" if has_keywords else f"textrank({plan.window},{plan.damping:g},{plan.ratio:g})"
    return "|".join(
        (
            "opinion-interaction",
            f"content-tokens:{VERSION}",
            f"keywords:{ranked}{'+entities' if has_entities else ''}",
            f"louvain:{plan.resolution:g}x{plan.seeds}",
            f"attach:{plan.method}>{plan.threshold:g}",
        )
    )
