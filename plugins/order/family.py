"""Order: how much of a summary is about the documents that stand first, in the middle and last in their set.

The room of a document is its share of the summary's words that are in documents. What is expected of it is by taste (see
`fairness.groups.taste`), within the room that its attribute value has; see `plugins.order.thirds`. Places are dealt anew among
the documents of each value of a set.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...evaluation.audit.family import Arrangement, CommandOption, FamilyKind, FamilyPage, GroupTable, Opening, Wording
from ...evaluation.audit.figures import (
    Bools,
    Figures,
    Floats,
    Leftover,
    Measured,
    in_order,
    most,
    quantities_of,
    reasons,
)
from ...evaluation.audit.kinds import (
    NumberKind,
    Side,
    SummaryUnit,
    TakenApart,
)
from ...evaluation.significance import NullDraws, flipped
from ...fairness.groups.coverage import over
from ...fairness.groups.masses import EMPTY_SUMMARY, NO_SOURCE_MASS, Unscored
from ...fairness.groups.taste import TASTE, Credit, sources_of
from ...fairness.labelled import LabelledSummary
from ...judges.measures.words import WordMatcher
from ...number import Number
from ...resampling import Bootstrap, added_by_sets, defined
from ...text import sentences as split_sentences
from .page import headline, place_or_documents
from .places import with_places
from .thirds import (
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

PLACE_IN_SOURCES = NumberKind("place's share in sources", is_tested=False)
PLACE_IN_SUMMARIES = NumberKind("place's share in summaries", is_tested=False, only_names=True)
ROWS = (PLACE_IN_SOURCES, PLACE_IN_SUMMARIES)
ONE_DOCUMENT = "a single document"
NO_MATCH = "no matched word"
BLOCKS = "values that are alone in a third"
# what a gap may follow, as `place_and_documents` has it: the gap of the third in the order of the file; of any documents that
# stand there; of those that stand there in the file, wherever they stand
FOLLOWS = ("order of the file", "place", "documents")
WITHIN = f"{TASTE} and value"


@dataclass(frozen=True, eq=False)
class Placed:
    """A summary's words among the documents of its set, and where these stand."""

    credit: Credit
    # of each document
    labels: tuple[int, ...]
    texts: tuple[str, ...]
    home: Places
    third: Places


@dataclass(frozen=True, eq=False)
class DocumentShares:
    """What each document of a set has, (documents,) each."""

    # its share of the documents' words and of the summary's that are in documents
    source: Floats
    observed: Floats
    # what is expected of the latter: by taste, and by taste within the room of each value
    expected: Floats
    within: Floats
    # third that it stands in, and stood in when the summary was made
    home: Places
    third: Places
    # thirds that can be told from the values
    is_told: Bools
    # words of the summary that are in documents
    mass: float


