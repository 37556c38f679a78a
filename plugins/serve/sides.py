"""What judges that tell sides apart say of each side, and how the worst one fares.

`value-shares` gives the shares of the summary that sides are due and that they have, `equal-coverage` how much of each side's
documents the summary covers.
"""

import json
from collections.abc import Sequence
from typing import Any

from ...config import JudgeOptions
from ...records import Judgement

# kinds of judges whose `raw` has a table of sides
TELL_SIDES = frozenset({"value-shares", "equal-coverage"})


def sides_of(judgement: Judgement, section: JudgeOptions) -> dict[str, Any] | None:
    """The judge's table; None where it gave no score or does not tell sides apart."""
    if section.kind not in TELL_SIDES or judgement.score is None or not judgement.raw:
        return None
    table: dict[str, Any] = json.loads(judgement.raw)
    return table


def worst_side(table: dict[str, Any]) -> float | None:
    """What the worst side has: the part of its due share that it gets, or the covered part of its documents, both at least 0."""
    if "due" in table:
        return _least([table["found"][side] / share for side, share in table["due"].items() if share])
    return _least([table["overall"] + difference for difference in table["difference"].values()])


def worst_gap(table: dict[str, Any]) -> float | None:
    """How far the worst side is behind its due share, or behind the coverage of all documents."""
    behind = _least([table["found"][side] - share for side, share in table["due"].items()]) if "due" in table else None
    behind = _least(list(table["difference"].values())) if "difference" in table else behind
    return None if behind is None else -behind


def _least(values: Sequence[float]) -> float | None:
    return min(values, default=None)
