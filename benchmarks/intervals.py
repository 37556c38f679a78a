"""How often the intervals of means have the true mean in them, of few document sets.

    python -m evenhand.benchmarks.intervals --trials 1000

makes the tables "Intervals" of benchmarks/RESULTS.md. Where there is no interval nothing is claimed: that counts as held, and
how often it is so is told.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t

from ..resampling import NOISE, Bootstrap, cluster_interval
from .simulate import asked, print_heads, print_row

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Floats]
LEVEL, RESAMPLES = 0.95, 1000
# requests of a set, where there are several
REQUESTS = 2


@dataclass(frozen=True)
class Kind:
    """A kind of values."""

    # values of so many sets, (sets, requests)
    draw: Draw
    mean: float
    is_rate: bool = False


def _one(draw: Callable[[np.random.Generator, int], Floats]) -> Draw:
    return lambda generator, n: draw(generator, n)[:, None]


def _rate(rate: float, together: float) -> Kind:
    """Values of 0 and 1; `together`: how alike those of a set are, their intraclass correlation, with 0 for one request a set."""

    def draw(generator: np.random.Generator, n: int) -> Floats:
        if not together:
            return (generator.random((n, 1)) < rate).astype(float)
        size = (1 - together) / together
        return (generator.random((n, REQUESTS)) < generator.beta(rate * size, (1 - rate) * size, n)[:, None]).astype(
            float
        )

    return Kind(draw, rate, is_rate=True)


SCORES: Mapping[str, Kind] = {
    "normal": Kind(_one(lambda g, n: g.normal(size=n)), 0.0),
    "normal, two a set": Kind(lambda g, n: g.normal(size=(n, 1)) + g.normal(size=(n, REQUESTS)), 0.0),
    "uniform": Kind(_one(lambda g, n: g.random(n)), 0.5),
    "beta(½, ½)": Kind(_one(lambda g, n: g.beta(0.5, 0.5, n)), 0.5),
    "beta(2, 5)": Kind(_one(lambda g, n: g.beta(2, 5, n)), 2 / 7),
    "exponential": Kind(_one(lambda g, n: g.exponential(size=n)), 1.0),
    "log-normal, ¾": Kind(_one(lambda g, n: np.exp(0.75 * g.normal(size=n))), float(np.exp(0.75**2 / 2))),
    "half zeros, else exponential": Kind(_one(lambda g, n: g.exponential(size=n) * (g.random(n) < 0.5)), 0.5),
    "half zeros, else beta(2, 2)": Kind(_one(lambda g, n: g.beta(2, 2, n) * (g.random(n) < 0.5)), 0.25),
    "differences of rates": Kind(_one(lambda g, n: np.diff((g.random((2, n)) < 0.3).astype(float), axis=0)[0]), 0.0),
}


def _shares(rate: float, of: int) -> Kind:
    """Each value the share of so many 0s and 1s of a set, which are half alike."""
    return Kind(_one(lambda g, n: g.binomial(of, g.beta(rate, 1 - rate, n)) / of), rate, is_rate=True)


RATES: Mapping[str, Kind] = {
    f"{rate:.0%}{', two alike a set' if together else ''}": _rate(rate, together)
    for together in (0.0, 0.5)
    for rate in (0.5, 0.8, 0.95)
} | {f"shares of nine, {rate:.0%}": _shares(rate, 9) for rate in (0.5, 0.8, 0.95)}


@dataclass(frozen=True)
class Held:
    """What became of the intervals of samples of one kind."""

    trials: int
    # have the true mean in them, or are none
    held: int
    none: int
    # median width, in units of that of Student's t over sets; nan where there is none
    width: float


def count_held(kind: Kind, n_sets: int, trials: int) -> Held:
    """Intervals of as many samples."""
    held = none = 0
    widths = []
    for trial in range(trials):
        generator = np.random.default_rng([n_sets, trial])
        values = kind.draw(generator, n_sets)
        sets = [str(place) for place in range(n_sets) for _ in range(values.shape[1])]
        plan = Bootstrap(LEVEL, RESAMPLES, seed=trial)
        found = cluster_interval(values.ravel().tolist(), sets, plan, is_rate=kind.is_rate)
        if found.low is None or found.high is None:
            none += 1
            continue
        held += found.low - NOISE <= kind.mean <= found.high + NOISE
        reach = float(t.ppf((1 + LEVEL) / 2, n_sets - 1) * values.mean(axis=1).std(ddof=1) / n_sets**0.5)
        widths += [(found.high - found.low) / (2 * reach)] if reach > NOISE else []
    return Held(trials, held + none, none, float(np.median(widths)) if widths else float("nan"))


def main() -> None:
    """Print the tables."""
    n_usual = [5, 6, 8, 10, 12, 20, 30, 60, 100]
    given = asked(__doc__, (1000, "samples of each kind"), (n_usual, "document sets of a sample"))
    for kinds in (SCORES, RATES):
        print_heads("sets", *kinds)
        for n_sets in given.sets:
            cells = []
            for kind in kinds.values():
                found = count_held(kind, n_sets, given.trials)
                none = f"; none {found.none / given.trials:.0%}" if found.none > given.trials / 200 else ""
                cells.append(f"{100 * found.held / given.trials:.1f} ({found.width:.2f}){none}")
            print_row(n_sets, *cells)
        print()


if __name__ == "__main__":
    main()
