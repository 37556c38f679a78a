"""The audit as Markdown, for pull requests and notes."""

from ..markdown import markdown_table, plain
from ..text_numbers import number
from . import view
from .contents import Audit, Example


def render_markdown(audit: Audit) -> str:
    """The audit as GitHub-flavoured Markdown."""
    parts = [
        f"# {plain(audit.title)}",
        f"{audit.n_sets:,} document sets of {plain(audit.documents)}, by {plain(audit.attribute)}. The full audit is index.html "
        "beside this file.",
        *(f"> **Warning.** {plain(warning)}" for warning in audit.warnings),
        "## By value",
    ]
    for table in view.value_tables(audit):
        parts += [f"### {plain(table.system)}", _values(table)]
    for system in audit.systems:
        rows = [
            [group, *(f"{view.shown(n, 1)} ({view.interval(n, 1)})" for n in pair)]
            for group, *pair in view.group_rows(audit, system.label)
        ]
        if rows:
            parts += [
                f"### Gender words, {plain(system.label)}",
                markdown_table(["group", "in sources", "in summaries"], rows),
            ]
    parts += [
        "## Measures",
        view.notes(audit),
        _aggregates(audit),
    ]
    parts += [f"- {plain(system.label)}: {view.length(system)}" for system in audit.systems]
    parts += [f"- {plain(group.system)}, {group.family}: {plain(group.sentence)}" for group in audit.worst]
    if audit.differences:
        parts += [f"## Differences to {plain(audit.differences[0].reference)}", _differences(audit)]
        parts += [f"- {plain(choice.sentence)}" for choice in audit.choices]
    if audit.examples:
        parts.append("## The most unfair summaries")
        parts += [block for heading, found in view.example_groups(audit) for block in _examples(audit, heading, found)]
    parts += ["## How it was made", "\n".join(f"- `{plain(measure.signature)}`" for measure in audit.measures)]
    return "\n\n".join(parts) + "\n"


def _values(table: view.ValueTable) -> str:
    header = ["value", "sets", "documents", *map(str, table.columns)]
    rows = (
        [
            row.value, f"{row.n_sets:,}", f"{row.n_documents:,}",
            *(
                "" if cell is None else f"{view.shown(cell, 1)} ({view.interval(cell, 1)}; {view.rests_on(cell)})"
                for cell in row.cells
            ),
        ]
        for row in table.rows
    )  # fmt: skip
    return markdown_table(header, rows)


def _aggregates(audit: Audit) -> str:
    header = ["measure", "system", "value", "interval", "sets", "left out", "what it means"]
    rows = (
        [str(n.measure), n.system, view.shown(n), view.interval(n), f"{n.n:,}", view.left_out(n.left_out), n.sentence]
        for n in audit.aggregates
    )
    return markdown_table(header, rows)


def _differences(audit: Audit) -> str:
    header = ["measure", "system", "difference", "interval", "adjusted p", "verdict", "sets", "under one only"]
    rows = (
        [
            view.difference_name(d), d.system, view.shown(d), view.interval(d), number(d.adjusted), d.verdict, f"{d.n:,}",
            f"{d.left_out:,}",
        ]
        for d in audit.differences
    )  # fmt: skip
    return markdown_table(header, rows)


def _examples(audit: Audit, heading: str, examples: tuple[Example, ...]) -> list[str]:
    blocks = [f"### {plain(heading)}"]
    for example in examples:
        sides = ", ".join(
            f"{side.name} {view.side_number(example, side.source)} / {view.side_number(example, side.summary)}"
            for side in example.sides
        )
        name = f"{example.set_id}: {example.topic}" if example.topic else example.set_id
        lines = [f"- {plain(line.text)} ({plain('; '.join(_said(line.takes, line.note)))})" for line in example.lines]
        blocks.append(
            f"**{plain(name)}**, {example.measure}: {view.unfairness(example)}. {example.columns[0]} / {example.columns[1]}: "
            f"{plain(sides)}. Beside each sentence: {example.takes_what}."
        )
        blocks.append("\n".join(lines))
        if example.left_out:
            blocks.append(f"{view.left_out_of(audit, example)}:")
            blocks.append("\n".join(f"> {plain(text)}\n>" for text in example.documents).removesuffix("\n>"))
    return blocks


def _said(takes: dict[str, float], note: str) -> list[str]:
    told = [f"{value} {amount}" for value, amount in view.takes(takes)]
    return [*([note] if note else []), *(told or ["none"])]
