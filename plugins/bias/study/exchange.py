"""Whose name is it? What each document adds to each difference between two groups, tested by exchanging the groups.

Balanced inputs come in pairs with the names exchanged: a summarizer that does not see who is who might as well have done the
opposite to a whole document. Signs of documents are flipped, of all differences together, by the one rule of
`evaluation.significance`: half of the level is for who is named, half for everything else.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....evaluation.significance import concluded, flipped
from ....resampling import Bootstrap, Bounds
from ..demographic.counts import CountTable, counts_of

Floats = NDArray[np.float64]
# p-value after the correction of the study, and bounds; None where documents do not bound the difference
ExchangeTest = tuple[float, Bounds]


@dataclass(frozen=True)
class GroupDifference:
    """A quantity that is 0 where groups are treated alike, as a sum over documents by how much they weigh."""

    # what above 0 favours, in words
    name: str
    document_ids: tuple[str, ...]
    # what each document adds to the sum, and how much it weighs, (documents,); nothing where it weighs 0
    added: Floats
    weights: Floats

    @property
    def value(self) -> float:
        """The first group's less the second's; nan where no document weighs anything."""
        total = self.weights.sum()
        return float(self.added.sum() / total) if total > 0 else float("nan")

    @property
    def n_documents(self) -> int:
        """Documents that say something of it."""
        return int((self.weights > 0).sum())


def of_rates(name: str, table: CountTable) -> GroupDifference:
    """The first group's rate less the second's, of counts (of how many, how many are).

    A document adds what its two groups have more and less than all persons together would let expect, so what it adds changes
    its sign with the groups, however many persons of each there are.
    """
    counts = counts_of(table, "document")
    n, k = counts[:, 0], counts[:, 1]
    total, hits = n.sum(axis=0), k.sum(axis=0)
    if not total.all():
        return _nothing(name, table)
    beyond = k - n * hits.sum() / total.sum()
    weights = n.sum(axis=1) / 2 * 4 * total.prod() / total.sum() ** 2
    return GroupDifference(name, table.document_ids, beyond[:, 0] - beyond[:, 1], weights)


def of_shares(name: str, table: CountTable) -> GroupDifference:
    """The first group's share of the summaries less that of the sources, of counts (source, summary)."""
    counts = counts_of(table, "document")
    source, summary = counts[:, 0], counts[:, 1]
    if not source.sum() or not summary.sum():
        return _nothing(name, table)
    n = summary.sum(axis=1)
    return GroupDifference(name, table.document_ids, summary[:, 0] - n * source[:, 0].sum() / source.sum(), n)


def of_halves(name: str, table: CountTable) -> GroupDifference:
    """The first group's share less a half, of counts of one field."""
    counts = counts_of(table, "document")[:, 0]
    return GroupDifference(name, table.document_ids, (counts[:, 0] - counts[:, 1]) / 2, counts.sum(axis=1))


def of_scores(name: str, scores: Mapping[str, float | None]) -> GroupDifference:
    """The mean of documents' scores that are 0 where groups cannot be told apart."""
    weights = np.array([score is not None for score in scores.values()], dtype=float)
    return GroupDifference(
        name, tuple(scores), np.array([score or 0.0 for score in scores.values()], dtype=float), weights
    )


def _nothing(name: str, table: CountTable) -> GroupDifference:
    none = np.zeros(len(table.document_ids))
    return GroupDifference(name, table.document_ids, none, none)


def exchange_tests(
    first: Mapping[str, GroupDifference], secondary: Mapping[str, GroupDifference], plan: Bootstrap
) -> dict[str, ExchangeTest]:
    """All differences of a study, by their names, after one correction; those that nothing tests are absent.

    Args:
        first: those that the study asks first.
        secondary: all others.
        plan: level, and seed of the signs.
    """
    every = [*first.values(), *secondary.values()]
    documents = {
        name: row
        for row, name in enumerate(dict.fromkeys(name for difference in every for name in difference.document_ids))
    }
    halves = [
        [flipped(*_columns(list(family.values()), documents), plan)] if family else [] for family in (first, secondary)
    ]
    judged = concluded(halves[0], halves[1], plan.level)
    tests: dict[str, ExchangeTest] = {}
    for family, conclusions in zip((first, secondary), judged, strict=True):
        for column, name in enumerate(family):
            p_value, low, high = conclusions[0].at(column)
            if p_value is not None:
                tests[name] = p_value, (None, None) if None in (low, high) else (low, high)
    return tests


def _columns(differences: Sequence[GroupDifference], documents: Mapping[str, int]) -> tuple[Floats, Floats]:
    """Each document's contribution to each difference, nan for nothing, and its weight, (documents, differences)."""
    added = np.full((len(documents), len(differences)), np.nan)
    weights = np.zeros(added.shape)
    for column, difference in enumerate(differences):
        rows = [documents[name] for name in difference.document_ids]
        added[rows, column] = np.where(difference.weights > 0, difference.added, np.nan)
        weights[rows, column] = difference.weights
    return added, weights
