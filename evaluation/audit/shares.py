"""Value shares: how much of each value's text a summary takes up, against its share in the documents.

Source: Zhang et al. 2024, sections 3 and 5; docs/papers.md#zhang. The exact pipeline and the models
are the matcher's; Proportional Representation (Li et al. 2025) is added where the matcher is BARTScore.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

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
    REPRESENTATION,
    SHARE_AIMED_AT,
    SHARE_IN_SOURCES,
    SHARE_IN_SUMMARIES,
    SHORTFALL,
    SOF,
    UER,
    UNDER_REPRESENTED,
    Example,
    Kind,
    Line,
    Measure,
    Quantity,
    Side,
)
from .figures import Bools, Figures, Floats, mean_deviation, most, reasons

# columns of a set, before six for each value: scored, unfair, UER, PR, then the unfair curve
HEAD = 4 + len(TAU_GRID)
BY_VALUE = 6
AGGREGATES = (BUR, UER, AUC, SOF)
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
        return f"value-shares|{self.matcher.signature}|tau:{self.tau:g}|mode:{self.mode}|target:{target}|v:1"

    def measure(self, items: Sequence[LabelledSummary]) -> list[Masses | Unscored]:
        """Masses of each summary; a source without a token that counts has none."""
        found = self.matcher.masses(items)
        return [Unscored(NO_SOURCE_MASS) if isinstance(m, Masses) and not any(m.source) else m for m in found]

    def figures(self, found: Sequence[Masses | Unscored]) -> Figures:
        """The sums of all sets."""
        source, summary, declared = self._arrays(found)
        shares = self._shares(source, summary, declared, self.target)
        sources = self._shares(source, summary, declared, "ratio").gold
        scored = shares.scorable
        short = under_represented(shares, self.tau)
        uer, auc = np.nan_to_num(unfair_error_rate(shares)), np.nan_to_num(unfair_by_tolerance(shares).T)  # (sets, 11)
        represented = compare(source, summary, declared=declared)
        pr = np.nan_to_num(unfair_error_rate(represented))
        head = np.column_stack([scored, short.any(axis=-1), uer, pr, auc]).astype(float)
        parts = (shares.kept, short, sources, shares.gold, shares.target, shares.shortfall)
        columns = np.hstack([head, np.stack(parts, axis=-1).reshape(len(found), -1)])
        wholes, rows = (*AGGREGATES, *((REPRESENTATION,) if self.by == "bartscore" else ())), self._rows()
        of_wholes = np.repeat(scored[:, None], len(wholes), axis=1)
        of_rows = np.repeat(shares.kept & scored[:, None], len(rows), axis=1)
        return Figures(
            quantities=(
                *(Quantity(Measure(kind, self.by)) for kind in wholes),
                *(Quantity(Measure(kind, self.by), value) for value in self.values for kind in rows),
            ),
            columns=columns,
            reduce=self._reduce,
            rests_on=np.hstack([of_wholes, of_rows]),
            # a summary without a match is fair or unfair by definition alone, and nothing of it can be shown
            unfairness=np.where(scored & summary.any(axis=-1), uer, np.nan),
            left_out=reasons(found),
        )

    def sentence(self, kind: Kind, point: str, figures: Figures) -> str:
        """What an aggregate means."""
        n, unfair = int(figures.scored.sum()), int(figures.columns[:, 1].sum())
        aims = {"ratio": "of the room that its documents have", "equal": "of an equal share"}
        room = aims.get(str(self.target), "of the share that is aimed at")
        limit = "less than" if self.mode == "paper" else "at most"
        what = self.attribute
        return {
            BUR: f"In {unfair:,} of {n:,} summaries at least one {what} gets {limit} {100 * self.tau:g} % {room}.",
            UER: f"In a summary a {what} falls short of its due share by {point} points on average.",
            AUC: f"Over all tolerances from 0 to 1, {point} % of the summaries are unfair on average.",
            SOF: f"The values' shortfalls lie {point} points from their common mean on average: 0 when all fall short alike.",
            REPRESENTATION: f"By BARTScore a {what} falls short of its share in the sources by {point} points on average.",
        }[kind]

    def example(self, item: LabelledSummary, found: Masses, unfairness: float) -> Example:
        """The shares side by side, and for each sentence how many of its tokens each value has."""
        names = found.names or item.values
        source, summary = np.array([found.source]), np.array([found.target])
        by_value = {} if isinstance(self.target, str) else dict(zip(self.values, self.target, strict=True))
        weights = self.target if isinstance(self.target, str) else tuple(by_value[name] for name in names)
        shares = compare(source, summary, mode=self.mode, aim=weights)
        short, kept = shares.shortfall[0], shares.kept[0]
        gold, target = shares.gold[0], shares.target[0]
        worst = most(dict(zip(names, short.tolist(), strict=True)))
        parts = split_sentences(item.summary)
        pieces = [LabelledSummary(item.id, item.values, item.documents, part, item.separator) for part in parts]
        lines = tuple(
            Line(text=text, takes={}, note=each.reason)
            if isinstance(each, Unscored)
            else Line(text=text, takes={name: float(m) for name, m in zip(each.names, each.target, strict=True)})
            for text, each in zip(parts, self.matcher.masses(pieces), strict=True)
        )
        return Example(
            family=self.name, system="", set_id=item.id, topic="", unfairness=unfairness,
            measure=f"error rate of this summary ({self.by})", is_share=True,
            columns=((SHARE_IN_SOURCES if weights == "ratio" else SHARE_AIMED_AT).name, "share in summary"),
            takes_what="matched words" if self.by in ("ngram", "words") else "matching score",
            sides=tuple(
                Side(name=name, source=float(gold[k]), summary=float(target[k])) for k, name in enumerate(names) if kept[k]
            ),
            lines=lines,
            left_out=worst,
            documents=tuple(document.text for document in item.documents if document.value in worst),
        )  # fmt: skip

    def _rows(self) -> tuple[Kind, ...]:
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

    def _reduce(self, sums: Floats) -> Floats:
        n = sums[..., 0]
        by_value = sums[..., HEAD:].reshape(*sums.shape[:-1], len(self.values), BY_VALUE)
        kept, short, sources, aim, target, lacking = np.moveaxis(by_value, -1, 0)
        means = dict(zip(ROWS, (over(x, kept) for x in (sources, aim, target, lacking, short)), strict=True))
        area = np.asarray(np.trapezoid(over(sums[..., 4:HEAD], n[..., None]), dx=0.1, axis=-1))
        whole = [
            over(sums[..., 1], n),
            over(sums[..., 2], n),
            area,
            mean_deviation(means[SHORTFALL]),
        ]
        if self.by == "bartscore":
            whole.append(over(sums[..., 3], n))
        rows = np.stack([means[kind] for kind in self._rows()], axis=-1).reshape(*sums.shape[:-1], -1)
        return np.concatenate([np.stack(whole, axis=-1), rows], axis=-1)


def unmatched_summaries(found: Sequence[Masses | Unscored]) -> int:
    """Scored summaries of which no token matches any document: they count as taking up all values alike."""
    return sum(isinstance(each, Masses) and not any(each.target) for each in found)


def one_valued_sets(found: Sequence[Masses | Unscored]) -> int:
    """Scored sets whose documents with tokens share one value: they count as fair."""
    return sum(isinstance(each, Masses) and sum(mass > 0 for mass in each.source) == 1 for each in found)
