"""The most unfair summaries, each beside the documents that it leaves out."""

from collections.abc import Iterator

from ..pages.blocks import Block, Details, Heading, Prose
from ..pages.cells import Column, Text
from ..pages.numbers import NONE, number, percent, signed
from ..pages.tables import Heads, grouped, row, table
from ..pages.words import counted
from .contents import Audit, AuditExample
from .families import MEASURES
from .kinds import SummaryUnit


def examples(audit: Audit) -> Iterator[Block]:
    named = {(finding.system, finding.family) for finding in audit.represented if finding.under or finding.over}
    shown = [example for example in audit.examples if (example.system, example.family) in named]
    by_heading = grouped(shown, lambda example: f"{example.system}, by {example.family}")
    if by_heading:
        yield Heading(
            "The most unfair summaries",
            lead="Of each family of measures that names somebody, those in which the value that it names first is farthest from "
            "what is expected. The farthest come first. Each sentence is shown with the documents that it takes up.",
        )
    for heading, examples in by_heading.items():
        yield Heading(heading, 3)
        for example in examples:
            name = set_name(example)
            yield Details(
                name, tuple(_example(audit, example)), f"{example.measure}: {_unfairness(example)}", is_example=True
            )


def set_name(example: AuditExample) -> str:
    """The topic of an example's set with its id; the id alone where they are the same, or there is no topic."""
    return example.set_id if example.topic in ("", example.set_id) else f"{example.topic} ({example.set_id})"


def _unfairness(example: AuditExample) -> str:
    if example.is_gap:
        return f"{signed(100 * example.unfairness, 1)} points"
    return f"{number(100 * example.unfairness, 1)} %" if example.is_share else number(example.unfairness, 3)


def _example(audit: Audit, example: AuditExample) -> Iterator[Block]:
    # of those that a gap tells others may be farther below
    how = "below what is expected" if example.is_gap else "left out most"
    heads: Heads = ("", *(Column(name, kind="number") for name in example.columns))
    rows = (
        row(
            Text(side.name, how if side.name in example.left_out else ""),
            _side_number(example, side.source),
            _side_number(example, side.summary),
        )
        for side in example.sides
    )
    yield table(f"sides of {example.set_id}", heads, rows)
    lines = []
    for line in example.lines:
        # the most first
        takes = [
            f"{value} {n:.3g}{_words(line, value)}" for value, n in sorted(line.takes.items(), key=lambda e: -e[1]) if n
        ]
        cell = Text("; ".join(takes), line.note) if takes else Text(line.note or "none")
        lines.append(row(Text(line.text, style="long"), cell))
    yield table(f"summary of {example.set_id}", ("summary", Column(example.takes_what, "long")), lines)
    if example.documents:
        text = MEASURES[example.family].page.text_of(audit.options)
        heading = f"{how.capitalize()}: {', '.join(example.left_out)} ({counted(len(example.documents), text)})"
        yield Details(heading, tuple(map(Prose, example.documents)))


def _words(line: SummaryUnit, value: str) -> str:
    """ " (friendly, staff)"."""
    return f" ({', '.join(line.words[value])})" if value in line.words else ""


def _side_number(example: AuditExample, value: float | None) -> str:
    """A side's share, or its count where the columns count."""
    if value is None:
        return NONE
    return f"{value:g}" if MEASURES[example.family].page.counts else percent(value)
