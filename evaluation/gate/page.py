"""A gate as a table of the page, as warnings, as Markdown for a pull request, and as JUnit's XML for a CI server."""

import re
from collections.abc import Iterator
from dataclasses import replace
from xml.etree import ElementTree

from ...resampling import LEAST_SETS
from ..pages.blocks import Block, Heading, Page
from ..pages.cells import Cell, Column, NumberCell, Text, Tone
from ..pages.tables import bounds, count, in_unit, table
from ..pages.words import counted, with_interval
from .contents import Gate, GateRow, Outcome

TONES: dict[Outcome, Tone] = {"breach": "worse", "missing": "worse", "cannot tell": "unsure", "passed": "better"}
# outcome -> JUnit's element; what is passed has none
ELEMENTS: dict[Outcome, str] = {"breach": "failure", "missing": "error", "cannot tell": "skipped"}
# what XML cannot hold, however it is escaped
NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def gate_blocks(gate: Gate | None) -> Iterator[Block]:
    """The section of a page; nothing without a gate."""
    if gate is None:
        return
    since = f" Numbers are changes since {gate.baseline}, set by set, but for those of now." if gate.baseline else ""
    strict = "and so does one where it cannot tell (--strict)" if gate.is_strict else "one where it cannot tell warns"
    yield Heading(
        "Gate",
        lead="A limit is breached where the whole interval of its number lies beyond it, passed where none of the interval "
        f"does, and otherwise the gate cannot tell, as with numbers from fewer than {gate.least_sets} sets and exact "
        f"rates of fewer than "
        f"{LEAST_SETS}. A breach or a missing number fails, {strict}. Intervals have {100 * gate.level:g} % together, for all "
        f"limits and values.{since}",
    )
    heads = (Column("limit", "long"), "outcome", Column("number", kind="number"), "sets", Column("of", "long"))
    yield table("gate", heads, map(_cells, gate.rows))


def with_gate(page: Page, gate: Gate | None) -> Page:
    """The page with the gate's outcome before everything else, its section first, and its warnings."""
    section, warnings = tuple(gate_blocks(gate)), (*gate_warnings(gate), *page.warnings)
    first = replace(page.overview, outcome=outcome(gate)) if page.overview and gate else page.overview
    return replace(page, warnings=warnings, body=(*section, *page.body), overview=first)


def outcome(gate: Gate) -> Text:
    """The outcome of all limits, in a line, with the first one that is not kept."""
    n, failed = len(gate.rows), gate.failed
    if failed:
        words = {"breach": "breached", "missing": "without its number", "cannot tell": "not known to be kept"}
        how = words[failed[0].outcome] if len({row.outcome for row in failed}) == 1 else "not kept"
        are = "is" if len(failed) == 1 else "are"
        return Text(
            f"Gate failed: {len(failed)} of {counted(n, 'limit')} {are} {how}: {sentence(failed[0])}", tone="worse"
        )
    unsure = sum(row.outcome == "cannot tell" for row in gate.rows)
    if unsure:
        return Text(
            f"Gate: no limit is breached, and of {unsure} of {counted(n, 'limit')} it cannot tell", tone="unsure"
        )
    return Text(f"Gate passed: {counted(n, 'limit')} of {n} {'is' if n == 1 else 'are'} kept", tone="better")


def _cells(row: GateRow) -> tuple[Cell, ...]:
    return (
        Text(row.limit, note=row.name),
        Text(row.outcome, tone=TONES[row.outcome]),
        _number(row),
        count(row.n_sets) if row.n_sets else Text(""),
        Text(row.number, note=row.note) if row.number else Text(row.note),
    )


def _number(row: GateRow) -> NumberCell:
    # a number that nothing is decided of has an interval elsewhere on the page
    between = bounds(row) if row.number and (row.low, row.high) != (None, None) else None
    return in_unit(row.value, between, is_share=row.is_share, is_difference=row.is_difference)


def gate_warnings(gate: Gate | None) -> tuple[str, ...]:
    """A sentence on the limits of which it cannot be told whether they are kept."""
    unsure = [row.limit for row in gate.rows if row.outcome == "cannot tell"] if gate else []
    return (f"It is not known whether these limits are kept: {'; '.join(unsure)}.",) if unsure else ()


def verdict(gate: Gate) -> str:
    """The limits that failed, for the error that the command ends with; "" where nothing did."""
    failed = gate.failed
    if not failed:
        return ""
    lines = "\n".join(f"  {row.outcome}: {sentence(row)}" for row in failed)
    return (
        f"{counted(len(failed), 'limit')} of {len(gate.rows)} {'is' if len(failed) == 1 else 'are'} not kept:\n{lines}"
    )


def sentence(row: GateRow) -> str:
    """A limit with its number, in a line."""
    name = f"{row.name}: " if row.name else ""
    if not row.number:
        return f"{name}{row.limit}: {row.note}"
    if row.value is None:
        return f"{name}{row.limit}: {row.number} is not given: {row.note}"
    cell = _number(row)
    note = f"; {row.note}" if row.note else ""
    shown = with_interval(cell) if cell.interval else cell.shown
    return f"{name}{row.limit}: {row.number} is {shown}{note}"


def junit(gate: Gate, verb: str) -> str:
    """A test case for each limit: a failure is a breach, an error what is missing, skipped what cannot be told."""
    failed = set(gate.failed)
    kinds = [
        "failure" if row in failed and row.outcome == "cannot tell" else ELEMENTS.get(row.outcome, "")
        for row in gate.rows
    ]
    totals = {f"{element}s": str(kinds.count(element)) for element in ("failure", "error")}
    about = {"name": f"evenhand {verb}", "tests": str(len(kinds)), **totals, "skipped": str(kinds.count("skipped"))}
    root = ElementTree.Element("testsuites")
    suite = ElementTree.SubElement(root, "testsuite", about)
    for row, kind in zip(gate.rows, kinds, strict=True):
        case = ElementTree.SubElement(
            suite, "testcase", {"classname": f"evenhand.{verb}", "name": _plain(row.name or row.limit), "time": "0"}
        )
        text = _plain(sentence(row))
        if kind:
            ElementTree.SubElement(case, kind, {"message": text, "type": row.outcome})
        ElementTree.SubElement(case, "system-out").text = text
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _plain(text: str) -> str:
    return NOT_XML.sub("\ufffd", text)
