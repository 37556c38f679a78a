"""Value shares: how much of each value's text a summary takes up, against its share in the documents.

Values are named by room: the words of summaries, shared out among the documents that have them, against what documents of the
same manner of writing would have (see `fairness.groups.taste`). BUR, UER, AUC and SOF are as published, and name nobody: Zhang et
al. 2024, sections 3 and 5; docs/papers.md#zhang. The exact pipeline and the models are the matcher's; Proportional Representation
(Li et al. 2025) is added where the matcher is BARTScore.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress

import numpy as np

from ...fairness.groups.coverage import over
from ...fairness.groups.extracts import EXTRACTS, extract
from ...fairness.groups.masses import NO_SOURCE_MASS, Masses, Unscored
from ...fairness.groups.shares import (
    TAU_GRID,
    Mode,
    Shares,
    Target,
    compare,
    under_represented,
    unfair_by_tolerance,
    unfair_error_rate,
)
from ...fairness.groups.taste import TASTE, Credit, sources_of
from ...fairness.labelled import LabelledSummary
from ...judges.measures.measure import Matcher
from ...judges.measures.words import WordMatcher
from ...text import sentences as split_sentences
from ..pages.value_names import noun
from .family import FamilyKind, FamilyPage, Opening, Wording
from .figures import Bools, Figures, Floats, Leftover, in_order, mean_deviation, most, quantities_of, reasons
from .kinds import (
    AUC,
    BUR,
    BUR_OF_SEVERAL,
    REPRESENTATION,
    SHARE_AIMED_AT,
    SHARE_IN_SOURCES,
    SHARE_IN_SUMMARIES,
    SHARE_OF_DOCUMENTS,
    SHORTFALL,
    SOF,
    UER,
    UNDER_REPRESENTED,
    Measure,
    NumberKind,
    Quantity,
    Side,
    SummaryUnit,
    TakenApart,
)

AGGREGATES = (BUR, BUR_OF_SEVERAL, UER, AUC, SOF)
# block of the columns that says whether a summary is unfair
UNFAIR = 4
# by value; the aimed-at share is shown where it is not that of the sources
ROWS = (SHARE_IN_SOURCES, SHARE_AIMED_AT, SHARE_OF_DOCUMENTS, SHARE_IN_SUMMARIES, SHORTFALL, UNDER_REPRESENTED)
# of room, which is of words whatever the matcher is
ROOM = (SHARE_OF_DOCUMENTS, SHARE_IN_SUMMARIES)


@dataclass(frozen=True)
class Taken:
    """What is found of one summary by the matcher and by words, and the labels of its documents."""

    masses: Masses
    credit: Credit
    # of each document, as its place among the values of the audit
    labels: tuple[int, ...]
    texts: tuple[str, ...]

    @property
    def n_cut(self) -> int:
        """Comparisons in which the model cut a text."""
        return self.masses.n_cut


@dataclass(frozen=True, eq=False)
class Room:
    """Shares of the words of summaries that are in documents, (sets, values); 0 where nothing can be said."""

    # words, (sets,), 0 where the documents with words have one value
    weight: Floats
    of_documents: Floats
    of_summaries: Floats
    expected: Floats
    leftover: tuple[tuple[Leftover, ...], ...]


def room(answers: Sequence["Taken | Unscored"], n_values: int) -> Room:
    """Room in one system's summaries, whose taste is learned from all of them."""
    by_row = {
        row: answer for row, answer in enumerate(answers) if isinstance(answer, Taken) and answer.credit.amounts.any()
    }
    sources = sources_of(tuple(answer.credit.source for answer in by_row.values()))
    shares = sources.expected([answer.credit.amounts for answer in by_row.values()])
    weight, blocks = np.zeros(len(answers)), np.zeros((3, len(answers), n_values))
    leftover: list[tuple[Leftover, ...]] = [() for _ in answers]
    for (row, answer), share in zip(by_row.items(), shares, strict=True):
        credit = answer.credit
        words = float(credit.amounts.sum())
        labels, has_words = np.array(answer.labels), credit.source.words > 0
        if len(np.unique(labels[has_words])) < 2:
            continue
        weight[row] = words
        by_document = [
            has_words / has_words.sum(),
            credit.source.by_document(credit.amounts) / words,
            credit.source.by_document(share),
        ]
        for block, amounts in zip(blocks, by_document, strict=True):
            np.add.at(block[row], labels, amounts)
        beyond = words * (by_document[1] - by_document[2])[has_words]
        texts = [*compress(answer.texts, has_words)]
        leftover[row] = (Leftover.of(beyond, labels[has_words].tolist(), words, texts),)
    of_documents, of_summaries, expected = blocks
    return Room(weight, of_documents, of_summaries, expected, tuple(leftover))


