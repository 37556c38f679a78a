"""Order: how much of a summary is about the documents that stand first, in the middle and last in their set.

The room of a document is its share of the matched words. What is expected of it is the chance level of value shares, with
documents in the place of values, within the room that its attribute value has; see `fairness.groups.order`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ...fairness.groups.chance import EQUAL_COMMONNESS
from ...fairness.groups.corpus import NO_SOURCE_MASS
from ...fairness.groups.coverage import over
from ...fairness.groups.masses import Masses, Unscored
from ...fairness.groups.order import (
    N_SUMS,
    THIRDS,
    Places,
    by_third,
    can_be_told,
    expected_within,
    place_and_documents,
    sums_of_orders,
    thirds,
)
from ...fairness.labelled import LabelledSummary
from ...judges.measures.measure import Matcher
from ...resampling import t_interval
from ...text import sentences as split_sentences
from ..verdicts import P, verdict
from .contents import PLACE_IN_SOURCES, PLACE_IN_SUMMARIES, Effect, Line, NumberKind, Side, TakenApart
from .correction import CAUSES, Part
from .figures import Bools, Figures, Floats, Measured, in_order, most, quantities_of, reasons

ROWS = (PLACE_IN_SOURCES, PLACE_IN_SUMMARIES)
ONE_DOCUMENT = "a single document"
NO_MATCH = "no matched word"
BLOCKS = "values that are alone in a third"
# what a gap may follow, as `place_and_documents` has it
FOLLOWS: tuple[Literal["order of the file", "place", "documents"], ...] = ("order of the file", "place", "documents")
WITHIN = f"{EQUAL_COMMONNESS} within each value"


@dataclass(frozen=True)
class Room:
    """What each document of a set has, (documents,) each."""

    # its share of the documents' words and of the matched words
    source: Floats
    found: Floats
    # what is expected of the latter: of summaries that take no side, and of ones that may, but prefer no place
    expected: Floats
    within: Floats
    # third that it stands in, and stood in when the summary was made
    home: Places
    third: Places
    # thirds that can be told from the values
    told: Bools
    # matched words, each as often as it counts for a document
    mass: float


@dataclass(frozen=True)
class Order:
    """The family of room by place."""

    # one that has chance levels
    matcher: Matcher

    name = "order"

    @property
    def by(self) -> str:
        """The matcher's name."""
        return self.matcher.name

    @property
    def signature(self) -> str:
        """The matcher."""
        return f"order|{self.matcher.signature}|thirds|within:value|v:1"

    def measure(self, items: Sequence[LabelledSummary]) -> list[Room | Unscored]:
        """The room of each document."""
        asked = list(map(by_document, items))
        answers = zip(items, self.matcher.masses(asked), self.matcher.chance_levels(asked), strict=True)
        return [
            masses if isinstance(masses, Unscored) else _room(item, replace(masses, chance=level))
            for item, masses, level in answers
        ]

    def figures(self, found: Sequence[Room | Unscored]) -> Figures:
        """The sums of all sets."""
        columns, told = np.zeros((len(found), 4, len(THIRDS))), np.zeros((len(found), len(THIRDS)), dtype=bool)
        gaps = np.full(len(found), np.nan)
        for row, each in enumerate(found):
            if isinstance(each, Room) and each.told.any():
                shares = [by_third(share, each.third) for share in (each.source, each.found, each.within)]
                columns[row], told[row] = each.mass * each.told * [np.ones(len(THIRDS)), *shares], each.told
                gaps[row] = np.abs(shares[1] - shares[2]).max()
        without_blocks = [
            Unscored(BLOCKS) if isinstance(each, Room) and not each.told.any() else each for each in found
        ]
        quantities = quantities_of(self.by, ROWS, THIRDS)
        return Figures(
            quantities=quantities,
            columns=columns.reshape(len(found), -1),
            reduce=lambda sums: in_order(_shares(sums)[:2]),
            expect=lambda sums: in_order((np.nan, _shares(sums)[2])),
            nulls=tuple(WITHIN if each.kind == PLACE_IN_SUMMARIES else "" for each in quantities),
            rests_on=np.repeat(told, len(ROWS), axis=1),
            weights=columns[:, 0],
            unfairness=gaps,
            left_out=reasons(without_blocks),
            no_part=BLOCKS,
        )

    def sentence(self, kind: NumberKind, point: str, figures: Figures) -> str:
        """No number is of all places together."""
        raise NotImplementedError(kind)

    def example(self, item: LabelledSummary, found: Room, left_out: tuple[str, ...] | None = None) -> TakenApart:
        """The thirds side by side, and for each sentence how many of its matched words each third has."""
        expected, summary = (by_third(share, found.third) for share in (found.within, found.found))
        lacking = left_out or most(dict(zip(THIRDS, (expected - summary).tolist(), strict=True)))
        parts = split_sentences(item.summary)
        pieces = [replace(by_document(item), summary=part) for part in parts]
        lines = tuple(
            Line(text=text, takes={}, note=masses.reason)
            if isinstance(masses, Unscored)
            else Line(text=text, takes=dict(zip(THIRDS, by_third(np.array(masses.target), found.third), strict=True)))
            for text, masses in zip(parts, self.matcher.masses(pieces), strict=True)
        )
        names = np.array(THIRDS)[found.third]
        return TakenApart(
            measure=f"largest gap of a third to what is expected ({self.by})",
            columns=("expected share", "share in summary"), takes_what="matched words, once for each document",
            sides=tuple(
                Side(name=name, source=float(a), summary=float(b))
                for name, a, b in zip(THIRDS, expected, summary, strict=True)
            ),
            lines=lines,
            left_out=lacking,
            documents=tuple(d.text for d, name in zip(item.documents, names, strict=True) if name in lacking),
        )  # fmt: skip


