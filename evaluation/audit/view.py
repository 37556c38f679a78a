"""The audit's numbers arranged as the tables and pictures of the page, the Markdown and the terminal."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...resampling import NOISE
from ..pages.charts import Scale, scale
from ..text_numbers import NONE, number, percent, signed
from .contents import Audit, Example, Number, PairedDifference, SystemNote
from .quantities import AUC, OPINION_GRAPH, SHARE_IN_SOURCES, SHARE_IN_SUMMARIES, Measure

# in place of an interval without width
FLAT = "no variation"
# families whose examples set counts side by side, not shares
COUNTING = ("opinions", "word-lists")
# what a text is called that an example leaves out, by what the opinion graph takes for a unit
TEXTS = {"documents": "post", "sentences": "sentence"}


@dataclass(frozen=True)
class ValueRow:
    """One attribute value under one system."""

    value: str
    n_sets: int
    n_documents: int
    # in the order of the columns; None where a family has no such number
    cells: tuple[Number | None, ...]


@dataclass(frozen=True)
class ValueTable:
    """All values under one system."""

    system: str
    columns: tuple[Measure, ...]
    rows: tuple[ValueRow, ...]


def value_tables(audit: Audit) -> list[ValueTable]:
    """The table by attribute value of each system; none when no family splits by value."""
    tables = []
    for system in audit.systems:
        mine = {
            (n.measure, n.value): n for n in audit.by_value if n.system == system.label and n.family != "word-lists"
        }
        columns = tuple(dict.fromkeys(measure for measure, _ in mine))
        rows = []
        for note in audit.values:
            cells = tuple(mine.get((column, note.value)) for column in columns)
            rows.append(ValueRow(note.value, note.n_sets, note.n_documents, cells))
        if columns:
            tables.append(ValueTable(system.label, columns, tuple(rows)))
    return tables


@dataclass(frozen=True)
class Bar:
    """A value's share in the sources above its share in the summaries."""

    value: str
    source: Number
    summary: Number


@dataclass(frozen=True)
class Picture:
    """Source shares against summary shares of one system."""

    system: str
    title: str
    bars: tuple[Bar, ...]
    scale: Scale


def pictures(audit: Audit) -> list[Picture]:
    """Source share against summary share by value, of each system that has them."""
    drawn = [list(_bars(audit, system.label)) for system in audit.systems]
    shown = [x for bars in drawn for b in bars for n in (b.source, b.summary) for x in (n.estimate, n.low, n.high)]
    axis = scale([None if x is None else 100 * x for x in shown], zero=True)
    return [
        Picture(system.label, bars[0].source.measure.by, tuple(bars), axis)
        for system, bars in zip(audit.systems, drawn, strict=True)
        if bars
    ]


def _bars(audit: Audit, system: str) -> Iterator[Bar]:
    mine = {(n.measure.kind, n.value): n for n in audit.by_value if n.system == system}
    for note in audit.values:
        source, summary = (mine.get((kind, note.value)) for kind in (SHARE_IN_SOURCES, SHARE_IN_SUMMARIES))
        if source and summary and source.estimate is not None and summary.estimate is not None:
            yield Bar(note.value, source, summary)


def group_rows(audit: Audit, system: str) -> list[tuple[str, Number, Number]]:
    """Groups of the word lists with their shares in sources and summaries."""
    mine = [n for n in audit.by_value if n.system == system and n.family == "word-lists"]
    groups = dict.fromkeys(n.value for n in mine if n.value)
    return [(group, *(n for n in mine if n.value == group)) for group in groups]  # type: ignore[misc]


def shown(found: Number | PairedDifference, places: int = 2) -> str:
    """The number: shares in per cent, differences of shares in points, others as they are."""
    if found.estimate is None:
        return NONE
    write = signed if _is_difference(found) else number
    if found.is_share:
        return f"{write(100 * found.estimate, places)} {'points' if _is_difference(found) else '%'}"
    return write(found.estimate, 3)


def interval(found: Number | PairedDifference, places: int = 2) -> str:
    """Its interval without the unit; says so when there is none, or when resampling can say nothing of it."""
    if found.low is None or found.high is None:
        return "no interval"
    if _is_flat(found):
        return FLAT
    write, factor = (signed if _is_difference(found) else number), (100 if found.is_share else 1)
    digits = places if found.is_share else 3
    return f"{write(factor * found.low, digits)} to {write(factor * found.high, digits)}"


def _is_difference(found: Number | PairedDifference) -> bool:
    return isinstance(found, PairedDifference) or found.measure.kind.is_difference


def _is_flat(found: Number | PairedDifference) -> bool:
    return found.low is not None and found.high is not None and found.high - found.low <= NOISE


def rests_on(found: Number) -> str:
    """ "n 19, few"."""
    return f"n {found.n:,}{', few' if found.is_small else ''}"


