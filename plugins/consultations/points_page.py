"""Who is missing: what each group thinks of the summaries, with quotes of its points that they do not say.

With fewer sets than a verdict needs this is the audit's first page, since one consultation is a single set; else a part of it.
"""

from collections.abc import Iterator, Sequence

from ...evaluation.audit.cells import level_of
from ...evaluation.audit.contents import Audit, AuditExample
from ...evaluation.audit.examples_page import set_name
from ...evaluation.audit.family import PagePart
from ...evaluation.pages.blocks import Block, Details, Heading, Items, Overview, Prose
from ...evaluation.pages.cells import Mark, NumberCell, Text
from ...evaluation.pages.numbers import interval, percent
from ...evaluation.pages.picture import Lane, Picture, PicturePart, PictureRow
from ...evaluation.pages.tables import Columns, bounds, count, group, grouped, rows_of, table
from ...evaluation.pages.words import NOT_CLEAR, certainty, counted, headline, joined
from ...number import Number
from ...resampling import LEAST_SETS
from .points import GroupPoints, Points, Quote

FAMILY, GROUPS = "approval", "opinion group"
# on the first page: quotes of a group and characters of each, groups of a system, those that agree least, and systems
MOST_QUOTES, MOST_LETTERS, MOST_GROUPS, MOST_SYSTEMS = 3, 300, 4, 2
HOW_SURE = (
    "A sentence stands for the text that it is likest, whether it affirms or denies it: read before you conclude."
)


def first_screen(audit: Audit) -> Overview | None:
    """The groups that agree least and most with the summary that they think most differently of, and how sure that is.

    None of an audit of which something else can be said.
    """
    examples = _first_set(audit)
    if audit.n_sets >= LEAST_SETS or not examples:
        return None
    widest = max(examples, key=lambda example: _points(example).gap.size)
    lowest, *_, highest = sorted(_points(widest).groups, key=lambda view: view.approval.value or 0.0)
    first = f"{_name(lowest)} agrees with {percent(lowest.approval.value, 0)} of what {widest.system} says"
    p_value = _corrected(_points(widest).gap, audit)
    this_set = widest.set_id if audit.n_sets > 1 else "this set"
    counts = (f"{example.system} {_points(example).lead}" for example in examples[:MOST_SYSTEMS])
    return Overview(
        headline=headline(f"{first}, {_name(highest)} with {percent(highest.approval.value, 0)}", first),
        sure=certainty(p_value) if p_value <= 1 - audit.bootstrap.level else NOT_CLEAR,
        text=f"Of {this_set} alone: groups differ as much by as many texts at random in {percent(p_value, 1)} of draws, "
        f"corrected. {'; '.join(counts)}. {HOW_SURE}",
        picture=_picture(audit, examples),
        blocks=tuple(first_quotes(audit)),
    )


def _picture(audit: Audit, examples: Sequence[AuditExample]) -> Picture:
    """Each group's approval of each summary, beside that of all texts and of as many texts at random."""
    systems = [system.label for system in audit.systems]
    by_group = grouped(
        ((example, view) for example in examples for view in _points(example).groups), lambda pair: _name(pair[1])
    )
    rows = tuple(
        PictureRow(
            name=name,
            note=f"{counted(of_group[0][1].n_people, 'voter')}, {_votes([view for _, view in of_group])}",
            lanes=tuple(
                Lane(
                    example.system,
                    (Mark(view.approval, systems.index(example.system)),),
                    is_clear=_corrected(view.approval, audit, len(by_group)) <= 1 - audit.bootstrap.level,
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
        name=f"agreement by {GROUPS}",
        rows_are=GROUPS,
        title=f"{quantity.capitalize()}, by {GROUPS}, for each of {joined([e.system for e in examples], 3)}",
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
        GROUPS: _name,
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
    known = [example for example in audit.examples if example.family == FAMILY and example.own]
    widest: dict[str, float] = {}
    for example in known:
        widest[example.set_id] = max(widest.get(example.set_id, 0.0), _points(example).gap.size)
    systems = [system.label for system in audit.systems]
    return sorted(known, key=lambda example: (-widest[example.set_id], example.set_id, systems.index(example.system)))


def _first_set(audit: Audit) -> list[AuditExample]:
    examples = _by_set(audit)
    return [example for example in examples if example.set_id == examples[0].set_id]


def _points(example: AuditExample) -> Points:
    return Points.model_validate(example.own)


def _corrected(number: Number, audit: Audit, n_tests: int = 1) -> float:
    """p for as many tests of every summary, shown or not: which are shown goes by what they say."""
    return min(1.0, n_tests * audit.n_sets * len(audit.systems) * (number.p_value or 0.0))


def _name(view: GroupPoints) -> str:
    return view.approval.side or ""


PART = PagePart(first_screen, first_quotes, points_section)