def by_document(item: LabelledSummary) -> LabelledSummary:
    """The summary with each document as a value of its own."""
    names = tuple(map(str, range(len(item.documents))))
    documents = tuple(replace(each, value=name) for each, name in zip(item.documents, names, strict=True))
    return replace(item, values=names, documents=documents)


def _room(item: LabelledSummary, masses: Masses) -> Room | Unscored:
    """The room of a set's documents; of a single document there is none."""
    if len(item.documents) < 2:
        return Unscored(ONE_DOCUMENT)
    if masses.chance is None:
        return Unscored(NO_MATCH if any(masses.source) else NO_SOURCE_MASS)
    expected, source = np.array(masses.chance.expected), np.array(masses.source)
    home = thirds(range(len(item.documents)))
    found, third = np.array(masses.chance.share), home if item.places is None else thirds(item.places)
    return Room(
        source / source.sum(), found, expected, expected_within(found, expected, item.labels), home, third,
        can_be_told(item.labels, third), masses.chance.mass,
    )  # fmt: skip


def _shares(sums: Floats) -> list[Floats]:
    """Shares of the thirds in sources and summaries, and the latter as expected, weighed by matched words, (..., thirds) each."""
    mass, *shares = np.moveaxis(sums.reshape(*sums.shape[:-1], 4, len(THIRDS)), -2, 0)
    return [over(each, mass) for each in shares]


def effects_of(measured: Sequence[Measured], level: float) -> tuple[Effect, ...]:
    """Whether gaps follow the place or the documents, of summaries of the same documents in several orders; without verdicts.

    Args:
        measured: of this family, by each order of one summarizer, that of the file first.
        level: of the intervals.
    """
    rows = [
        sums_of_orders(
            np.array([each.found - each.expected for each in orders]), np.array([each.mass for each in orders]),
            np.array([each.third for each in orders]), orders[0].home,
        )
        for orders in zip(*(each.found for each in measured), strict=True)
        if all(isinstance(each, Room) for each in orders)
    ]  # fmt: skip
    columns = np.array(rows).reshape(-1, N_SUMS)
    names = [(follows, third) for follows in FOLLOWS for third in THIRDS]
    found = t_interval(
        lambda sums: place_and_documents(sums).reshape(*sums.shape[:-1], -1),
        columns, np.ones((len(columns), len(names)), dtype=bool), level,
    )  # fmt: skip
    made = []
    for k, (follows, third) in enumerate(names):
        gap, low, high, p_value = found.at(k)
        made.append(
            Effect(
                place=third, follows=follows, gap=gap, low=low, high=high, n=len(columns), p_value=p_value, adjusted=None,
                verdict=None,
            )
        )  # fmt: skip
    return tuple(made)


def tests_of(effects: Sequence[Effect]) -> dict[Part, list[P]]:
    """Their p-values, for each cause of its own: what is found of one makes nothing of another more likely."""
    return {(CAUSES, follows): [each.p_value for each in effects if each.follows == follows] for follows in FOLLOWS}


def judged(
    effects: Sequence[Effect], p_values: Mapping[Part, Sequence[P]], level: float, least_sets: int
) -> tuple[Effect, ...]:
    """The same with verdicts, by corrected p-values; with fewer sets there are none."""
    left = {part: iter(its) for part, its in p_values.items()}
    found = []
    for each in effects:
        p = next(left[CAUSES, each.follows])
        said = verdict((each.low, each.high), p, level=level, n_sets=each.n, least_sets=least_sets)
        found.append(each.model_copy(update={"adjusted": p, "verdict": said}))
    return tuple(found)
