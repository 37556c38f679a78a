"""The audit's first page: who gets less than expected, how sure that is, a picture of all groups and systems, two summaries."""

from collections.abc import Iterator, Sequence

from ...resampling import cut_to, too_few
from ..pages.blocks import Block, Heading, Lane, Mark, Overview, Picture, PicturePart, PictureRow, Prose
from ..pages.marked import marked
from ..pages.numbers import percent, signed
from ..pages.words import NOT_CLEAR, TOO_FEW, capital, certainty, counted, joined
from .contents import SHARE_IN_SOURCES, SHARE_IN_SUMMARIES, SHARES, Audit, Chance, Example, Number, Side
from .examples_page import set_name
from .findings import IN_SOURCES, SMALLEST, apart, gap_words

# summaries shown, and documents beside each of them
MOST_EXAMPLES, MOST_DOCUMENTS = 2, 2
# other clear gaps that are named below the headline
MOST_OTHERS = 3

# a number and its chance level
Gap = tuple[Number, Chance]


def overview(audit: Audit) -> Overview:
    """The first page."""
    gaps = _gaps(audit)
    clear = [each for each in gaps if each[1].verdict != NOT_CLEAR.lower() and abs(each[1].gap) >= SMALLEST]
    # who loses most is named, and who gains only where nobody clearly loses
    clear.sort(key=lambda each: (each[1].verdict != "lower", -abs(each[1].gap)))
    text = _evidence(audit, clear[0], clear[1:]) if clear else f"{counted(audit.n_sets, 'document set')}."
    is_little = not clear and any(too_few(audit.n_sets, number.level) for number, _ in gaps[:1])
    return Overview(
        headline=audit.title,
        sure=certainty(clear[0][1].adjusted) if clear else TOO_FEW if is_little else NOT_CLEAR,
        text=text,
        picture=_picture(audit, gaps),
        blocks=tuple(_examples(audit, clear[0][0])) if clear else (),
    )


def _gaps(audit: Audit) -> list[Gap]:
    """Shares with their chance levels; of the first other measure by which groups are named where shares were not measured."""
    known = [(n, n.chance) for n in audit.by_value if n.chance and n.measure.kind.names and n.estimate is not None]
    kinds = [n.measure for n, _ in known]
    shares = [measure for measure in kinds if measure.kind == SHARE_IN_SUMMARIES]
    return [each for each in known if each[0].measure == (shares or kinds)[0]]


def _subject(number: Number) -> str:
    """ "documents of negative", "documents of stars 1", "the first third of the documents"."""
    value = number.value or ""
    other = {"order": f"the {value} of the documents", "word-lists": f"words of {value}"}
    return other.get(number.family, f"documents of {value}")


def _evidence(audit: Audit, first: Gap, others: Sequence[Gap]) -> str:
    """The numbers behind the headline, and who else is off what is expected."""
    number, chance = first
    several = len(audit.systems) > 1
    said = f"{capital(gap_words(chance))}, {counted(number.n, 'document set')}."
    named = [
        f"{number.value} {signed(100 * chance.gap, 1)}{f' ({number.system})' if several else ''}"
        for number, chance in others[:MOST_OTHERS]
    ]
    more = f" and {len(others) - MOST_OTHERS} more" if len(others) > MOST_OTHERS else ""
    also = [f"Also clear: {'; '.join(named)}{more}."] if named else []
    return " ".join((said, *also, *filter(None, map(apart, audit.votes))))


def _picture(audit: Audit, gaps: Sequence[Gap]) -> Picture | None:
    if not gaps:
        return None
    first = gaps[0][0]
    sources = {n.value: n.estimate for n in audit.by_value if n.measure.kind in IN_SOURCES and n.family == first.family}
    systems = [each.label for each in audit.systems]
    rows = []
    for value in dict.fromkeys(number.value for number, _ in gaps):
        mine = [each for each in gaps if each[0].value == value]
        n_sets = max(number.n for number, _ in mine)
        rows.append(
            PictureRow(
                name=value or "",
                note=f"{counted(n_sets, 'set')}{', few' if mine[0][0].is_small else ''}",
                lanes=tuple(_lane(each, systems.index(each[0].system)) for each in mine),
                reference=sources.get(value),
                band=_expected(mine),
            )
        )
    what = "share of the summaries\u2019 words" if first.measure.kind == SHARE_IN_SUMMARIES else first.measure.kind.name
    return Picture(
        name=f"overview by {audit.attribute}",
        rows_are=audit.attribute,
        title=f"{what.capitalize()} by {audit.attribute}, for each of {joined(systems, 3)}",
        parts=(PicturePart(tuple(rows), "%" if first.is_share else "", 1 if first.is_share else 3, what),),
        reference="share of the documents" if first.family == SHARES else "in the documents",
        band="expected, as wide as label-blind extracts are off it",
        keys=(
            "clear: clearly off what is expected",
            "unsure: no clear difference",
            f"interval: {100 * first.level:g} % interval",
        ),
    )


def _lane(each: Gap, style: int) -> Lane:
    number, chance = each
    ends = (None if end is None else chance.expected + end for end in (chance.low, chance.high))
    drawn = cut_to((0.0, 1.0) if number.is_share else None, number.estimate or 0.0, *ends)
    mark = Mark(number.estimate or 0.0, drawn, style)
    return Lane(number.system, (mark,), is_clear=chance.verdict != NOT_CLEAR.lower())


def _expected(mine: Sequence[Gap]) -> tuple[float, float]:
    """From the lowest to the highest that is expected under any system, as far as extracts that know no label are off it."""
    ends = [
        end + sign * (chance.blind or 0.0)
        for _, chance in mine
        for end in (chance.between or (chance.expected,))
        for sign in (-1, 1)
    ]
    return min(ends), max(ends)


def _examples(audit: Audit, named: Number) -> Iterator[Block]:
    """The summaries that show best what the headline says, with the words marked that are of the named value."""
    found = [each for each in audit.examples if (each.system, each.family) == (named.system, named.family)]
    if not found:
        return
    whose = _subject(named)
    yield Heading("Look for yourself", lead=f"Marked: words of the summary that {whose} have, too.")
    for example in found[:MOST_EXAMPLES]:
        yield from _example(example, named.value or "")


def _example(example: Example, value: str) -> Iterator[Block]:
    side = next((each for each in example.sides if each.name == value), None)
    yield Heading(set_name(example), 3, note=_of_side(example, side) if side and example.is_share else "")
    words = {word for line in example.lines for word in line.words.get(value, ())}
    yield marked(" ".join(line.text for line in example.lines), words, f"{example.system}:")
    if value in example.left_out and example.documents:
        shown = example.documents[:MOST_DOCUMENTS]
        rest = len(example.documents) - len(shown)
        for text in shown:
            yield marked(text, words, "Document:")
        if rest:
            yield Prose(f"{counted(rest, 'more document')} in details.html.", "small")


def _of_side(example: Example, side: Side) -> str:
    due = "of the documents" if example.columns[0] == SHARE_IN_SOURCES.name else "expected"
    return f"{percent(side.summary, 0)} of this summary, {percent(side.source, 0)} {due}"
