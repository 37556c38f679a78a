"""The entries of one budget by their worst sides: whoever is served worst, how well?"""

from collections.abc import Sequence

import numpy as np

from ..systems.compare import Comparer, Values
from ..systems.contents import JudgeNote
from ..systems.worst_group import WorstGroups, worst_groups
from .values import System


def worst_sides(judge: JudgeNote, by_system: Sequence[tuple[System, Values]], compare: Comparer) -> WorstGroups | None:
    """Each entry's worst side, and the entry whose worst side is best; None when no side has the 10 sets to take part.

    Args:
        judge: whose scores these are; it says what is better.
        by_system: a value a request of each entry, all at one budget.
        compare: of the requests.
    """
    sets = {name: place for place, name in enumerate(dict.fromkeys(compare.sets))}
    sides = {name: place for place, name in enumerate(compare.sides)}
    scores = np.full((len(by_system), len(sets), len(sides)), np.nan)
    rows = [sets[each] for each in compare.sets]
    columns = [sides[each] for each in compare.request_sides]
    for place, (_, values) in enumerate(by_system):
        scores[place, rows, columns] = np.array(values, dtype=float)
    labels = [system.label for system, _ in by_system]
    is_lower = judge.better == "lower"
    found = worst_groups(scores, labels, compare.sides, compare.bootstrap, lower_is_better=is_lower)
    return found if any(system.group for system in found.systems) else None
