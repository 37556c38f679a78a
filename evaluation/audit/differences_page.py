"""Which system is fairer, and how their published measures differ."""

from collections.abc import Iterator

from ...resampling import Bounds
from ..pages.blocks import Block, Heading, Legend
from ..pages.cells import Column, NumberCell, Strip, Table, Text, Tone
from ..pages.numbers import MINUS
from ..pages.tables import Columns, bounds, count, group, grouped, in_unit, rows_of, table
from ..pages.words import joined
from .cells import hundredfold, hundredfold_scale, shown
from .contents import Audit, AuditNumber, Vote

TONES: dict[str, Tone] = {
    "too few sets": "unsure",
    "fairer": "better",
    "less fair": "worse",
    "differs": "neutral",
    "no clear difference": "unsure",
}
LEGEND = Legend(
    (
        ("better", "fairer"),
        ("worse", "less fair"),
        ("neutral", "differs, neither clearly fairer nor less fair"),
        ("unsure", "no clear difference: adjusted p too large, the interval includes zero, or there is no test"),
    )
)


def differences(audit: Audit) -> Iterator[Block]:
    if not audit.differences:
        return
    reference = audit.differences[0].reference
    if audit.votes:
        yield Heading(
            "Which system is fairer",
            lead="By the gap of shares to what is expected of documents written alike, on the sets that are scored under both: a "
            f"system is fairer where its gap differs clearly from that of {reference} and is clearly the nearer to 0. Where "
            "published measures clearly say the opposite, none is called fairer.",
        )
        yield LEGEND
        yield vote_table(audit)
    lengths = joined([f"{system.n_words:.1f} of {system.label}" for system in audit.systems])
    yield Heading(
        f"Published measures: differences to {reference}",
        lead="On the sets that are scored under both, without a look at chance levels: less of them need not be fairer, and "
        "nobody is named and no system called fairer by them. p by exchanging the systems of whole sets, corrected for "
        "everything that the page tests; there is a clear difference where it is small. The interval is that of the "
        f"difference alone. The picture shows differences in points. Average number of words of the summaries: {lengths}. "
        "Published measures follow the length of summaries: evenhand compare compares systems at equal length, with several "
        "candidates of a request.",
    )
    yield difference_table(audit)


def vote_table(audit: Audit) -> Table:
    """One row a family, a group for each system but the first."""
    reference = audit.votes[0].reference
    columns: Columns[Vote] = {
        "measure": lambda vote: vote.measure,
        "at": lambda vote: vote.side or "",
        # the reference may be called anything
        Column("gap", note="of the system" if reference != "the system" else "of the other system"): lambda vote: (
            _points(vote.system_gap)
        ),
        Column("gap", note=f"of {reference}"): lambda vote: _points(vote.reference_gap),
        "difference": lambda vote: _points(vote.value, bounds(vote)),
        "adjusted p": lambda vote: NumberCell(vote.adjusted, unit="p"),
        "verdict": lambda vote: Text(vote.verdict or "", joined(vote.apart), tone=TONES[vote.verdict or ""]),
        "sets": lambda vote: count(vote.n_sets),
    }
    by_system = grouped(audit.votes, lambda vote: vote.system)
    groups = [
        group(rows_of(votes, columns), system if len(by_system) > 1 else "") for system, votes in by_system.items()
    ]
    return table("which system is fairer", columns, groups)


def _points(value: float | None, between: Bounds | None = None) -> NumberCell:
    return in_unit(value, between, is_share=True, is_difference=True)


def difference_table(audit: Audit) -> Table:
    """Differences to the first system, a group for each of the others."""
    columns: Columns[AuditNumber] = {
        "measure": lambda difference: (
            f"{difference.measure}: {difference.side}" if difference.side else difference.measure
        ),
        "plot": lambda difference: Strip(
            hundredfold(difference, _tone(difference)) if difference.kind.is_share else ()
        ),
        "difference": shown,
        "adjusted p": lambda difference: NumberCell(difference.adjusted, unit="p"),
        "verdict": lambda difference: Text(
            difference.verdict or "", tone=None if difference.verdict == "not measured" else _tone(difference)
        ),
        "sets": lambda difference: count(difference.n_sets),
        "under one only": lambda difference: count(difference.left_out),
    }
    reference = audit.differences[0].reference
    by_system = grouped(audit.differences, lambda difference: difference.system)
    groups = [group(rows_of(rows, columns), f"{system} {MINUS} {reference}") for system, rows in by_system.items()]
    return table(f"differences to {reference}", columns, groups, hundredfold_scale(audit.differences))


def _tone(difference: AuditNumber) -> Tone:
    return "neutral" if difference.is_clear else "unsure"
