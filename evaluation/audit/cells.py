"""Numbers of an audit as cells of its tables."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ...number import Number
from ..pages.cells import Cell, Column, Mark, NumberCell, Tone
from ..pages.charts import Scale, scale
from ..pages.numbers import number, signed
from ..pages.tables import bounds, in_unit
from ..pages.words import joined
from .contents import Audit, AuditNumber, ChanceGap

GAP = "gap to expected"


def level_of(audit: Audit) -> str:
    """Level of the intervals in per cent."""
    return f"{100 * audit.bootstrap.level:g}"


# note of an interval that holds less than it says
TOO_NARROW = "too narrow"


def is_too_narrow(estimate: AuditNumber) -> bool:
    """Whether it has an interval that holds less than it says, of so few sets."""
    return not estimate.reference and estimate.low is not None and estimate.n_sets < estimate.kind.holds_from


def shown(estimate: AuditNumber, places: int = 2, note: str = "") -> NumberCell:
    """The number: shares in per cent, differences of shares in points, others as they are."""
    note = ", ".join(filter(None, (note, TOO_NARROW if is_too_narrow(estimate) else "")))
    return in_unit(
        estimate.value,
        bounds(estimate),
        places,
        is_share=estimate.kind.is_share,
        is_difference=estimate.is_difference,
        note=note,
    )


def rests_on(estimate: AuditNumber) -> str:
    """ "n 19, few"."""
    return f"n {estimate.n_sets:,}{', few' if estimate.is_small else ''}"


def gap(estimate: Number, *, is_share: bool = True) -> NumberCell:
    """How far a number is from its chance level, marked where that is clear."""
    if estimate.value is None:
        return NumberCell(None)
    between = None if isinstance(estimate, ChanceGap) and estimate.is_inside else bounds(estimate)
    return replace(
        in_unit(estimate.value, between, is_share=is_share, is_difference=True),
        tone=None if estimate.verdict is None else "neutral" if estimate.is_clear else "unsure",
        # without an interval there is no verdict either, and p of a few sets would be taken for one
        adjusted_p=None if estimate.low is None else estimate.adjusted,
    )


def gap_column(numbers: Iterable[AuditNumber]) -> Column:
    """The head of a column of gaps, with the null by which these numbers are expected."""
    nulls = dict.fromkeys(
        estimate.gap.reference for estimate in numbers if estimate.gap.reference and estimate.kind.names
    )
    return Column(GAP, note=f"(by {joined(list(nulls))})" if nulls else "")


def gap_of(estimate: AuditNumber) -> Iterator[Cell]:
    """The gap to expected, of numbers that have one."""
    if estimate.kind.names:
        yield replace(gap(estimate.gap), note=_expected(estimate) if estimate.gap.reference else "")


def _expected(estimate: AuditNumber) -> str:
    low, high = estimate.gap.between or (estimate.gap.expected or 0.0,) * 2
    upper = replace(shown(estimate, 1), value=high, bounds=None)
    ends = [(signed if upper.sign else number)(100 * end, 1) for end in (low, high)]
    # points are said of the gap above, and the column is narrow
    text = ends[1] if upper.sign else upper.shown
    return f"{f'{ends[0]} to ' if ends[0] != ends[1] else ''}{text} expected"


def hundredfold(estimate: Number, style: int | Tone) -> tuple[Mark, ...]:
    """The mark of a share in per cent, with its interval; none where it is undefined."""
    mean, low, high = (None if x is None else 100 * x for x in (estimate.value, *bounds(estimate)))
    return () if mean is None else (Mark(Number(value=mean, low=low, high=high), style),)


def hundredfold_scale(numbers: Iterable[AuditNumber]) -> Scale:
    """An axis that holds the shares among them in per cent, and 0."""
    ends = (x for estimate in numbers if estimate.kind.is_share for x in (estimate.value, *bounds(estimate)))
    return scale((None if x is None else 100 * x for x in ends), zero=True)
