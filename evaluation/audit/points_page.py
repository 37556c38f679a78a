"""Who is missing: what each group thinks of the summaries, with quotes of its points that they do not say.

With fewer sets than a verdict needs this is the audit's first page, since one consultation is a single set; else a part of it.
"""

from collections.abc import Iterator, Sequence

from ...number import Number
from ...resampling import LEAST_SETS
from ..pages.blocks import (
    Block,
    Columns,
    Details,
    Heading,
    Items,
    Lane,
    Mark,
    NumberCell,
    Picture,
    PicturePart,
    PictureRow,
    Prose,
    Text,
    bounds,
    count,
    group,
    grouped,
    rows_of,
    table,
)
from ..pages.numbers import interval, percent
from ..pages.words import NOT_CLEAR, certainty, counted, headline, joined
from .cells import level_of
from .contents import Audit, AuditExample
from .examples_page import set_name
from .families import MEASURES
from .kinds import GroupPoints, Points, Quote

# on the first page: quotes of a group and characters of each, groups of a system, those that agree least, and systems
MOST_QUOTES, MOST_LETTERS, MOST_GROUPS, MOST_SYSTEMS = 3, 300, 4, 2
HOW_SURE = (
    "A sentence stands for the text that it is likest, whether it affirms or denies it: read before you conclude."
)


def leads(audit: Audit) -> bool:
    """Whether the points are the audit's first page: of so few sets nothing else can be said."""
    return audit.n_sets < LEAST_SETS and any(example.points for example in audit.examples)


def points_title(audit: Audit) -> str:
    """The groups that agree least and most with the summary that they think most differently of."""
    example = _headlined(audit)
    ordered = sorted(_points(example).groups, key=lambda view: view.approval.value or 0.0)
    lowest, highest = ordered[0], ordered[-1]
    first = f"{_name(lowest)} agrees with {percent(lowest.approval.value, 0)} of what {example.system} says"
    return headline(f"{first}, {_name(highest)} with {percent(highest.approval.value, 0)}", first)


def points_certainty(audit: Audit) -> str:
    """How sure it is that groups think differently of the summary, by as many texts at random, corrected for all summaries."""
    p_value = _corrected(_points(_headlined(audit)).gap, audit)
    return certainty(p_value) if p_value <= 1 - audit.bootstrap.level else NOT_CLEAR


def points_text(audit: Audit) -> str:
    """How sure the title is, what was counted, and by what."""
    headlined, examples = _headlined(audit), _first_set(audit)
    p_value = _corrected(_points(headlined).gap, audit)
    this_set = headlined.set_id if audit.n_sets > 1 else "this set"
    counts = (f"{example.system} {_points(example).lead}" for example in examples[:MOST_SYSTEMS])
    return (
        f"Of {this_set} alone: groups differ as much by as many texts at random in {percent(p_value, 1)} of draws, corrected. "
        f"{'; '.join(counts)}. {HOW_SURE}"
    )


def points_picture(audit: Audit) -> Picture:
    """Each group's approval of each summary, beside that of all texts and of as many texts at random."""
    examples = _first_set(audit)
    rows_are = MEASURES[examples[0].family].page.groups or audit.attribute
    systems = [system.label for system in audit.systems]
    by_group = grouped(
        ((example, view) for example in examples for view in _points(example).groups), lambda pair: _name(pair[1])
    )
    n_groups = len(by_group)
    rows = tuple(
        PictureRow(
            name=name,
            note=f"{counted(of_group[0][1].n_people, 'voter')}, {_votes([view for _, view in of_group])}",
            lanes=tuple(
                Lane(
                    example.system,
                    (Mark(view.approval, systems.index(example.system)),),
                    is_clear=_corrected(view.approval, audit, n_groups) <= 1 - audit.bootstrap.level,
                )
                for example, view in of_group
            ),
            reference=(of_group[0][1].of_all,) * 2,
            band=(min(view.chance[0] for _, view in of_group), max(view.chance[1] for _, view in of_group)),
        )
        for name, of_group in by_group.items()
    )
    quantity = "share of what the summary says that the group agrees with"
    return Picture(
        name=f"agreement by {rows_are}",
        rows_are=rows_are,
        title=f"{quantity.capitalize()}, by {rows_are}, for each of {joined([e.system for e in examples], 3)}",
        parts=(PicturePart(rows, "%", 1, quantity),),
        reference="of all texts",
        band="of as many texts at random",
        keys=(
            "clear: clearly off texts at random",
            "unsure: no clear difference",
            f"interval: {level_of(audit)} % interval over voters",
        ),
    )


def _votes(views: Sequence[GroupPoints]) -> str:
    """How many votes the approval of each summary rests on: "12 votes", "≥ 12 votes"."""
    n_votes = [view.approval.n for view in views]
    return f"{'≥ ' if min(n_votes) < max(n_votes) else ''}{counted(min(n_votes), 'vote')}"


