"""Places in the set, the tone beside each value's words, and word lists: what documents and summaries have of each, and gaps."""

from collections.abc import Iterator

from ..pages.blocks import Block, Column, Heading, Heads, Prose, group, grouped, row, table
from ..pages.value_names import noun
from .cells import gap, gap_column, gap_of, rests_on, shown
from .contents import Audit
from .findings import order_sentence


def places(audit: Audit) -> Iterator[Block]:
    """How much of the summaries is about the documents that stand first, in the middle and last."""
    heading = Heading(
        "By place in the set",
        lead="How much of the documents and how much of the summaries have the documents of each third of a set, in per cent "
        "of matched words, and the gap to what is expected of summaries that prefer no place, whatever room they give to "
        f"each {noun(audit.attribute)}. What stands in a place may explain a gap too: evenhand import reordered writes the "
        "documents in other orders, and --order compares their summaries.",
    )
    return _section(audit, "order", heading, "by place", ("place", "in documents", "in summaries"))


def orders(audit: Audit) -> Iterator[Block]:
    """What follows the place and what the documents."""
    if not audit.orders:
        return
    follows = list(dict.fromkeys(each.measure for each in audit.orders))
    yield Heading(
        "Place or documents",
        lead=f"The same documents in {len(audit.systems)} orders, over {audit.orders[0].n_sets:,} sets scored in all of them: "
        "gaps in points of room to what is expected of documents written alike, where those by place ask within each "
        f"{noun(audit.attribute)}. First the gap of each third in the order of the file; then the gap of any documents at "
        "that place; then the gap of its documents at any place. The first is about the sum of the others.",
    )
    rows = (
        row(
            third,
            *(gap(each) for wanted in follows for each in audit.orders if (each.side, each.measure) == (third, wanted)),
        )
        for third in dict.fromkeys(each.side or "" for each in audit.orders)
    )
    heads: Heads = ("place", *(Column(name, note="" if name == follows[0] else "follows it") for name in follows))
    yield table("place or documents", heads, rows)
    said = dict.fromkeys(order_sentence(audit.orders, each) for each in ("place", "documents"))
    yield Prose(" ".join(said))


def tones(audit: Audit) -> Iterator[Block]:
    """How summaries speak of each value."""
    heading = Heading(
        "Tone",
        lead=f"How much of the tone is positive beside the words that documents of one {noun(audit.attribute)} alone have, "
        "in those documents and in the summaries, and the gap to what is expected by the documents' sentences with the same "
        "words. Scorers of tone are often wrong about a single sentence: read some before you conclude.",
    )
    return _section(audit, "tone", heading, "tone", (audit.attribute, "in documents", "in summaries"))


def word_lists(audit: Audit) -> Iterator[Block]:
    """What share each list has of the listed words; nothing where no list has a word."""
    heading = Heading(
        f"Word lists: {next((n.by for n in audit.by_value if n.family == 'word-lists'), '')}",
        3,
        lead="The share of each list in the listed words. Words of the summaries can be compared where as many documents "
        "have words of another list; the gap is over these alone. n counts sets.",
    )
    heads = ("words", "in documents", "in summaries", "in those compared")
    return _section(audit, "word-lists", heading, "word lists", heads, is_whole=True)


def _section(
    audit: Audit, family: str, heading: Heading, name: str, heads: tuple[str, ...], *, is_whole: bool = False
) -> Iterator[Block]:
    """What each group of a family has in documents and summaries, with its gap, by system; nothing without a number.

    Args:
        audit: the numbers.
        family: which of them.
        heading: of the section.
        name: of the table.
        heads: of its columns but the gap's.
        is_whole: groups without a number stand there too, and a single system has its name.
    """
    of_family = [n for n in audit.by_value if n.family == family]
    groups = []
    for system in audit.systems:
        mine = [n for n in of_family if n.system == system.label]
        if all(n.value is None for n in mine):
            continue
        by_side = grouped((n for n in mine if n.side and (is_whole or n.value is not None)), lambda n: n.side or "")
        rows = (
            row(side, *(cell for n in its for cell in (shown(n, 1, rests_on(n)), *gap_of(n))))
            for side, its in by_side.items()
        )
        groups.append(group(rows, system.label if is_whole or len(audit.systems) > 1 else ""))
    if groups:
        yield heading
        yield table(name, (*heads, gap_column(of_family)), groups)
