"""What people would say, as blocks of a page."""

from collections.abc import Iterator, Sequence
from statistics import median

from ...pages.blocks import Block, Details, Heading, Prose
from ...pages.cells import NumberCell, Table, Text
from ...pages.numbers import NONE, interval, with_unit
from ...pages.tables import bounds, count, group, grouped, table
from ...pages.words import capital, counted
from ..systems.contents import PeoplesNumber, PeoplesNumbers

HOW = (
    "On the raters' scale, of all summaries and not of the rated ones alone: the mean of the ratings, moved by what a judge says "
    "of the summaries that nobody rated, less what it says of the rated, as far as that makes the interval narrower "
    "(prediction-powered inference). It holds where the rated summaries were drawn at random of each system and side, as "
    "`evenhand human plan` draws them. Worth: as many ratings alone would make the interval as narrow."
)

HEADINGS = {"mean": "", "difference": "differences", "gap": "a side less all sides"}


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
    by_judge = _by_judge(people)
    # the one that helps most is shown, the others are folded
    first, *others = by_judge
    yield Prose(_worth_words(first, by_judge[first]))
    yield _table(first, by_judge[first])
    for judge in others:
        yield Details(_worth_words(judge, by_judge[judge]), (_table(judge, by_judge[judge]),))


def people_sentence(people: PeoplesNumbers | None) -> str:
    """What a first page says of it: the first difference that is known, or the first mean; "" without ratings."""
    if people is None:
        return ""
    rated = f"{people.n_rated:,} of {counted(people.n, 'summary', 'summaries')} rated"
    known = [n for n in next(iter(_by_judge(people).values()), ()) if n.worth is not None]
    of_all = next((n for kind in ("difference", "mean") for n in known if n.kind == kind), None)
    if of_all is None:
        return f"Too few are rated to say what people would say ({rated})."
    is_mean = of_all.kind == "mean"
    value, between = (
        with_unit(of_all.value, 2, "", sign=not is_mean),
        interval(of_all.low, of_all.high, 2, sign=not is_mean),
    )
    return f"{capital(people.dimension)}, as people would say it of {of_all.pair}: {value} ({between}; {rated})."


def _by_judge(people: PeoplesNumbers) -> dict[str, Sequence[PeoplesNumber]]:
    """The numbers of each judge, the one that helps most first."""
    by_judge = grouped(people.numbers, lambda number: number.measure)
    return {judge: by_judge[judge] for judge in sorted(by_judge, key=lambda judge: -(_worth(by_judge[judge]) or 0))}


def _table(judge: str, numbers: Sequence[PeoplesNumber]) -> Table:
    heads = ("", f"{judge} says", "people would say", "rated", "worth", "for half the width")
    kinds = grouped(numbers, lambda number: HEADINGS[number.kind])
    return table(f"people by {judge}", heads, (group(map(_row, rows), heading) for heading, rows in kinds.items()))


def _row(number: PeoplesNumber) -> tuple[Text | NumberCell, ...]:
    sign = number.kind != "mean"
    first = (
        Text(f"{number.pair}, {number.side}" if number.side else number.pair),
        NumberCell(number.judge.value, bounds(number.judge) if number.side is None else None, sign=sign),
    )
    if number.worth is None:
        return (*first, Text(number.reason), count(number.n), Text(NONE), Text(NONE))
    return (
        *first,
        NumberCell(number.value, bounds(number), sign=sign),
        count(number.n),
        Text(f"{number.worth:,.0f} ratings"),
        Text("all are too few" if number.more is None else f"{number.more:,} more"),
    )


def _worth(numbers: Sequence[PeoplesNumber]) -> float | None:
    """How many ratings alone one is worth with a judge: the median over its numbers."""
    shares = [number.worth / number.n for number in numbers if number.worth is not None]
    return median(shares) if shares else None


def _worth_words(judge: str, numbers: Sequence[PeoplesNumber]) -> str:
    worth = _worth(numbers)
    return f"With {judge}, {'too little is rated' if worth is None else f'100 ratings are worth {100 * worth:.0f}'}."