@dataclass(frozen=True)
class Order:
    """The family of room by place."""

    matcher: WordMatcher

    name = "order"

    @property
    def by(self) -> str:
        """The matcher's name."""
        return self.matcher.name

    @property
    def signature(self) -> str:
        """The matcher."""
        return f"order|{self.matcher.signature}|thirds|within:value|taste:1|v:2"

    def measure(self, items: Sequence[LabelledSummary]) -> list[Placed | Unscored]:
        """The words of each summary."""
        return list(map(self._placed, items))

    def _placed(self, item: LabelledSummary) -> Placed | Unscored:
        if not item.summary.strip():
            return Unscored(EMPTY_SUMMARY)
        if len(item.documents) < 2:
            return Unscored(ONE_DOCUMENT)
        credit = self.matcher.credit(item)
        if not credit.amounts.any():
            return Unscored(NO_MATCH if len(credit.source.tokens) else NO_SOURCE_MASS)
        home = thirds(range(len(item.documents)))
        third = home if item.places is None else thirds(item.places)
        return Placed(credit, item.labels, tuple(document.text for document in item.documents), home, third)

    def rooms(self, answers: Sequence[Placed | Unscored]) -> list[DocumentShares | None]:
        """Rooms of one system's summaries, whose taste is learned from all of them; None for those without words."""
        placed = [answer for answer in answers if isinstance(answer, Placed)]
        sources = sources_of(tuple(answer.credit.source for answer in placed))
        shares = iter(sources.expected([answer.credit.amounts for answer in placed]))
        return [_room(answer, next(shares)) if isinstance(answer, Placed) else None for answer in answers]

    def figures(self, answers: Sequence[Placed | Unscored]) -> Figures:
        """The sums of all sets."""
        columns, is_told = np.zeros((len(answers), 4, len(THIRDS))), np.zeros((len(answers), len(THIRDS)), dtype=bool)
        gaps = np.full(len(answers), np.nan)
        leftover: list[tuple[Leftover, ...]] = [() for _ in answers]
        rooms = self.rooms(answers)
        for row, (room, answer) in enumerate(zip(rooms, answers, strict=True)):
            if room is not None and isinstance(answer, Placed) and room.is_told.any():
                shares = [by_third(share, room.third) for share in (room.source, room.observed, room.within)]
                columns[row], is_told[row] = room.mass * room.is_told * [np.ones(len(THIRDS)), *shares], room.is_told
                gaps[row] = np.abs(shares[1] - shares[2]).max()
                leftover[row] = tuple(_leftover(room, answer))
        without_blocks = [
            Unscored(BLOCKS) if room is not None and not room.is_told.any() else answer
            for room, answer in zip(rooms, answers, strict=True)
        ]
        quantities = quantities_of(self.by, ROWS, THIRDS)
        return Figures(
            quantities=quantities,
            columns=columns.reshape(len(answers), -1),
            reduce=lambda sums: in_order(_shares(sums)[:2]),
            expect=lambda sums: in_order((np.nan, _shares(sums)[2])),
            nulls=tuple(WITHIN if quantity.kind == PLACE_IN_SUMMARIES else "" for quantity in quantities),
            rests_on=np.repeat(is_told, len(ROWS), axis=1),
            leftover=tuple(leftover),
            weights=columns[:, 0],
            unfairness=gaps,
            left_out=reasons(without_blocks),
            no_part=BLOCKS,
        )

    def sentence(self, kind: NumberKind, point: str, figures: Figures) -> str:
        """No number is of all places together."""
        raise NotImplementedError(kind)

    def example(self, item: LabelledSummary, answer: Placed, left_out: tuple[str, ...] | None = None) -> TakenApart:
        """The thirds side by side, and for each sentence how many of its words each third has."""
        words = answer.credit.source.words
        source, summary = (
            by_third(share / share.sum(), answer.third)
            for share in (words, answer.credit.source.by_document(answer.credit.amounts))
        )
        lacking = left_out or most(dict(zip(THIRDS, (source - summary).tolist(), strict=True)))
        parts = split_sentences(item.summary)
        lines = []
        for text in parts:
            credit = self.matcher.credit(replace(item, summary=text))
            by_place = by_third(credit.source.by_document(credit.amounts), answer.third)
            lines.append(SummaryUnit(text=text, takes=dict(zip(THIRDS, by_place.tolist(), strict=True))))
        names = np.array(THIRDS)[answer.third]
        return TakenApart(
            measure=f"largest gap of a third to what is expected ({self.by})",
            columns=("share in sources", "share in summary"), takes_what="words, shared out among the documents that have them",
            sides=tuple(
                Side(name=name, source=float(a), summary=float(b))
                for name, a, b in zip(THIRDS, source, summary, strict=True)
            ),
            lines=tuple(lines),
            left_out=lacking,
            documents=tuple(d.text for d, name in zip(item.documents, names, strict=True) if name in lacking),
        )  # fmt: skip


def _room(placed: Placed, share: Floats) -> DocumentShares:
    """The room of a set's documents, of whose sentences taste expects these shares."""
    source, mass = placed.credit.source, float(placed.credit.amounts.sum())
    observed, expected = source.by_document(placed.credit.amounts) / mass, source.by_document(share)
    return DocumentShares(
        source.words / source.words.sum(), observed, expected, expected_within(observed, expected, placed.labels), placed.home,
        placed.third, can_be_told(placed.labels, placed.third), mass,
    )  # fmt: skip


