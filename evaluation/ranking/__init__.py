"""Systems ranked by comparing their summaries request by request: win counts, Bradley-Terry strengths, intervals."""

from .bradley_terry import NOT_IDENTIFIABLE, order, strengths
from .comparisons import Tie, row_wins, wins
from .intervals import StrengthIntervals, strength_intervals, strengths_of_draws

__all__ = [
    "NOT_IDENTIFIABLE",
    "StrengthIntervals",
    "Tie",
    "order",
    "row_wins",
    "strength_intervals",
    "strengths",
    "strengths_of_draws",
    "wins",
]