def first_quotes(audit: Audit) -> Iterator[Block]:
    """The first quotes of each group, of the set in which two groups think most differently of a summary."""
    for example in _first_set(audit)[:MOST_SYSTEMS]:
        yield Heading(
            f"Who is missing from {example.system}",
            note="" if audit.n_sets == 1 else set_name(example),
            lead="Texts that most of a group agree with and no sentence stands for, those first that it agrees with most "
            "beyond the other groups. The nearest sentence may say the same, or deny it.",
        )
        groups = _points(example).groups
        shown = sorted(groups, key=lambda view: view.approval.value or 0.0)[:MOST_GROUPS]
        for view in (view for view in groups if view in shown):
            yield from _quotes(view, MOST_QUOTES, MOST_LETTERS)


def points_section(audit: Audit) -> Iterator[Block]:
    """The numbers of all summaries of which groups' points are known, and all quotes."""
    examples = _by_set(audit)
    if not examples:
        return
    columns: Columns[GroupPoints] = {
        MEASURES[examples[0].family].page.groups or audit.attribute: _name,
        "voters": lambda view: count(view.n_people),
        "votes": lambda view: count(view.approval.n),
        "agrees with": lambda view: NumberCell(view.approval.value, bounds(view.approval), 1, "%"),
        "of all texts": lambda view: NumberCell(view.of_all, None, 1, "%"),
        "of texts at random": lambda view: Text(
            interval(*view.chance, 1, "%"), f"p {NumberCell(view.approval.p_value, unit='p').shown}"
        ),
        "points": lambda view: count(view.n_points),
        "said": lambda view: count(view.n_said),
        "perhaps": lambda view: count(view.n_perhaps),
    }
    yield Heading(
        "Who is missing",
        lead="With what share of what a summary says, of all texts, and of as many texts at random each group agrees, with "
        f"{level_of(audit)} % intervals over voters. A point of a group is a text that most of it agree with; perhaps are points "
        f"that a sentence is like which stands for another text. p is not corrected. {HOW_SURE}",
    )
    by_summary = {f"{example.system}: {set_name(example)}": example for example in examples}
    groups = [group(rows_of(_points(example).groups, columns), name) for name, example in by_summary.items()]
    yield table("who is missing", columns, groups)
    for name, example in by_summary.items():
        points = _points(example)
        quotes = (block for view in points.groups for block in _quotes(view))
        lead = Prose(f"{example.system} {points.lead}.", "lead")
        yield Details(f"What is not said by {name}", (lead, *quotes), is_example=True)


def _quotes(view: GroupPoints, most_quotes: int | None = None, most_letters: int | None = None) -> Iterator[Block]:
    perhaps = f", and perhaps {view.n_perhaps:,} more" if view.n_perhaps else ""
    yield Heading(_name(view), 3, note=f"{view.n_said:,} of {counted(view.n_points, 'point')} said{perhaps}")
    if view.quotes:
        quotes = (Prose(_words_of(quote, most_letters), head=f"{quote.note}:") for quote in view.quotes[:most_quotes])
        yield Items(tuple(quotes))
    else:
        yield Prose(
            "All of them are said."
            if view.n_points
            else "There is no text that enough of it voted on and most agreed with."
        )


def _words_of(quote: Quote, most_letters: int | None) -> str:
    """The text, and what is nearest to it in the summary."""
    text, nearest = (
        words if most_letters is None or len(words) <= most_letters else f"{words[:most_letters].rstrip()} \u2026"
        for words in (quote.text, quote.perhaps)
    )
    return f"\u201c{text}\u201d" + (f" Nearest: \u201c{nearest}\u201d" if nearest else "")


def _by_set(audit: Audit) -> list[AuditExample]:
    """The summaries whose points are known, those of the set first in which two groups think most differently of one."""
    known = [example for example in audit.examples if example.points]
    widest = {example.set_id: 0.0 for example in known}
    for example in known:
        widest[example.set_id] = max(widest[example.set_id], _points(example).gap.size)
    systems = [system.label for system in audit.systems]
    return sorted(known, key=lambda example: (-widest[example.set_id], example.set_id, systems.index(example.system)))


def _first_set(audit: Audit) -> list[AuditExample]:
    examples = _by_set(audit)
    return [example for example in examples if example.set_id == examples[0].set_id]


def _headlined(audit: Audit) -> AuditExample:
    return max(_by_set(audit), key=lambda example: _points(example).gap.size)


def _points(example: AuditExample) -> Points:
    assert example.points is not None, "others are left out"
    return example.points


def _corrected(number: Number, audit: Audit, n_tests: int = 1) -> float:
    """p for as many tests of every summary, shown or not: which are shown goes by what they say."""
    return min(1.0, n_tests * audit.n_sets * len(audit.systems) * (number.p_value or 0.0))


def _name(view: GroupPoints) -> str:
    return view.approval.side or ""
