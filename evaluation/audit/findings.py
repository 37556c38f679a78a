"""What an audit finds, in words: its headline, who fares worst, and which system to choose.

Who fares worst is the value that is under-represented most often or covered least, held against the next one. A shortfall in
points grows with the share that is due, so a large group has the largest almost whatever happens; how often a value falls under
the tolerance does not. The opinion graph falls with length whatever is said, so length stands beside the measures.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from ...resampling import NOISE, percentile_interval
from ...text import sentences, words
from ..pages.numbers import number, percent, signed
from ..systems.worst_group import WorstGroups, without_part, worst_groups
from .contents import (
    COVERAGE_DIFFERENCE,
    OPINION_GRAPH,
    SHARE_AIMED_AT,
    SHARE_IN_SOURCES,
    SHORTFALL,
    UNDER_REPRESENTED,
    Choice,
    Kind,
    Measure,
    Number,
    PairedDifference,
    SystemNote,
    WorstGroup,
)
from .figures import Figures, Floats, Measured
from .input import System
from .plan import AuditPlan

# ratio of mean sentences from which two systems are no longer of like length
UNLIKE = 1.1


def system_note(system: System) -> SystemNote:
    """One summaries file with the mean words and sentences of its summaries, empty ones with 0; 0 without any summary."""
    texts = list(system.summaries.values())
    n = max(1, len(texts))
    return SystemNote(
        label=system.label, source=system.source, digest=system.digest, n_summaries=len(texts),
        n_words=round(sum(len(words(text)) for text in texts) / n, 2),
        n_sentences=round(sum(len(sentences(text)) for text in texts) / n, 2),
    )  # fmt: skip


def by_length(differences: Sequence[PairedDifference], systems: Sequence[SystemNote]) -> list[PairedDifference]:
    """The differences of the opinion graph between systems of unlike length."""
    n_sentences = {system.label: system.n_sentences for system in systems}

    def are_unlike(difference: PairedDifference) -> bool:
        low, high = sorted((n_sentences[difference.system], n_sentences[difference.reference]))
        return high > UNLIKE * low

    return [each for each in differences if each.measure.kind == OPINION_GRAPH and are_unlike(each)]


def of_length(differences: Sequence[PairedDifference], systems: Sequence[SystemNote]) -> Iterator[str]:
    """A warning where systems of unlike length are compared by the opinion graph."""
    found = by_length(differences, systems)
    if found:
        named = dict.fromkeys((found[0].reference, *(each.system for each in found)))
        by_label = {system.label: system for system in systems}
        shown = ", ".join(f"{label} {by_label[label].n_sentences:.1f}" for label in named)
        yield (
            f"{OPINION_GRAPH.name}: it falls as summaries grow, whatever they say, and these differ in length (mean sentences: "
            f"{shown}); its differences reflect length too and are left out of the headline."
        )


# systems that it compares
MOST_COMPARED = 3


def title(aggregates: Sequence[Number], differences: Sequence[PairedDifference], systems: Sequence[SystemNote]) -> str:
    """With one system what its first measure says; with several by how many measures each is clearly fairer or less fair.

    Args:
        aggregates: of all systems.
        differences: of all measures; those of which less is no fairer, and those that length alone may make, are not counted.
        systems: the reference first.
    """
    if len(systems) < 2:
        return next((each.sentence for each in aggregates if each.sentence), "Nothing could be measured").removesuffix(
            "."
        )
    reference = systems[0].label
    unlike = by_length(differences, systems)
    counted = [each for each in differences if each.is_unfairness and each not in unlike]
    if unlike and not counted:
        *others, last = dict.fromkeys(each.system for each in unlike)
        return f"{', '.join([reference, *others])} and {last} differ in length; nothing else can be compared"
    if not n_tests(counted):
        return f"No difference to {reference} can be tested"
    said = [
        _compared(system, reference, [each for each in counted if each.system == system])
        for system in dict.fromkeys(each.system for each in counted)
    ]
    more = len(said) - MOST_COMPARED
    return "; ".join(said[:MOST_COMPARED]) + (f"; and {more} other systems" if more > 0 else "")


def _compared(system: str, reference: str, differences: Sequence[PairedDifference]) -> str:
    """ "tuned is fairer than base by 3 of 8 measures"."""
    n = n_tests(differences)
    counts = Counter[str](each.verdict for each in differences)
    clear = [
        (word, counts[verdict]) for word, verdict in (("fairer", "lower"), ("less fair", "higher")) if counts[verdict]
    ]
    measures = f"{n} measure{'' if n == 1 else 's'}"
    if not clear:
        return (
            f"{system} does not clearly differ from {reference} in any of {measures}"
            if n
            else f"no difference of {system} can be tested"
        )
    (first, k), *others = clear
    also = "".join(f" and {word} by {count}" for word, count in others)
    return f"{system} is {first} than {reference} by {k}{also} of {measures}"


def n_tests(differences: Sequence[PairedDifference]) -> int:
    """How many differences have a p-value."""
    return sum(each.p_value is not None for each in differences)


@dataclass(frozen=True)
class Rows:
    """Numbers of one system and family, and their draws."""

    numbers: Sequence[Number]
    # (draws, numbers)
    drawn: Floats


class Doubt(Enum):
    """Why a quantity is not clearly above zero."""

    NO_INTERVAL = "no interval"
    INCLUDES_ZERO = "includes zero"
    BELOW_ZERO = "below zero"


def ordering(figures: Figures) -> Kind | None:
    """The kind of number by which a family orders values; None for a family that does not."""
    return next((quantity.kind for quantity in figures.quantities if quantity.kind.worst), None)


def worst_group(rows: Rows, attribute: str) -> WorstGroup | None:
    """The worst value among those with enough sets; None for a family that orders no values.

    No clear difference where the interval of its distance to the next value includes zero, and where fewer than two values are
    left.
    """
    mine = [(place, each) for place, each in enumerate(rows.numbers) if each.measure.kind.worst]
    if not mine:
        return None
    first = mine[0][1]
    sign = 1 if first.measure.kind.worst == "most" else -1
    small = tuple(each.value for _, each in mine if each.is_small and each.value and each.n)
    able = sorted(
        ((place, each) for place, each in mine if not each.is_small and each.estimate is not None),
        key=lambda pair: -sign * (pair[1].estimate or 0.0),
    )
    group = WorstGroup(
        family=first.family, system=first.system, measure=first.measure, value=None, next_value=None, gap=None, low=None,
        high=None, verdict="no clear difference", small=small,
        sentence=f"No worst {attribute} is named: fewer than two have enough sets.",
    )  # fmt: skip
    if len(able) < 2:
        return group
    (worst_place, worst), (next_place, following) = able[0], able[1]
    drawn = percentile_interval(sign * (rows.drawn[:, worst_place] - rows.drawn[:, next_place]), worst.level)
    low, high = drawn.low, drawn.high
    doubt = _doubt(low, high)
    what = f"{attribute} among those with enough sets" if small else attribute
    return group.model_copy(
        update={
            "value": worst.value,
            "next_value": following.value,
            "gap": sign * ((worst.estimate or 0.0) - (following.estimate or 0.0)),
            "low": low,
            "high": high,
            "verdict": "no clear difference" if doubt else "clear",
            "sentence": f"{_sentence(worst, following, what, doubt)}{_largest_shortfall(rows.numbers)}",
        }
    )


def _doubt(low: float | None, high: float | None) -> Doubt | None:
    """Why a quantity with this interval is not clearly above zero; None where it is."""
    if low is None or high is None:
        return Doubt.NO_INTERVAL
    if low > NOISE:
        return None
    return Doubt.INCLUDES_ZERO if high > -NOISE else Doubt.BELOW_ZERO


def _sentence(worst: Number, following: Number, what: str, doubt: Doubt | None) -> str:
    if worst.measure.kind == UNDER_REPRESENTED and not worst.estimate:
        return f"No {what} is under-represented in any summary."
    amount = f"{100 * abs(worst.estimate or 0.0):.1f}"
    if worst.measure.kind == UNDER_REPRESENTED:
        fares = f"it is under-represented in {amount} % of the summaries of its sets"
    elif (worst.estimate or 0.0) < 0:
        fares = f"its documents are covered {amount} points of 100 less than all documents of their sets, on average"
    else:
        fares = "its documents are covered no less than all documents of their sets"
    if doubt is None:
        return f"The worst-represented {what} is {worst.value}: {fares}; next is {following.value}."
    if abs((worst.estimate or 0.0) - (following.estimate or 0.0)) <= NOISE:
        reason = f"{following.value} has the same"
    else:
        reason = {
            Doubt.NO_INTERVAL: f"its distance to {following.value} has no interval",
            Doubt.INCLUDES_ZERO: f"the interval of its distance to {following.value} includes zero",
            Doubt.BELOW_ZERO: f"the interval of its distance to {following.value} lies below zero",
        }[doubt]
    return f"No {what} is clearly the worst-represented: {worst.value} has the worst estimate ({fares}), but {reason}."


def _largest_shortfall(numbers: Sequence[Number]) -> str:
    """Which value falls short by the most points, and what it is due; "" where none does."""
    able = {
        (each.measure.kind, each.value): each.estimate
        for each in numbers
        if each.value is not None and each.estimate is not None and not each.is_small
    }
    lacking = {value: estimate for (kind, value), estimate in able.items() if kind == SHORTFALL}
    if not lacking or max(lacking.values()) <= NOISE:
        return ""
    value = max(lacking, key=lambda value: lacking[value])
    due = able.get((SHARE_AIMED_AT, value), able[SHARE_IN_SOURCES, value])
    return f" The largest shortfall is that of {value}: {100 * lacking[value]:.1f} points of share (due {100 * due:.1f} %)."


def extremes(rows: Rows) -> str:
    """Which value is covered most and which least beyond all documents, small ones left out; "" where none can be."""
    mine = [each for each in rows.numbers if each.measure.kind == COVERAGE_DIFFERENCE]
    able = sorted(
        (each for each in mine if not each.is_small and each.estimate is not None), key=lambda n: -(n.estimate or 0.0)
    )
    if len(able) < 2:
        return ""
    among = "Among those with enough sets, most" if any(each.is_small and each.n for each in mine) else "Most"
    over, under = able[0], able[-1]
    over_doubt = _doubt(over.low, over.high)
    under_doubt = _doubt(None if under.high is None else -under.high, None if under.low is None else -under.low)
    return f"{among} over-represented is {_extreme(over, over_doubt)}, most under-represented {_extreme(under, under_doubt)}."


def _extreme(number: Number, doubt: Doubt | None) -> str:
    """The value with its difference, and why that is not clear where it is not."""
    note = {
        None: "",
        Doubt.NO_INTERVAL: ", without an interval",
        Doubt.INCLUDES_ZERO: ", not clearly: its interval includes zero",
        Doubt.BELOW_ZERO: ", but its interval lies on the other side of zero",
    }[doubt]
    return f"{number.value} ({signed(100 * (number.estimate or 0.0), 1)} points{note})"


def choices(measured: Sequence[Measured], values: Sequence[str], plan: AuditPlan) -> Iterator[Choice]:
    """The choice by each family that orders values; none of a single system.

    A system is judged by its worst value with enough sets, over sets that every system has an answer for.
    """
    for name in dict.fromkeys(each.family.name for each in measured):
        mine = [each for each in measured if each.family.name == name]
        kind = ordering(mine[0].figures)
        if kind is None or len(mine) < 2:
            continue
        # of each system, set and value; nan without an answer
        scores = []
        for each in mine:
            places = {q.value: place for place, q in enumerate(each.figures.quantities) if q.kind == kind}
            known = np.where(each.figures.rests_on, each.figures.reduce(each.figures.columns), np.nan)
            scores.append(known[:, [places[value] for value in values]])
        found = worst_groups(
            np.stack(scores),
            [each.system for each in mine],
            values,
            plan.bootstrap,
            least_sets=plan.least_group,
            lower_is_better=kind.worst == "most",
        )
        yield Choice(
            family=name, measure=Measure(kind, mine[0].family.by), found=found, sentence=_choice_sentence(found, kind)
        )


def _choice_sentence(found: WorstGroups, kind: Kind) -> str:
    by = f"By the value that each serves worst ({kind.name})"
    if not any(system.group for system in found.systems):
        return f"{by}, nothing can be said: no value has {found.least_sets} sets that all systems have an answer for."
    write = signed if kind.is_difference else number
    shown = "; ".join(
        f"{each.system} {each.group} {write(100 * each.mean, 1)}" for each in found.systems if each.mean is not None
    )
    numbers = f"({shown}; in {'points' if kind.is_difference else 'per cent'})."
    small = without_part(found)
    note = f" {small}." if small else ""
    if found.choice is None:
        return f"{by}, no system is clearly the best {numbers}{note}"
    (best,) = [each for each in found.systems if each.system == found.choice]
    return f"{by}, choose {best.system}: it is the best in {percent(best.chance_of_best)} of the draws {numbers}{note}"