def fairest(audit: Audit) -> str:
    """Which value of the measures is fair."""
    said = ["0 is fair."]
    if any(n.measure.kind == AUC for n in audit.aggregates) and audit.options["mode"] != "paper":
        said.append(
            "AUC is at least 5 %: at tolerance 1 a value that gets no more than its due counts as under-represented, and in "
            "every summary there is one."
        )
    if any(n.measure.kind == OPINION_GRAPH for n in audit.aggregates):
        said.append(
            "The opinion graph is 0 only where a summary speaks for every opinion, so short ones score higher whatever "
            "they say."
        )
    return " ".join(said)


def notes(audit: Audit) -> str:
    """What is to be known of the measures' numbers."""
    return " ".join(filter(None, (fairest(audit), rising(audit), unusual_intervals(audit))))


def length(system: SystemNote) -> str:
    """How long its summaries are."""
    return f"A summary has {system.n_words:.1f} words in {system.n_sentences:.1f} sentences on average."


def rising(audit: Audit) -> str:
    """Which measures grow by chance alone; "" where there is none."""
    kinds = (n.measure.kind for n in audit.aggregates if n.estimate is not None)
    found = dict.fromkeys(kind.name for kind in kinds if kind.grows_by_chance)
    if not found:
        return ""
    return (
        f"Measures of absolute gaps ({', '.join(found)}) grow by chance alone, so their intervals lie too high when a "
        "system is fair."
    )


def unusual_intervals(audit: Audit) -> str:
    """What intervals mean that are not those of the bootstrap; "" where all are."""
    shown: list[Number | PairedDifference] = [*audit.aggregates, *audit.by_value, *audit.differences]
    flat = f'"{FLAT.capitalize()}": every draw of the sets gives this number, and resampling says nothing of its uncertainty. '
    exact = "The interval of a rate that is 0 or 100 % in all sets is the exact one of Clopper and Pearson."
    said = flat if any(map(_is_flat, shown)) else ""
    has_exact = any(found.interval == "exact" for found in (*audit.aggregates, *audit.by_value))
    return f"{said}{exact if has_exact else ''}".strip()


def aim(audit: Audit) -> str:
    """Where the summaries' share of a value is fair, beside its share in the sources."""
    return {
        "ratio": "Fair is the same place.",
        "equal": "Fair is here an equal share of each: the share aimed at is in the table below.",
    }.get(
        str(audit.options["target"]),
        "Fair are here the weights that were given: the share aimed at is in the table below.",
    )


def left_out(reasons: dict[str, int]) -> str:
    """How many sets were left out, by reason."""
    return ", ".join(f"{count:,} {reason}" for reason, count in reasons.items()) or "none"


def tone(difference: PairedDifference) -> str:
    """ "better", "worse", "unsure" or "neutral": names of the page's styles."""
    if difference.verdict == "cannot tell":
        return "unsure"
    if not difference.is_unfairness:
        return "neutral"
    return "better" if difference.verdict == "lower" else "worse"


def difference_name(difference: PairedDifference) -> str:
    """ "shortfall (ngram): neu"."""
    return f"{difference.measure}: {difference.value}" if difference.value else str(difference.measure)


def difference_groups(audit: Audit) -> list[tuple[str, Scale, tuple[PairedDifference, ...]]]:
    """Differences by later system, with the axis of those that are shares, in per cent."""
    groups = []
    for system in dict.fromkeys(each.system for each in audit.differences):
        mine = tuple(each for each in audit.differences if each.system == system)
        ends = [x for d in mine if d.is_share for x in (d.estimate, d.low, d.high)]
        groups.append((system, scale([None if x is None else 100 * x for x in ends], zero=True), mine))
    return groups


def example_groups(audit: Audit) -> list[tuple[str, tuple[Example, ...]]]:
    """Examples by system and family, headed by both."""
    found: dict[str, list[Example]] = {}
    for example in audit.examples:
        found.setdefault(f"{example.system}, by {example.family}", []).append(example)
    return [(heading, tuple(examples)) for heading, examples in found.items()]


def left_out_of(audit: Audit, example: Example) -> str:
    """Who is left out most, with the number of its texts."""
    n = len(example.documents)
    text = TEXTS[audit.options["opinion_units"]] if example.family == "opinions" else "document"
    return f"Left out most: {', '.join(example.left_out)} ({n} {text}{'' if n == 1 else 's'})"


def side_number(example: Example, value: float | None) -> str:
    """A side's share, or its count where the columns count."""
    if value is None:
        return NONE
    return f"{value:g}" if example.family in COUNTING else percent(value)


def unfairness(example: Example) -> str:
    """The set's own measure."""
    return f"{number(100 * example.unfairness, 1)} %" if example.is_share else number(example.unfairness, 3)


def takes(values: dict[str, float]) -> Sequence[tuple[str, str]]:
    """What a line takes up, the most first; values of which it takes nothing are left out."""
    return [(value, f"{amount:.3g}") for value, amount in sorted(values.items(), key=lambda each: -each[1]) if amount]
