"""Value shares: how much of each value's text a summary takes up, against its share in the documents.

Source: Zhang et al. 2024, sections 3 and 5; docs/papers.md#zhang. The exact pipeline and the models
are the matcher's; Proportional Representation (Li et al. 2025) is added where the matcher is BARTScore.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...fairness.groups.chance import (
    DRAWS,
    EQUAL_COMMONNESS,
    SENTENCES_AS_COMMON,
    ChanceLevel,
    mean_size,
    sentences_drawn,
)
from ...fairness.groups.corpus import NO_SOURCE_MASS
from ...fairness.groups.coverage import over
from ...fairness.groups.masses import Masses, Unscored
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
from ...fairness.labelled import LabelledSummary
from ...judges.measures.measure import Matcher
from ...text import sentences as split_sentences
from .contents import (
    AUC,
    BUR,
    BUR_OF_SEVERAL,
    REPRESENTATION,
    SHARE_AIMED_AT,
    SHARE_IN_SOURCES,
    SHARE_IN_SUMMARIES,
    SHORTFALL,
    SOF,
    UER,
    UNDER_REPRESENTED,
    Line,
    NumberKind,
    Side,
    TakenApart,
)
from .figures import Bools, Figures, Floats, in_order, mean_deviation, most, quantities_of, reasons

AGGREGATES = (BUR, BUR_OF_SEVERAL, UER, AUC, SOF)
# block of the columns that says whether a summary is unfair
UNFAIR = 8
# the last blocks, those of `_by_chance`
CHANCE_BLOCKS = 5
# by value; the aimed-at share is shown where it is not that of the sources
ROWS = (SHARE_IN_SOURCES, SHARE_AIMED_AT, SHARE_IN_SUMMARIES, SHORTFALL, UNDER_REPRESENTED)


@dataclass(frozen=True)
class ValueShares:
    """The family of BUR, UER, AUC and SOF."""

    matcher: Matcher
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
        return f"value-shares|{self.matcher.signature}|tau:{self.tau:g}|mode:{self.mode}|target:{target}|v:2"

    def measure(self, items: Sequence[LabelledSummary]) -> list[Masses | Unscored]:
        """Masses of each summary; a source without a token that counts has none."""
        levels = self.matcher.chance_levels(items)
        return [
            Unscored(NO_SOURCE_MASS)
            if isinstance(found, Masses) and not any(found.source)
            else replace(found, chance=level)
            if isinstance(found, Masses)
            else found
            for found, level in zip(self.matcher.masses(items), levels, strict=True)
        ]

    def figures(self, found: Sequence[Masses | Unscored]) -> Figures:
        """The sums of all sets."""
        source, summary, declared = self._arrays(found)
        shares = self._shares(source, summary, declared, self.target)
        short, has = under_represented(shares, self.tau), declared & (source > 0)
        scored, several = shares.scorable, shares.scorable & (has.sum(axis=-1) > 1)
        sources = self._shares(source, summary, declared, "ratio").gold
        represented = np.nan_to_num(unfair_error_rate(compare(source, summary, declared=declared)))
        curve = np.moveaxis(unfair_by_tolerance(shares), 0, -1)
        mass, taken, expected = self._chance(found)
        has_null = bool(mass.any())
        # with another aim than the sources' shares a summary that takes no side misses it
        is_expected = has_null and self.target == "ratio"
        by_chance = (
            self._by_chance(found, source, summary, declared)
            if is_expected
            else (np.zeros((len(found), sum(self._widths()[-CHANCE_BLOCKS:]))),)
        )
        # by matched words; a model's masses weigh alike. A summary without a match says nothing of whose words it has
        weight = several * (mass if has_null else summary.any(axis=-1))
        weighs = weight > 0
        blocks = (
            *(scored, several, represented, shares.kept, several[:, None] * sources, several[:, None] * shares.gold),
            *(
                shares.shortfall,
                short,
                short.any(axis=-1),
                np.nan_to_num(unfair_error_rate(shares)),
                np.nan_to_num(curve),
            ),
            *(weight, weight[:, None] * (taken if has_null else shares.target), weight[:, None] * expected),
            *by_chance,
        )
        wholes, rows = self._wholes(), self._rows()
        quantities = quantities_of(self.by, rows, self.values, wholes)
        nulls = {SHARE_IN_SUMMARIES: EQUAL_COMMONNESS, **dict.fromkeys(AGGREGATES, SENTENCES_AS_COMMON)}
        return Figures(
            quantities=quantities,
            columns=np.hstack([block.reshape(len(found), -1).astype(float) for block in blocks]),
            reduce=self._reduce,
            expect=self._expect,
            nulls=tuple(nulls.get(each.kind, "") if is_expected else "" for each in quantities),
            rests_on=np.column_stack(
                [
                    *(several if kind.of_several else scored for kind in wholes),
                    *(
                        weighs if kind == SHARE_IN_SUMMARIES else several if kind.of_several else its & scored
                        for its in shares.kept.T
                        for kind in rows
                    ),
                ]
            ),
            takes_part=np.column_stack(
                [
                    *(scored for _ in wholes),
                    *(
                        has & (weighs if kind == SHARE_IN_SUMMARIES else several)
                        for has in shares.kept.T
                        for kind in rows
                    ),
                ]
            ),
            weights=np.repeat(weight[:, None], len(self.values), axis=1).astype(float),
            # a summary without a match is fair or unfair by definition alone, and nothing of it can be shown
            unfairness=np.where(scored & summary.any(axis=-1), np.nan_to_num(unfair_error_rate(shares)), np.nan),
            left_out=reasons(found),
        )

    def sentence(self, kind: NumberKind, point: str, figures: Figures) -> str:
        """What an aggregate means."""
        n, several = (int(column.sum()) for column in figures.columns[:, :2].T)
        unfair = int(self._split(figures.columns)[UNFAIR].sum())
        aims = {"ratio": "of the room that its documents have", "equal": "of an equal share"}
        room = aims.get(str(self.target), "of the share that is aimed at")
        limit = "less than" if self.mode == "paper" else "at most"
        what = self.attribute
        return {
            BUR: f"In {unfair:,} of {n:,} summaries at least one {what} gets {limit} {100 * self.tau:g} % {room}.",
            BUR_OF_SEVERAL: f"The same of the {several:,} summaries whose documents have words of more than one {what}.",
            UER: f"In a summary a {what} falls short of its due share by {point} points on average.",
            AUC: f"Over all tolerances from 0 to 1, {point} % of the summaries are unfair on average.",
            SOF: f"The values' shortfalls lie {point} points from their common mean on average: 0 when all fall short alike.",
            REPRESENTATION: f"By BARTScore a {what} falls short of its share in the sources by {point} points on average.",
        }[kind]

    def example(self, item: LabelledSummary, found: Masses, left_out: tuple[str, ...] | None = None) -> TakenApart:
        """The shares side by side, expected ones where they are known, and for each sentence how many tokens each value has."""
        names = found.names or item.values
        source, summary = np.array([found.source]), np.array([found.target])
        by_value = {} if isinstance(self.target, str) else dict(zip(self.values, self.target, strict=True))
        weights = self.target if isinstance(self.target, str) else tuple(by_value[name] for name in names)
        shares = compare(source, summary, mode=self.mode, aim=weights)
        short, kept = shares.shortfall[0], shares.kept[0]
        due, target = shares.gold[0], shares.target[0]
        due_column = (SHARE_IN_SOURCES if weights == "ratio" else SHARE_AIMED_AT).name
        if left_out is not None and found.chance is not None:
            due, target, due_column = np.array(found.chance.expected), np.array(found.chance.share), "expected share"
        worst = most(dict(zip(names, short.tolist(), strict=True))) if left_out is None else left_out
        pieces = [
            LabelledSummary(item.id, item.values, item.documents, part, item.separator)
            for part in split_sentences(item.summary)
        ]
        lines = tuple(
            Line(text=piece.summary, takes={}, note=each.reason)
            if isinstance(each, Unscored)
            else Line(
                text=piece.summary,
                takes={name: float(m) for name, m in zip(each.names, each.target, strict=True)},
                words=self.matcher.matched_words(piece),
            )
            for piece, each in zip(pieces, self.matcher.masses(pieces), strict=True)
        )
        return TakenApart(
            measure=f"error rate of this summary ({self.by})",
            columns=(due_column, "share in summary"),
            takes_what="matched words" if self.by in ("ngram", "words") else "matching score",
            sides=tuple(
                Side(name=name, source=float(due[k]), summary=float(target[k])) for k, name in enumerate(names) if kept[k]
            ),
            lines=lines,
            left_out=worst,
            documents=tuple(document.text for document in item.documents if document.value in worst),
        )  # fmt: skip

    def _wholes(self) -> tuple[NumberKind, ...]:
        return (*AGGREGATES, *((REPRESENTATION,) if self.by == "bartscore" else ()))

    def _rows(self) -> tuple[NumberKind, ...]:
        return tuple(kind for kind in ROWS if kind != SHARE_AIMED_AT or self.target != "ratio")

    def _arrays(self, found: Sequence[Masses | Unscored]) -> tuple[Floats, Floats, Bools]:
        """Masses by the values of the audit; a set need not declare all of them."""
        places = {value: place for place, value in enumerate(self.values)}
        shape = (len(found), len(self.values))
        source, summary, declared = np.zeros(shape), np.zeros(shape), np.zeros(shape, dtype=bool)
        for row, each in enumerate(found):
            if isinstance(each, Masses):
                columns = [places[name] for name in each.names]
                source[row, columns], summary[row, columns], declared[row, columns] = each.source, each.target, True
        return source, summary, declared

    def _shares(self, source: Floats, summary: Floats, declared: Bools, aim: Target) -> Shares:
        return compare(source, summary, mode=self.mode, aim=aim, declared=declared)

    def _chance(self, found: Sequence[Masses | Unscored]) -> tuple[Floats, Floats, Floats]:
        """Matched words of each set, (sets,), and their shares as found and as expected, (sets, values); 0 where none matches."""
        mass, (taken, expected) = np.zeros(len(found)), np.zeros((2, len(found), len(self.values)))
        for row, each in enumerate(found):
            if isinstance(each, Masses) and each.chance is not None:
                columns = [self.values.index(name) for name in each.names]
                mass[row] = each.chance.mass
                expected[row, columns] = each.chance.expected
                taken[row, columns] = each.chance.share
        return mass, taken, expected

    def _by_chance(
        self, found: Sequence[Masses | Unscored], source: Floats, summary: Floats, declared: Bools
    ) -> tuple[Floats, ...]:
        """Means over draws of "unfair", error rate and unfairness by tolerance of each set, and its shortfalls' covariances.

        Nothing is expected of a summary whose scatter is not known but itself, so that it makes no gap.
        """
        drawn = np.repeat(summary[:, None], DRAWS, axis=1)  # (sets, draws, values)
        levels: dict[tuple[str, ...], dict[int, ChanceLevel]] = {}
        for row, each in enumerate(found):
            if isinstance(each, Masses) and each.chance is not None:
                levels.setdefault(each.names, {})[row] = each.chance
        for names, of_rows in levels.items():
            columns = [self.values.index(name) for name in names]
            drawn[np.array([*of_rows])[:, None], :, columns] = np.swapaxes(sentences_drawn([*of_rows.values()]), 1, 2)
        as_drawn = np.broadcast_to(source[:, None], drawn.shape), drawn, np.broadcast_to(declared[:, None], drawn.shape)
        shares = self._shares(*as_drawn, self.target)
        curve = np.moveaxis(np.nan_to_num(unfair_by_tolerance(shares)).mean(axis=-1), 0, -1)
        mean_shortfall = shares.shortfall.mean(axis=1)
        scatter = shares.shortfall - mean_shortfall[:, None]
        return (
            under_represented(shares, self.tau).any(axis=-1).mean(axis=-1),
            np.nan_to_num(unfair_error_rate(shares)).mean(axis=-1),
            curve,
            mean_shortfall,
            np.einsum("sdv,sdw->svw", scatter, scatter) / DRAWS,
        )

    def _split(self, sums: Floats) -> list[Floats]:
        """The blocks of columns."""
        return np.split(sums, np.cumsum(self._widths())[:-1], axis=-1)

    def _widths(self) -> tuple[int, ...]:
        k = len(self.values)
        return 1, 1, 1, k, k, k, k, k, 1, 1, len(TAU_GRID), 1, k, k, 1, 1, len(TAU_GRID), k, k * k

    def _reduce(self, sums: Floats) -> Floats:
        n, several, represented, kept, sources, aim, lacking, short, unfair, uer, curve, weight, taken, *_ = (
            self._split(sums)
        )
        shortfall = over(lacking, kept)
        whole = [_aggregates(n, several, unfair, uer, curve, mean_deviation(shortfall))]
        if self.by == "bartscore":
            whole.append(over(represented, n))
        shares = over(sources, several), over(aim, several), over(taken, weight)
        of_value = dict(zip(ROWS, (*shares, shortfall, over(short, kept)), strict=True))
        return in_order([of_value[kind] for kind in self._rows()], *whole)

    def _expect(self, sums: Floats) -> Floats:
        """Expected shares in summaries and aggregates; nothing is known of the other quantities."""
        n, several, _, kept, *_, weight, _, expected, unfair, uer, curve, lacking, scatter = self._split(sums)
        shares = over(expected, weight)
        pairs = kept[..., :, None] * kept[..., None, :]
        sof = _expected_deviation(over(lacking, kept), over(scatter.reshape(*kept.shape, -1), pairs))
        wholes = np.full((*sums.shape[:-1], len(self._wholes())), np.nan)
        wholes[..., : len(AGGREGATES)] = _aggregates(n, several, unfair, uer, curve, sof)
        return in_order([shares if kind == SHARE_IN_SUMMARIES else np.nan for kind in self._rows()], wholes)


def _aggregates(n: Floats, several: Floats, unfair: Floats, uer: Floats, curve: Floats, sof: Floats) -> Floats:
    """BUR, that of several values, UER, AUC and SOF of sums over sets, (..., aggregates)."""
    auc = np.asarray(np.trapezoid(over(curve, n), dx=0.1, axis=-1))
    means = over(unfair, n), over(unfair, several), over(uer, n)
    return np.concatenate([*means, auc[..., None], sof[..., None]], axis=-1)


def _expected_deviation(means: Floats, covariances: Floats) -> Floats:
    """What `mean_deviation` is expected of values with these means, (..., values), and covariances, (..., values, values)."""
    known = ~np.isnan(means)
    n = known.sum(axis=-1)
    means, covariances = np.where(known, means, 0.0), np.nan_to_num(covariances)
    # of each value's gap to the mean of those that are known
    centre = np.eye(means.shape[-1]) - known[..., None, :] / np.maximum(n, 1)[..., None, None]
    gaps = np.einsum("...vw,...w->...v", centre, means)
    variances = np.einsum("...vw,...wx,...vx->...v", centre, covariances, centre)
    return over(np.where(known, mean_size(gaps, variances), 0.0).sum(axis=-1), n)


def unmatched_summaries(found: Sequence[Masses | Unscored]) -> int:
    """Scored summaries of which no token matches any document: they count as taking up all values alike."""
    return sum(isinstance(each, Masses) and not any(each.target) for each in found)


def one_valued_sets(found: Sequence[Masses | Unscored]) -> int:
    """Scored sets whose documents with tokens share one value: they count as fair."""
    return sum(isinstance(each, Masses) and sum(mass > 0 for mass in each.source) == 1 for each in found)