def _leftover(room: DocumentShares, placed: Placed) -> Iterator[Leftover]:
    """Leftovers of a set: of the documents of each value by themselves."""
    labels = np.array(placed.labels)
    for label in np.unique(labels):
        is_label = labels == label
        beyond = room.mass * (room.observed - room.within)[is_label]
        texts = [text for text, is_in in zip(placed.texts, is_label, strict=True) if is_in]
        yield Leftover.of(beyond, room.third[is_label].tolist(), room.mass * float(is_label.mean()), texts)


def _shares(sums: Floats) -> list[Floats]:
    """Shares of the thirds in sources and summaries, and the latter as expected, weighed by matched words, (..., thirds) each."""
    mass, *shares = np.moveaxis(sums.reshape(*sums.shape[:-1], 4, len(THIRDS)), -2, 0)
    return [over(share, mass) for share in shares]


def effects_of(measured: Sequence[Measured], plan: Bootstrap) -> tuple[tuple[Number, ...], NullDraws]:
    """Whether gaps follow the place or the documents, of summaries of the same documents in several orders; and their tests.

    Args:
        measured: of this family, by each order of one summarizer, that of the file first.
        plan: seed of the tests.
    """
    rooms = [
        measurement.family.rooms(measurement.answers)
        for measurement in measured
        if isinstance(measurement.family, Order)
    ]
    rows = [
        sums_of_orders(
            np.array([room.observed - room.expected for room in orders]), np.array([room.mass for room in orders]),
            np.array([room.third for room in orders]), orders[0].home,
        )
        for of_set in zip(*rooms, strict=True)
        if len(orders := [room for room in of_set if room is not None]) == len(of_set)
    ]  # fmt: skip
    columns = np.array(rows).reshape(-1, N_SUMS)
    names = [(follows, third) for follows in FOLLOWS for third in THIRDS]

    def gaps(sums: Floats) -> Floats:
        return place_and_documents(sums).reshape(*sums.shape[:-1], len(names))

    estimate = gaps(columns.sum(axis=0)) if len(columns) else np.full(len(names), np.nan)
    added = added_by_sets(gaps, columns, np.ones((len(columns), len(names))))
    weights = np.full(added.shape, 1 / max(1, len(columns)))
    tests = flipped(np.where(np.isnan(estimate), np.nan, added), weights, plan)
    effects = tuple(
        Number(measure=follows, side=third, value=defined(float(estimate[k])), n_sets=len(columns))
        for k, (follows, third) in enumerate(names)
    )
    return effects, tests


def _opened(opening: Opening) -> Order:
    assert opening.tools.words is not None, "it uses the matcher"
    return Order(opening.tools.words)


FAMILY = FamilyKind(
    _opened,
    ROWS,
    other_names=("place", "position", "speaking-order"),
    on_request=False,
    uses=("matcher",),
    named_by="matcher",
    command_options=(
        CommandOption(
            "order",
            list[str] | None,
            "The documents in the order in which they were summarised (import reordered), once for each --summaries but the "
            "first; all are of one summarizer. Tells what follows a document's place from what follows the document.",
            after="units",
            metavar="LABEL=FILE",
        ),
    ),
    arrangement=Arrangement("order", with_places, effects_of, headline, place_or_documents),
    compares="documents",
    page=FamilyPage(
        Wording(
            "represented", "less", "more", "than by summaries that prefer no place",
            "The {value} of the documents has {there} of the documents' words and {here} of the summaries'; {expected} would be "
            "expected of documents written alike at other places",
            subject="the {value} of the documents",
            nobody="place",
        ),
        in_sources=PLACE_IN_SOURCES,
        groups="place",
        whose="the {value} of the documents",
        row="{value} of a set",
        table=GroupTable(
            "By place in the set",
            "How much of the documents and how much of the summaries have the documents of each third of a set, in per cent "
            "of matched words, and the gap to what is expected of summaries that prefer no place, whatever room they give to "
            "each {value}. What stands in a place may explain a gap too: evenhand import reordered writes the "
            "documents in other orders, and --order compares their summaries.",
            "by place",
            ("place", "in documents", "in summaries"),
            is_section=True,
        ),
    ),
)  # fmt: skip
