"""A corpus as sums over its document sets: what intervals and tests are made of, so that nothing is measured twice.

Every quantity of the audit, also one that is not a mean over sets, is a function of sums of per-set columns. A family of measures
gives the columns and that function.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ...fairness.groups.coverage import over
from ...fairness.groups.masses import Unscored
from ...fairness.labelled import LabelledSummary
from ...resampling import LEAST_SETS, NOISE, Bootstrap, Bounds, exact_bounds, interval_by_sets, pseudo_values
from ...text import fold
from ...text.forms import normal_form
from .kinds import Measure, NumberKind, Quantity, TakenApart

K = TypeVar("K", bound=Hashable)
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

NO_SUMMARY = "no summary"
NO_WORD = "documents of this value, but none with a word that counts"


def as_read(text: str) -> str:
    """A document's text in the form in which its words are read, with plain single spaces: documents with the same are one."""
    return fold(normal_form(text))


@dataclass(frozen=True, eq=False)
class Leftover:
    """What documents among which labels are dealt have of a summary beyond what taste expects, see `fairness.groups.taste`."""

    # words, summing to 0, (documents,), in an order that the documents alone decide
    amounts: Floats
    # of each document, as its place among the quantities that name
    labels: tuple[int, ...]
    # words of the summary that are in documents
    weight: float
    # the documents and their labels: sets that have the same ones are one set
    documents: Hashable

    @classmethod
    def of(cls, amounts: Floats, labels: Sequence[int], weight: float, texts: Sequence[str]) -> "Leftover":
        """The leftover of documents in the order of a set."""
        forms = [as_read(text) for text in texts]
        order = sorted(range(len(texts)), key=lambda k: (forms[k], labels[k]))
        known = tuple((forms[k], labels[k]) for k in order)
        return cls(amounts[order], tuple(label for _, label in known), weight, known)


@dataclass(frozen=True)
class Figures:
    """One system's summaries under one family of measures."""

    quantities: tuple[Quantity, ...]
    # what each set adds, (sets, columns); 0 for sets without an answer
    columns: Floats
    # sums of the columns, (..., columns), to the quantities, (..., quantities); nan where undefined
    reduce: Callable[[Floats], Floats]
    # which sets each quantity rests on, (sets, quantities)
    rests_on: Bools
    # how unfair each summary is, to find the worst; nan without an answer and where nothing could be shown of it, (sets,)
    unfairness: Floats
    # why each set has no answer; None for one that has
    left_out: tuple[str | None, ...]
    # the same sums to what is expected of each quantity, nan where that is not known, and of each
    # the name of the null by which it is, "" for none; None and () of a family without any
    expect: Callable[[Floats], Floats] | None = None
    nulls: tuple[str, ...] = ()
    # the same sums to the ends of what is expected, where it is not a single number and `expect` is the nearest of it; nan where
    # it is
    between: Callable[[Floats], tuple[Floats, Floats]] | None = None
    # of the quantities by which groups are named, where documents' labels can be dealt anew: what each set has; else ()
    leftover: tuple[tuple[Leftover, ...], ...] = ()
    # how much each set weighs in the quantity by which each value is named, (sets, values); None: alike
    weights: Floats | None = None
    # sets in which the value of each quantity takes part, (sets, quantities), with few of which nothing is concluded; None: those
    # that it rests on
    takes_part: Bools | None = None
    # why a set with an answer is no part of a quantity; "" where it has no document of the value
    no_part: str = ""
    # why groups are not held against what is expected, though the family has a null; "" where they are
    withheld: str = ""
    # why an aggregate is undefined, where it is
    undefined: str = "no set has an answer"

    @property
    def scored(self) -> Bools:
        """Sets that have an answer, (sets,)."""
        return np.array([reason is None for reason in self.left_out], dtype=bool)

    @property
    def parts(self) -> Bools:
        """Sets in which the value of each quantity takes part, (sets, quantities)."""
        return self.rests_on if self.takes_part is None else self.takes_part

    def only(self, rows: Bools | NDArray[np.intp]) -> "Figures":
        """The figures of some of the sets: of a mask, or of places, of which one may be there several times."""
        places = np.arange(len(self.columns))[rows]
        return replace(
            self,
            columns=self.columns[places],
            rests_on=self.rests_on[places],
            unfairness=self.unfairness[places],
            left_out=tuple(self.left_out[place] for place in places),
            takes_part=None if self.takes_part is None else self.takes_part[places],
            weights=None if self.weights is None else self.weights[places],
            leftover=tuple(self.leftover[place] for place in places) if self.leftover else (),
        )

    @property
    def naming(self) -> list[int]:
        """Places of the quantities by which groups are named, where a null is known."""
        named = zip(self.quantities, self.nulls, strict=True) if self.nulls else ()
        return [place for place, (quantity, null) in enumerate(named) if null and quantity.kind.names]

    def weights_at(self, places: Sequence[int]) -> Floats:
        """How much each set weighs in quantities of these places, which are of `naming`, (sets, places); 0 for nothing."""
        rests_on, naming = self.rests_on[:, places], self.naming
        of_naming = [naming.index(place) for place in places]
        return rests_on.astype(float) if self.weights is None else np.where(rests_on, self.weights[:, of_naming], 0.0)

    def all_sets(self) -> Floats:
        """The quantities of the whole corpus, (quantities,)."""
        return self.reduce(self.columns.sum(axis=0))

    def beyond(self, sums: Floats) -> Floats:
        """The quantities less what is expected of them, (..., quantities); of a family with a null."""
        assert self.expect is not None, "only families with a null are held against it"
        return self.reduce(sums) - self.expect(sums)

    def said(self) -> Floats:
        """What each set says of each quantity, (sets, quantities); nan of those on which it does not rest."""
        return pseudo_values(self.reduce, self.columns, self.rests_on)


