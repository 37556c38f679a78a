"""Groups of a family of measures: what documents and summaries have of each, with gaps."""

from collections.abc import Iterator
from typing import Literal

from ..pages.blocks import Block, Heading
from ..pages.tables import group, grouped, row, table
from ..pages.value_names import noun
from .cells import gap_column, gap_of, rests_on, shown
from .contents import Audit
from .families import MEASURES


def group_table(audit: Audit, family: str, level: Literal[2, 3] = 2) -> Iterator[Block]:
    """What each group of a family has in documents and summaries, with its gap, by system.

    Nothing without a number, and of a family whose numbers stand in the table of attribute values.

    Args:
        audit: the numbers.
        family: which of them.
        level: of the heading.
    """
    shown_as = MEASURES[family].page.table
    of_family = [n for n in audit.by_value if n.family == family]
    if shown_as is None:
        return
    groups = []
    for system in audit.systems:
        of_system = [n for n in of_family if n.system == system.label]
        if all(n.value is None for n in of_system):
            continue
        by_side = grouped(
            (n for n in of_system if n.side and (shown_as.is_whole or n.value is not None)), lambda n: n.side or ""
        )
        rows = (
            row(side, *(cell for n in numbers for cell in (shown(n, 1, rests_on(n)), *gap_of(n))))
            for side, numbers in by_side.items()
        )
        groups.append(group(rows, system.label if shown_as.is_whole or len(audit.systems) > 1 else ""))
    if groups:
        yield Heading(
            shown_as.heading.format(by=of_family[0].by), level, lead=shown_as.lead.format(value=noun(audit.attribute))
        )
        heads = (head.format(attribute=audit.attribute) for head in shown_as.heads)
        gaps = [gap_column(of_family)] if any(n.kind.names for n in of_family) else []
        yield table(shown_as.name, (*heads, *gaps), groups)
