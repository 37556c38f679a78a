"""Word lists: what share each list has of the listed words, and the gap over the words that can be compared."""

from collections.abc import Iterator

from ..pages.blocks import Block, Cell, Heading, group, row, table
from .cells import gap_of, rests_on, shown
from .contents import Audit, Number


def word_lists(audit: Audit) -> Iterator[Block]:
    """A row for each list, a group for each system; nothing where no list has a word."""
    groups = []
    for system in audit.systems:
        mine = [n for n in audit.by_value if n.system == system.label and n.measure.kind.is_of_lists]
        if any(n.estimate is not None for n in mine):
            rows = (
                row(name, *(cell for n in mine if n.value == name for cell in _cells(n)))
                for name in dict.fromkeys(n.value for n in mine if n.value)
            )
            groups.append(group(rows, system.label))
    if groups:
        called = next(n.measure.by for n in audit.by_value if n.measure.kind.is_of_lists)
        yield Heading(
            f"Word lists: {called}",
            3,
            lead="The share of each list in the listed words. Words of the summaries can be compared where as many documents "
            "have words of another list; the gap is over these alone. n counts sets.",
        )
        heads = ("words", "in documents", "in summaries", "in those compared", "gap to expected")
        yield table("word lists", heads, groups)


def _cells(found: Number) -> Iterator[Cell]:
    yield shown(found, 1, rests_on(found))
    yield from gap_of(found)
