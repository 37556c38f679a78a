"""What people would say, as blocks of a page."""

from collections.abc import Iterator

from ...pages.blocks import Block, Details, Heading, NumberCell, Prose, Text, bounds, count, group, grouped, table
from ...pages.numbers import NONE
from ...pages.words import counted
from ..systems.contents import PeoplesNumber, PeoplesNumbers

HOW = (
    "On the raters' scale, of all summaries and not of the rated ones alone: the mean of the ratings, moved by what a judge says "
    "of the summaries that nobody rated, less what it says of the rated, as far as that makes the interval narrower "
    "(prediction-powered inference). It holds where the rated summaries were drawn at random of each system and side, as "
    "`evenhand human plan` draws them. A judge's own numbers say what the judge says, and not what people would."
)


def people_blocks(people: PeoplesNumbers | None) -> Iterator[Block]:
    """The section on people's ratings; none without them."""
    if people is None:
        return
    raters = f" by {counted(people.n_raters, 'person', 'people')}" if people.n_raters else ""
    yield Heading(
        f"What people would say: {people.dimension}",
        lead=f"{people.file}: {people.n_rated:,} of {counted(people.n, 'summary', 'summaries')} rated{raters}. {HOW}",
    )
    yield from map(Prose, people.notes)
    heads = ("", "the judge says", "people would say", "by ratings alone", "rated", "worth", "for half the width")
    for judge, numbers in grouped(people.numbers, lambda number: number.measure).items():
        kinds = grouped(numbers, lambda number: number.kind)
        groups = [
            group(map(_row, of_kind), kind if kind != "gap" else "side less all sides")
            for kind, of_kind in kinds.items()
        ]
        yield Details(f"With the judge {judge}", (table(f"people by {judge}", heads, groups),), _worth(numbers))


def _row(number: PeoplesNumber) -> tuple[Text | NumberCell, ...]:
    name = f"{number.pair}, {number.side}" if number.side else number.pair
    sign = number.kind != "mean"
    first = (Text(name), NumberCell(number.judge.value, bounds(number.judge), sign=sign))
    if number.reason:
        return (*first, Text(number.reason, style="faint"), Text(NONE), count(number.n), Text(NONE), Text(NONE))
    more = f"{number.more:,} more" if number.more is not None else "no number suffices"
    return (
        *first,
        NumberCell(number.value, bounds(number), sign=sign),
        NumberCell(number.alone.value, bounds(number.alone), sign=sign),
        count(number.n),
        Text(f"{number.worth:,.0f} ratings"),
        Text(more),
    )


def _worth(numbers: list[PeoplesNumber]) -> str:
    """What a judge adds to ratings, over its numbers."""
    shares = sorted(number.worth / number.n for number in numbers if number.worth is not None)
    return f"100 ratings are worth {100 * shares[len(shares) // 2]:.0f}" if shares else "too little is rated"