@dataclass(frozen=True)
class ValueShares:
    """The family of room, BUR, UER, AUC and SOF."""

    matcher: Matcher
    # by which room is measured, the matcher itself where it matches words
    words: WordMatcher
    # what the attribute is called, and the values of the audit in their order
    attribute: str
    values: tuple[str, ...]
    mode: Mode
    tau: float
    target: Target

    name = "value-shares"

    @property
    def by(self) -> str:
        """The matcher's name."""
        return self.matcher.name

    @property
    def signature(self) -> str:
        """Matcher, tolerance, mode and target."""
        target = self.target if isinstance(self.target, str) else ",".join(f"{weight:g}" for weight in self.target)
        room_by = "" if self.matcher.signature == self.words.signature else f"|room:{self.words.signature}"
        return f"value-shares|{self.matcher.signature}{room_by}|tau:{self.tau:g}|mode:{self.mode}|target:{target}|taste:1|v:3"

    def measure(self, items: Sequence[LabelledSummary]) -> list[Taken | Unscored]:
        """Masses and credit of each summary; a source without a token that counts has none."""
        places = {value: place for place, value in enumerate(self.values)}
        return [
            masses
            if isinstance(masses, Unscored)
            else Taken(
                masses,
                self.words.credit(item),
                tuple(places[document.value] for document in item.documents),
                tuple(document.text for document in item.documents),
            )
            if any(masses.source)
            else Unscored(NO_SOURCE_MASS)
            for item, masses in zip(items, self.matcher.masses(items), strict=True)
        ]

    def figures(self, answers: Sequence[Taken | Unscored]) -> Figures:
        """The sums of all sets."""
        source, summary, declared = self._arrays(answers)
        shares = self._shares(source, summary, declared, self.target)
        short, has = under_represented(shares, self.tau), declared & (source > 0)
        scored, several = shares.scorable, shares.scorable & (has.sum(axis=-1) > 1)
        sources = self._shares(source, summary, declared, "ratio").gold
        represented = np.nan_to_num(unfair_error_rate(compare(source, summary, declared=declared)))
        curve = np.moveaxis(unfair_by_tolerance(shares), 0, -1)
        system_room = room(answers, len(self.values))
        weight = system_room.weight * several
        by_words = [
            weight[:, None] * share
            for share in (
                sources,
                shares.gold,
                system_room.of_documents,
                system_room.of_summaries,
                system_room.expected,
            )
        ]
        blocks = (
            *(scored, several, represented, shares.kept, short.any(axis=-1), np.nan_to_num(unfair_error_rate(shares))),
            *(np.nan_to_num(curve), shares.shortfall, short, weight, *by_words),
        )
        wholes, rows = self._wholes(), self._rows()
        # with another aim than the documents' own shares taste says nothing of who misses it
        is_expected = self.target == "ratio"
        quantities = self._quantities()
        weighs = weight > 0
        return Figures(
            quantities=quantities,
            columns=np.hstack([np.asarray(block).reshape(len(answers), -1).astype(float) for block in blocks]),
            reduce=self._reduce,
            expect=self._expect,
            nulls=tuple(
                TASTE if is_expected and quantity.kind == SHARE_IN_SUMMARIES else "" for quantity in quantities
            ),
            rests_on=np.column_stack(
                [
                    *(several if kind.of_several else scored for kind in wholes),
                    *(weighs if kind.of_several else is_kept & scored for is_kept in shares.kept.T for kind in rows),
                ]
            ),
            takes_part=np.column_stack(
                [
                    *(scored for _ in wholes),
                    *(has & (weighs if kind.of_several else several) for has in shares.kept.T for kind in rows),
                ]
            ),
            leftover=system_room.leftover if is_expected else (),
            weights=np.repeat(weight[:, None], len(self.values), axis=1).astype(float),
            # a summary without a match is fair or unfair by definition alone, and nothing of it can be shown
            unfairness=np.where(scored & summary.any(axis=-1), np.nan_to_num(unfair_error_rate(shares)), np.nan),
            left_out=reasons(answers),
        )

    def blind_gaps(self, answers: Sequence[Taken | Unscored]) -> dict[str, Floats]:
        """Gaps that extracts of the same documents get which know no label, as long as these summaries, (values,) by extract."""
        gaps = {}
        for name in EXTRACTS:
            blind = [
                replace(answer, credit=extract(name, answer.credit, row)) if isinstance(answer, Taken) else answer
                for row, answer in enumerate(answers)
            ]
            blind_room = room(blind, len(self.values))
            sums = (blind_room.weight[:, None] * (blind_room.of_summaries - blind_room.expected)).sum(axis=0)
            gaps[name] = over(sums, np.full(len(self.values), blind_room.weight.sum()))
        return gaps

    def sentence(self, kind: NumberKind, point: str, figures: Figures) -> str:
        """What an aggregate means."""
        n, several = (int(column.sum()) for column in figures.columns[:, :2].T)
        unfair = int(self._split(figures.columns)[UNFAIR].sum())
        aims = {"ratio": "of the room that its documents have", "equal": "of an equal share"}
        room_aimed = aims.get(str(self.target), "of the share that is aimed at")
        limit = "less than" if self.mode == "paper" else "at most"
        value_noun = noun(self.attribute)
        return {
            BUR: f"In {unfair:,} of {n:,} summaries at least one {value_noun} gets {limit} {100 * self.tau:g} % {room_aimed}.",
            BUR_OF_SEVERAL: f"The same of the {several:,} summaries whose documents have words of more than one {value_noun}.",
            UER: f"In a summary a {value_noun} falls short of its due share by {point} points on average.",
            AUC: f"Over all tolerances from 0 to 1, {point} % of the summaries are unfair on average.",
            SOF: f"The values' shortfalls lie {point} points from their common mean on average: 0 when all fall short alike.",
            REPRESENTATION: f"By BARTScore a {value_noun} falls short of its share in the sources by {point} points on average.",
        }[kind]

    def example(self, item: LabelledSummary, answer: Taken, left_out: tuple[str, ...] | None = None) -> TakenApart:
        """The shares side by side, and for each sentence how many tokens each value has."""
        masses = answer.masses
        names = masses.names or item.values
        source, summary = np.array([masses.source]), np.array([masses.target])
        by_value = {} if isinstance(self.target, str) else dict(zip(self.values, self.target, strict=True))
        weights = self.target if isinstance(self.target, str) else tuple(by_value[name] for name in names)
        shares = compare(source, summary, mode=self.mode, aim=weights)
        short, is_kept = shares.shortfall[0], shares.kept[0]
        due_shares, target = shares.gold[0], shares.target[0]
        due_column = (SHARE_IN_SOURCES if weights == "ratio" else SHARE_AIMED_AT).name
        if left_out is not None:
            words = answer.credit.source.by_document(answer.credit.amounts)
            labels = np.array(answer.labels)
            target = np.array([words[labels == self.values.index(name)].sum() for name in names]) / words.sum()
        worst = most(dict(zip(names, short.tolist(), strict=True))) if left_out is None else left_out
        pieces = [
            LabelledSummary(item.id, item.values, item.documents, part, item.separator)
            for part in split_sentences(item.summary)
        ]
        lines = tuple(
            SummaryUnit(text=piece.summary, takes={}, note=piece_masses.reason)
            if isinstance(piece_masses, Unscored)
            else SummaryUnit(
                text=piece.summary,
                takes={name: float(m) for name, m in zip(piece_masses.names, piece_masses.target, strict=True)},
                words=self.matcher.matched_words(piece),
            )
            for piece, piece_masses in zip(pieces, self.matcher.masses(pieces), strict=True)
        )
        return TakenApart(
            measure=f"error rate of this summary ({self.by})",
            columns=(due_column, "share in summary"),
            takes_what="matched words" if self.by in ("ngram", "words") else "matching score",
            sides=tuple(
                Side(name=name, source=float(due_shares[k]), summary=float(target[k]))
                for k, name in enumerate(names)
                if is_kept[k]
            ),
            lines=lines,
            left_out=worst,
            documents=tuple(document.text for document in item.documents if document.value in worst),
        )  # fmt: skip

    def _wholes(self) -> tuple[NumberKind, ...]:
        return (*AGGREGATES, *((REPRESENTATION,) if self.by == "bartscore" else ()))

    def _rows(self) -> tuple[NumberKind, ...]:
        return tuple(kind for kind in ROWS if kind != SHARE_AIMED_AT or self.target != "ratio")

    def _quantities(self) -> tuple[Quantity, ...]:
        """Quantities by the matcher, those of room by words."""
        return tuple(
            Quantity(Measure(quantity.kind, self.words.name), quantity.side) if quantity.kind in ROOM else quantity
            for quantity in quantities_of(self.by, self._rows(), self.values, self._wholes())
        )

    def _arrays(self, answers: Sequence[Taken | Unscored]) -> tuple[Floats, Floats, Bools]:
        """Masses by the values of the audit; a set need not declare all of them."""
        places = {value: place for place, value in enumerate(self.values)}
        shape = (len(answers), len(self.values))
        source, summary, declared = np.zeros(shape), np.zeros(shape), np.zeros(shape, dtype=bool)
        for row, answer in enumerate(answers):
            if isinstance(answer, Taken):
                columns = [places[name] for name in answer.masses.names]
                source[row, columns], summary[row, columns] = answer.masses.source, answer.masses.target
                declared[row, columns] = True
        return source, summary, declared

    def _shares(self, source: Floats, summary: Floats, declared: Bools, target: Target) -> Shares:
        return compare(source, summary, mode=self.mode, aim=target, declared=declared)

    def _split(self, sums: Floats) -> list[Floats]:
        """The blocks of columns."""
        k = len(self.values)
        widths = (1, 1, 1, k, 1, 1, len(TAU_GRID), k, k, 1, k, k, k, k, k)
        return np.split(sums, np.cumsum(widths)[:-1], axis=-1)

    def _reduce(self, sums: Floats) -> Floats:
        n, several, represented, n_kept, unfair, uer, curve, lacking, short, weight, *by_words = self._split(sums)
        sources, gold, of_documents, of_summaries, _ = (over(amounts, weight) for amounts in by_words)
        shortfall = over(lacking, n_kept)
        aggregates = [_aggregates(n, several, unfair, uer, curve, mean_deviation(shortfall))]
        if self.by == "bartscore":
            aggregates.append(over(represented, n))
        of_value = dict(
            zip(ROWS, (sources, gold, of_documents, of_summaries, shortfall, over(short, n_kept)), strict=True)
        )
        return in_order([of_value[kind] for kind in self._rows()], *aggregates)

    def _expect(self, sums: Floats) -> Floats:
        """Expected shares in summaries; nothing is known of the other quantities."""
        *_, weight, _, _, _, _, expected = self._split(sums)
        shares = over(expected, weight)
        wholes = np.full((*sums.shape[:-1], len(self._wholes())), np.nan)
        return in_order([shares if kind == SHARE_IN_SUMMARIES else np.nan for kind in self._rows()], wholes)


