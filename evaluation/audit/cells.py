"""Numbers of an audit as cells of its tables."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ..pages.blocks import Cell, Column, Mark, NumberCell, Tone, bounds, in_unit
from ..pages.charts import Scale, scale
from ..pages.numbers import number, signed
from ..pages.words import joined
from .contents import Audit, Chance, Effect, Number, PairedDifference

GAP = "gap to expected"


def level_of(audit: Audit) -> str:
    """Level of the intervals in per cent."""
    return f"{100 * audit.options['bootstrap']['level']:g}"


# note of an interval that holds less than it says
TOO_NARROW = "too narrow"


def is_too_narrow(found: Number) -> bool:
    """Whether it has an interval that holds less than it says, of so few sets."""
    return found.low is not None and found.n < found.measure.kind.holds_from


def shown(found: Number | PairedDifference, places: int = 2, note: str = "") -> NumberCell:
    """The number: shares in per cent, differences of shares in points, others as they are."""
    if isinstance(found, Number) and is_too_narrow(found):
        note = f"{note}, {TOO_NARROW}" if note else TOO_NARROW
    is_difference = isinstance(found, PairedDifference) or found.measure.kind.is_difference
    return in_unit(
        found.estimate, bounds(found), places, is_share=found.is_share, is_difference=is_difference, note=note
    )


def rests_on(found: Number) -> str:
    """ "n 19, few"."""
    return f"n {found.n:,}{', few' if found.is_small else ''}"


def gap(chance: Chance | Effect | None, *, is_share: bool) -> NumberCell:
    """How far a number is from its chance level, marked where that is clear."""
    if chance is None or chance.gap is None:
        return NumberCell(None)
    between = None if isinstance(chance, Chance) and chance.is_inside else bounds(chance)
    return replace(
        in_unit(chance.gap, between, is_share=is_share, is_difference=True),
        tone=None if chance.verdict is None else "unsure" if chance.verdict == "no clear difference" else "neutral",
        # without an interval there is no verdict either, and p of a few sets would be taken for one
        adjusted_p=None if chance.low is None else chance.adjusted,
    )


def gap_column(numbers: Iterable[Number], of: str = "") -> Column:
    """The head of a column of gaps, with the null by which these numbers are expected."""
    nulls = dict.fromkeys(each.chance.null for each in numbers if each.chance and each.measure.kind.names)
    return Column(f"{of} {GAP}".strip(), note=f"(by {joined(list(nulls))})" if nulls else "")


def gap_of(found: Number) -> Iterator[Cell]:
    """The gap to expected, of numbers that have one."""
    if found.measure.kind.names:
        yield replace(gap(found.chance, is_share=True), note=_expected(found, found.chance) if found.chance else "")


def _expected(found: Number, chance: Chance) -> str:
    low, high = chance.between or (chance.expected, chance.expected)
    upper = replace(shown(found, 1), value=high, bounds=None)
    ends = [(signed if upper.sign else number)(100 * end, 1) for end in (low, high)]
    # points are said of the gap above, and the column is narrow
    said = ends[1] if upper.sign else upper.shown
    return f"{f'{ends[0]} to ' if ends[0] != ends[1] else ''}{said} expected"


def hundredfold(found: Number | PairedDifference, style: int | Tone) -> tuple[Mark, ...]:
    """The mark of a share in per cent, with its interval; none where it is undefined."""
    mean, low, high = (None if x is None else 100 * x for x in (found.estimate, *bounds(found)))
    return () if mean is None else (Mark(mean, (low, high), style),)


def hundredfold_scale(found: Iterable[Number | PairedDifference]) -> Scale:
    """An axis that holds the shares among them in per cent, and 0."""
    ends = (x for each in found if each.is_share for x in (each.estimate, *bounds(each)))
    return scale((None if x is None else 100 * x for x in ends), zero=True)
