"""Systems ranked by comparing their summaries request by request: win counts, Bradley-Terry strengths, intervals."""

from .bradley_terry import NOT_IDENTIFIABLE, order, strengths
from .comparisons import Tie, row_wins, wins
from .intervals import strength_bounds

__all__ = [
    "NOT_IDENTIFIABLE",
    "Tie",
    "order",
    "row_wins",
    "strength_bounds",
    "strengths",
    "wins",
]
