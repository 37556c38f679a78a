"""What a reader of the comparison must know before believing its numbers."""

from collections.abc import Iterator, Sequence

from ...resampling import FEW_SETS
from ..systems.roles import overlap_warnings
from ..systems.systems import WRONG_SIDE, n_unscored, wrong_side_judges
from .entries import Entry


def warnings(entries: Sequence[Entry], budgets: Sequence[int]) -> list[str]:
    """All warnings, each once, with the entries that it is about unless it is about all."""
    about: dict[str, list[str]] = {}
    for entry in entries:
        for warning in _of_entry(entry, budgets):
            about.setdefault(warning, []).append(entry.label)
    found = [warning if len(who) == len(entries) else f"{', '.join(who)}: {warning}" for warning, who in about.items()]
    if len({request.length for entry in entries for request in entry.output.requests}) > 1:
        found.append(
            "The entries were asked for summaries of different lengths: a difference in a score that goes with length, as most "
            "do, may be the length's alone."
        )
    n_sets = len({request.set_id for request in entries[0].output.requests})
    smallest = 2 / 2**n_sets
    if smallest > 1 - entries[0].recipe.evaluation.level:
        found.append(
            f"The comparison rests on {n_sets} document set{'s' if n_sets > 1 else ''}: the smallest p that its tests can have "
            f"is {smallest:g}, so none can tell anything; take more sets."
        )
    elif n_sets < FEW_SETS:
        found.append(
            f"The comparison rests on {n_sets} document sets: with so few, intervals are narrower than they should be, and tests "
            "can tell large differences only."
        )
    return found


def _of_entry(entry: Entry, budgets: Sequence[int]) -> Iterator[str]:
    yield from overlap_warnings(entry.recipe, entry.output.signatures)
    n_candidates = entry.output.ranked.n_candidates
    missing = int((n_candidates == 0).sum())
    if missing:
        yield f"No summary of {missing} requests."
    unscored = {name: n_unscored(entry.output, name) for name in entry.recipe.evaluation.judges}
    if any(unscored.values()):
        by_judge = ", ".join(f"{count} by {name!r}" for name, count in unscored.items() if count)
        yield (
            f"Of {n_candidates.sum()} candidates some have no score: {by_judge}. They are left out of means, which may "
            "so rest on other requests than those of other entries."
        )
    too_large = [str(k) for k in budgets if k > entry.n_candidates]
    if too_large:
        n = entry.n_candidates
        yield f"Has {n} candidate{'s' if n > 1 else ''} a request, so no best of {', '.join(too_large)}."
    if entry.recipe.reward.combine == "z_mean" and any(1 < k < entry.n_candidates for k in budgets):
        yield (
            f"Its reward is a mean of z-scores among all {entry.n_candidates} candidates of a request: the best of fewer "
            "is chosen by those, not by z-scores among the fewer."
        )
    if entry.recipe.task.scope == "side" and wrong_side_judges(entry.recipe) is None:
        yield (
            f"Has no {WRONG_SIDE!r} rate: it needs two judges of kind alignment that differ in against: source and opposing "
            "alone, among reward.judges or evaluation.judges."
        )
