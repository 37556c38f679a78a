"""The audit's first page: who gets less than expected, how sure that is, a picture of all groups and systems, two summaries."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ...number import Number
from ...resampling import cut_to, too_few
from ..pages.blocks import Block, Heading, Overview, Prose
from ..pages.cells import Mark
from ..pages.marked import marked
from ..pages.numbers import Unit, interval, percent, signed, with_unit
from ..pages.picture import Lane, Picture, PicturePart, PictureRow
from ..pages.tables import grouped
from ..pages.words import NOT_CLEAR, TOO_FEW, capital, certainty, counted, joined
from .contents import Audit, AuditExample, AuditNumber
from .examples_page import set_name
from .families import MEASURES, page_parts
from .family import PagePart
from .findings import apart, gap_words, in_sources, large
from .kinds import SHARE_IN_SOURCES, SHARE_IN_SUMMARIES, SHARES, Side

# summaries shown, and documents beside each of them
MOST_EXAMPLES, MOST_DOCUMENTS = 2, 2
# other clear gaps that are named below the headline
MOST_OTHERS = 3


def overview(audit: Audit) -> Overview:
    """The first page."""
    if screen := own_screen(audit):
        return replace(screen, text=" ".join((screen.text, *_told(audit))))
    numbers = numbers_shown(audit)
    # who loses most is named, and who gains only where nobody clearly loses
    clear = large(numbers)
    # a set whose summary is missing is no evidence
    n_sets = max((number.n_sets for number in numbers or audit.numbers), default=audit.n_sets)
    of_all = f"{n_sets:,} of " if n_sets < audit.n_sets else ""
    text = _evidence(audit, clear[0], clear[1:]) if clear else f"{of_all}{counted(audit.n_sets, 'document set')}."
    is_little = not clear and numbers and too_few(n_sets, audit.bootstrap.level)
    # of one system whose numbers have no chance level no question was asked
    unsure = NOT_CLEAR if numbers or len(audit.systems) > 1 else "Nothing is tested"
    return Overview(
        headline=audit.title,
        sure=certainty(clear[0].gap.adjusted) if clear else TOO_FEW if is_little else unsure,
        text=" ".join((text, *_doubts(audit, numbers), *_told(audit))),
        picture=_picture(audit, numbers),
        blocks=(
            *(_examples(audit, clear[0]) if clear else ()),
            *(block for part in _parts(audit) for block in part.blocks(audit)),
        ),
    )


def own_screen(audit: Audit) -> Overview | None:
    """The first page of a family that has one of its own for this audit; None where there is none."""
    return next(filter(None, (part.first_screen(audit) for part in _parts(audit))), None)


def _parts(audit: Audit) -> list[PagePart]:
    return page_parts(note.family for note in audit.measures)


def _told(audit: Audit) -> Iterator[str]:
    """The numbers that were asked for by options of their own, of each system: "Approval of the worst group: mine 56 %, ..."."""
    of_kinds = grouped((n for n in audit.aggregates if n.kind.is_told), lambda number: number.kind.name)
    for name, numbers in of_kinds.items():
        of_systems = []
        for number in numbers:
            unit: Unit
            unit, places = ("%", 1) if number.kind.is_share else ("", 3)
            # of a single set there is none but one that the family has besides
            alike = (n for n in audit.beside if (n.system, n.measure, n.side) == (number.system, number.measure, None))
            known = next((n for n in (number, *alike) if n.low is not None), None)
            how = f"; {known.how}" if known and known.how else ""
            between = f" ({interval(known.low, known.high, places, unit)}{how})" if known else ""
            of_systems.append(f"{number.system} {with_unit(number.value, places, unit)}{between}")
        yield f"{capital(name)}: {', '.join(of_systems)}."


def numbers_shown(audit: Audit) -> list[AuditNumber]:
    """Shares with a known chance level; of the first other measure by which groups are named where shares were not measured."""
    known = [n for n in audit.by_value if n.gap.reference and n.kind.names and n.value is not None]
    shares = [n.measure for n in known if n.kind == SHARE_IN_SUMMARIES]
    return [n for n in known if n.measure == (shares or [known[0].measure])[0]]


def _subject(number: AuditNumber) -> str:
    """ "documents of negative", "documents of stars 1", "the first third of the documents"."""
    return MEASURES[number.family].page.whose.format(value=number.side or "")


def _evidence(audit: Audit, first: AuditNumber, runners_up: Sequence[AuditNumber]) -> str:
    """The numbers behind the headline, and who else is off what is expected."""
    lead = f"{capital(gap_words(first.gap))}, {counted(first.n_sets, 'document set')}."
    named = [_gap(audit, number) for number in runners_up[:MOST_OTHERS]]
    excess = f" and {len(runners_up) - MOST_OTHERS} more" if len(runners_up) > MOST_OTHERS else ""
    also = [f"Also clear: {'; '.join(named)}{excess}."] if named else []
    return " ".join((lead, *also, *filter(None, map(apart, audit.votes))))


def _gap(audit: Audit, number: AuditNumber) -> str:
    """ "left -2.1", of several systems "left -2.1 (mine)"."""
    of_system = f" ({number.system})" if len(audit.systems) > 1 else ""
    return f"{number.side} {signed(100 * (number.gap.value or 0.0), 1)}{of_system}"


def _doubts(audit: Audit, numbers: Sequence[AuditNumber]) -> Iterator[str]:
    """Why nobody is named by gaps that are clear: their intervals are off what is expected, and their marks say no difference."""
    doubted = (number for number in numbers if number.gap.doubt)
    for doubt, gaps in grouped(doubted, lambda number: number.gap.doubt).items():
        shown = joined([_gap(audit, number) for number in gaps], MOST_OTHERS)
        yield f"Clear, but not named: {shown} points; {doubt}."


def _picture(audit: Audit, numbers: Sequence[AuditNumber]) -> Picture | None:
    if not numbers:
        return None
    first = numbers[0]
    shown = MEASURES[first.family].page
    sources = in_sources(n for n in audit.by_value if n.family == first.family)
    systems = [system.label for system in audit.systems]
    rows = []
    for value, of_value in grouped(numbers, lambda number: number.side or "").items():
        rows.append(
            PictureRow(
                name=shown.row.format(value=value),
                note=_row_note(of_value),
                lanes=tuple(_lane(number, systems.index(number.system)) for number in of_value),
                reference=sources.get(value),
                band=_expected(of_value),
            )
        )
    quantity = "share of the summaries\u2019 words" if first.kind == SHARE_IN_SUMMARIES else first.kind.name
    rows_are = shown.groups or audit.attribute
    return Picture(
        name=f"overview by {rows_are}",
        rows_are=rows_are,
        title=f"{quantity.capitalize()} by {rows_are}, for each of {joined(systems, 3)}",
        parts=(
            PicturePart(tuple(rows), "%" if first.kind.is_share else "", 1 if first.kind.is_share else 3, quantity),
        ),
        reference="share of the documents\u2019 words" if first.family == SHARES else "in the documents",
        band="expected" if first.gap.blind is None else "expected range, by label-blind extracts",
        keys=(
            "clear: clearly off what is expected",
            "unsure: no clear difference",
            f"interval: {100 * audit.bootstrap.level:g} % interval",
        ),
    )


def _row_note(numbers: Sequence[AuditNumber]) -> str:
    """In how many sets a value can differ from what is expected, where that is not all of them: "3 of 70 sets, few"."""
    n_sets, n_parts = (max(counts) for counts in zip(*((n.n_sets, n.gap.n_sets) for n in numbers), strict=True))
    of_all = f"{n_parts:,} of " if n_parts < n_sets else ""
    return f"{of_all}{counted(n_sets, 'set')}{', few' if any(number.is_small for number in numbers) else ''}"


def _lane(number: AuditNumber, style: int) -> Lane:
    value, gap, expected = number.value or 0.0, number.gap, number.gap.expected or 0.0
    ends = (None if end is None else expected + end for end in (gap.low, gap.high))
    low, high = cut_to((0.0, 1.0) if number.kind.is_share else None, value, *ends)
    return Lane(number.system, (Mark(Number(value=value, low=low, high=high), style),), is_clear=gap.is_clear)


def _expected(numbers: Sequence[AuditNumber]) -> tuple[float, float]:
    """From the lowest to the highest that is expected under any system, as far as extracts that know no label are off it."""
    ends = [
        end + sign * (number.gap.blind or 0.0)
        for number in numbers
        for end in number.gap.between or (number.gap.expected or 0.0,)
        for sign in (-1, 1)
    ]
    return min(ends), max(ends)


def _examples(audit: Audit, named: AuditNumber) -> Iterator[Block]:
    """The summaries that show best what the headline says, with the words marked that are of the named value."""
    examples = [
        example for example in audit.examples if (example.system, example.family) == (named.system, named.family)
    ]
    if not examples:
        return
    subject = _subject(named)
    yield Heading("Look for yourself", lead=f"Marked: words of the summary that {subject} have, too.")
    for example in examples[:MOST_EXAMPLES]:
        yield from _example(example, named.side or "")


def _example(example: AuditExample, value: str) -> Iterator[Block]:
    side = next((side for side in example.sides if side.name == value), None)
    yield Heading(set_name(example), 3, note=_of_side(example, side) if side and example.is_share else "")
    words = {word for line in example.lines for word in line.words.get(value, ())}
    yield marked(" ".join(line.text for line in example.lines), words, f"{example.system}:")
    if value in example.left_out and example.documents:
        shown = example.documents[:MOST_DOCUMENTS]
        n_more = len(example.documents) - len(shown)
        for text in shown:
            yield marked(text, words, "Document:")
        if n_more:
            yield Prose(f"{counted(n_more, 'more document')} in details.html.", "small")


def _of_side(example: AuditExample, side: Side) -> str:
    basis = "of the documents\u2019 words" if example.columns[0] == SHARE_IN_SOURCES.name else "expected"
    return f"{percent(side.summary, 0)} of this summary, {percent(side.source, 0)} {basis}"
