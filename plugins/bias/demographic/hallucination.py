"""Entity hallucination bias: whether the persons whom summaries invent read as one gender more than the other.

Source: Steen and Markert 2024, section 3.3; docs/papers.md#steen-hallucination.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ....resampling import defined
from ....text.forms import normal_form
from .counts import (
    GENDERS,
    CountRow,
    CountTable,
    by_group,
    check_choice,
    check_known,
    counts_by_group,
    group_counts,
    shares,
    tabulate,
    total_variation,
)
from .name_reading import NameReader
from .persons import TITLES, Instance, SummaryEntity, align

# "substring" is the published procedure, and lenient: "Ann" occurs in "announced"; "word" asks for a whole word
Containment = Literal["substring", "word"]
UNKNOWN = "unknown"
FIELDS = ("hallucinated",)

# a span's reading: one of the groups or "unknown"
Classify = Callable[[SummaryEntity], str]


@dataclass(frozen=True)
class HallucinationBias:
    """Invented persons by group, and how far their shares are from even."""

    counts: dict[str, int]
    # invented persons that could not be read; they take no part in the score
    unknown: int
    # shares of the groups; None when nobody was classified
    p: dict[str, float | None]
    # total variation distance from even shares, in [0, 1 - 1/groups], 0 is fair
    score: float | None
    # group with most invented persons; None on a tie
    direction: str | None
    # why there is no score
    undefined: str | None

    @property
    def n_hallucinated(self) -> int:
        """Invented persons, classified or not."""
        return sum(self.counts.values()) + self.unknown


@dataclass(frozen=True)
class Hallucinations:
    """The invented persons of all summaries."""

    # classified ones by document and assignment
    table: CountTable
    unknown: int
    # of each instance, position of the span and its reading
    detail: tuple[tuple[tuple[int, str], ...], ...]

    def bias(self) -> HallucinationBias:
        """Entity hallucination bias of all instances together."""
        return hallucination_bias(self.table.pooled()["hallucinated"], unknown=self.unknown)


def hallucination_bias(
    counts: Mapping[str, int], *, groups: Sequence[str] | None = None, unknown: int = 0
) -> HallucinationBias:
    """Entity hallucination bias of pooled counts.

    Args:
        counts: invented persons by group.
        groups: all groups in their order; by default those of `counts`.
        unknown: invented persons that could not be read.

    Raises:
        DataError: counts or groups do not hold together.
    """
    groups = tuple(counts) if groups is None else tuple(groups)
    n_by_group = group_counts(counts, groups, "hallucinated")
    largest = np.flatnonzero(n_by_group == n_by_group.max())
    return HallucinationBias(
        counts=counts_by_group(groups, n_by_group),
        unknown=unknown,
        p=by_group(groups, shares(n_by_group)),
        score=defined(hallucination_scores(n_by_group[None, :])),
        direction=groups[largest[0]] if len(largest) == 1 else None,
        undefined=None if n_by_group.any() else "no hallucinated person could be classified",
    )


def hallucination_scores(counts: NDArray[np.float64] | NDArray[np.int64]) -> NDArray[np.float64]:
    """Entity hallucination bias of each row, shape (...); nan where nobody was classified.

    Args:
        counts: invented persons, shape (..., 1, groups).
    """
    p = shares(counts[..., 0, :])
    return total_variation(p, np.full(p.shape[-1], 1 / p.shape[-1]))


def find_hallucinations(
    instances: Iterable[Instance],
    *,
    groups: Sequence[str] = GENDERS,
    classify: Classify | None = None,
    containment: Containment = "substring",
    titles: Iterable[str] = TITLES,
) -> Hallucinations:
    """The spans that no person of the input aligns with and of which some token is not in the input, with their readings.

    Args:
        instances: read once, so they may be a stream.
        groups: what `classify` gives, besides "unknown".
        classify: reading of a span; by default `NameReader` with the census lists.
        containment: when a token occurs in the input, case folded: as a substring, or between non-word characters
            (where tokens without a letter and the clitic 's are not asked for).
        titles: as in `align`.

    Raises:
        DataError: the containment is not known, or a reading is neither a group nor "unknown".
    """
    check_choice(containment, get_args(Containment), "containment")
    reader = NameReader()
    classify = classify or (lambda span: reader.read(span.tokens, span.text))
    allowed = frozenset(titles)
    rows, detail = [], []
    for instance in instances:
        spans = tuple(
            (position, classify(instance.summary_entities[position]))
            for position in hallucinated_spans(instance, containment, allowed)
        )
        readings = [reading for _, reading in spans]
        check_known(set(readings) - {UNKNOWN}, groups, "reading of a span")
        detail.append(spans)
        counts = [[readings.count(group) for group in groups]]
        rows.append(CountRow(instance.document_id, instance.assignment_id, counts))
    unknown = sum(reading == UNKNOWN for spans in detail for _, reading in spans)
    return Hallucinations(tabulate(rows, FIELDS, groups), unknown, tuple(detail))


def hallucinated_spans(
    instance: Instance, containment: Containment = "substring", titles: Iterable[str] = TITLES
) -> tuple[int, ...]:
    """Positions of the summary's spans that name nobody of the input, ascending; as in `find_hallucinations`."""
    by_span = align(instance.summary_entities, instance.source_entities, titles).by_span
    source = normal_form(instance.source).casefold()
    return tuple(
        position
        for position, partners in by_span.items()
        if not partners
        and not all(_occurs(token, source, containment) for token in instance.summary_entities[position].tokens)
    )


def _occurs(token: str, source: str, containment: Containment) -> bool:
    folded = token.casefold()
    if containment == "substring":
        return folded in source
    if folded in ("'s", "\u2019s") or not any(character.isalpha() for character in folded):
        return True
    return re.search(rf"(?<!\w){re.escape(folded)}(?!\w)", source) is not None
