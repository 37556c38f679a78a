"""How many findings of a simulation may be false by chance."""

from math import sqrt


def most_false(trials: int) -> float:
    """5 % and two standard errors of the simulation."""
    return trials * 0.05 + 2 * sqrt(trials * 0.05 * 0.95)
