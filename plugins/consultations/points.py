"""Who is missing from a summary of a consultation: what each opinion group thinks of it, and which of its points it does not say.

Which statements are said is told by likeness (`said.py`), so what a unit is like without standing for it is perhaps said, and
quoted beside that unit, which may deny it. A summary says few statements of many: approval is held against as many at random.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...evaluation.pages.words import counted
from ...fairness.groups.coverage import over
from ...number import Number
from ...records import Record
from ...resampling import NOISE, Bootstrap, percentiles
from .approval import LEAST_VOTERS, Bools, Floats, VoteTable, approval, voter_bounds
from .said import Approved

# statements that are quoted of each group
MOST_QUOTES = 10


class Quote(Record):
    """A text that a group stands behind."""

    text: str
    # by how many: "10 of 11 agree"
    note: str
    # sentence of the summary that is like it, and may say or deny it; "" for none
    perhaps: str = ""


class GroupPoints(Record):
    """What a group thinks of a summary, and which of its points that does not say; of families with groups of their own."""

    # with what share of what the summary says the group, its side, agrees; its interval is over the group's people, its p of as
    # many texts taken at random, by itself
    approval: Number
    # the same of all texts, and from where to where that of as many texts at random mostly is, at the level of the page
    of_all: float
    chance: tuple[float, float]
    n_people: int
    # texts that most of the group agree with; those of them that the summary says, and those that a sentence is like, though it
    # stands for another text
    n_points: int
    n_said: int
    n_perhaps: int
    # points that are not said, those first that the group agrees with most beyond the other groups
    quotes: tuple[Quote, ...]


class Points(Record):
    """Whose points a summary says."""

    # approval of the group that approves most less that of the one that approves least; p is of as many texts at random
    gap: Number
    # what was counted, as the end of a sentence that begins with the system
    lead: str
    groups: tuple[GroupPoints, ...]


def points_of(table: VoteTable, answer: Approved, texts: Sequence[str], plan: Bootstrap) -> Points:
    """What each group that voted on what a summary says thinks of it, and which of the group's points it does not say.

    A point of a group is a statement on which at least `LEAST_VOTERS` of it agreed or disagreed, most of them agreeing.

    Args:
        table: the votes.
        answer: what the summary says.
        texts: of the statements.
        plan: draws of statements, and the level.
    """
    statements = [place for place in answer.statements if place is not None]
    is_said = np.isin(np.arange(len(texts)), statements)
    is_like = np.array([unit is not None for unit in answer.nearest])
    observed = _mean_over(table.rates[:, statements])
    votable = np.flatnonzero(~np.isnan(table.rates).all(axis=0))
    times = np.unique(statements, return_counts=True)[1]
    random = at_random(table.rates[:, votable], times, plan)  # (draws, groups)
    random_lows, random_highs = percentiles(random, plan.level)
    agrees, voted = table.count(1), table.count(1) + table.count(-1)
    is_point = (voted >= LEAST_VOTERS) & (agrees > voted / 2)  # (groups, statements)
    bounds = {
        k: voter_bounds([(table, k, statements)], plan.level) for k in np.flatnonzero(~np.isnan(observed)).tolist()
    }
    groups = tuple(
        GroupPoints(
            approval=Number(
                side=table.groups[k], value=float(observed[k]), low=bounds[k][0], high=bounds[k][1],
                n=int(voted[k, is_said].sum()), p_value=_two_sided(random[:, k], observed[k]),
            ),
            of_all=float(_mean_over(table.rates)[k]),
            chance=(float(random_lows[k]), float(random_highs[k])),
            n_people=int((table.group_of == k).sum()),
            n_points=int(is_point[k].sum()),
            n_said=int((is_point[k] & is_said).sum()),
            n_perhaps=int((is_point[k] & is_like & ~is_said).sum()),
            quotes=_quotes(table, k, is_point[k] & ~is_said, answer, texts),
        )
        for k in bounds
    )  # fmt: skip
    random = random[(~np.isnan(random)).sum(axis=1) > 1]  # selections of which two groups think something
    gaps = np.nanmax(random, axis=1) - np.nanmin(random, axis=1)
    gap = Number(value=answer.gap, p_value=_share_of(gaps >= answer.gap - NOISE))
    return Points(gap=gap, lead=_lead(answer, int(is_said.sum()), len(votable)), groups=groups)


def at_random(rates: Floats, times: NDArray[np.intp], plan: Bootstrap) -> Floats:
    """Approval by each group of statements taken at random again and again, (draws, groups); nan where none has a vote.

    Args:
        rates: of each statement by each group, (groups, statements), each with a vote of some group.
        times: how often each of those taken is said, (statements taken,).
        plan: number of draws, and their seed.
    """
    generator = np.random.default_rng(plan.seed)
    selections = np.zeros((plan.resamples, rates.shape[1]))
    for row in selections:
        row[generator.choice(len(row), len(times), replace=False)] = times
    return approval(selections, rates)


def _mean_over(rates: Floats) -> Floats:
    """Approval of all these statements, (..., groups), of rates (..., groups, statements)."""
    known = ~np.isnan(rates)
    return over(np.where(known, rates, 0.0).sum(axis=-1), known.sum(axis=-1))


def _two_sided(draws: Floats, value: float) -> float:
    draws = draws[~np.isnan(draws)]
    return min(1.0, 2 * min(_share_of(draws <= value + NOISE), _share_of(draws >= value - NOISE)))


def _share_of(is_as_far: Bools) -> float:
    """p of a test by draws, of which what was seen is one."""
    return float((is_as_far.sum() + 1) / (len(is_as_far) + 1))


def _quotes(
    table: VoteTable, group: int, is_missing: Bools, answer: Approved, texts: Sequence[str]
) -> tuple[Quote, ...]:
    """The statements first that the group agrees with most beyond the other groups."""
    agrees, voted = table.count(1), table.count(1) + table.count(-1)
    is_other = np.arange(len(table.groups)) != group
    beyond = table.likely_rates[group] - table.likely_rates[is_other].mean(axis=0)
    order = np.argsort(-beyond, kind="stable")
    name = "others" if is_other.sum() > 1 else table.groups[int(is_other.argmax())]
    agrees_elsewhere, voted_elsewhere = (counts[is_other].sum(axis=0) for counts in (agrees, voted))

    def note(place: int) -> str:
        of_group = f"{agrees[group, place]:.0f} of {voted[group, place]:.0f} agree"
        of_others = (
            f"; {name}: {agrees_elsewhere[place]:.0f} of {voted_elsewhere[place]:.0f}" if voted_elsewhere[place] else ""
        )
        return f"{of_group}{of_others}"

    def quote(place: int) -> Quote:
        unit = answer.nearest[place]
        return Quote(text=texts[place], note=note(place), perhaps="" if unit is None else answer.units[unit])

    return tuple(map(quote, order[is_missing[order]][:MOST_QUOTES].tolist()))


def _lead(answer: Approved, n_said: int, n_statements: int) -> str:
    like = [value for value, place in zip(answer.likeness, answer.statements, strict=True) if place is not None]
    return (
        f"says {n_said:,} of {n_statements:,} statements in {len(like):,} of {counted(len(answer.units), 'unit')} "
        f"(likeness {min(like):.2f} to {max(like):.2f})"
    )