def _aggregates(n: Floats, several: Floats, unfair: Floats, uer: Floats, curve: Floats, sof: Floats) -> Floats:
    """BUR, that of several values, UER, AUC and SOF of sums over sets, (..., aggregates)."""
    auc = np.asarray(np.trapezoid(over(curve, n), dx=0.1, axis=-1))
    means = over(unfair, n), over(unfair, several), over(uer, n)
    return np.concatenate([*means, auc[..., None], sof[..., None]], axis=-1)


def unmatched_summaries(answers: Sequence[Taken | Unscored]) -> int:
    """Scored summaries of which no token matches any document: they count as taking up all values alike."""
    return sum(isinstance(answer, Taken) and not any(answer.masses.target) for answer in answers)


def one_valued_sets(answers: Sequence[Taken | Unscored]) -> int:
    """Scored sets whose documents with tokens share one value: they count as fair."""
    return sum(isinstance(answer, Taken) and sum(mass > 0 for mass in answer.masses.source) == 1 for answer in answers)


def _opened(opening: Opening) -> ValueShares:
    tools, audited, plan = opening.tools, opening.audited, opening.plan
    assert tools.matcher is not None and tools.words is not None, "it uses the matcher"
    return ValueShares(tools.matcher, tools.words, audited.attribute, audited.values, plan.mode, plan.tau, plan.target)


FAMILY = FamilyKind(
    _opened,
    (*AGGREGATES, REPRESENTATION, *ROWS),
    other_names=("bur", "uer", "auc", "sof", "proportional-representation"),
    on_request=False,
    uses=("matcher",),
    named_by="matcher",
    compares="values",
    page=FamilyPage(
        Wording(
            "represented", "less", "more", "than documents written alike would be",
            "{value} has {there} of the documents' words and {here} of the summaries'; {expected} would be expected of "
            "documents written alike",
        ),
        in_sources=SHARE_IN_SOURCES,
    ),
)  # fmt: skip