@runtime_checkable
class Family(Protocol):
    """Measures that rest on the same thing found in each summary."""

    @property
    def name(self) -> str:
        """The family's name, a key of `families.MEASURES`."""
        ...

    @property
    def by(self) -> str:
        """How it is found what a summary takes up, "ngram", "words", ...; "" where nothing is chosen."""
        ...

    @property
    def signature(self) -> str:
        """Everything that the numbers depend on besides documents and summaries."""
        ...

    def measure(self, items: Sequence[LabelledSummary]) -> Sequence[Any | Unscored]:
        """What is found in each summary."""
        ...

    def figures(self, answers: Sequence[Any | Unscored]) -> Figures:
        """The sums of all sets, in their order."""
        ...

    def sentence(self, kind: NumberKind, point: str, figures: Figures) -> str:
        """What an aggregate means for a reader.

        Args:
            kind: of the aggregate.
            point: the aggregate as it is printed; shares in per cent.
            figures: what it was made from.
        """
        ...

    def example(self, item: LabelledSummary, answer: Any, left_out: tuple[str, ...] | None = None) -> TakenApart:
        """One summary taken apart.

        Args:
            item: documents and summary.
            answer: what was found in it.
            left_out: values that are below what is expected; None: the family tells by what it measures itself.
        """
        ...


@dataclass(frozen=True)
class Measured:
    """What one family found in one system's summaries."""

    family: Family
    system: str
    answers: tuple[Any, ...]
    figures: Figures


def bounds_of(value: float | None, by_set: Floats, kind: NumberKind, bootstrap: Bootstrap) -> Bounds:
    """Bounds of one quantity: of rates exact, of others by bootstrap-t, which knows nothing of the scale.

    Student's t with the jackknife holds far less than it says where most sets have 0, as of a shortfall:
    docs/run-folder.md#audit-intervals.

    Args:
        value: the quantity; None where undefined.
        by_set: what each set says of it, `pseudo_values`; nan of those on which it does not rest.
        kind: of the quantity.
        bootstrap: draws, and the level.
    """
    known = by_set[~np.isnan(by_set)]
    if kind.is_rate and len(known) >= LEAST_SETS and value is not None:
        return exact_bounds(value, len(known), bootstrap.level)
    low, high = interval_by_sets(value, known.tolist(), bootstrap)
    # every measure is at least 0, and shares at most 1, save for differences
    if low is not None and high is not None and not kind.is_difference:
        low, high = max(0.0, low), min(1.0, high) if kind.is_share else high
    return low, high


def quantities_of(
    by: str, kinds: Sequence[NumberKind], names: Sequence[str], wholes: Sequence[NumberKind] = ()
) -> tuple[Quantity, ...]:
    """Quantities of all values or groups together, then all kinds of each name: the order that `in_order` puts numbers in."""
    aggregates = (Quantity(Measure(kind, by)) for kind in wholes)
    return (*aggregates, *(Quantity(Measure(kind, by), name) for name in names for kind in kinds))


def in_order(rows: Sequence[Floats | float], *wholes: Floats) -> Floats:
    """Numbers in the order of `quantities_of`, (..., quantities).

    Args:
        rows: of each kind, (..., names), or nan where nothing is known of it.
        wholes: of all together, (..., wholes).
    """
    by_name = np.stack(np.broadcast_arrays(*rows), axis=-1)  # (..., names, kinds)
    n_names, n_kinds = by_name.shape[-2:]
    return np.concatenate([*wholes, by_name.reshape(*by_name.shape[:-2], n_names * n_kinds)], axis=-1)


def reasons(answers: Sequence[Any | Unscored]) -> tuple[str | None, ...]:
    """Why each summary has no answer; None where it has one."""
    return tuple(answer.reason if isinstance(answer, Unscored) else None for answer in answers)


def most(amounts: Mapping[K, float]) -> tuple[K, ...]:
    """The names of the largest amount, in their order, several where they tie; none where nothing is above 0."""
    largest = max(amounts.values(), default=0.0)
    return tuple(name for name, amount in amounts.items() if largest > NOISE and amount > largest - NOISE)


def mean_deviation(values: Floats) -> Floats:
    """Mean absolute deviation from the mean over the last axis, nan left out; nan where nothing is left."""
    known = ~np.isnan(values)
    n = known.sum(axis=-1)
    centre = over(np.where(known, values, 0.0).sum(axis=-1), n)
    gaps = np.where(known, np.abs(values - centre[..., None]), 0.0)
    return over(gaps.sum(axis=-1), n)
